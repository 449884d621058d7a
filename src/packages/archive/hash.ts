import { createHash } from 'node:crypto';

/** The hash that names what a plugin may do, by the text of its manifest, and what it does, by its code. */
export function hashOf(manifest: string, code: string): string {
  return createHash('sha256').update(`${manifest}\0${code}`).digest('hex');
}
