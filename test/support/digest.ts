import type { TestApp } from './app.ts';

/** A fingerprint of a database: for each table a number that any insert, update or delete changes. */
export type Digest = Record<string, string>;

const statements = new WeakMap<TestApp, Promise<string>>();

/** The last digest of each service, with the snapshot that it was computed in. */
const latest = new WeakMap<TestApp, { snapshot: string; digest: Digest }>();

// Each row version's place and inserting transaction, without reading the row.
const version = 't.ctid::text || t.xmin::text';
// That a bot's token was used is stored later, and entries of the audit log are chained later, whatever the request came to: so
// these rows are read without that.
const versions: Readonly<Record<string, string>> = {
  agent_bots: `(to_jsonb(t) - 'token_last_used_at')::text`,
  audit_log: `(to_jsonb(t) - '{position,previous_hash,hash}'::text[])::text`,
};

const ofTable = (name: string) =>
  `SELECT '${name}' AS name, (SELECT count(*) || ':' || coalesce(sum(hashtextextended(${versions[name] ?? version}, 0)), 0) FROM "${name}" t) AS hash`;

async function makeStatement(app: TestApp): Promise<string> {
  const tables = await app.query<{ name: string }>(
    // Rows of the alarm clock change when an alarm rings, and reports are counted each minute, whatever a request did.
    `SELECT tablename AS name FROM pg_tables
     WHERE schemaname = 'public' AND tablename !~ '^(agenda_jobs$|audit_chains$|report_)' ORDER BY tablename`,
  );
  const hashes = tables.map(({ name }) => ofTable(name)).join(' UNION ALL ');
  return `SELECT pg_current_snapshot()::text AS snapshot, json_object_agg(name, hash) AS digest FROM (${hashes}) hashes`;
}

/** Returns the digest of the whole database, computed anew only if a transaction that may have written has ended since. */
export async function readDigest(app: TestApp): Promise<Digest> {
  const known = latest.get(app);
  const [current] = await app.query<{ snapshot: string }>('SELECT pg_current_snapshot()::text AS snapshot');
  if (known && known.snapshot === current!.snapshot) return known.digest;
  const statement = statements.get(app) ?? makeStatement(app);
  statements.set(app, statement);
  const [row] = await app.query<{ snapshot: string; digest: Digest }>(await statement);
  latest.set(app, row!);
  return row!.digest;
}

/** The tables in which two digests differ. */
export function changedTables(before: Digest, after: Digest): string[] {
  return Object.keys(before).filter((table) => before[table] !== after[table]);
}
