import type { Database } from '../../postgres/database.ts';
import { ApiError } from '../../errors.ts';
import { sql, type Executor } from '../../postgres/sql.ts';
import { sweep } from './sweep.ts';

/** Whose keys they are: those of an access token, or of a contact under /public. */
export type KeyHolder = { tokenId: number } | { accountId: number; contactId: number };

/** A request that its caller may send again: whose, by which key, and a digest of all that makes it what it is. */
export interface KeyedRequest {
  holder: KeyHolder;
  key: string;
  fingerprint: Buffer;
}

/** The answer that the first request with a key got; the body is sealed. */
export interface KeptAnswer {
  status: number;
  sealedBody: string;
}

/** How long an answer is kept. */
const keptMs = 24 * 3_600_000;

function inFlight(): ApiError {
  return new ApiError(409, 'conflict', 'The first request with this Idempotency-Key is still running', {
    headers: { 'retry-after': '1' },
  });
}

function holderName(holder: KeyHolder): string {
  return 'tokenId' in holder ? `token ${holder.tokenId}` : `contact ${holder.contactId}`;
}

interface KeyRow {
  fingerprint: Buffer;
  status: number;
  body: string;
}

/** The answer kept for the request; null when there is none. Errors: 422 when the key came with another request. */
export async function findKept(executor: Executor, request: KeyedRequest, now: Date): Promise<KeptAnswer | null> {
  const [row] = await sql<KeyRow>(
    executor,
    'SELECT fingerprint, status, body FROM idempotency_keys WHERE holder = $1 AND key = $2 AND created_at > $3',
    [holderName(request.holder), request.key, new Date(now.getTime() - keptMs)],
  );
  if (!row) return null;
  if (row.fingerprint.equals(request.fingerprint)) return { status: row.status, sealedBody: row.body };
  throw new ApiError(422, 'idempotency_key_reused', 'This Idempotency-Key was used for another request');
}

/**
 * The answer kept for the request; null when there is none: then the key is the transaction's until it ends. Errors: 422
 * when the key came with another request, 409 while another transaction has it.
 */
export async function claimKey(executor: Executor, request: KeyedRequest, now: Date): Promise<KeptAnswer | null> {
  const kept = await findKept(executor, request, now);
  if (kept) return kept;
  // Not an insert: that would wait for the other transaction, holding a connection all the while.
  const [lock] = await sql<{ taken: boolean }>(
    executor,
    'SELECT pg_try_advisory_xact_lock(hashtextextended($1, 0)) AS taken',
    [`idempotency key of ${holderName(request.holder)}: ${request.key}`],
  );
  if (!lock?.taken) throw inFlight();
  // It may have been answered between the two.
  return findKept(executor, request, now);
}

// If the token or the contact was deleted meanwhile, perhaps by the request itself, no answer is kept.
const lockedHolder = {
  token: `SELECT id AS token_id, NULL::bigint AS account_id, NULL::bigint AS contact_id
    FROM access_tokens WHERE id = $7 AND $8::bigint IS NULL FOR KEY SHARE`,
  contact: `SELECT NULL::bigint AS token_id, account_id, id AS contact_id
    FROM contacts WHERE id = $7 AND account_id = $8 FOR KEY SHARE`,
};

/** Keeps the answer to a request whose key was claimed; part of the transaction that made what it tells of. */
export async function keepAnswer(
  executor: Executor,
  request: KeyedRequest,
  answer: KeptAnswer,
  now: Date,
): Promise<void> {
  const { holder, key, fingerprint } = request;
  const isToken = 'tokenId' in holder;
  await sql(
    executor,
    `INSERT INTO idempotency_keys (holder, key, fingerprint, status, body, created_at, token_id, account_id, contact_id)
     SELECT $1, $2, $3::bytea, $4::int, $5, $6::timestamptz, token_id, account_id, contact_id
     FROM (${isToken ? lockedHolder.token : lockedHolder.contact}) AS holder
     ON CONFLICT (holder, key) DO UPDATE
       SET fingerprint = excluded.fingerprint, status = excluded.status, body = excluded.body,
         created_at = excluded.created_at`,
    [
      holderName(holder),
      key,
      fingerprint,
      answer.status,
      answer.sealedBody,
      now,
      isToken ? holder.tokenId : holder.contactId,
      isToken ? null : holder.accountId,
    ],
  );
}

const pageSize = 1000;

interface OldKey {
  holder: string;
  key: string;
  /** As text, in the database's precision. */
  created_at: string;
}

/** Deletes the answers whose time is over; answers how many. One that cannot be deleted keeps back no other. */
export function deleteOldIdempotencyKeys(database: Database): Promise<number> {
  const before = new Date(database.clock.now().getTime() - keptMs);
  return sweep<OldKey>(database, {
    name: 'deleting old idempotency keys',
    // The key itself is the caller's, and of no use to who reads the log.
    nameOf: ({ holder, created_at: createdAt }) => `one of ${holder} of ${createdAt}`,
    page: (after) =>
      sql<OldKey>(
        database.em(),
        `SELECT holder, key, created_at FROM idempotency_keys
         WHERE created_at <= $1 AND (created_at, holder, key) > ($2::timestamptz, $3, $4)
         ORDER BY created_at, holder, key LIMIT ${pageSize}`,
        [before, after?.created_at ?? '-infinity', after?.holder ?? '', after?.key ?? ''],
      ),
    pageSize,
    atOnce: pageSize,
    work: async (keys) => {
      const deleted = await sql(
        database.em(),
        `DELETE FROM idempotency_keys USING unnest($2::text[], $3::text[]) AS old (holder, key)
         WHERE idempotency_keys.holder = old.holder AND idempotency_keys.key = old.key AND created_at <= $1
         RETURNING old.key`,
        [before, keys.map(({ holder }) => holder), keys.map(({ key }) => key)],
      );
      return deleted.length;
    },
  });
}
