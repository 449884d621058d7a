import type { TestApp } from './app.ts';

/** A fingerprint of a database: for each table a number that any insert, update or delete changes. */
export type Digest = Record<string, string>;

const statements = new WeakMap<TestApp, Promise<string>>();

// Hashes each row version's place and inserting transaction, without reading the row.
const ofTable = (name: string) =>
  `(SELECT count(*) || ':' || coalesce(sum(hashtextextended(t.ctid::text || t.xmin::text, 0)), 0) FROM "${name}" t)`;

async function makeStatement(app: TestApp): Promise<string> {
  const tables = await app.query<{ name: string }>(
    `SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' ORDER BY tablename`,
  );
  const names = tables.map(({ name }) => `'${name}'`).join(', ');
  return `SELECT json_object(ARRAY[${names}], ARRAY[${tables.map(({ name }) => ofTable(name)).join(', ')}]) AS digest`;
}

/** Computes the digest of the whole database. */
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
