import type { TestApp } from './app.ts';

/** What a database holds: a table's name → a number that any insert, update or delete of its rows changes. */
export type Digest = Record<string, string>;

const statements = new WeakMap<TestApp, Promise<string>>();

// Every row version by its place and by the transaction that wrote it: this needs no look at what the row holds.
const ofTable = (name: string) =>
  `'${name}', (SELECT count(*) || ':' || coalesce(sum(hashtextextended(t.ctid::text || t.xmin::text, 0)), 0) FROM "${name}" t)`;

async function makeStatement(app: TestApp): Promise<string> {
  const tables = await app.query<{ name: string }>(
    `SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' ORDER BY tablename`,
  );
  return `SELECT json_build_object(${tables.map(({ name }) => ofTable(name)).join(', ')}) AS digest`;
}

/** Reads what the whole database holds now. */
export async function readDigest(app: TestApp): Promise<Digest> {
  const statement = statements.get(app) ?? makeStatement(app);
  statements.set(app, statement);
  const [row] = await app.query<{ digest: Digest }>(await statement);
  return row!.digest;
}

/** The tables in which two digests differ. */
export function changedTables(before: Digest, after: Digest): string[] {
  return Object.keys(before).filter((table) => before[table] !== after[table]);
}
