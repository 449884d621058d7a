import { importsOf, isInside, type Sources } from './source-code.ts';

/** What translations are made of: nothing that changes or stores anything. */
const rooms = ['src/compat', 'src/http', 'src/lib'];
const files = ['src/errors.ts', 'src/schemas.ts'];
/** The composition root is the only place that knows of other APIs' words. */
const root = 'src/app/parts/server.ts';

/** Code that knows of a profile, and profiles that know more than the routes' way of speaking. */
export function findCompatProblems(sources: Sources): string[] {
  const problems: string[] = [];
  for (const [path, text] of sources) {
    const imported = importsOf(path, text).filter(({ isFile }) => isFile);
    if (isInside('src/compat', path)) {
      const beyond = imported.filter(
        ({ target }) => !files.includes(target) && !rooms.some((room) => isInside(room, target)),
      );
      problems.push(...beyond.map(({ target }) => `${path} imports ${target}: a profile has no verbs and no records`));
      continue;
    }
    if (path === root) continue;
    const knows = imported.some(({ target }) => isInside('src/compat', target)) || /\bcompat\/\w/.test(text);
    if (knows) problems.push(`${path} knows of a profile`);
  }
  return problems;
}
