import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import type { Random } from '../lib/ports.ts';

// The range of systemd's dynamic users: no installer gives an id in it to a permanent user.
const firstUserId = 61_184;
const lastUserId = 65_519;
// RLIMIT_NPROC counts threads. V8, libuv and isolated-vm start a few for each processor.
const processesOfOwnUser = 64 + 4 * availableParallelism();
// RLIMIT_NPROC counts all processes of a user: without root, the child shares the user of the service.
const processesOfSharedUser = 8192;
// RLIMIT_AS counts address space that V8 and the C library reserve and never use: about 11 GiB on two processors, more
// with each further thread.
const reservedMb = 16_384 + 256 * availableParallelism();

/**
 * A number that is neither a user id nor a group id of this system, for one child to run as: such a user owns no file
 * and no other process (PostgreSQL's, for example). Only root can switch to it.
 */
export function chooseUserId(random: Random): number {
  const taken = new Set([...idsOf('/etc/passwd'), ...idsOf('/etc/group')]);
  const free = Array.from({ length: lastUserId - firstUserId + 1 }, (_, index) => firstUserId + index).filter(
    (id) => !taken.has(id),
  );
  return free[Math.floor(random.fraction() * free.length)] ?? lastUserId;
}

// `;` lets the shell go on where a limit cannot be set: macOS has none on address space, and shells differ in the
// option for processes. `ulimit` sets the soft and the hard limit, so that the child cannot raise them. `env -i` clears
// what the shell adds to the environment; only TZ is set, because a bot's dates must not depend on where the service
// runs.
const script =
  'ulimit -c 0; ulimit -v "$1"; ulimit -u "$2" || ulimit -p "$2"; ulimit -t "$3"; shift 3; exec env -i TZ=UTC "$@"';

/**
 * The command that runs a program in an empty environment under limits of the operating system: no core files, address
 * space of `maxRssMb` MiB above what V8 reserves, a maximum of processes and threads, and `cpuSeconds` of processor
 * time.
 */
export function limitedCommand(
  command: readonly string[],
  maxRssMb: number,
  cpuSeconds: number | 'unlimited' = 'unlimited',
): [string, string[]] {
  const processes = process.getuid?.() === 0 ? processesOfOwnUser : processesOfSharedUser;
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
