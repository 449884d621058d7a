import { codeOf, importsOf, isInside, type Sources } from './source-code.ts';

/** Statements that lock one small row by its id, as lockOne does. */
const ownLocks =
  /\bFROM\s+(?:accounts|agents|agent_bots|contacts|inboxes|labels|sla_policies|teams|users|webhooks)\s+WHERE\b(?:(?!\bANY\b)[^`'"])*?\b(?:id|user_id) = \$\d+ FOR UPDATE\b/;
/** Files that may lock or refuse small rows in their own way. */
export const ownWays: Readonly<Record<string, string>> = {
  'src/domain/small-rows.ts': 'what small resources have in common',
  'src/postgres/errors.ts': 'reads the errors of the database',
};

/** Small rows that are locked, paged or refused as duplicates without the functions of domain/small-rows.ts. */
export function findOwnWays(sources: Sources): string[] {
  const problems: string[] = [];
  for (const [path, text] of sources) {
    if (!path.startsWith('src/') || path.startsWith('src/postgres/migrations/') || ownWays[path]) continue;
    const code = codeOf(text);
    if (/\bbrokenUniqueConstraint\b/.test(code)) problems.push(`${path} reads unique violations: see uniqueOr422`);
    if (/\bLockMode\b/.test(code) || ownLocks.test(text)) problems.push(`${path} locks a small row: see lockOne`);
    if (/\bfindAndCount\b/.test(code)) problems.push(`${path} cuts a list into pages: see listPage`);
  }
  return problems;
}

const mapper = /^@mikro-orm\/|^kysely$/;
const entityModule = '@mikro-orm/core';

/** Users of MikroORM besides entities, the schema and the one file that hides it from verbs. */
export function findMapperUsers(sources: Sources): string[] {
  const problems: string[] = [];
  for (const [path, text] of sources) {
    if (!path.startsWith('src/') || path === 'src/domain/small-rows.ts') continue;
    if (path === 'src/postgres/migrate.ts' || isInside('src/postgres/migrations', path)) continue;
    const used = importsOf(path, text).filter(({ target }) => mapper.test(target));
    const isEntity = isInside('src/records', path) && used.every(({ target }) => target === entityModule);
    if (used.length > 0 && !isEntity) problems.push(`${path} uses MikroORM: see src/domain/small-rows.ts`);
  }
  return problems;
}
