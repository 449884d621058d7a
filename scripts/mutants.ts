// Mutation testing: plants mistakes, one at a time, in a copy of the project and runs tests that should notice. Prints each
// verdict; fails if fewer than nine in ten were seen. Not part of the suite, because it takes a quarter of an hour.
//   npm run mutants                        the mistakes of most harm (test/mutants.json)
//   npm run mutants -- deliveries          those in files whose path contains the word
//   npm run mutants -- --changed [REF]     30 drawn by chance in the files that changed since REF (the last commit)
//   npm run mutants -- --draw src/runs     30 drawn by chance in files whose path contains the word
// With --sample N and --seed N: how many are drawn, and the same ones again.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { changedFiles, chooseChanged } from './changed-tests.ts';
import { changesOf, sample } from './mutants/draw.ts';
import { judgeAll, type Judged } from './mutants/judge.ts';
import { PlantedMutants, type Mutant, type PlantedMutant } from './mutants/mutant.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const wantedShare = 0.9;
/** Time of the tests that judge a drawn mistake, nearest first, in seconds of a quiet machine. */
const judgingSeconds = 90;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    changed: { type: 'boolean' },
    draw: { type: 'boolean' },
    sample: { type: 'string', default: '30' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  },
});
const read = (file: string): string => readFileSync(join(root, file), 'utf8');

function planted(): Mutant[] {
  const rooms = JSON.parse(read('test/mutants.json')) as Record<string, PlantedMutant[]>;
  const places = new PlantedMutants(root);
  const found = Object.values(rooms)
    .flat()
    .map((mutant) => places.find(mutant));
  const problems = found.flatMap((one) => ('problem' in one ? [one.problem] : []));
  if (problems.length > 0) throw new Error(`Mend test/mutants.json:\n${problems.join('\n')}`);
  const mutants = found.flatMap((one) => ('problem' in one ? [] : [one]));
  return mutants.filter(({ file }) => positionals.length === 0 || positionals.some((word) => file.includes(word)));
}

function drawn(files: readonly string[]): Mutant[] {
  const tests = globSync('test/**/*.test.ts', { cwd: root });
  const seconds = JSON.parse(read('test/durations.json')) as Record<string, number>;
  const secondsOf = (file: string): number => seconds[file] ?? 20;
  const changes = files.flatMap((file) => changesOf(file, read(file)).map((change) => ({ file, ...change })));
  console.log(`${values.sample} of ${changes.length} possible mistakes in ${files.length} files, seed ${values.seed}`);
  return sample(changes, Number(values.sample), Number(values.seed)).map((change) => {
    const source = read(change.file);
    const line = source.slice(0, change.start).split('\n').length;
    const before = source.slice(change.start, change.end).replaceAll(/\s+/g, ' ');
    return {
      ...change,
      tests: chooseChanged({ files: tests, changed: [change.file], secondsOf, read, boundSeconds: judgingSeconds }),
      harm: `line ${line}: ${before.slice(0, 70)} → ${change.replacement.replaceAll(/\s+/g, ' ').slice(0, 70) || 'nothing'}`,
    };
  });
}

function choose(): Mutant[] {
  const isSource = (file: string): boolean =>
    /^(?:src|web|plugins)\/.*\.tsx?$/.test(file) && !file.includes('/migrations/');
  if (values.changed) return drawn(changedFiles(root, positionals[0] ?? 'HEAD').filter(isSource));
  if (!values.draw) return planted();
  const all = globSync(['src/**/*.ts', 'web/**/*.{ts,tsx}', 'plugins/**/*.ts'], { cwd: root }).filter(isSource);
  return drawn(all.filter((file) => positionals.length === 0 || positionals.some((word) => file.includes(word))));
}

function tell({ mutant, verdict, seconds }: Judged): void {
  console.log(`${verdict.padEnd(18)} ${`${seconds} s`.padStart(5)}  ${mutant.file}: ${mutant.harm}`);
}

const begun = performance.now();
const judged = await judgeAll(root, choose(), tell);
const seen = judged.filter(({ verdict }) => verdict === 'seen').length;
const unfit = judged.filter(({ verdict }) => verdict === 'test fails anyway').length;
const share = seen / Math.max(1, judged.length - unfit);
const minutes = Math.round((performance.now() - begun) / 60_000);
console.log(`\n${seen} of ${judged.length} seen (${Math.floor(100 * share)} %), in ${minutes} min`);
if (unfit > 0) console.log(`${unfit} could not be judged: their tests fail without them`);
if (share < wantedShare) process.exitCode = 1;
