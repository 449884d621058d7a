import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import type { Home } from './home.ts';

/** Copies a template into an empty folder of the home's system user. Returns false where that is not possible. */
export async function copyTemplate(template: string, to: string, { user }: Home): Promise<boolean> {
  if (!existsSync(template)) return false;
  const owner = 'uid' in user ? `${user.uid}:${user.gid}` : '';
  const script = 'umask 077; cp -R "$1/." "$2" && { [ -z "$3" ] || chown -R "$3" "$2"; }';
  const child = spawn('/bin/sh', ['-c', script, 'sh', template, to, owner], { cwd: '/', stdio: 'ignore' });
  const { promise, resolve } = Promise.withResolvers<number | null>();
  child.on('error', () => resolve(null)).on('close', resolve);
  return (await promise) === 0;
}
