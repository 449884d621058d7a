import { createHash } from 'node:crypto';
import { auditedText } from '../../deliveries/log/audit-invariant.ts';
import { transactOutside, type OuterTransaction } from '../../events/transaction.ts';
import type { Database } from '../../postgres/database.ts';
import { sweep } from '../upkeep/sweep.ts';

/** Entries that get their place in one transaction. */
const batchSize = 500;
/** Chains that are looked for at once. */
const pageSize = 100;
// Deleted at once.
const prunedAtOnce = 1000;
const none = Buffer.alloc(0);

interface Old {
  id: number;
  position: number;
}

interface Chain {
  account_id: number | null;
  /** The account's id; 0 for the platform. */
  place: number;
}

/**
 * Chains the entries of the audit log that have no place yet. It follows the act by seconds: an act that chained itself would
 * wait for every other one of its account. Returns how many.
 */
export function chainAuditLog(database: Database): Promise<number> {
  return sweep<Chain>(database, {
    name: 'chaining the audit log',
    nameOf: ({ account_id: id }) => (id === null ? 'of the platform' : `of account ${id}`),
    page: (after) =>
      database.sql<Chain>(
        `SELECT DISTINCT account_id, coalesce(account_id, 0) AS place FROM audit_log
         WHERE hash IS NULL AND coalesce(account_id, 0) > $1 ORDER BY place LIMIT ${pageSize}`,
        [after?.place ?? -1],
      ),
    pageSize,
    atOnce: 1,
    work: async ([chain]) => (chain ? chainAll(database, chain.account_id) : 0),
  });
}

async function chainAll(database: Database, accountId: number | null): Promise<number> {
  let all = 0;
  let count: number;
  do {
    count = await transactOutside(database, (tx) => chainNext(tx, accountId));
    all += count;
  } while (count === batchSize);
  return all;
}

async function chainNext({ sql }: OuterTransaction, accountId: number | null): Promise<number> {
  await sql(`INSERT INTO audit_chains (account_id, position, hash) VALUES ($1, 0, '') ON CONFLICT DO NOTHING`, [
    accountId,
  ]);
  const [head] = await sql<{ position: number; hash: Buffer }>(
    'SELECT position, hash FROM audit_chains WHERE account_id IS NOT DISTINCT FROM $1::bigint FOR UPDATE',
    [accountId],
  );
  // The account was deleted meanwhile.
  if (!head) return 0;
  const entries = await sql<{ id: number; text: string }>(
    `SELECT a.id, ${auditedText('a')} AS text FROM audit_log a
     WHERE a.account_id IS NOT DISTINCT FROM $1::bigint AND a.hash IS NULL ORDER BY a.id LIMIT ${batchSize}`,
    [accountId],
  );
  const places = placesAfter(head, entries);
  const last = places.at(-1);
  if (!last) return 0;
  await sql(
    `UPDATE audit_log a SET position = p.position, previous_hash = p.previous_hash, hash = p.hash
     FROM unnest($1::bigint[], $2::bigint[], $3::bytea[], $4::bytea[]) AS p (id, position, previous_hash, hash) WHERE a.id = p.id`,
    [
      places.map(({ id }) => id),
      places.map(({ position }) => position),
      places.map(({ previous }) => previous),
      places.map(({ hash }) => hash),
    ],
  );
  await sql('UPDATE audit_chains SET position = $2, hash = $3 WHERE account_id IS NOT DISTINCT FROM $1::bigint', [
    accountId,
    last.position,
    last.hash,
  ]);
  return places.length;
}

function placesAfter(head: { position: number; hash: Buffer }, entries: readonly { id: number; text: string }[]) {
  let previous = head.position === 0 ? none : head.hash;
  return entries.map(({ id, text }, index) => {
    const place = { id, position: head.position + index + 1, previous, hash: hashAfter(previous, text) };
    previous = place.hash;
    return place;
  });
}

function hashAfter(previous: Buffer, text: string): Buffer {
  return createHash('sha256').update(previous).update(text).digest();
}

/**
 * Deletes entries of the audit log older than `days`, oldest first. The newest of a chain stays, so that an entry
 * missing at the end would show. Returns how many.
 */
export function deleteOldAuditEntries(database: Database, days: number): Promise<number> {
  const before = new Date(database.clock.now().getTime() - days * 24 * 3_600_000);
  return sweep<Old>(database, {
    name: 'deleting old entries of the audit log',
    nameOf: ({ id }) => `entry ${id}`,
    page: (after) =>
      database.sql<Old>(
        // `least` ignores null: a chain without young entries is kept from its head alone.
        `WITH kept AS (
           SELECT coalesce(account_id, 0) AS place, min(position) AS first FROM audit_log
           WHERE at >= $1 AND position IS NOT NULL GROUP BY 1
         )
         SELECT a.id, a.position FROM audit_log a JOIN audit_chains c ON coalesce(c.account_id, 0) = coalesce(a.account_id, 0)
         LEFT JOIN kept k ON k.place = coalesce(a.account_id, 0)
         WHERE a.at < $1 AND (a.position, a.id) > ($2, $3) AND a.position < least(c.position, k.first)
         ORDER BY a.position, a.id LIMIT ${prunedAtOnce}`,
        [before, after?.position ?? 0, after?.id ?? 0],
      ),
    pageSize: prunedAtOnce,
    atOnce: prunedAtOnce,
    work: async (entries) => {
      const ids = entries.map(({ id }) => id);
      return (await database.sql('DELETE FROM audit_log WHERE id = ANY ($1) RETURNING id', [ids])).length;
    },
  });
}
