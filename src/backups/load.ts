import { Client, escapeIdentifier } from 'pg';
import { copyIn } from '../postgres/copy.ts';
import { readTables, setSequences } from './catalog.ts';
import { frameTypes, type Frame, type SequenceValues, type TableHead } from './format.ts';
import { rowsIn, type BackupReader } from './reader.ts';

/** Rows of a backup in a database. */
export interface Loaded {
  tables: number;
  rows: number;
  /** Tables of the backup that the service does not have. */
  leftOut: string[];
}

/** Called with the part that is done, from 0 to 1, and the table that is under way. */
type TellPart = (part: number, text: string) => void;

// A name that no server has: without it a copy could take itself for an installation that was not allowed to see its server's.
const unknownHome = `UPDATE installation SET system_identifier = coalesce(system_identifier, 'of the backup')`;

/**
 * Replaces all rows of a database, which has the migrations of the backup, in one transaction. Rows were checked by the
 * original's triggers and foreign keys: the first are off meanwhile, the second checked once at the end.
 */
export async function load(url: string, reader: BackupReader, progress: TellPart): Promise<Loaded> {
  const client = new Client({ connectionString: url, application_name: 'switchboard restore' });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query('BEGIN');
    const known = (await readTables(client)).map(({ name }) => name);
    const names = known.map(escapeIdentifier);
    for (const name of names) await client.query(`ALTER TABLE ${name} DISABLE TRIGGER USER`);
    const addKeys = await dropForeignKeys(client);
    await client.query(`TRUNCATE ${names.join(', ')}`);
    const loaded = await loadTables(client, reader, { known: new Set(known), progress });
    progress(1, 'Checking foreign keys');
    for (const statement of addKeys) await client.query(statement);
    for (const name of names) await client.query(`ALTER TABLE ${name} ENABLE TRIGGER USER`);
    await client.query(unknownHome);
    await client.query('COMMIT');
    await client.query('ANALYZE');
    return loaded;
  } finally {
    await client.end().catch(() => undefined);
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
  { known, progress }: { known: ReadonlySet<string>; progress: TellPart },
): Promise<Loaded> {
  const loaded: Loaded = { tables: 0, rows: 0, leftOut: [] };
  for (;;) {
    const frame = await reader.next();
    if (frame.type === frameTypes.sequences) {
      await setSequences(client, parse(frame) as SequenceValues);
      return loaded;
    }
    const head = parse(frame) as TableHead;
    progress(reader.part, `Writing ${head.name}`);
    const isKnown = known.has(head.name);
    const rows = await (isKnown ? loadTable(client, reader, head) : skipTable(reader));
    loaded.rows += rows;
    if (isKnown) loaded.tables += 1;
    else loaded.leftOut.push(head.name);
  }
}

async function loadTable(client: Client, reader: BackupReader, { name, columns }: TableHead): Promise<number> {
  const list = columns.map(escapeIdentifier).join(', ');
  const source = new TableRows(reader);
  const rows = await copyIn(client, `COPY ${escapeIdentifier(name)} (${list}) FROM STDIN`, source.chunks());
  if (rows !== source.rows) throw new Error(`${name} has ${rows} rows, and ${source.rows} in the backup`);
  return rows;
}

async function skipTable(reader: BackupReader): Promise<number> {
  const source = new TableRows(reader);
  for await (const _ of source.chunks());
  return 0;
}

class TableRows {
  /** As the backup counts them; known after the last chunk. */
  rows = 0;
  readonly #reader: BackupReader;

  constructor(reader: BackupReader) {
    this.#reader = reader;
  }

  async *chunks(): AsyncGenerator<Buffer> {
    for (;;) {
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
