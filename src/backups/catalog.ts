import { escapeIdentifier, type Client } from 'pg';
import type { SequenceValues, TableHead } from './format.ts';

/** A table, with the columns that are no functions of others, and the bytes that it occupies. */
export interface Table extends TableHead {
  bytes: number;
}

// The list of migrations is written by migrations alone.
const tablesStatement = `
  SELECT c.relname AS name, pg_table_size(c.oid)::float AS bytes, ARRAY(
    SELECT a.attname::text FROM pg_attribute a
    WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = '' ORDER BY a.attnum) AS columns
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE n.nspname = current_schema() AND c.relkind = 'r' AND c.relname <> 'migrations' ORDER BY c.relname`;

/** Returns the tables of the service. */
export async function readTables(client: Client): Promise<Table[]> {
  return (await client.query<Table>(tablesStatement)).rows;
}

// Migrations write rows into them.
const filledTables = new Set(['plugin_registry', 'report_progress']);

/** True if one of the tables has rows that no migration wrote. */
export async function hasRows(client: Client, names: readonly string[]): Promise<boolean> {
  const some = names
    .filter((name) => !filledTables.has(name))
    .map((name) => ` OR EXISTS (SELECT FROM ${escapeIdentifier(name)})`);
  const { rows } = await client.query<{ found: boolean }>(`SELECT false${some.join('')} AS found`);
  return rows[0]?.found ?? false;
}

/** Returns the values of all sequences: later ones than in a snapshot, since they belong to no transaction. */
export async function readSequences(client: Client): Promise<SequenceValues> {
  const { rows } = await client.query<{ name: string; value: string | null }>(
    `SELECT sequencename AS name, last_value::text AS value FROM pg_sequences WHERE schemaname = current_schema()`,
  );
  return Object.fromEntries(rows.map(({ name, value }) => [name, value]));
}

/** Sets sequences to the values of the backup. */
export async function setSequences(client: Client, values: SequenceValues): Promise<void> {
  await client.query(
    `SELECT setval(quote_ident(s.sequencename)::regclass, v.value::bigint) FROM jsonb_each_text($1::jsonb) v
     JOIN pg_sequences s ON s.sequencename = v.key AND s.schemaname = current_schema() WHERE v.value IS NOT NULL`,
    [JSON.stringify(values)],
  );
}
