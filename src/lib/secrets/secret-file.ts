import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { systemRandom } from '../ports.ts';

const secretBytes = 32;
const ownerOnly = 0o600;

/** The file's contents without surrounding white space; null if there is no such file. Throws every other error. */
export function readSecretFile(path: string): string | null {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** Like readSecretFile, but creates a missing file: 256 random bits as base64url, readable by its owner only. */
export function readOrCreateSecretFile(path: string): string {
  const existing = readSecretFile(path);
  if (existing !== null) return existing;
  createPrivateFolder(dirname(path));
  const secret = systemRandom.bytes(secretBytes).toString('base64url');
  return writeOnce(path, secret);
}

/** Creates a folder and its parents; other users of the system cannot list it. */
export function createPrivateFolder(path: string): void {
  // If this process is root, PostgreSQL runs as another user, which has to pass through this folder.
  mkdirSync(path, { recursive: true, mode: process.getuid?.() === 0 ? 0o711 : 0o700 });
}

/**
 * Links a complete file into place: a crash leaves no half secret, and two processes that start at once get the same
 * one.
 */
function writeOnce(path: string, secret: string): string {
  const draft = `${path}.${systemRandom.uuid()}`;
  writeFileSync(draft, `${secret}\n`, { mode: ownerOnly, flag: 'wx', flush: true });
  try {
    linkSync(draft, path);
    return secret;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return readSecretFile(path) ?? secret;
  } finally {
    rmSync(draft);
  }
}
