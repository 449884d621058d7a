import { readdirSync, readFileSync } from 'node:fs';

/** Linux counts processor time in hundredths of a second, on every machine. */
const tickMs = 10;

/**
 * Milliseconds of processor time of this process and of all that it has started, those that have ended included: the
 * services, commands, browsers and the database are most of what a test costs. Other systems than Linux do not tell this
 * of child processes: there, it is the time of this process alone.
 */
export function familyCpuMs(): number {
  if (process.platform === 'linux') return ticksOf('self') * tickMs;
  const { user, system } = process.cpuUsage();
  return Math.round((user + system) / 1000);
}

function ticksOf(pid: string): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The fields after the name, which may hold spaces; 11 to 14 are the times of the process and of its ended children.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const own = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
    return childrenOf(pid).reduce((sum, child) => sum + ticksOf(child), own);
  } catch {
    // It has ended since it was listed.
    return 0;
  }
}

function childrenOf(pid: string): string[] {
  return readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
    readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').split(' ').filter(Boolean),
  );
}
