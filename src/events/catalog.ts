import type { Contact } from '../entities/contact.ts';
import type { Conversation, Named } from '../entities/conversation.ts';
import type { Message } from '../entities/message.ts';
import type { SchemaName } from '../schemas.ts';
import { accountMessage, botConversation, botMessage, contactRecord, conversationRecord } from './payloads.ts';

/** Attribute name → its value before and after, as the REST API tells them. */
export type ChangedAttributes = Record<string, { previous: unknown; current: unknown }>;

/** What an event is about, as it stands after the change. */
export interface Subject {
  conversation?: Conversation;
  message?: Message;
  contact?: Contact;
  account?: Named;
  changed?: ChangedAttributes;
}

type Build = (subject: Subject) => Record<string, unknown>;

interface Entry {
  /** Builds the body for account webhooks; absent when they do not hear of the event. */
  account?: Build;
  /** Builds the body for the conversation's bot; absent when it does not hear of the event. */
  bot?: Build;
}

function need<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new Error('The event lacks its subject');
  return value;
}

const changed = ({ changed: attributes }: Subject) => (attributes ? { changed_attributes: attributes } : {});
const conversation: Build = (subject) => ({
  ...conversationRecord(need(subject.conversation)),
  account: need(subject.conversation).account,
  ...changed(subject),
});
const message: Entry = {
  account: (subject) => ({ ...accountMessage(need(subject.message), need(subject.conversation)), ...changed(subject) }),
  bot: (subject) => ({ ...botMessage(need(subject.message), need(subject.conversation)), ...changed(subject) }),
};
const contact: Build = (subject) => ({
  ...contactRecord(need(subject.contact)),
  account: need(subject.account),
  ...changed(subject),
});
const botLifecycle: Build = (subject) => botConversation(need(subject.conversation));

/** Every event there is: who hears of it, and what they are told. Its schemas stand under schemas/events/. */
export const catalog = {
  contact_created: { account: contact },
  contact_updated: { account: contact },
  conversation_created: { account: conversation },
  conversation_updated: { account: conversation },
  conversation_status_changed: { account: conversation },
  conversation_opened: { bot: botLifecycle },
  conversation_resolved: { bot: botLifecycle },
  message_created: message,
  message_updated: message,
} satisfies Record<string, Entry>;

export type EventName = keyof typeof catalog;
export type Audience = keyof Entry;

/** The body that an audience gets of an event, its `sequence` apart; null when it is not for that audience. */
export function buildPayload(name: EventName, audience: Audience, subject: Subject): Record<string, unknown> | null {
  const build = (catalog[name] as Entry)[audience];
  return build ? { event: name, ...build(subject) } : null;
}

/** The schema of what an audience gets of an event. */
export function payloadSchema(name: EventName, audience: Audience): SchemaName {
  return `events/${audience}/${name}` as SchemaName;
}
