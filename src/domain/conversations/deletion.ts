import type { Conversation } from '../../records/conversations/conversation.ts';
import { deleteLanes, lockLanes } from '../../deliveries/log/erase.ts';
import { eraseEvents } from '../../events/erase-events.ts';
import type { Transaction } from '../../events/transaction.ts';
import { deleteFilesIn } from '../attachments/rows.ts';
import { eraseHookRequests } from '../upkeep/hook-subjects.ts';
import { eraseAnswers } from '../upkeep/idempotency-keys.ts';
import { lockConversation } from './access.ts';

// Dependent rows are deleted in bounded statements: one statement for all could exceed the statement timeout.
const rowsAtOnce = 2000;
const deleteSomeMessages = `
  DELETE FROM messages WHERE account_id = $1 AND id IN (
    SELECT id FROM messages WHERE account_id = $1 AND conversation_id = ANY ($2) LIMIT ${rowsAtOnce}) RETURNING id`;

/**
 * Deletes locked conversations with their messages, files, labels, events, deliveries, attempts, bot runs and stored
 * answers. Says conversation_deleted for each.
 */
export async function eraseConversations(tx: Transaction, conversations: readonly Conversation[]): Promise<void> {
  for (const conversation of conversations) tx.record('conversation_deleted', { conversation });
  const ids = conversations.map(({ id }) => id);
  await lockLanes(tx, 'conversation', ids);
  await eraseEvents(tx, 'conversation', ids);
  await deleteFilesIn(tx, ids);
  await deleteMessages(tx, ids);
  await deleteLanes(tx, 'conversation', ids);
  await eraseHookRequests(tx, 'conversation', ids);
  await eraseAnswers(tx.sql, 'conversation', ids);
  await tx.deleteConversations(conversations);
}

async function deleteMessages(tx: Transaction, conversationIds: readonly number[]): Promise<void> {
  let deleted: unknown[];
  do deleted = await tx.sql(deleteSomeMessages, [tx.account.id, conversationIds]);
  while (deleted.length === rowsAtOnce);
}

/**
 * Deletes a conversation with its messages, events, deliveries and bot runs. Says conversation_deleted. Errors: 404, 403.
 */
export async function deleteConversation(tx: Transaction, id: number): Promise<void> {
  await eraseConversations(tx, [await lockConversation(tx, id)]);
}
