import { readFileSync, readlinkSync, realpathSync, writeFileSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** How a server ends: `fast` closes connections and writes everything down; `immediate` is a crash it recovers from. */
export type StopMode = 'fast' | 'immediate';

const stopSignals = { fast: 'SIGINT', immediate: 'SIGQUIT' } as const;
const pollMs = 20;
const patienceMs = 15_000;

/** Ends a server, less and less gently, and resolves once it is gone. */
export async function endServer(pid: number, mode: StopMode): Promise<void> {
  const steps = [stopSignals[mode], 'SIGQUIT', 'SIGKILL'] as const;
  for (const signal of steps) {
    if (!send(pid, signal)) return;
    if (await isGoneWithin(pid, patienceMs)) return;
  }
}

/**
 * Ends the server that an earlier process left running on the cluster when it was killed. Resolves with whether there
 * was one.
 */
export async function endLeftover(cluster: string): Promise<boolean> {
  const lockFile = join(cluster, 'postmaster.pid');
  const lines = readLines(lockFile);
  const pid = Number(lines[0]);
  if (!Number.isSafeInteger(pid) || pid <= 1 || !send(pid, 0)) return false;
  if (isServerOf(pid, cluster)) {
    await endServer(pid, 'fast');
    return true;
  }
  // The number belongs to another program now. A server takes its parent's number for a stale lock, and still checks
  // the rest of the file for survivors of the old server; without the file it could not.
  writeFileSync(lockFile, [process.pid, ...lines.slice(1)].join('\n'));
  return false;
}

function readLines(path: string): string[] {
  try {
    return readFileSync(path, 'utf8').split('\n');
  } catch {
    return [];
  }
}

function isServerOf(pid: number, cluster: string): boolean {
  if (process.platform !== 'linux') {
    return spawnSync('ps', ['-ww', '-o', 'command=', '-p', String(pid)], { encoding: 'utf8' }).stdout.includes(cluster);
  }
  try {
    // A server's working directory is its cluster.
    return readlinkSync(`/proc/${pid}/cwd`) === realpathSync(cluster);
  } catch {
    return false;
  }
}

/** Ended, but not yet noticed by its parent: where the first process of a container never looks, it stays so forever. */
function isZombie(pid: number): boolean {
  return process.platform === 'linux' && /\) Z /.test(readLines(`/proc/${pid}/stat`)[0] ?? ' ) Z ');
}

/** False when there is no such process. */
function send(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(pid, signal);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

async function isGoneWithin(pid: number, milliseconds: number): Promise<boolean> {
  for (let waited = 0; waited < milliseconds; waited += pollMs) {
    if (!send(pid, 0) || isZombie(pid)) return true;
    await sleep(pollMs);
  }
  return false;
}
