import { ApiError } from '../../errors.ts';
import type { Transaction } from '../../events/transaction.ts';
import { isMalformedValue } from '../../postgres/errors.ts';
import { prepared } from '../../postgres/prepared.ts';
import type { Sql } from '../../postgres/sql.ts';

/** Owner of a bot's values: a conversation, a contact, or with neither the account as a whole. */
export interface StoragePlace {
  accountId: number;
  botId: number;
  conversationId: number | null;
  contactId: number | null;
}

/** Bytes of keys and values: of one place, and of all that the bot has stored in the account. */
export interface StoredBytes {
  place: number;
  total: number;
}

/** A change of one value. `bytes` is the size of key and value, `most` the bot's limits. */
export type StorageWrite = { place: StoragePlace; key: string; most: StoredBytes } & (
  | { kind: 'set'; json: string; bytes: number; expiresAt: Date | null }
  | { kind: 'incr'; by: number; bytes: number }
  | { kind: 'delete' }
);

const ofPlace = `account_id = $1 AND agent_bot_id = $2 AND conversation_id IS NOT DISTINCT FROM $3
  AND contact_id IS NOT DISTINCT FROM $4`;
const whoseOf = ({ accountId, botId, conversationId, contactId }: StoragePlace) => [
  accountId,
  botId,
  conversationId,
  contactId,
];

/** Returns a stored value as JSON text; null if there is none, or if it has expired. */
export async function readStored(sql: Sql, place: StoragePlace, key: string, now: Date): Promise<string | null> {
  const [found] = await sql<{ value: string }>(
    `SELECT value::text AS value FROM bot_storage
     WHERE ${ofPlace} AND key = $5 AND (expires_at IS NULL OR expires_at > $6)`,
    [...whoseOf(place), key, now],
  );
  return found?.value ?? null;
}

const total = ['bot_storage_totals', 'bot_storage_changes']
  .map((table) => `coalesce((SELECT sum(bytes) FROM ${table} WHERE account_id = $1 AND agent_bot_id = $2), 0)`)
  .join(' + ');

/** Returns the bytes of a place without expired values, and those of all places of the bot, expired values included. */
export async function storedBytes(sql: Sql, place: StoragePlace, now: Date): Promise<StoredBytes> {
  const [found] = await sql<StoredBytes>(
    `SELECT coalesce(sum(bytes), 0)::bigint AS place, (${total})::bigint AS total FROM bot_storage
     WHERE ${ofPlace} AND (expires_at IS NULL OR expires_at > $5)`,
    [...whoseOf(place), now],
  );
  return found ?? { place: 0, total: 0 };
}

const upsert = `INSERT INTO bot_storage AS s (account_id, agent_bot_id, conversation_id, contact_id, key, value, bytes,
    expires_at, updated_at)
  VALUES ($1, $2, $3, $4, $5, $6::json, $7, $8, $9)
  ON CONFLICT (account_id, agent_bot_id, conversation_id, contact_id, key) DO UPDATE SET`;
const setStatement = `${upsert} value = excluded.value, bytes = excluded.bytes, expires_at = excluded.expires_at,
  updated_at = excluded.updated_at`;
// Adds to the present value: runs in other conversations may have added to it since this run read it.
const incrStatement = `${upsert} updated_at = excluded.updated_at, bytes = excluded.bytes,
  expires_at = CASE WHEN s.expires_at <= $9 THEN NULL ELSE s.expires_at END,
  value = CASE WHEN s.expires_at <= $9 OR json_typeof(s.value) <> 'number' THEN excluded.value
    ELSE to_json((s.value #>> '{}')::float8 + ($6::json #>> '{}')::float8) END`;

// Runs that end together do not see each other's rows: their sums are checked one transaction after the other.
const takeTurnsStatement = prepared(`SELECT pg_advisory_xact_lock(hashtextextended('bot storage ' || $2, $1))`);

/**
 * Writes the stored values of a run, in its order. Locks the sum of the bot's values in the account until the transaction ends.
 * Errors: 422 `storage_full` when other runs have filled the room meanwhile, `storage_failed` when a sum is too large by now.
 */
export async function writeStored(tx: Transaction, writes: readonly StorageWrite[]): Promise<void> {
  for (const write of writes) await writeOne(tx, write);
  const grown = writes.filter(({ kind }) => kind !== 'delete');
  const places = new Map(grown.map(({ place, most }) => [whoseOf(place).join(), { place, most }]));
  const [first] = grown;
  if (first) await tx.sql(takeTurnsStatement, [first.place.accountId, String(first.place.botId)]);
  for (const { place, most } of places.values()) {
    const problem = whyFull(await storedBytes(tx.sql, place, tx.now), most);
    if (problem) throw new ApiError(422, 'storage_full', problem);
  }
}

/** Returns the reason why the bytes exceed a limit, as a sentence; null when they do not. */
export function whyFull(stored: StoredBytes, most: StoredBytes): string | null {
  if (stored.place > most.place) return `\`permissions.storage.maxBytes\` of the manifest allows ${most.place} bytes`;
  if (stored.total <= most.total) return null;
  return `A bot may store ${most.total} bytes in an account, in all conversations and contacts together (BOT_STORAGE_BYTES)`;
}

async function writeOne(tx: Transaction, write: StorageWrite): Promise<void> {
  const { place, key } = write;
  const whose = [...whoseOf(place), key];
  if (write.kind === 'delete') await tx.sql(`DELETE FROM bot_storage WHERE ${ofPlace} AND key = $5`, whose);
  else if (write.kind === 'set')
    await tx.sql(setStatement, [...whose, write.json, write.bytes, write.expiresAt, tx.now]);
  else await increment(tx, key, [...whose, JSON.stringify(write.by), write.bytes, null, tx.now]);
}

// Each run has checked the sum that it saw.
async function increment(tx: Transaction, key: string, parameters: unknown[]): Promise<void> {
  try {
    await tx.sql(incrStatement, parameters);
  } catch (error) {
    if (!isMalformedValue(error)) throw error;
    throw new ApiError(
      422,
      'storage_failed',
      `The sum of \`${key}\` is too large: other runs have added to it meanwhile`,
    );
  }
}
