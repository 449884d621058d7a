// `npm test`: runs the suite in two mocha processes at once, each with a PostgreSQL of its own, because many tests only
// wait, for retries, restarts and processes. Passes arguments after `--` to both. What failed is printed once more at the
// end, because a log that is cut keeps its end; the last line is the sum of the results.
import { spawn } from 'node:child_process';
import { globSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const mocha = fileURLToPath(new URL('../node_modules/mocha/bin/mocha.js', import.meta.url));
/** Tests that start, kill and pause processes, and mostly wait. */
const patient = /^test\/(?:faults|boot)\//;
const result = /^(\d+) passed, (\d+) failed$/m;
const failures = /^.*\d+ failing[^]*?(?=^\d+ passed, \d+ failed$)/m;

interface Outcome {
  code: number;
  passed: number;
  failed: number;
  output: string;
}

/** Runs test files in one process; `show` prints its output at once. */
function run(files: readonly string[], { show }: { show: boolean }): Promise<Outcome> {
  const { promise, resolve } = Promise.withResolvers<Outcome>();
  const stdio = ['ignore', 'pipe', 'pipe'] as const;
  const child = spawn(process.execPath, [mocha, ...process.argv.slice(2), ...files], { cwd: root, stdio: [...stdio] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk: Buffer) => {
      output += chunk.toString();
      if (show) process.stdout.write(chunk);
    });
  }
  child.once('close', (code) => {
    const [, passed = '0', failed = '0'] = result.exec(output) ?? [];
    resolve({ code: code ?? 1, passed: Number(passed), failed: Number(failed), output });
  });
  return promise;
}

const files = globSync('test/**/*.test.ts', { cwd: root }).sort();
const halves = [files.filter((file) => patient.test(file)), files.filter((file) => !patient.test(file))] as const;
// In CI the halves run one after the other: on a busy machine, tests with timeouts of seconds could fail.
const begun = run(halves[0], { show: true });
if (process.env['CI'] === 'true') await begun;
const [first, second] = await Promise.all([begun, run(halves[1], { show: false })]);
process.stdout.write(second.output);
for (const half of [first, second]) {
  if (half.code !== 0) console.log(failures.exec(half.output)?.[0] ?? half.output.slice(-4000));
}
console.log(`\n${first.passed + second.passed} passed, ${first.failed + second.failed} failed`);
process.exitCode = first.code === 0 && second.code === 0 ? 0 : 1;
