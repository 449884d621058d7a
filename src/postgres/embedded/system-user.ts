import { spawnSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { EmbeddedPostgresError } from './error.ts';

/** The user that PostgreSQL runs as, as options of `spawn`; empty = the user of this process. */
export type SystemUser = Record<string, never> | { uid: number; gid: number };

const probeTimeoutMs = 10_000;

/** True if this process is root; PostgreSQL refuses to run as root. */
export function isRoot(): boolean {
  return process.getuid?.() === 0;
}

/**
 * The system user for a cluster: the user of this process; if that is root, the owner of the existing cluster folder,
 * else the user `postgres`, else `nobody`. Throws if there is none, or if root has no right to switch to it.
 */
export function chooseSystemUser(clusterFolder: string): SystemUser {
  if (!isRoot()) return {};
  const user = ownerOf(clusterFolder) ?? findSystemUser('postgres') ?? findSystemUser('nobody');
  if (!user) throw new EmbeddedPostgresError(`${refusal} this system has neither. ${remedy}`);
  if (spawnSync('/bin/sh', ['-c', ':'], { ...user, cwd: '/', timeout: probeTimeoutMs }).error) {
    throw new EmbeddedPostgresError(`${refusal} this root has no right to act as another account. ${remedy}`);
  }
  return user;
}

const refusal = 'PostgreSQL refuses to run as root and needs the account "postgres" or "nobody", but';
const remedy = 'Start the service as an ordinary user, or set DATABASE_URL.';

/** True if the user can enter the folder, and so all folders above it. */
export function canEnter(folder: string, user: SystemUser): boolean {
  const options = { ...user, cwd: '/', timeout: probeTimeoutMs };
  return spawnSync('/bin/sh', ['-c', 'cd "$0"', folder], options).status === 0;
}

/** The name of the user in messages. */
export function describeSystemUser(user: SystemUser): string {
  if (!('uid' in user)) return 'this account';
  const entry = systemUsers().find(({ uid }) => uid === user.uid);
  return entry ? `the account "${entry.name}"` : `the account with id ${user.uid}`;
}

function ownerOf(folder: string): SystemUser | null {
  const stat = statSync(folder, { throwIfNoEntry: false });
  return stat && stat.uid !== 0 ? { uid: stat.uid, gid: stat.gid } : null;
}

function findSystemUser(name: string): SystemUser | null {
  const entry = systemUsers().find((candidate) => candidate.name === name);
  return entry && entry.uid !== 0 ? { uid: entry.uid, gid: entry.gid } : null;
}

/** The users in /etc/passwd. initdb refuses a user id without an entry there. */
function systemUsers(): { name: string; uid: number; gid: number }[] {
  return readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'))
    .map(([name = '', , uid, gid]) => ({ name, uid: Number(uid), gid: Number(gid) }));
}
