// Tests that a change most likely concerns: those that changed, that import what changed, or that share words of its path
// (`src/domain/contacts/merge.ts`: contacts, merge). Within a bound of time, nearest first; the rules of the whole
// house (architecture, schemas …) always.
import { spawnSync } from 'node:child_process';
import { dirname, join, normalize } from 'node:path';

/** Time of all chosen tests, in seconds of one worker; about three minutes on two cores. */
const usualBoundSeconds = 400;
const ofEveryChange = /^test\/[^/]+\.test\.ts$/;
const longOfEveryChange = /^test\/(?:fuzz|matrix|model)\.test\.ts$/;

/** The choice: all test files, the changed files, how long each test file takes, and the way to read a file. */
export interface Choice {
  files: readonly string[];
  changed: readonly string[];
  secondsOf: (file: string) => number;
  read: (file: string) => string;
  boundSeconds?: number;
}

/** Returns the chosen test files, nearest first. */
export function chooseChanged({ files, changed, secondsOf, read, boundSeconds = usualBoundSeconds }: Choice): string[] {
  const scores = files.map((file) => ({ file, score: nearness(file, changed, read) }));
  const near = scores.filter(({ score }) => score > 0).sort((one, other) => other.score - one.score);
  const chosen: string[] = [];
  let left = boundSeconds;
  for (const { file, score } of near) {
    left -= secondsOf(file);
    // A test that itself changed is never left out.
    if (left > 0 || score === Infinity) chosen.push(file);
  }
  return chosen;
}

/** Returns what differs from a commit, new files included. Throws if git knows no such commit. */
export function changedFiles(root: string, since: string): string[] {
  const git = (...args: string[]): string[] => {
    const { status, stdout, stderr } = spawnSync('git', args, { cwd: root, encoding: 'utf8' });
    if (status !== 0) throw new Error(stderr);
    return stdout.split('\n').filter(Boolean);
  };
  return [...git('diff', '--name-only', since), ...git('ls-files', '--others', '--exclude-standard')];
}

/** Returns how near a test is to the changes; 0 if it has nothing to do with them. */
function nearness(test: string, changed: readonly string[], read: Choice['read']): number {
  if (changed.length === 0) return 0;
  if (changed.includes(test)) return Infinity;
  const imported = importsOf(test, read);
  const direct = changed.filter((file) => imported.has(file)).length;
  const words = new Set(wordsOf(test));
  const shared = Math.max(0, ...changed.map((file) => wordsOf(file).filter((word) => words.has(word)).length));
  const always = ofEveryChange.test(test) && !longOfEveryChange.test(test) ? 1 : 0;
  return 4 * direct + 2 * shared + always;
}

/** Returns a test's own imports and those of its support files; the service itself, which most tests start, is not followed. */
function importsOf(test: string, read: Choice['read']): ReadonlySet<string> {
  const found = new Set<string>();
  const visit = (file: string): void => {
    for (const [, path = ''] of read(file).matchAll(/ from '(\.[^']+\.tsx?)'/g)) {
      const imported = normalize(join(dirname(file), path));
      if (found.has(imported)) continue;
      found.add(imported);
      if (imported.startsWith('test/') && !imported.endsWith('support/app.ts')) visit(imported);
    }
  };
  visit(test);
  return found;
}

const common = new Set(['src', 'test', 'web', 'ts', 'tsx', 'json', 'index', 'schemas', 'api', 'accounts', 'support']);

function wordsOf(path: string): string[] {
  const words = path.toLowerCase().split(/[^a-z0-9]+/);
  // `contact` and `contacts` are one word.
  return [...new Set(words.map((word) => word.replace(/s$/, '')))].filter(
    (word) => word.length > 2 && !common.has(word),
  );
}
