// `npm run fuzz -- --requests N [--seed S]`: runs the fuzzer of the test suite. The exit code is 1 after a violation.
import { parseArgs } from 'node:util';
import { TestApp } from '../test/support/app.ts';
import { Fuzzer } from '../test/support/fuzz/fuzz.ts';
import { stopPostgres } from '../test/support/postgres.ts';

const { values } = parseArgs({ options: { requests: { type: 'string', default: '20000' }, seed: { type: 'string' } } });
const seed = Number(values.seed ?? Date.now() % 1_000_000_000);
const app = await TestApp.start({ engine: false });
try {
  const { requests, statuses, violations, comparedBatches } = await new Fuzzer(app, seed).run(Number(values.requests));
  console.log(
    `seed ${seed}: ${requests} requests, ${JSON.stringify(statuses)}, ${comparedBatches} refused batches compared`,
  );
  for (const violation of violations) console.error(violation);
  console.log(`${violations.length} violations`);
  if (violations.length > 0) process.exitCode = 1;
} finally {
  await app.stop();
  await stopPostgres();
}
