import { LockMode } from '@mikro-orm/postgresql';
import { Contact } from '../entities/contact.ts';
import type { Conversation } from '../entities/conversation.ts';
import { notFound } from '../errors.ts';
import { record } from '../events/outbox.ts';
import type { Transaction } from '../events/transaction.ts';
import { sql } from '../lib/sql.ts';
import { lockConversation } from './access.ts';
import { lockConversations } from './detach.ts';

// A lane that is leased has a delivery under way: it stays, so that the deletion's own event comes after that. Lanes are
// locked in the order in which all transactions lock them.
const deleteLanes = `
  DELETE FROM lanes WHERE account_id = $1 AND id IN (
    SELECT id FROM lanes WHERE account_id = $1 AND subject_kind = $2 AND subject_id = ANY ($3) AND lease_token IS NULL
    ORDER BY subject_kind, subject_id, endpoint_kind, endpoint_id FOR UPDATE)`;

/**
 * Deletes locked conversations for good; their messages, labels, events with deliveries and attempts, and bot runs go
 * with them. Says conversation_deleted for each, which stays.
 */
export async function eraseConversations(tx: Transaction, conversations: readonly Conversation[]): Promise<void> {
  for (const conversation of conversations) record(tx, 'conversation_deleted', { conversation });
  const ids = conversations.map(({ id }) => id);
  await sql(tx.em, deleteLanes, [tx.account.id, 'conversation', ids]);
  await sql(tx.em, 'DELETE FROM conversations WHERE account_id = $1 AND id = ANY ($2)', [tx.account.id, ids]);
}

/**
 * Deletes a conversation for good, with its messages, events, deliveries and bot runs. Says conversation_deleted, which
 * stays. Errors: 404, 403.
 */
export async function deleteConversation(tx: Transaction, id: number): Promise<void> {
  await eraseConversations(tx, [await lockConversation(tx, id)]);
}

const ofContact = 'SELECT id FROM conversations WHERE account_id = $1 AND contact_id = $2';

/**
 * Deletes a contact for good, with its notes, its conversations and all that belongs to them. Says conversation_deleted
 * for each conversation and contact_deleted, which stay. Errors: 404.
 */
export async function deleteContact(tx: Transaction, id: number): Promise<void> {
  // Conversations before their contact, as those who send messages do; one may have begun meanwhile.
  await lockConversations(tx, ofContact, [id]);
  const contact = await tx.em.findOne(
    Contact,
    { id, accountId: tx.account.id },
    { lockMode: LockMode.PESSIMISTIC_WRITE },
  );
  if (!contact) throw notFound('Contact');
  await eraseConversations(tx, await lockConversations(tx, ofContact, [id]));
  record(tx, 'contact_deleted', { contact, account: tx.account });
  await sql(tx.em, deleteLanes, [tx.account.id, 'contact', [id]]);
  await sql(tx.em, 'DELETE FROM contacts WHERE account_id = $1 AND id = $2', [tx.account.id, id]);
}
