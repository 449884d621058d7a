import { parseSync } from 'oxc-parser';
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

const withoutSubject = /^[*\s]*(?:What|Who|Whoever|Whose|Of|Those|One|By)\b/;

// Cached, because planted violations are checked among the same files again and again.
const beginnings = new Map<string, string[]>();

/** Comments that begin with a word that names no subject: a reader has to finish the sentence to learn what it is about. */
export function findCommentsWithoutSubject(sources: Sources): string[] {
  return [...sources].flatMap(([path, text]) => {
    const found = beginnings.get(text) ?? beginningsOf(path, text).filter((comment) => withoutSubject.test(comment));
    beginnings.set(text, found);
    return found.map((comment) => `${path}: the comment "${comment.trim().slice(0, 40)}" begins without its subject`);
  });
}

// Leaves out line comments that go on with the line before.
function beginningsOf(path: string, text: string): string[] {
  const { comments } = parseSync(path, text);
  return comments
    .filter(({ type, start }, index) => {
      const before = comments[index - 1];
      return type !== 'Line' || before?.type !== 'Line' || text.slice(before.end, start).trim() !== '';
    })
    .map(({ value }) => value);
}
