import type { FileHandle } from 'node:fs/promises';
import { DatabaseError, escapeIdentifier, type Client } from 'pg';
import { OperatorError } from '../lib/operator-error.ts';
import { systemClock } from '../lib/ports.ts';
import { copyOut } from '../postgres/copy.ts';
import { appliedMigrations } from '../postgres/migrations/index.ts';
import { readSequences, readTables, type Table } from './catalog.ts';
import { frameTypes, type BackupHeader } from './format.ts';
import { incomplete } from './incomplete.ts';
import { NewFiles } from './new-files.ts';
import type { Progress } from './reader.ts';
import type { SealedKey } from './sealed-key.ts';
import { sqlOf, withSession } from './session.ts';
import { BackupWriter } from './writer.ts';

/** The settings of a backup. */
export interface BackUpOptions {
  url: string;
  path: string;
  release: string;
  /** The sealed key that the backup carries; null for none. */
  key: SealedKey | null;
  /** Whether the keys of files in the object store are listed beside the backup. */
  listsObjects: boolean;
  progress: (part: number, text: string) => void;
  /** Ends the backup, of which no file stays. */
  stopped: AbortSignal;
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
const undefinedTable = '42P01';

/** The list of keys beside a backup. */
export function objectsPath(path: string): string {
  return `${path}.objects`;
}

/** Writes all rows of the database as they are at one moment. Writers are not disturbed; migrations wait. */
export async function backUp(options: BackUpOptions): Promise<BackedUp> {
  const { url, path, listsObjects, stopped } = options;
  const files = new NewFiles();
  try {
    const writer = await BackupWriter.begin(await files.open(path));
    const list = listsObjects ? await files.open(objectsPath(path)) : null;
    const backedUp = await withSession({ url, name: 'switchboard backup', stopped }, (client) =>
      writeSnapshot(client, { ...options, writer, list }),
    );
    if (backedUp.objects === 0) await files.discard(objectsPath(path));
    await files.finish();
    return backedUp;
  } catch (error) {
    await files.discard();
    throw incomplete(error, 'backup', 'No file was written.');
  }
}

interface Snapshot extends Pick<BackUpOptions, 'release' | 'key' | 'progress'> {
  writer: BackupWriter;
  /** The file for the keys of objects. */
  list: FileHandle | null;
}

async function writeSnapshot(client: Client, { writer, list, release, key, progress }: Snapshot): Promise<BackedUp> {
  const tables = await beginSnapshot(client);
  const header: BackupHeader = {
    release,
    createdAt: systemClock.now().toISOString(),
    migrations: await appliedMigrations(sqlOf(client)),
    tables: tables.length,
    key,
  };
  await writer.json(frameTypes.header, header);
  const rows = await writeTables(client, { tables, writer, progress });
  await writer.json(frameTypes.sequences, await readSequences(client));
  const objects = list === null ? 0 : await listObjects(client, list);
  await client.query('COMMIT');
  return { tables: tables.length, rows, sha256: await writer.finish(), bytes: writer.bytes, objects };
}

// Tables are locked before the snapshot is taken: a migration between the two would show others.
async function beginSnapshot(client: Client): Promise<Table[]> {
  await client.query(`SET lock_timeout = ${lockMs}`);
  const tables = await readTables(client);
  await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
  const names = tables.map(({ name }) => escapeIdentifier(name));
  await client.query(`LOCK TABLE ${names.join(', ')} IN ACCESS SHARE MODE`).catch((error: unknown) => {
    throw error instanceof DatabaseError && error.code === undefinedTable ? migrated() : error;
  });
  const locked = await readTables(client);
  if (shapeOf(locked) !== shapeOf(tables)) throw migrated();
  return locked;
}

function shapeOf(tables: readonly Table[]): string {
  return JSON.stringify(tables.map(({ name, columns }) => [name, columns]));
}

function migrated(): OperatorError {
  return new OperatorError('A migration ran meanwhile: back up again.');
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

async function listObjects(client: Client, list: FileHandle): Promise<number> {
  const keys = copyOut(
    client,
    'COPY (SELECT object_key FROM attachments WHERE object_key IS NOT NULL ORDER BY 1) TO STDOUT',
  );
  for (;;) {
    const { done, value } = await keys.next();
    if (done) return value;
    await list.writeFile(value);
  }
}
