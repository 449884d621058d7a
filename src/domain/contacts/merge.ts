import type { Conversation } from '../../records/conversations/conversation.ts';
import { Contact, surroundingOf } from '../../records/contacts/contact.ts';
import { invalid, notFound } from '../../errors.ts';
import type { Transaction } from '../../events/transaction.ts';
import { merge } from '../changes.ts';
import { updateConversations } from '../conversations/assignment/detach.ts';
import { lockOne, save, update } from '../small-rows.ts';
import { moveHookSubjects } from '../upkeep/hook-subjects.ts';
import { moveKeys } from '../upkeep/idempotency-keys.ts';
import { maxVisitorAttributes, sayUpdated } from './contacts.ts';
import { moveCopies } from './copies.ts';
import { lockDoors } from './doors.ts';
import { copyContactLabels } from './labels.ts';

/** Conversations that one merge moves at most, since it is one transaction. */
export const maxMerged = 1000;
/** Messages that one statement assigns to another author: one for all could exceed the statement timeout. */
const messagesAtOnce = 2000;

const ofContact = `SELECT id FROM conversations WHERE account_id = $1 AND contact_id = $2 ORDER BY id LIMIT ${maxMerged + 1}`;

/**
 * Merges two contacts: the base keeps its values and takes over those that it lacks, with the conversations, notes, labels,
 * inboxes, sessions, requests with keys, stored values of bots and notes of imports of the other, which is deleted. A block of
 * either holds. Sessions and source ids of the other admit to the base from then on. Says conversation_updated for each
 * conversation, contact_updated when the base has changed, and contact_deleted. Errors: 404; 422 for one contact as both, for
 * more than 1,000 conversations, and for attributes that would grow too large.
 */
export async function mergeContacts(
  tx: Transaction,
  { baseId, otherId }: { baseId: number; otherId: number },
): Promise<Contact> {
  if (baseId === otherId) {
    throw invalid('/mergee_contact_id', 'different', 'A contact cannot be merged with itself');
  }
  await lockDoors(tx, otherId);
  // Lock order (deliveries/lanes/lock-order.ts): conversations before their contact.
  await lockMoving(tx, otherId);
  const [base, other] = await lockBoth(tx, baseId, otherId);
  // Another conversation may have begun before the contact was locked.
  const moving = await lockMoving(tx, otherId);
  const values = mergedValues(base, other);
  const { id, name } = base;
  const merged = surroundingOf({ id, name, ...values });
  await tx.savepoint(async (inside) => {
    moveConversations(inside, moving, merged);
    await moveMessages(inside, baseId, otherId);
    await moveRows(inside, baseId, otherId);
  });
  const labels = await copyContactLabels(tx, { from: otherId, to: baseId });
  const lastActivityAt = latest(base.lastActivityAt, other.lastActivityAt);
  // The identifier is unique: the other loses it first. Rows that were not moved are deleted with it.
  await tx.sql('DELETE FROM contacts WHERE account_id = $1 AND id = $2', [tx.account.id, otherId]);
  const changed = { ...update(base, values, tx.now), ...(labels ? { labels } : {}) };
  base.lastActivityAt = lastActivityAt;
  const isChanged = Object.keys(changed).length > 0;
  if (isChanged) base.updatedAt = tx.now;
  await save(tx.sql, base);
  if (isChanged) sayUpdated(tx, base, changed);
  tx.record('contact_deleted', { contact: other, account: tx.account, mergedInto: baseId });
  return base;
}

async function lockMoving(tx: Transaction, contactId: number): Promise<Conversation[]> {
  const found = await tx.conversations({ ids: ofContact, parameters: [contactId] });
  if (found.length <= maxMerged) return found;
  const message = `The contact has more than ${maxMerged} conversations: they cannot be moved at once`;
  throw invalid('/mergee_contact_id', 'limit', message);
}

