import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import type { Random } from '../lib/ports.ts';

// The range that systemd gives to services which need an account for as long as they run: no installer takes an id in it.
const firstAccount = 61_184;
const lastAccount = 65_519;
// Threads count as processes. V8, libuv and isolated-vm start a few for each processor.
const processesOfOwnAccount = 64 + 4 * availableParallelism();
// Whatever else runs under the account of the service counts too.
const processesOfSharedAccount = 8192;
// V8 and the C library reserve addresses that they never use: about 11 GiB on two processors, more with each further thread.
const reservedMb = 16_384 + 256 * availableParallelism();

/**
 * A number that is nobody's user id and nobody's group id, to run one child as: it owns no file and no other process,
 * PostgreSQL's included. Only root can become it.
 */
export function chooseUserId(random: Random): number {
  const taken = new Set([...idsOf('/etc/passwd'), ...idsOf('/etc/group')]);
  const free = Array.from({ length: lastAccount - firstAccount + 1 }, (_, index) => firstAccount + index).filter(
    (id) => !taken.has(id),
  );
  return free[Math.floor(random.fraction() * free.length)] ?? lastAccount;
}

// A shell that cannot set a limit goes on without it: macOS knows none on addresses, and shells name the one on processes
// differently. Soft and hard limits both, so that the child cannot raise them. A shell adds to the environment, env clears
// it; UTC is all the child is told: a bot's dates must not depend on where the service runs.
const script =
  'ulimit -c 0; ulimit -v "$1"; ulimit -u "$2" || ulimit -p "$2"; ulimit -t "$3"; shift 3; exec env -i TZ=UTC "$@"';

/**
 * The command that runs a program in an empty environment, under limits of the operating system: no core files, addresses
 * for `maxRssMb` MiB beside what V8 reserves, and a bound on processes and threads of the account; with `cpuSeconds`, on
 * computing time too.
 */
export function limitedCommand(
  command: readonly string[],
  maxRssMb: number,
  cpuSeconds: number | 'unlimited' = 'unlimited',
): [string, string[]] {
  const processes = process.getuid?.() === 0 ? processesOfOwnAccount : processesOfSharedAccount;
  const addressKb = (reservedMb + maxRssMb) * 1024;
  return ['/bin/sh', ['-c', script, 'sandbox', String(addressKb), String(processes), String(cpuSeconds), ...command]];
}

function idsOf(file: string): Set<number> {
  try {
    return new Set(
      readFileSync(file, 'utf8')
        .split('\n')
        .map((line) => Number(line.split(':')[2])),
    );
  } catch {
    return new Set();
  }
}
