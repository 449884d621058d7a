import { surroundingOf, type Contact } from '../../records/contacts/contact.ts';
import type { Conversation } from '../../records/conversations/conversation.ts';
import type { Message } from '../../records/messages/message.ts';
import type { FileLinks } from '../../lib/file-links.ts';
import type { Subject } from '../catalog.ts';

/** Attributes that callers set as they like. */
type FreeAttributes = Pick<Contact, 'customAttributes' | 'additionalAttributes'>;
/** A contact with the fields that a body contains. */
export type ToldContact = Conversation['contact'] & FreeAttributes;

/** The records that an event is about, as they were when the event was recorded. */
export interface KeptSubject extends Omit<Subject, 'contact'> {
  contact?: ToldContact;
}

/** Further records in a body, as they are at the end of the transaction. */
export interface Surroundings {
  /** Attributes of the conversation's contact. */
  contact: FreeAttributes | null;
  /** The contact's place in the inbox. */
  contactInbox: { id: number; sourceId: string } | null;
  /** The newest public message of the conversation. */
  lastMessage: Message | null;
}

/** All that a body is made of. */
export interface Told {
  subject: KeptSubject;
  around: Surroundings;
  links: FileLinks;
  /** Leaves out free attributes, and texts where they would stand twice. */
  isLean: boolean;
}

/** A copy of the subject, which later changes within the transaction do not reach. */
export function keep({ conversation, message, contact, session, ...rest }: Subject): KeptSubject {
  const within = session?.conversation ?? null;
  return {
    ...rest,
    ...(conversation ? { conversation: { ...conversation } } : {}),
    ...(message ? { message: { ...message } } : {}),
    ...(contact ? { contact: keepContact(contact) } : {}),
    ...(session ? { session: { ...session, conversation: within && { ...within } } } : {}),
  };
}

function keepContact(contact: Contact): ToldContact {
  const { customAttributes, additionalAttributes } = contact;
  return { ...surroundingOf(contact), customAttributes, additionalAttributes };
}

/** The value, which an event of this name has. */
export function need<Value>(value: Value | null | undefined): Value {
  if (value === undefined || value === null) throw new Error('The event lacks its subject');
  return value;
}

/** Free attributes, unless the body is lean. */
export function freeOf(attributes: Record<string, unknown>, { isLean }: Told): Record<string, unknown> {
  return isLean ? {} : attributes;
}
