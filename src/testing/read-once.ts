import { readdirSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { readPackage, type ReadPackage } from '../packages/read/read.ts';

const known = new Map<string, { state: string; reading: Promise<ReadPackage> }>();

/** Reads a package; again only after a change of its files, since each test of a bot reads it. */
export function readOnce(directory: string): Promise<ReadPackage> {
  const path = resolve(directory);
  const state = stateOf(path);
  const found = known.get(path);
  if (found?.state === state) return found.reading;
  const reading = readPackage(path);
  known.set(path, { state, reading });
  return reading;
}

/** Names, sizes and times of the package's files; of a folder that cannot be read, nothing. */
function stateOf(path: string): string {
  try {
    const files = readdirSync(path).filter((name) => name !== 'node_modules');
    return files.map((name) => describe(join(path, name))).join('\n');
  } catch {
    return '';
  }
}

function describe(path: string): string {
  const found = statSync(path);
  const inner = found.isDirectory() ? `\n${stateOf(path)}` : '';
  return `${path} ${found.size} ${found.mtimeMs} ${found.ino}${inner}`;
}
