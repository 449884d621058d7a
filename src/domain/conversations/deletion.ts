import type { Conversation } from '../../records/conversation.ts';
import { deleteLanes, lockLanes } from '../../deliveries/queue/erase.ts';
import type { Transaction } from '../../events/transaction.ts';
import { sql } from '../../postgres/sql.ts';
import { lockConversation } from './access.ts';

// Whatever hangs on many rows is deleted in statements of a bounded number: one for all would outlive its time.
const rowsAtOnce = 2000;
const deleteSomeEvents = `
  DELETE FROM events WHERE account_id = $1 AND id IN (
    SELECT id FROM events WHERE account_id = $1 AND conversation_id = ANY ($2) LIMIT ${rowsAtOnce}) RETURNING id`;
const deleteSomeMessages = `
  DELETE FROM messages WHERE account_id = $1 AND id IN (
    SELECT id FROM messages WHERE account_id = $1 AND conversation_id = ANY ($2) LIMIT ${rowsAtOnce}) RETURNING id`;

async function deleteAll(tx: Transaction, deleteSome: string, conversationIds: readonly number[]): Promise<void> {
  let deleted: unknown[];
  do deleted = await sql(tx.em, deleteSome, [tx.account.id, conversationIds]);
  while (deleted.length === rowsAtOnce);
}

/**
 * Deletes locked conversations for good; their messages, labels, events with deliveries and attempts, and bot runs go
 * with them. Says conversation_deleted for each, which stays.
 */
export async function eraseConversations(tx: Transaction, conversations: readonly Conversation[]): Promise<void> {
  for (const conversation of conversations) tx.record('conversation_deleted', { conversation });
  const ids = conversations.map(({ id }) => id);
  await lockLanes(tx, 'conversation', ids);
  await deleteAll(tx, deleteSomeEvents, ids);
  await deleteAll(tx, deleteSomeMessages, ids);
  await deleteLanes(tx, 'conversation', ids);
  await tx.deleteConversations(conversations);
}

/**
 * Deletes a conversation for good, with its messages, events, deliveries and bot runs. Says conversation_deleted, which
 * stays. Errors: 404, 403.
 */
export async function deleteConversation(tx: Transaction, id: number): Promise<void> {
  await eraseConversations(tx, [await lockConversation(tx, id)]);
}
