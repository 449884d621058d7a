import type { Database } from '../../postgres/database.ts';
import { ApiError } from '../../errors.ts';
import type { Sql } from '../../postgres/sql.ts';
import { nameOf, type NamedKind } from './named-records.ts';
import { sweep } from './sweep.ts';

/** The owner of keys: an access token, or a contact under /public. */
export type KeyHolder = { tokenId: number } | { accountId: number; contactId: number };

/** A request with an Idempotency-Key; the fingerprint is a digest of method, URL and body. */
export interface KeyedRequest {
  holder: KeyHolder;
  key: string;
  fingerprint: Buffer;
}

/** The stored answer to the first request with a key; the body is sealed, and empty when it is not stored. */
export interface KeptAnswer {
  status: number;
  sealedBody: string;
}

/** An answer to store, with the names of the records in it. */
export interface StoredAnswer extends KeptAnswer {
  names: readonly string[];
}

/** How long answers are stored. */
const keptMs = 24 * 3_600_000;
/** Bytes of the stored answers of one caller: beyond them the oldest are erased, and their requests still happen only once. */
const storedBytesPerCaller = 32 * 1024 * 1024;
/** Name of all answers of earlier releases, which recorded no names. */
const unknown = 'unknown';

interface KeyRow {
  fingerprint: Buffer;
  status: number;
  body: string;
}

/** Returns the stored answer to the request; null if there is none. Errors: 422 when the key was used for another request. */
export async function findKept(sql: Sql, request: KeyedRequest, now: Date): Promise<KeptAnswer | null> {
  const [row] = await sql<KeyRow>(
    'SELECT fingerprint, status, body FROM idempotency_keys WHERE holder = $1 AND key = $2 AND created_at > $3',
    [holderName(request.holder), request.key, new Date(now.getTime() - keptMs)],
  );
  if (!row) return null;
  if (row.fingerprint.equals(request.fingerprint)) return { status: row.status, sealedBody: row.body };
  throw new ApiError(422, 'idempotency_key_reused', 'This Idempotency-Key was used for another request');
}

function holderName(holder: KeyHolder): string {
  return 'tokenId' in holder ? `token ${holder.tokenId}` : `contact ${holder.contactId}`;
}

/**
 * Returns the stored answer to the request; if there is none, locks the key until the transaction ends and returns null.
 * Errors: 422 when the key was used for another request, 409 while another transaction holds it.
 */
export async function claimKey(sql: Sql, request: KeyedRequest, now: Date): Promise<KeptAnswer | null> {
  const kept = await findKept(sql, request, now);
  if (kept) return kept;
  // An advisory lock, because an INSERT would wait for the other transaction while holding a connection.
  const [lock] = await sql<{ taken: boolean }>('SELECT pg_try_advisory_xact_lock(hashtextextended($1, 0)) AS taken', [
    `idempotency key of ${holderName(request.holder)}: ${request.key}`,
  ]);
  if (!lock?.taken) throw inFlight();
  // The other transaction may have committed between the read and the lock.
  return findKept(sql, request, now);
}

function inFlight(): ApiError {
  return new ApiError(409, 'conflict', 'The first request with this Idempotency-Key is still running', {
    headers: { 'retry-after': '1' },
  });
}

// If token or contact was deleted meanwhile, perhaps by the request itself, no answer is stored.
const lockedHolder = {
  token: `SELECT id AS token_id, NULL::bigint AS account_id, NULL::bigint AS contact_id
    FROM access_tokens WHERE id = $7 AND $8::bigint IS NULL FOR KEY SHARE`,
  contact: `SELECT NULL::bigint AS token_id, account_id, id AS contact_id
    FROM contacts WHERE id = $7 AND account_id = $8 FOR KEY SHARE`,
};

/** Stores the answer to a request whose key is claimed, in the transaction of the request's changes. */
export async function keepAnswer(sql: Sql, request: KeyedRequest, answer: StoredAnswer, now: Date): Promise<void> {
  const { holder, key, fingerprint } = request;
  const isToken = 'tokenId' in holder;
  await sql(
    `INSERT INTO idempotency_keys (holder, key, fingerprint, status, body, created_at, token_id, account_id, contact_id,
       names)
     SELECT $1, $2, $3::bytea, $4::int, $5, $6::timestamptz, token_id, account_id, contact_id, $9::text[]
     FROM (${isToken ? lockedHolder.token : lockedHolder.contact}) AS holder
     ON CONFLICT (holder, key) DO UPDATE
       SET fingerprint = excluded.fingerprint, status = excluded.status, body = excluded.body,
         created_at = excluded.created_at, names = excluded.names`,
    [
      holderName(holder),
      key,
      fingerprint,
      answer.status,
      answer.sealedBody,
      now,
      isToken ? holder.tokenId : holder.contactId,
      isToken ? null : holder.accountId,
      answer.names,
    ],
  );
}

