// `npm run nightly [-- NAME …]`: every check that is too long for the suite, one after the other, with its time. Prints a
// table for docs/reliability.md; the exit code is 1 if one fails. The output of each goes to .nightly/NAME.log.
import { spawn } from 'node:child_process';
import { createWriteStream, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = join(root, '.nightly');

interface Check {
  name: string;
  what: string;
  args: readonly string[];
  env?: Record<string, string>;
}

const checks: readonly Check[] = [
  { name: 'suite', what: 'the suite', args: ['test'] },
  { name: 'fuzz', what: '20,000 requests of a new seed', args: ['run', 'fuzz'] },
  { name: 'mutants', what: 'the 150 planted mistakes of most harm', args: ['run', 'mutants'] },
  { name: 'drawn', what: '60 mistakes drawn anywhere', args: ['run', 'mutants', '--', '--draw', '--sample', '60'] },
  { name: 'faults', what: 'every fault, full profile', args: ['run', 'faults', '--', '--full'] },
  {
    name: 'soak',
    what: 'an hour of steady traffic',
    args: ['run', 'faults', '--', '--full', '--only=soak'],
    env: { SOAK_MINUTES: '60' },
  },
  {
    name: 'recovery',
    what: 'a million deliveries recovered',
    args: ['exec', '--', 'mocha', 'test/faults/large-recovery.test.ts'],
    env: { RECOVERED: '1000000' },
  },
  {
    name: 'feed',
    what: '200,000 events read from the feed',
    args: ['exec', '--', 'mocha', 'test/faults/feed-readers.test.ts'],
    env: { FEED_EVENTS: '200000' },
  },
  { name: 'bench', what: 'every benchmark', args: ['run', 'bench'] },
];

/** Runs a check; resolves with its exit code and the last line that it printed. */
async function run({ name, args, env = {} }: Check): Promise<{ code: number | null; last: string }> {
  const child = spawn('npm', args, { cwd: root, env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  const log = createWriteStream(join(folder, `${name}.log`));
  let tail = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.pipe(log, { end: false });
    stream.on('data', (chunk: Buffer) => (tail = (tail + chunk.toString()).slice(-2_000)));
  }
  const { promise, resolve } = Promise.withResolvers<number | null>();
  child.once('close', resolve);
  const code = await promise;
  log.end();
  return { code, last: tail.trimEnd().split('\n').at(-1) ?? '' };
}

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !checks.some((check) => check.name === name));
if (unknown.length > 0) {
  console.error(`There is no ${unknown.join(', ')}. There are ${checks.map(({ name }) => name).join(', ')}.`);
  process.exit(2);
}
mkdirSync(folder, { recursive: true });
console.log('| check | what | date | minutes | result |\n|---|---|---|---|---|');
for (const check of checks.filter(({ name }) => wanted.length === 0 || wanted.includes(name))) {
  const begun = performance.now();
  const { code, last } = await run(check);
  const minutes = ((performance.now() - begun) / 60_000).toFixed(1);
  const date = new Date().toISOString().slice(0, 10);
  console.log(
    `| ${check.name} | ${check.what} | ${date} | ${minutes} | ${code === 0 ? 'passed' : 'FAILED'}: ${last} |`,
  );
  if (code !== 0) process.exitCode = 1;
}
