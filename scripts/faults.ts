// npm run -s faults [-- --full --only=F3,F7 --json --seed=N --at-once=N]
// Does each fault of the matrix (docs/reliability.md) to a service of its own, with a real PostgreSQL, real processes and
// real receivers, and prints one table. The exit code is 1 when a verdict fails.
import { parseArgs } from 'node:util';
import { faults } from '../test/faults/matrix/matrix.ts';
import { runFaults } from '../test/faults/matrix/run.ts';
import { tableOf } from '../test/faults/matrix/table.ts';
import { stopPostgres } from '../test/support/postgres.ts';

const { values: options } = parseArgs({
  options: {
    full: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    only: { type: 'string' },
    seed: { type: 'string' },
    'at-once': { type: 'string' },
  },
});
const wanted = options.only?.split(',') ?? faults.map(({ id }) => id);
const unknown = wanted.filter((id) => !faults.some((fault) => fault.id === id));
if (unknown.length > 0) {
  console.error(`There is no ${unknown.join(', ')}. There are ${faults.map(({ id }) => id).join(', ')}.`);
  process.exit(2);
}
const seed = Number(options.seed ?? Date.now() % 1_000_000_007);
const atOnce = Number(options['at-once'] ?? (options.full ? 2 : 3));
console.error(`seed ${seed}`);
const begun = performance.now();
try {
  const outcomes = await runFaults(
    faults.filter(({ id }) => wanted.includes(id)),
    { isFull: options.full, seed, atOnce, tell: (line) => console.error(line) },
  );
  console.error(`in ${Math.round((performance.now() - begun) / 1000)} s`);
  console.log(options.json ? JSON.stringify(outcomes, null, 2) : tableOf(outcomes));
  if (outcomes.some(({ row }) => !row.isClean)) process.exitCode = 1;
} finally {
  await stopPostgres();
}
// Connections that a killed process left open are nobody's any more.
process.exit();
