import type { Contact } from '../records/contacts/contact.ts';
import type { Conversation, Named } from '../records/conversations/conversation.ts';
import { botConversationBrief, contactRecord, conversationRecord } from './payloads.ts';

/** A started widget session: contact, inbox, and the conversation that it continues, if any. */
export interface StartedSession {
  contact: Contact;
  inbox: Named & { channelType: string };
  account: Named;
  conversation: Conversation | null;
  /** Whether the session created the conversation. */
  begun: boolean;
}

/** The body of webwidget_triggered for account webhooks. */
export function accountSession(session: StartedSession) {
  const { contact, conversation } = session;
  return {
    contact: contactRecord(contact),
    current_conversation: conversation ? conversationRecord(conversation) : null,
    ...surroundings(session),
  };
}

function surroundings({ inbox, account, conversation, begun }: StartedSession) {
  return {
    inbox: { id: inbox.id, name: inbox.name, channel: inbox.channelType },
    account,
    source_id: conversation?.sourceId ?? null,
    conversation_begun: begun,
  };
}

/** The body of webwidget_triggered for bots. */
export function botSession(session: StartedSession) {
  const { contact, conversation } = session;
  return {
    contact: {
      id: contact.id,
      name: contact.name,
      email: contact.email ?? null,
      phone_number: contact.phoneNumber ?? null,
      avatar: contact.avatarUrl ?? null,
      identifier: contact.identifier ?? null,
      custom_attributes: contact.customAttributes,
      visitor_attributes: contact.visitorAttributes,
      type: 'contact',
    },
    current_conversation: conversation ? botConversationBrief(conversation) : null,
    ...surroundings(session),
  };
}