// In the order of their ids, so that two merges of the same contacts wait for each other.
async function lockBoth(tx: Transaction, baseId: number, otherId: number): Promise<[base: Contact, other: Contact]> {
  const found = new Map<number, Contact>();
  for (const id of [Math.min(baseId, otherId), Math.max(baseId, otherId)]) {
    const contact = await lockOne(tx.sql, Contact, { id, accountId: tx.account.id, deletionRequestedAt: null });
    found.set(id, contact);
  }
  const [base, other] = [found.get(baseId), found.get(otherId)];
  if (!base || !other) throw notFound(Contact.noun);
  return [base, other];
}

function mergedValues(base: Contact, other: Contact) {
  const both = (
    name: 'customAttributes' | 'visitorAttributes' | 'additionalAttributes',
    pointer: string,
    most?: number,
  ) => merge(pointer, other[name], base[name], most);
  return {
    email: base.email ?? other.email,
    phoneNumber: base.phoneNumber ?? other.phoneNumber,
    identifier: base.identifier ?? other.identifier,
    avatarUrl: base.avatarUrl ?? other.avatarUrl,
    blocked: base.blocked || other.blocked,
    customAttributes: both('customAttributes', '/custom_attributes'),
    visitorAttributes: both('visitorAttributes', '/visitor_attributes', maxVisitorAttributes),
    additionalAttributes: both('additionalAttributes', '/additional_attributes'),
  };
}

function latest(one: Date | null | undefined, other: Date | null | undefined): Date | null {
  if (!one || !other) return one ?? other ?? null;
  return one > other ? one : other;
}

type Party = Conversation['contact'];

function moveConversations(tx: Transaction, conversations: readonly Conversation[], to: Party): void {
  const brief = ({ id, name, email }: Party) => ({ id, name, email });
  const changes = conversations.map((conversation) => {
    const previous = brief(conversation.contact);
    conversation.contact = to;
    return { conversation, changed: { contact: { previous, current: brief(to) } } };
  });
  updateConversations(tx, changes);
}

async function moveMessages(tx: Transaction, baseId: number, otherId: number): Promise<void> {
  let moved: unknown[];
  do {
    moved = await tx.sql(
      `UPDATE messages SET sender_id = $2 WHERE account_id = $1 AND id IN (
         SELECT m.id FROM conversations c JOIN messages m ON m.account_id = c.account_id AND m.conversation_id = c.id
         WHERE c.account_id = $1 AND c.contact_id = $3 AND m.sender_kind = 'contact' AND m.sender_id = $3
         LIMIT ${messagesAtOnce}) RETURNING id`,
      [tx.account.id, baseId, otherId],
    );
  } while (moved.length === messagesAtOnce);
}

// Pending deliveries stay in the lane of the other contact, in their order.
const movedTables = ['contact_notes', 'contact_inboxes', 'contact_tokens', 'events'] as const;
// Values of the base win over values with the same name, which are deleted with their contact.
const moveStored = `
  UPDATE bot_storage s SET contact_id = $2 WHERE s.account_id = $1 AND s.contact_id = $3 AND NOT EXISTS (
    SELECT FROM bot_storage b WHERE b.account_id = $1 AND b.contact_id = $2 AND b.agent_bot_id = s.agent_bot_id
      AND b.conversation_id IS NOT DISTINCT FROM s.conversation_id AND b.key = s.key)`;

async function moveRows(tx: Transaction, baseId: number, otherId: number): Promise<void> {
  const parameters = [tx.account.id, baseId, otherId];
  for (const table of movedTables) {
    await tx.sql(`UPDATE ${table} SET contact_id = $2 WHERE account_id = $1 AND contact_id = $3`, parameters);
  }
  await tx.sql(moveStored, parameters);
  await moveHookSubjects(tx, { from: otherId, to: baseId });
  await moveKeys(tx.sql, tx.account.id, { from: otherId, to: baseId });
  await moveCopies(tx, { from: otherId, to: baseId });
}
