import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { systemRandom } from './ports.ts';

const secretBytes = 32;
const ownerOnly = 0o600;

/** The secret that the file holds, without surrounding white space; null when there is no such file. Other faults throw. */
export function readSecretFile(path: string): string | null {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** Like readSecretFile; a missing file is made first, with 256 random bits as base64url, readable by its owner only. */
export function readOrCreateSecretFile(path: string): string {
  const existing = readSecretFile(path);
  if (existing !== null) return existing;
  createPrivateFolder(dirname(path));
  const secret = systemRandom.bytes(secretBytes).toString('base64url');
  return writeOnce(path, secret);
}

/** Makes a folder, and its parents, that other accounts cannot look into. */
export function createPrivateFolder(path: string): void {
  // Root hands the database to another account, which has to pass through this folder.
  mkdirSync(path, { recursive: true, mode: process.getuid?.() === 0 ? 0o711 : 0o700 });
}

/** A crash never leaves half a secret, and of two processes that start at once both get the same one. */
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
