import type { Sources } from './source-code.ts';

/** A violation, or an innocent file that looks like one, at the path where it was planted, and the problems found then. */
interface Judged {
  path: string;
  text: string;
  expected: string;
  problems: string[];
}

/**
 * Plants files in a house and judges it: all new files at once, each under a name of its own, because judging the house takes
 * a second; files that replace one of the house each by itself.
 */
export function judgePlanted(
  files: readonly (readonly [string, string, string?])[],
  house: Sources,
  findProblems: (sources: Sources) => string[],
): Judged[] {
  const cases = files.map(([path, text, expected = ''], index) => {
    const isNew = !house.has(path);
    return { path: isNew ? path.replace(/planted(?=\.\w+$)/, `planted${index}`) : path, text, expected, isNew };
  });
  const added = cases.filter(({ isNew }) => isNew).map(({ path, text }) => [path, text] as const);
  const found = findProblems(new Map([...house, ...added]));
  return cases.map((one) => ({
    ...one,
    problems: one.isNew
      ? found.filter((problem) => problem.includes(one.path))
      : findProblems(new Map([...house, [one.path, one.text]])),
  }));
}
