// Judges planted mistakes in copies of the project: a mistake is seen if one of its tests fails.
import { spawn, spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Mutant } from './mutant.ts';

const workers = 2;
const testMs = 300_000;

type Verdict = 'seen' | 'survived' | 'test fails anyway';

/** A mistake and what came of it. */
export interface Judged {
  mutant: Mutant;
  verdict: Verdict;
  seconds: number;
}

/** Judges mistakes, those with the same tests one after the other; tells each verdict at once. */
export async function judgeAll(
  root: string,
  mutants: readonly Mutant[],
  tell: (judged: Judged) => void,
): Promise<Judged[]> {
  // Mistakes with the same tests share one run without any mistake; the longest work comes first.
  const groups = [...Map.groupBy(mutants, ({ tests }) => tests.join()).values()];
  const queue = groups.sort((one, other) => other.length - one.length);
  const work = async (): Promise<Judged[]> => {
    const folder = copyProject(root);
    const judged: Judged[] = [];
    try {
      for (let group = queue.shift(); group; group = queue.shift())
        judged.push(...(await judgeGroup(folder, group, tell)));
      return judged;
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  };
  return (await Promise.all(Array.from({ length: workers }, work))).flat();
}

/** Copies the project's files; its packages are hard links, since the sandbox's permissions are about real paths. */
function copyProject(root: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'switchboard-mutants-'));
  const { stdout } = spawnSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '-z'], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 2 ** 24,
  });
  for (const name of stdout.split('\0').filter(Boolean)) cpSync(join(root, name), join(folder, name), { force: true });
  const modules = [join(root, 'node_modules'), join(folder, 'node_modules')] as const;
  if (spawnSync('cp', ['-al', ...modules]).status !== 0)
    cpSync(...modules, { recursive: true, verbatimSymlinks: true });
  return folder;
}

async function judgeGroup(folder: string, group: readonly Mutant[], tell: (judged: Judged) => void): Promise<Judged[]> {
  const [{ tests }] = group as [Mutant];
  const titles = group.some(({ only }) => only === undefined) ? [] : group.map(({ only }) => only ?? '');
  const passed = (await run(folder, tests, titles)) ?? [];
  const judged: Judged[] = [];
  for (const mutant of group) {
    const begun = performance.now();
    // Mocha fails if no title matches `only`, which would look like a mistake that was seen.
    const isFit = passed.some((title) => title.includes(mutant.only ?? ''));
    const verdict = isFit ? await judge(folder, mutant) : 'test fails anyway';
    const one = { mutant, verdict, seconds: Math.round((performance.now() - begun) / 1000) };
    tell(one);
    judged.push(one);
  }
  return judged;
}

async function judge(folder: string, { file, start, end, replacement, tests, only }: Mutant): Promise<Verdict> {
  const path = join(folder, file);
  const source = readFileSync(path, 'utf8');
  writeFileSync(path, source.slice(0, start) + replacement + source.slice(end));
  const passed = await run(folder, tests, only === undefined ? [] : [only]);
  writeFileSync(path, source);
  return passed === null ? 'seen' : 'survived';
}

/** Runs tests until one fails; returns the titles of those that passed, or null after a failure or too long a time. */
async function run(folder: string, tests: readonly string[], only: readonly string[]): Promise<string[] | null> {
  const { promise, resolve } = Promise.withResolvers<number | null>();
  const report = join(folder, 'report.json');
  const mocha = join(folder, 'node_modules/mocha/bin/mocha.js');
  const options = ['--bail', '--reporter', 'json', '--reporter-option', `output=${report}`];
  const grep = only.length > 0 ? ['--grep', only.map((part) => RegExp.escape(part)).join('|')] : [];
  const child = spawn(process.execPath, [mocha, ...tests, ...options, ...grep], {
    cwd: folder,
    stdio: 'ignore',
    detached: true,
  });
  const timer = setTimeout(() => process.kill(-(child.pid ?? 0), 'SIGKILL'), testMs);
  child.once('exit', resolve);
  const code = await promise;
  clearTimeout(timer);
  if (code !== 0) return null;
  const { passes } = JSON.parse(readFileSync(report, 'utf8')) as { passes: { fullTitle: string }[] };
  return passes.map(({ fullTitle }) => fullTitle);
}
