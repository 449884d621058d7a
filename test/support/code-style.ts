import { codeOf, type Sources } from './source-code.ts';

/** Rooms with files that do not begin with what they export. A room without such files must leave the list. */
export const roomsWithBuriedExports: readonly string[] = ['src/deliveries', 'src/events', 'src/records', 'src/runs'];

// Names in braces are not matched: variables of the environment and constants of packages keep their names.
const upperCase = /\b(?:const|let|var|static(?:\s+readonly)?)\s+([A-Z][A-Z0-9_]+)\b/g;

/** Constants in UPPER_CASE: all names that the project defines are in camelCase. Released migrations stay as they are. */
export function findUpperCase(sources: Sources): string[] {
  return [...sources]
    .filter(([path]) => !path.startsWith('src/postgres/migrations/'))
    .flatMap(([path, text]) =>
      [...codeOf(text).matchAll(upperCase)].map(([, name]) => `${path}: ${name} is not in camelCase`),
    );
}

const topLevel = /^(export )?(?:default )?(?:abstract )?(?:async )?(?:function\b\*?|class) *(\w+)/gm;

/**
 * Files with a helper above their first exported function or class, outside of the excepted rooms; and excepted rooms
 * without such a file. A reader looks for the exports first.
 */
export function findBuriedExports(sources: Sources, rooms: readonly string[]): string[] {
  const problems = [...sources].flatMap(([path, text]) => {
    const [first, ...others] = [...codeOf(text).matchAll(topLevel)];
    const isBuried = first && !first[1] && others.some(([, exported]) => exported);
    return isBuried ? [{ path, problem: `${path}: the helper ${first[2]} stands above what the file exports` }] : [];
  });
  const found = problems.filter(({ path }) => !rooms.some((room) => path.startsWith(`${room}/`)));
  const unneeded = rooms.filter((room) => !problems.some(({ path }) => path.startsWith(`${room}/`)));
  return [
    ...found.map(({ problem }) => problem),
    ...unneeded.map((room) => `${room} has no such file any more: remove it from roomsWithBuriedExports`),
  ];
}
