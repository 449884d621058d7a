// Mutation testing: plants mistakes (test/mutants), one at a time, in a copy of the project and runs the test that must
// fail. Prints which mistakes were seen; fails if fewer than nine in ten were, or if one cannot be planted or tested.
// Not part of the suite, because it takes about a quarter of an hour.
//   npm run mutants                  all
//   npm run mutants -- deliveries/ 34    those whose file name contains the word, and the one with the number
import { spawn, spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { mutants } from '../test/mutants/index.ts';
import type { Mutant } from '../test/mutants/mutant.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const copied = [
  'bin',
  'bots',
  'bench',
  'plugins',
  'schemas',
  'scripts',
  'src',
  'templates',
  'test',
  'web',
  '.mocharc.json',
  'package.json',
];
const alsoRead = ['package-lock.json', 'README.md', 'ARCHITECTURE.md', 'tsconfig.json', '.node-version', 'Dockerfile'];
const workers = 2;
const testMs = 180_000;
const wantedShare = 0.9;

type Verdict = 'seen' | 'survived' | 'not planted' | 'test fails anyway';

interface Numbered extends Mutant {
  number: number;
}

interface Judged extends Numbered {
  verdict: Verdict;
}

/** Copies the project, to plant mistakes in the copy; its packages are hard links to the project's. */
function copyProject(): string {
  const folder = mkdtempSync(join(tmpdir(), 'switchboard-mutants-'));
  for (const name of [...copied, ...alsoRead]) cpSync(join(root, name), join(folder, name), { recursive: true });
  // Hard links, not a symbolic one: the sandbox's file permissions are about real paths.
  const modules = [join(root, 'node_modules'), join(folder, 'node_modules')] as const;
  if (spawnSync('cp', ['-al', ...modules]).status !== 0)
    cpSync(...modules, { recursive: true, verbatimSymlinks: true });
  return folder;
}

function pattern(titles: readonly string[]): string {
  return titles.map((title) => title.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')).join('|');
}

/**
 * Runs a test file; returns the titles of the passed tests, or null after a failure or timeout. `only` filters titles.
 */
async function run(folder: string, test: string, only: readonly string[]): Promise<string[] | null> {
  const { promise, resolve } = Promise.withResolvers<number | null>();
  const report = join(folder, 'report.json');
  const mocha = join(folder, 'node_modules/mocha/bin/mocha.js');
  const options = ['--bail', '--reporter', 'json', '--reporter-option', `output=${report}`];
  const args = [mocha, test, ...options, ...(only.length > 0 ? ['--grep', pattern(only)] : [])];
  const child = spawn(process.execPath, args, { cwd: folder, stdio: 'ignore', detached: true });
  const timer = setTimeout(() => process.kill(-(child.pid ?? 0), 'SIGKILL'), testMs);
  child.once('exit', resolve);
  const code = await promise;
  clearTimeout(timer);
  if (code !== 0) return null;
  const { passes } = JSON.parse(readFileSync(report, 'utf8')) as { passes: { fullTitle: string }[] };
  return passes.map(({ fullTitle }) => fullTitle);
}

async function judge(folder: string, mutant: Mutant): Promise<Verdict> {
  const path = join(folder, mutant.file);
  const source = readFileSync(path, 'utf8');
  if (source.split(mutant.text).length !== 2) return 'not planted';
  writeFileSync(
    path,
    source.replace(mutant.text, () => mutant.replacement),
  );
  const passed = await run(folder, mutant.test, mutant.only === undefined ? [] : [mutant.only]);
  writeFileSync(path, source);
  return passed === null ? 'seen' : 'survived';
}

/** Tests the mistakes that one test file must see, after a run without any mistake has passed. */
async function judgeGroup(folder: string, group: readonly Numbered[]): Promise<Judged[]> {
  const [{ test }] = group as [Numbered];
  const only = new Set(group.map((mutant) => mutant.only ?? ''));
  const passed = (await run(folder, test, only.has('') ? [] : [...only])) ?? [];
  const judged: Judged[] = [];
  for (const mutant of group) {
    const begun = performance.now();
    // Mocha fails if no title matches `only`, which would look like a mistake that was seen.
    const isFit = passed.some((title) => title.includes(mutant.only ?? ''));
    const verdict = isFit ? await judge(folder, mutant) : 'test fails anyway';
    const seconds = `${Math.round((performance.now() - begun) / 1000)} s`;
    console.log(
      `${String(mutant.number).padStart(3)} ${verdict.padEnd(18)} ${seconds.padStart(5)}  ${mutant.file}: ${mutant.harm}`,
    );
    judged.push({ ...mutant, verdict });
  }
  return judged;
}

async function work(queue: Numbered[][]): Promise<Judged[]> {
  const folder = copyProject();
  const judged: Judged[] = [];
  try {
    for (let next = queue.shift(); next; next = queue.shift()) judged.push(...(await judgeGroup(folder, next)));
    return judged;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const words = process.argv.slice(2);
const begun = performance.now();
const chosen = mutants
  .map((mutant, index): Numbered => ({ ...mutant, number: index + 1 }))
  .filter(
    ({ file, number }) => words.length === 0 || words.some((word) => file.includes(word) || String(number) === word),
  );
// The mistakes of one test file share its run without mistakes; the longest work comes first.
const groups = [...Map.groupBy(chosen, ({ test }) => test).values()].sort((one, other) => other.length - one.length);
const judged = (await Promise.all(Array.from({ length: workers }, () => work(groups)))).flat();

const folderOf = ({ file }: Mutant): string => file.split('/').slice(1, -1).join('/') || 'app root';
const seenOf = (some: readonly Judged[]): number => some.filter(({ verdict }) => verdict === 'seen').length;
console.log();
for (const [folder, some] of Map.groupBy(judged, folderOf)) console.log(`${folder}: ${seenOf(some)} of ${some.length}`);
const share = seenOf(judged) / Math.max(1, judged.length);
const minutes = Math.round((performance.now() - begun) / 60_000);
console.log(`${seenOf(judged)} of ${judged.length} seen (${Math.floor(100 * share)} %), in ${minutes} min`);
for (const { number, survives, verdict } of judged) {
  if (verdict === 'survived') console.log(`  ${number} survived: ${survives ?? 'not explained'}`);
}
const unfit = judged.filter(({ verdict }) => verdict === 'not planted' || verdict === 'test fails anyway').length;
if (unfit > 0) console.log(`${unfit} could not be judged: mend their entries, or their tests`);
if (unfit > 0 || share < wantedShare) process.exitCode = 1;