// In one order, so that two erasures wait for each other.
const eraseStatement = `
  WITH telling AS (
    SELECT holder, key FROM idempotency_keys WHERE names && $1::text[] AND body <> '' ORDER BY holder, key FOR UPDATE)
  UPDATE idempotency_keys k SET body = '' FROM telling WHERE k.holder = telling.holder AND k.key = telling.key`;

/** Erases stored answers with records that are being deleted: repeated requests still have no second effect. */
export async function eraseAnswers(sql: Sql, kind: NamedKind, ids: readonly number[]): Promise<void> {
  if (ids.length === 0) return;
  await sql(eraseStatement, [[unknown, ...ids.map((id) => nameOf(kind, id))]]);
}

const deleteSomeStatement = `
  DELETE FROM idempotency_keys WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM idempotency_keys WHERE names && ARRAY[$1::text] LIMIT $2 FOR UPDATE)) RETURNING key`;

/** Deletes up to `limit` stored answers of an account that is being deleted, which nobody can ask for again; returns how many. */
export async function deleteSomeAnswers(sql: Sql, accountId: number, limit: number): Promise<number> {
  return (await sql(deleteSomeStatement, [nameOf('account', accountId), limit])).length;
}

/**
 * Gives the answers of one contact to another, who may request them again; answers to a key that the latter has used stay.
 * Answers that name the one are erased with the other from then on.
 */
export async function moveKeys(sql: Sql, accountId: number, { from, to }: { from: number; to: number }): Promise<void> {
  await sql(
    `UPDATE idempotency_keys k SET holder = $4, contact_id = $3 WHERE account_id = $1 AND contact_id = $2
       AND NOT EXISTS (SELECT FROM idempotency_keys used WHERE used.holder = $4 AND used.key = k.key)`,
    [accountId, from, to, holderName({ accountId, contactId: to })],
  );
  await sql('UPDATE idempotency_keys SET names = names || $2::text WHERE names && ARRAY[$1::text]', [
    nameOf('contact', from),
    nameOf('contact', to),
  ]);
}

const pageSize = 1000;

interface OldKey {
  holder: string;
  key: string;
  /** As text, in the database's precision. */
  created_at: string;
}

/** Deletes expired answers; returns how many. One that fails does not hold back the others. */
export function deleteOldIdempotencyKeys(database: Database): Promise<number> {
  const before = new Date(database.clock.now().getTime() - keptMs);
  return sweep<OldKey>(database, {
    name: 'deleting old idempotency keys',
    // Without the key itself, which belongs to the caller and does not help readers of the log.
    nameOf: ({ holder, created_at: createdAt }) => `one of ${holder} of ${createdAt}`,
    page: (after) =>
      database.sql<OldKey>(
        `SELECT holder, key, created_at FROM idempotency_keys
         WHERE created_at <= $1 AND (created_at, holder, key) > ($2::timestamptz, $3, $4)
         ORDER BY created_at, holder, key LIMIT ${pageSize}`,
        [before, after?.created_at ?? '-infinity', after?.holder ?? '', after?.key ?? ''],
      ),
    pageSize,
    atOnce: pageSize,
    work: async (keys) => {
      const deleted = await database.sql(
        `WITH old AS (
           SELECT k.holder, k.key FROM unnest($2::text[], $3::text[]) AS found (holder, key)
             JOIN idempotency_keys k ON k.holder = found.holder AND k.key = found.key AND k.created_at <= $1
           ORDER BY k.holder, k.key FOR UPDATE OF k)
         DELETE FROM idempotency_keys k USING old WHERE k.holder = old.holder AND k.key = old.key RETURNING k.key`,
        [before, keys.map(({ holder }) => holder), keys.map(({ key }) => key)],
      );
      return deleted.length;
    },
  });
}

// The newest stay, as far as they fit together.
const findExcess = `
  SELECT holder FROM idempotency_keys WHERE body <> '' GROUP BY holder HAVING sum(stored_bytes) > $1 ORDER BY holder`;
const eraseExcess = `
  WITH aged AS (
    SELECT key, sum(stored_bytes) OVER (ORDER BY created_at DESC, key) AS bytes
    FROM idempotency_keys WHERE holder = $2 AND body <> ''),
  excess AS (
    SELECT k.key FROM aged JOIN idempotency_keys k ON k.holder = $2 AND k.key = aged.key
    WHERE aged.bytes > $1 ORDER BY k.key FOR UPDATE OF k)
  UPDATE idempotency_keys k SET body = '' FROM excess WHERE k.holder = $2 AND k.key = excess.key RETURNING k.key`;

/** Erases the oldest answers of callers that exceed the limit of stored bytes; returns how many. */
export async function eraseExcessAnswers(database: Database): Promise<number> {
  let erased = 0;
  for (const { holder } of await database.sql<{ holder: string }>(findExcess, [storedBytesPerCaller])) {
    erased += (await database.sql(eraseExcess, [storedBytesPerCaller, holder])).length;
  }
  return erased;
}
