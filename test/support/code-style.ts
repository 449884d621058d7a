import { codeOf, type Sources } from './source-code.ts';

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

/** Files with a helper above their first exported function or class: a reader looks for the exports first. */
export function findBuriedExports(sources: Sources): string[] {
  return [...sources].flatMap(([path, text]) => {
    const [first, ...others] = [...codeOf(text).matchAll(topLevel)];
    const isBuried = first && !first[1] && others.some(([, exported]) => exported);
    return isBuried ? [`${path}: the helper ${first[2]} stands above what the file exports`] : [];
  });
}
