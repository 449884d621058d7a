import type { Named } from '../../records/conversations/conversation.ts';
import type { Message } from '../../records/messages/message.ts';
import { freeOf, need, type Told, type ToldContact } from './told.ts';

type Person = Record<string, unknown>;

/** A contact, as events of contacts and messages show it. */
export function contactOf(contact: ToldContact, account: Named, told: Told): Person {
  const { id, name } = account;
  return { ...recordOf(contact, told), account: { id, name }, avatar: contact.avatarUrl };
}

/** The contact of the conversation. */
export function customerOf(told: Told): Person {
  return recordOf(fullContact(told), told);
}

function fullContact({ subject, around }: Told): ToldContact {
  const { customAttributes = {}, additionalAttributes = {} } = around.contact ?? {};
  return { ...need(subject.conversation).contact, customAttributes, additionalAttributes };
}

function recordOf(contact: ToldContact, told: Told): Person {
  return {
    additional_attributes: freeOf(contact.additionalAttributes, told),
    custom_attributes: freeOf(contact.customAttributes, told),
    email: contact.email,
    id: contact.id,
    identifier: contact.identifier,
    name: contact.name,
    phone_number: contact.phoneNumber,
    thumbnail: contact.avatarUrl,
    blocked: contact.blocked,
  };
}

/** The author of a message, beside the message; null for the service and for deleted authors. */
export function authorOf({ sender }: Message, told: Told): Person | null {
  const { kind, id, name, email } = sender;
  if (kind === 'system' || id === null) return null;
  if (kind === 'user') return { id, name, email, type: 'user' };
  if (kind === 'agent_bot' || kind === 'automation') return { id, name, type: 'agent_bot' };
  return isCustomer(sender, told)
    ? contactOf(fullContact(told), need(told.subject.conversation).account, told)
    : other(sender);
}

/** The author of a message, within its conversation; null for the service and for deleted authors. */
export function speakerOf({ sender }: Message, told: Told): Person | null {
  const { kind, id, name, avatarUrl } = sender;
  if (kind === 'system' || id === null) return null;
  if (kind === 'agent_bot' || kind === 'automation') return { id, name, avatar_url: avatarUrl, type: 'agent_bot' };
  if (kind === 'contact') return { ...(isCustomer(sender, told) ? customerOf(told) : other(sender)), type: 'contact' };
  return { id, name, available_name: name, avatar_url: avatarUrl, type: 'user', thumbnail: avatarUrl };
}

// A contact whom the conversation does not belong to any more.
function other({ id, name, email, avatarUrl }: Message['sender']): Person {
  return { id, name, email, thumbnail: avatarUrl };
}

function isCustomer({ id }: Message['sender'], { subject }: Told): boolean {
  return id === subject.conversation?.contact.id;
}

/** The agent to whom a conversation is assigned. */
export function agentOf(assignee: Named | null): Person | null {
  return assignee && { id: assignee.id, name: assignee.name, available_name: assignee.name, type: 'user' };
}
