import { readdirSync, readFileSync } from 'node:fs';

const pageBytes = 4096;
const ticksPerSecond = 100;

/** Usage of a tree of processes, without those of PostgreSQL. */
export interface Usage {
  /** Resident memory, in MB. */
  rssMb: number;
  /** Computing time since the processes began, in seconds. */
  cpuSeconds: number;
}

/** Looks at a process and all that descend from it; Linux only. */
export function usageOf(pid: number): Usage {
  const processes = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap(look);
  const total: Usage = { rssMb: 0, cpuSeconds: 0 };
  const add = (one: Seen): void => {
    if (one.name.startsWith('postgres')) return;
    total.rssMb += one.rssMb;
    total.cpuSeconds += one.cpuSeconds;
    for (const child of processes) if (child.parent === one.pid) add(child);
  };
  for (const seen of processes) if (seen.pid === pid) add(seen);
  return total;
}

interface Seen extends Usage {
  pid: number;
  parent: number;
  name: string;
}

// Fields are counted after the name, which is in brackets and may hold blanks.
function look(pid: string): Seen[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const field = (number: number): number => Number(fields[number - 3]);
    return [
      {
        pid: Number(pid),
        parent: field(4),
        name: stat.slice(stat.indexOf('(') + 1, stat.lastIndexOf(')')),
        rssMb: (field(24) * pageBytes) / 2 ** 20,
        cpuSeconds: (field(14) + field(15)) / ticksPerSecond,
      },
    ];
  } catch {
    // It ended meanwhile.
    return [];
  }
}
