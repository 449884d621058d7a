import { noteSeen } from '../../records/conversations/seen.ts';
import type { Conversation, Priority } from '../../records/conversations/conversation.ts';
import type { Transaction } from '../../events/transaction.ts';
import { lockConversation } from './access.ts';
import { change, merge } from '../changes.ts';
import { countBotChange } from './bots/loops.ts';
import { readNotifications } from './notifications.ts';
import { applySla } from './deadlines/breaches.ts';

/** Changes of a conversation's own fields; undefined leaves a field unchanged, attributes are merged key by key. */
export interface ConversationChanges {
  priority?: Priority | null | undefined;
  slaPolicyId?: number | null | undefined;
  additionalAttributes?: Record<string, unknown> | undefined;
  customAttributes?: Record<string, unknown> | undefined;
}

/**
 * Changes a conversation's own fields. Says conversation_updated when something changed. Errors: 404 (also for the SLA
 * policy), 403, 422 for attributes that grow too large.
 */
export async function updateConversation(
  tx: Transaction,
  id: number,
  { priority, slaPolicyId, ...attributes }: ConversationChanges,
): Promise<Conversation> {
  const conversation = await lockConversation(tx, id);
  const { additionalAttributes, customAttributes } = conversation;
  const changed = change(conversation, {
    priority,
    slaPolicyId,
    additionalAttributes: merge('/additional_attributes', additionalAttributes, attributes.additionalAttributes),
    customAttributes: merge('/custom_attributes', customAttributes, attributes.customAttributes),
  });
  if (!changed) return conversation;
  countBotChange(tx, conversation);
  if (changed.sla_policy_id) await applySla(tx, conversation);
  conversation.updatedAt = tx.now;
  tx.record('conversation_updated', { conversation, changed });
  return conversation;
}

/**
 * Replaces a conversation's custom attributes: those that are not named are gone. Says conversation_updated when something
 * changed. Errors: 404, 403, 422 for attributes that are too large.
 */
export async function replaceCustomAttributes(
  tx: Transaction,
  id: number,
  attributes: Record<string, unknown>,
): Promise<Conversation> {
  const { customAttributes: present } = await lockConversation(tx, id);
  const gone = Object.fromEntries(Object.keys(present).map((name) => [name, null]));
  return updateConversation(tx, id, { customAttributes: { ...gone, ...attributes } });
}

/** Marks the customer's messages as seen, and the agent's notifications about the conversation as read. Says nothing. Errors: 404, 403. */
export async function markSeen(tx: Transaction, id: number): Promise<Conversation> {
  const conversation = await lockConversation(tx, id);
  if (tx.actor.kind === 'user') await readNotifications(tx, id);
  if (conversation.unreadCount === 0) return conversation;
  conversation.unreadCount = 0;
  await noteSeen(tx.sql, tx.account.id, id);
  return conversation;
}
