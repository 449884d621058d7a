import type { Sql } from '../../postgres/sql.ts';
import { laneOrder } from '../lanes/lock-order.ts';

/** A transaction in the account of the lanes. */
interface Scope {
  sql: Sql;
  account: { id: number };
}

type Subject = 'conversation' | 'contact';

const lockStatement = `
  SELECT l.id FROM lanes l WHERE l.account_id = $1 AND l.subject_kind = $2 AND l.subject_id = ANY ($3)
  ORDER BY ${laneOrder('l')} FOR UPDATE`;

// A leased lane has a delivery in progress: it stays, so that the deletion's own event is delivered after it.
const deleteIdleStatement = `
  DELETE FROM lanes WHERE account_id = $1 AND subject_kind = $2 AND subject_id = ANY ($3) AND lease_token IS NULL`;

const deleteSomeStatement = `DELETE FROM lanes WHERE account_id = $1 AND id IN (
  SELECT id FROM lanes WHERE account_id = $1 ORDER BY id LIMIT $2) RETURNING id`;

/**
 * Locks all lanes of conversations or contacts, in the lock order: until the transaction ends nothing in them can be
 * claimed, finished or enqueued.
 */
export async function lockLanes({ sql, account }: Scope, kind: Subject, ids: readonly number[]): Promise<void> {
  await sql(lockStatement, [account.id, kind, ids]);
}

/** Deletes the lanes of deleted conversations or contacts, with their deliveries, except leased lanes. */
export async function deleteLanes(scope: Scope, kind: Subject, ids: readonly number[]): Promise<void> {
  await lockLanes(scope, kind, ids);
  await scope.sql(deleteIdleStatement, [scope.account.id, kind, ids]);
}

/** Deletes up to `limit` lanes of an account that is being deleted; returns how many. */
export async function deleteSomeLanes({ sql, account }: Scope, limit: number): Promise<number> {
  return (await sql(deleteSomeStatement, [account.id, limit])).length;
}

const eraseResponsesStatement = `
  UPDATE attempts a SET response_body = NULL
  FROM lanes l JOIN deliveries d ON d.account_id = l.account_id AND d.lane_id = l.id
  WHERE l.account_id = $1 AND l.subject_kind = 'conversation' AND l.subject_id = $2 AND d.event_id = ANY ($3)
    AND a.account_id = d.account_id AND a.delivery_id = d.id AND a.response_body IS NOT NULL`;

/** Deletes what endpoints answered to events of a conversation: an answer may repeat the message that an event told of. */
export async function eraseResponses(
  { sql, account }: Scope,
  { conversationId, eventIds }: { conversationId: number; eventIds: readonly number[] },
): Promise<void> {
  await sql(eraseResponsesStatement, [account.id, conversationId, eventIds]);
}
