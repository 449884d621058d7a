import { escapeIdentifier, type Client } from 'pg';
import { OperatorError } from '../lib/operator-error.ts';
import { databasePlace } from '../postgres/await-database.ts';
import { copyIn } from '../postgres/copy.ts';
import { hasRows, readTables, setSequences } from './catalog.ts';
import { frameTypes, type Frame, type SequenceValues, type TableHead } from './format.ts';
import { rowsIn, type BackupReader } from './reader.ts';
import { withSession } from './session.ts';

/** Rows of a backup in a database. */
export interface Loaded {
  tables: number;
  rows: number;
  /** Tables of the backup that the service does not have. */
  leftOut: string[];
}

/** The settings of a load. */
export interface LoadOptions {
  url: string;
  reader: BackupReader;
  /** Called with the part that is done, from 0 to 1, and the work that is under way. */
  progress: (part: number, text: string) => void;
  /** Ends the load, of which nothing stays. */
  stopped: AbortSignal;
}

// A number that no database has: without it a copy in a database of the same number could take itself for the original.
const noHome = 'UPDATE installation SET database_oid = 0';

/**
 * Fills a database, which has the migrations of the backup and no rows, in one transaction. Rows were checked by the
 * original's triggers and foreign keys: the first are off meanwhile, the second checked once at the end.
 */
export async function load(options: LoadOptions): Promise<Loaded> {
  const { url, progress, stopped } = options;
  return withSession({ url, name: 'switchboard restore', stopped }, async (client) => {
    const loaded = await loadAtOnce(client, options);
    await analyze(client, progress);
    return loaded;
  });
}

async function loadAtOnce(client: Client, { url, reader, progress }: LoadOptions): Promise<Loaded> {
  await client.query('BEGIN');
  const known = (await readTables(client)).map(({ name }) => name);
  const names = known.map(escapeIdentifier);
  await client.query(`LOCK TABLE ${names.join(', ')} IN ACCESS EXCLUSIVE MODE`);
  if (await hasRows(client, known)) throw usedDatabase(url);
  for (const name of names) await client.query(`ALTER TABLE ${name} DISABLE TRIGGER USER`);
  const addKeys = await dropForeignKeys(client);
  const loaded = await loadTables(client, reader, { known: new Set(known), progress });
  for (const [number, statement] of addKeys.entries()) {
    progress(1, `Checking foreign key ${number + 1} of ${addKeys.length}`);
    await client.query(statement);
  }
  for (const name of names) await client.query(`ALTER TABLE ${name} ENABLE TRIGGER USER`);
  await client.query(noHome);
  await client.query('COMMIT');
  return loaded;
}

/** Returns the error of a database that has rows. */
export function usedDatabase(url: string): OperatorError {
  return new OperatorError(
    `The database at ${databasePlace(url)} is not empty: drop it, or start it with --adopt if a move was cut short.`,
  );
}

// Everything is there by then; autovacuum collects the same statistics later.
async function analyze(client: Client, progress: LoadOptions['progress']): Promise<void> {
  try {
    progress(1, 'Collecting statistics');
    await client.query('ANALYZE');
  } catch {
    return;
  }
}

/** Drops all foreign keys; returns the statements that add them again. */
async function dropForeignKeys(client: Client): Promise<string[]> {
  const { rows } = await client.query<{ drop: string; add: string }>(`
    SELECT format('ALTER TABLE %s DROP CONSTRAINT %I', f.conrelid::regclass, f.conname) AS drop,
      format('ALTER TABLE %s ADD CONSTRAINT %I %s', f.conrelid::regclass, f.conname, pg_get_constraintdef(f.oid)) AS add
    FROM pg_constraint f JOIN pg_namespace n ON n.oid = f.connamespace
    WHERE f.contype = 'f' AND n.nspname = current_schema() ORDER BY f.conname`);
  for (const { drop } of rows) await client.query(drop);
  return rows.map(({ add }) => add);
}

async function loadTables(
  client: Client,
  reader: BackupReader,
  { known, progress }: { known: ReadonlySet<string>; progress: LoadOptions['progress'] },
): Promise<Loaded> {
  const loaded: Loaded = { tables: 0, rows: 0, leftOut: [] };
  for (;;) {
    const frame = await reader.next();
    if (frame.type === frameTypes.sequences) {
      await setSequences(client, parse(frame) as SequenceValues);
      return loaded;
    }
    const head = parse(frame) as TableHead;
    const isKnown = known.has(head.name);
    const source = new TableRows(reader, () => progress(reader.part, `Writing ${head.name}`));
    const rows = await (isKnown ? loadTable(client, source, head) : skipTable(source));
    loaded.rows += rows;
    if (isKnown) loaded.tables += 1;
    else loaded.leftOut.push(head.name);
  }
}

async function loadTable(client: Client, source: TableRows, { name, columns }: TableHead): Promise<number> {
  const list = columns.map(escapeIdentifier).join(', ');
  // Migrations may have filled it.
  await client.query(`TRUNCATE ${escapeIdentifier(name)}`);
  const rows = await copyIn(client, `COPY ${escapeIdentifier(name)} (${list}) FROM STDIN`, source.chunks());
  if (rows !== source.rows) throw new Error(`${name} has ${rows} rows, and ${source.rows} in the backup`);
  return rows;
}

async function skipTable(source: TableRows): Promise<number> {
  for await (const _ of source.chunks());
  return 0;
}

class TableRows {
  /** As the backup counts them; known after the last chunk. */
  rows = 0;
  readonly #reader: BackupReader;
  readonly #progress: () => void;

  constructor(reader: BackupReader, progress: () => void) {
    this.#reader = reader;
    this.#progress = progress;
  }

  async *chunks(): AsyncGenerator<Buffer> {
    for (;;) {
      this.#progress();
      const frame = await this.#reader.next();
      if (frame.type === frameTypes.rows) yield await rowsIn(frame);
      else {
        this.rows = (parse(frame) as { rows: number }).rows;
        return;
      }
    }
  }
}

function parse({ payload }: Frame): unknown {
  return JSON.parse(payload.toString());
}
