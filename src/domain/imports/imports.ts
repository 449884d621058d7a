import type { Transaction } from '../../events/transaction.ts';
import { moment, type Sql } from '../../postgres/sql.ts';
import { lockAccount } from '../people/seats.ts';

/** Kinds of records that are copied one by one. */
export type ImportedKind =
  | 'inbox'
  | 'agent'
  | 'author'
  | 'team'
  | 'label'
  | 'attribute_definition'
  | 'canned_response'
  | 'webhook'
  | 'channel_webhook'
  | 'automation_rule'
  | 'macro'
  | 'contact'
  | 'conversation';

/** State of the copy of a record. */
export interface Imported {
  /** Id in the source. */
  foreignId: number;
  /** Id here, also if the record was deleted since. */
  localId: number;
  /** Version of the record when it was last read, in any form that changes with it; null if it was found or erased here. */
  version: string | null;
  /** For a conversation: source id of the last copied message. */
  cursor: number;
  /** For a conversation: whether its messages were copied to the end; for a contact: whether its notes were. */
  complete: boolean;
  writtenAt: Date;
}

interface Row {
  foreign_id: number;
  local_id: number;
  version: string | null;
  cursor: number;
  complete: boolean;
  written_at: string;
}

/** An import of the account. */
export interface Import {
  id: number;
  /** Source of the copies, such as the address of an account there. */
  source: string;
}

/** Returns the imports of the account. Locks the account until the transaction ends, so that none begins meanwhile. */
export async function listImports(tx: Transaction): Promise<Import[]> {
  await lockAccount(tx);
  const statement = 'SELECT id, source FROM imports WHERE account_id = $1 ORDER BY id';
  return tx.sql<Import>(statement, [tx.account.id]);
}

/** Begins an import that the account does not have; returns its id. */
export async function beginImport(tx: Transaction, source: string): Promise<number> {
  const rows = await tx.sql<{ id: number }>(
    'INSERT INTO imports (account_id, source, created_at) VALUES ($1, $2, $3) RETURNING id',
    [tx.account.id, source, tx.now],
  );
  return (rows[0] as { id: number }).id;
}

/**
 * Locks the import until the transaction ends, and returns its copies of these records: of two processes that copy the same
 * record at the same time, the second one finds the copy here.
 */
export async function lockImported(
  tx: Transaction,
  importId: number,
  { kind, foreignIds }: { kind: ImportedKind; foreignIds: readonly number[] },
): Promise<Map<number, Imported>> {
  const lock = 'SELECT FROM imports WHERE account_id = $1 AND id = $2 FOR NO KEY UPDATE';
  await tx.sql(lock, [tx.account.id, importId]);
  return findImported(tx.sql, { accountId: tx.account.id, importId }, { kind, foreignIds });
}

/** Returns the copies of an import, by the records' source ids; all copies of a kind without `foreignIds`. */
export async function findImported(
  sql: Sql,
  { accountId, importId }: { accountId: number; importId: number },
  { kind, foreignIds = null }: { kind: ImportedKind; foreignIds?: readonly number[] | null },
): Promise<Map<number, Imported>> {
  const rows = await sql<Row>(
    `SELECT foreign_id, local_id, version, cursor, complete, written_at FROM imported
     WHERE account_id = $1 AND import_id = $2 AND kind = $3 AND ($4::bigint[] IS NULL OR foreign_id = ANY ($4))`,
    [accountId, importId, kind, foreignIds],
  );
  return new Map(rows.map((row) => [row.foreign_id, toImported(row)]));
}

/** Returns a page of the incomplete copies of a kind after `after`, by their source ids. */
export async function findIncomplete(
  sql: Sql,
  { accountId, importId }: { accountId: number; importId: number },
  { kind, after, limit }: { kind: ImportedKind; after: number; limit: number },
): Promise<number[]> {
  const rows = await sql<{ foreign_id: number }>(
    `SELECT foreign_id FROM imported WHERE account_id = $1 AND import_id = $2 AND kind = $3 AND foreign_id > $4
       AND NOT complete ORDER BY foreign_id LIMIT $5`,
    [accountId, importId, kind, after, limit],
  );
  return rows.map(({ foreign_id: id }) => id);
}

/** Returns the number of incomplete copies of a kind. */
export async function countIncomplete(
  sql: Sql,
  { accountId, importId }: { accountId: number; importId: number },
  kind: ImportedKind,
): Promise<number> {
  const [row] = await sql<{ count: number }>(
    'SELECT count(*) FROM imported WHERE account_id = $1 AND import_id = $2 AND kind = $3 AND NOT complete',
    [accountId, importId, kind],
  );
  return row?.count ?? 0;
}

function toImported(row: Row): Imported {
  const { foreign_id: foreignId, local_id: localId, version, cursor, complete, written_at: writtenAt } = row;
  return { foreignId, localId, version, cursor, complete, writtenAt: moment(writtenAt) };
}

/** Records copies, or their present state; to be called in the transaction that writes them. */
export async function noteImported(
  tx: Transaction,
  importId: number,
  kind: ImportedKind,
  copies: readonly (Pick<Imported, 'foreignId' | 'localId'> & Partial<Imported>)[],
): Promise<void> {
  const parameters = copies.flatMap(({ foreignId, localId, version = null, cursor = 0, complete = true }) => [
    foreignId,
    localId,
    version,
    cursor,
    complete,
  ]);
  const places = copies.map((_, index) => {
    const at = (column: number) => `$${5 + index * 5 + column}`;
    return `($1, $2, $3, ${at(0)}::bigint, ${at(1)}::bigint, ${at(2)}::text, ${at(3)}::bigint, ${at(4)}::boolean, $4)`;
  });
  if (copies.length === 0) return;
  await tx.sql(
    `INSERT INTO imported (account_id, import_id, kind, foreign_id, local_id, version, cursor, complete, written_at)
     VALUES ${places.join(', ')}
     ON CONFLICT (account_id, import_id, kind, foreign_id) DO UPDATE SET version = excluded.version,
       cursor = greatest(imported.cursor, excluded.cursor), complete = excluded.complete, written_at = excluded.written_at`,
    [tx.account.id, importId, kind, tx.now, ...parameters],
  );
}
