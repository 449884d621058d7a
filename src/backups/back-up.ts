import { createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { Client, escapeIdentifier } from 'pg';
import { systemClock } from '../lib/ports.ts';
import { copyOut } from '../postgres/copy.ts';
import { appliedMigrations } from '../postgres/migrations/index.ts';
import { readSequences, readTables, type Table } from './catalog.ts';
import { frameTypes, type BackupHeader } from './format.ts';
import { incomplete } from './incomplete.ts';
import type { Progress } from './reader.ts';
import type { SealedKey } from './sealed-key.ts';
import { BackupWriter } from './writer.ts';

/** The settings of a backup. */
export interface BackUpOptions {
  url: string;
  path: string;
  release: string;
  /** The sealed key that the backup carries; null for none. */
  key: SealedKey | null;
  progress: (part: number, text: string) => void;
}

/** A completed backup. */
export interface BackedUp {
  tables: number;
  rows: number;
  /** Bytes of the file. */
  bytes: number;
  sha256: string;
  /** Files in the object store, whose keys are listed in `objectsPath`. */
  objects: number;
}

// A migration holds its locks no longer.
const lockMs = 60_000;

/** The list of keys beside a backup. */
export function objectsPath(path: string): string {
  return `${path}.objects`;
}

/** Writes all rows of the database as they are at one moment. Writers are not disturbed; migrations wait. */
export async function backUp({ url, path, release, key, progress }: BackUpOptions): Promise<BackedUp> {
  const writer = await BackupWriter.open(path);
  const client = new Client({ connectionString: url, application_name: 'switchboard backup' });
  // A connection that breaks fails its statement, too.
  client.on('error', () => undefined);
  try {
    await client.connect();
    const tables = await beginSnapshot(client);
    const applied = await appliedMigrations(async (text) => (await client.query(text)).rows as never);
    const header: BackupHeader = {
      release,
      createdAt: systemClock.now().toISOString(),
      migrations: applied,
      tables: tables.length,
      key,
    };
    await writer.json(frameTypes.header, header);
    const rows = await writeTables(client, { tables, writer, progress });
    await writer.json(frameTypes.sequences, await readSequences(client));
    const objects = await listObjects(client, objectsPath(path));
    await client.query('COMMIT');
    const sha256 = await writer.finish();
    return { tables: tables.length, rows, bytes: writer.bytes, sha256, objects };
  } catch (error) {
    await writer.discard();
    throw incomplete(error, 'backup', 'No file was written.');
  } finally {
    await client.end().catch(() => undefined);
  }
}

// Tables are locked before the snapshot is taken: a migration between the two would show others.
async function beginSnapshot(client: Client): Promise<Table[]> {
  const tables = await readTables(client);
  await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
  await client.query(
    `SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0; SET LOCAL lock_timeout = ${lockMs}`,
  );
  await client.query(`LOCK TABLE ${tables.map(({ name }) => escapeIdentifier(name)).join(', ')} IN ACCESS SHARE MODE`);
  return tables;
}

async function writeTables(
  client: Client,
  { tables, writer, progress }: { tables: readonly Table[]; writer: BackupWriter; progress: BackUpOptions['progress'] },
): Promise<number> {
  const total = tables.reduce((sum, { bytes }) => sum + bytes, 0);
  let [before, all] = [0, 0];
  for (const table of tables) {
    const { name, bytes } = table;
    const parts: Progress = (part) => progress((before + part * bytes) / total, `Reading ${name}`);
    parts(0);
    all += await writeTable(client, { table, writer, parts });
    before += bytes;
  }
  return all;
}

async function writeTable(
  client: Client,
  { table: { name, columns, bytes }, writer, parts }: { table: Table; writer: BackupWriter; parts: Progress },
): Promise<number> {
  await writer.json(frameTypes.table, { name, columns });
  const list = columns.map(escapeIdentifier).join(', ');
  const copy = copyOut(client, `COPY ${escapeIdentifier(name)} (${list}) TO STDOUT`);
  let read = 0;
  for (;;) {
    const { done, value } = await copy.next();
    if (done) {
      await writer.json(frameTypes.tableEnd, { rows: value });
      return value;
    }
    await writer.rows(value);
    read += value.length;
    parts(Math.min(1, read / bytes));
  }
}

async function listObjects(client: Client, path: string): Promise<number> {
  const { rows } = await client.query<{ count: number }>('SELECT count(object_key)::int AS count FROM attachments');
  const count = rows[0]?.count ?? 0;
  if (count === 0) return 0;
  const keys = copyOut(
    client,
    'COPY (SELECT object_key FROM attachments WHERE object_key IS NOT NULL ORDER BY 1) TO STDOUT',
  );
  await pipeline(keys, createWriteStream(path, { mode: 0o600 }));
  return count;
}
