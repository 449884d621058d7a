import { readFileSync, readlinkSync, realpathSync, writeFileSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * PostgreSQL's shutdown modes: `fast` closes connections and writes a checkpoint; `immediate` is a controlled crash.
 */
export type StopMode = 'fast' | 'immediate';

const stopSignals = { fast: 'SIGINT', immediate: 'SIGQUIT' } as const;
const pollMs = 20;
const patienceMs = 15_000;

/** Ends a server with the signals SIGINT (if `fast`), SIGQUIT and SIGKILL in turn, until it has ended. */
export async function endServer(pid: number, mode: StopMode): Promise<void> {
  const steps = [stopSignals[mode], 'SIGQUIT', 'SIGKILL'] as const;
  for (const signal of steps) {
    if (!send(pid, signal)) return;
    if (await isGoneWithin(pid, patienceMs)) return;
  }
}

/**
 * Ends a server that a killed service left running on the cluster. Returns whether there was one.
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
  // Another program has got this process id, so that a new server would refuse to start. It ignores a lock file with
  // its parent's id. The file must not be deleted: its other lines let the new server find surviving children of the
  // old one.
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
    // The working directory of a PostgreSQL server is its cluster.
    return readlinkSync(`/proc/${pid}/cwd`) === realpathSync(cluster);
  } catch {
    return false;
  }
}

/** True for a process that has ended, but was not reaped: in a container whose first process never does, for ever. */
function isZombie(pid: number): boolean {
  return process.platform === 'linux' && /\) Z /.test(readLines(`/proc/${pid}/stat`)[0] ?? ' ) Z ');
}

/** Sends a signal. False if there is no such process. */
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
