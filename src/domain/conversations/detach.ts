import { saveConversations } from '../../records/conversation-batch.ts';
import { findConversations, type Conversation } from '../../records/conversation.ts';
import type { ChangedAttributes } from '../../events/catalog.ts';
import { record } from '../../events/outbox.ts';
import type { Transaction } from '../../events/transaction.ts';
import { sql } from '../../postgres/sql.ts';

/** Runs work in a transaction of its own. */
export type Transact = <Result>(work: (tx: Transaction) => Promise<Result>) => Promise<Result>;

/** A conversation after a change, and what the change was. */
export interface Change {
  conversation: Conversation;
  changed: ChangedAttributes;
}

/** How conversations let go of something that is to be deleted. */
export interface Detachment {
  /** Statement for the ids of the conversations that refer to it; `$1` is the account, `$2` its id. */
  referring: string;
  /** Takes it off locked conversations; answers those that had not let go of it meanwhile. */
  detach: (tx: Transaction, conversations: readonly Conversation[]) => Change[] | Promise<Change[]>;
  /** What becomes of their columns that saveConversations does not write, as SQL. */
  assignments?: readonly string[];
  /** Holds what is to be deleted, so that nothing comes to refer to it. Errors: 404. */
  lock: (tx: Transaction) => Promise<unknown>;
  remove: (tx: Transaction) => Promise<unknown>;
}

// One transaction changes no more, so that no conversation is locked for long.
const batch = 200;

/**
 * Locks the conversations whose ids the statement answers (`$1` is the account), in the order of their ids, as all do who
 * lock more than one, and answers them as they stand then.
 */
export async function lockConversations(
  tx: Transaction,
  ids: string,
  parameters: readonly unknown[],
): Promise<Conversation[]> {
  const rows = await sql<{ id: number }>(
    tx.em,
    `SELECT c.id FROM conversations c WHERE c.account_id = $1 AND c.id = ANY (ARRAY(${ids})) ORDER BY c.id FOR UPDATE`,
    [tx.account.id, ...parameters],
  );
  // Read only now: what a statement that waited for a lock joins in may be older than the row it waited for.
  return findConversations(
    tx.em,
    tx.account.id,
    rows.map(({ id }) => id),
  );
}

/** Locks up to `limit` of the conversations that `referring` (`$1` the account, `$2` the id) answers the ids of. */
export function lockReferring(
  tx: Transaction,
  referring: string,
  { id, limit }: { id: number; limit: number },
): Promise<Conversation[]> {
  return lockConversations(tx, `${referring} LIMIT $3`, [id, limit]);
}

/** Says conversation_updated for each of these locked conversations; `assignments` go to their columns, as SQL. */
export async function updateConversations(
  tx: Transaction,
  changes: readonly Change[],
  assignments: readonly string[] = [],
): Promise<void> {
  for (const { conversation, changed } of changes) {
    conversation.updatedAt = tx.now;
    record(tx, 'conversation_updated', { conversation, changed });
  }
  await saveConversations(
    tx.em,
    tx.account.id,
    changes.map(({ conversation }) => conversation),
    assignments,
  );
}

async function detachBatch(
  tx: Transaction,
  id: number,
  { referring, detach, assignments }: Detachment,
): Promise<boolean> {
  const conversations = await lockReferring(tx, referring, { id, limit: batch });
  const changes = await detach(tx, conversations);
  if (changes.length > 0) await updateConversations(tx, changes, assignments);
  return changes.length > 0;
}

/**
 * Deletes what conversations refer to: takes it off them, a batch to a transaction, and removes it in the one that finds
 * none left. Says conversation_updated for each. After a crash in between, deleting it again goes on from there.
 */
export async function detachAndRemove(transact: Transact, id: number, detachment: Detachment): Promise<void> {
  const removeWhenFree = async (tx: Transaction): Promise<boolean> => {
    await detachment.lock(tx);
    const referring = await sql(tx.em, `${detachment.referring} LIMIT 1`, [tx.account.id, id]);
    if (referring.length > 0) return false;
    await detachment.remove(tx);
    return true;
  };
  while (!(await transact(removeWhenFree))) {
    let more = true;
    while (more) more = await transact((tx) => detachBatch(tx, id, detachment));
  }
}
