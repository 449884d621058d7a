import type { Conversation } from '../records/conversations/conversation.ts';
import type { Message } from '../records/messages/message.ts';
import type { Subject } from './catalog.ts';
import { senderRecord } from './payloads.ts';

/**
 * Returns the values of an event that webhooks filter by, in its subject's present state, as JSON text without absent ones;
 * null for events about neither a conversation nor an inbox.
 */
export function factsOf({ conversation, message, session }: Subject): string | null {
  const about = conversation ?? session?.conversation ?? null;
  const inbox = about?.inbox ?? session?.inbox;
  if (!inbox) return null;
  const facts = {
    inbox_id: inbox.id,
    ...(about ? ofConversation(about) : {}),
    ...(message ? ofMessage(message) : {}),
  };
  return JSON.stringify(facts, (_, value: unknown) => value ?? undefined);
}

function ofConversation({ status, priority, assignee, team, labels }: Conversation) {
  return { status, priority, assignee_id: assignee?.id, team_id: team?.id, ...(labels.length > 0 ? { labels } : {}) };
}

function ofMessage(message: Message) {
  return { message_type: message.type, private: message.private, sender_type: senderRecord(message)?.type };
}
