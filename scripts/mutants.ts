// Plants mistakes, one at a time, in a copy of the project, and runs the test that must see each. Prints which were seen, and
// fails when fewer than nine in ten were, or a mistake can no longer be planted.
//   npm run mutants                  all
//   npm run mutants -- engine/ 34    those whose file contains the word, or with the number
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
  'test',
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

/** A copy of the project to plant mistakes in; its packages are the project's own. */
function copyProject(): string {
  const folder = mkdtempSync(join(tmpdir(), 'switchboard-mutants-'));
  for (const name of [...copied, ...alsoRead]) cpSync(join(root, name), join(folder, name), { recursive: true });
  // Not a symbolic link: the sandbox's permissions follow real paths. Hard links to its files cost nothing.
  const modules = [join(root, 'node_modules'), join(folder, 'node_modules')] as const;
  if (spawnSync('cp', ['-al', ...modules]).status !== 0)
    cpSync(...modules, { recursive: true, verbatimSymlinks: true });
  return folder;
}

/** Whether the test passes in the folder; one that takes too long does not. */
function passes(folder: string, { test, only }: Pick<Mutant, 'test' | 'only'>): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const mocha = join(folder, 'node_modules/mocha/bin/mocha.js');
  const child = spawn(process.execPath, [mocha, test, '--bail', ...(only ? ['--fgrep', only] : [])], {
    cwd: folder,
    stdio: 'ignore',
    detached: true,
  });
  const timer = setTimeout(() => process.kill(-(child.pid ?? 0), 'SIGKILL'), testMs);
  child.once('exit', (code) => {
    clearTimeout(timer);
    resolve(code === 0);
  });
  return promise;
}

const cleanRuns = new Map<string, Promise<boolean>>();

/** Whether the test passes without any mistake; asked once for each. */
function passesClean(folder: string, mutant: Mutant): Promise<boolean> {
  const key = `${mutant.test} ${mutant.only ?? ''}`;
  const known = cleanRuns.get(key) ?? passes(folder, mutant);
  cleanRuns.set(key, known);
  return known;
}

async function judge(folder: string, mutant: Mutant): Promise<Verdict> {
  const path = join(folder, mutant.file);
  const source = readFileSync(path, 'utf8');
  if (source.split(mutant.text).length !== 2) return 'not planted';
  if (!(await passesClean(folder, mutant))) return 'test fails anyway';
  writeFileSync(
    path,
    source.replace(mutant.text, () => mutant.replacement),
  );
  const survived = await passes(folder, mutant);
  writeFileSync(path, source);
  return survived ? 'survived' : 'seen';
}

async function work(queue: Numbered[], verdicts: Map<Numbered, Verdict>): Promise<void> {
  const folder = copyProject();
  try {
    for (let next = queue.shift(); next; next = queue.shift()) {
      const verdict = await judge(folder, next);
      verdicts.set(next, verdict);
      console.log(`${String(next.number).padStart(3)} ${verdict.padEnd(18)} ${next.file}: ${next.harm}`);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const words = process.argv.slice(2);
const numbered = mutants.map((mutant, index) => ({ ...mutant, number: index + 1 }));
const chosen = numbered.filter(
  ({ file, number }) => words.length === 0 || words.some((word) => file.includes(word) || String(number) === word),
);
const verdicts = new Map<Numbered, Verdict>();
const queue = [...chosen];
await Promise.all(Array.from({ length: workers }, () => work(queue, verdicts)));

const count = (wanted: Verdict) => [...verdicts.values()].filter((verdict) => verdict === wanted).length;
const seen = count('seen');
console.log(`\n${seen} of ${chosen.length} seen (${Math.floor((100 * seen) / Math.max(1, chosen.length))} %)`);
for (const [{ number, survives }, verdict] of verdicts) {
  if (verdict === 'survived') console.log(`  ${number} survived: ${survives ?? 'not explained'}`);
}
const unfit = count('not planted') + count('test fails anyway');
if (unfit > 0) console.log(`${unfit} could not be judged: mend their entries, or their tests`);
if (unfit > 0 || seen < wantedShare * chosen.length) process.exitCode = 1;
