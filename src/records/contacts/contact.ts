import { defineEntity, p } from '@mikro-orm/core';
import type { Conversation } from '../conversations/conversation.ts';

const ContactSchema = defineEntity({
  name: 'Contact',
  tableName: 'contacts',
  properties: {
    id: p.bigint('number').primary(),
    accountId: p.bigint('number'),
    name: p.text(),
    email: p.text().nullable(),
    phoneNumber: p.text().nullable(),
    identifier: p.text().nullable(),
    blocked: p.boolean().default(false),
    avatarUrl: p.text().nullable(),
    customAttributes: p.json<Record<string, unknown>>().defaultRaw(`'{}'`),
    /** Attributes from visitors, kept apart from those of people and integrations because nobody vouches for them. */
    visitorAttributes: p.json<Record<string, unknown>>().defaultRaw(`'{}'`),
    additionalAttributes: p.json<Record<string, unknown>>().defaultRaw(`'{}'`),
    lastActivityAt: p.datetime().nullable(),
    /** Since when the contact is being deleted, in batches. */
    deletionRequestedAt: p.datetime().nullable(),
    /** When the last batch of the deletion ended; null while nobody is at it. */
    deletionBeatAt: p.datetime().nullable(),
    createdAt: p.datetime().defaultRaw('now()'),
    updatedAt: p.datetime().defaultRaw('now()'),
  },
});

/** A customer of an account. */
export class Contact extends ContactSchema.class {
  static readonly noun = 'Contact';
}
ContactSchema.setClass(Contact);

type Known = 'id' | 'name' | 'email' | 'phoneNumber' | 'identifier' | 'avatarUrl' | 'blocked';

/** The contact as its conversations show it. */
export function surroundingOf(contact: Pick<Contact, Known>): Conversation['contact'] {
  const { id, name, email = null, phoneNumber = null, identifier = null, avatarUrl = null, blocked } = contact;
  return { id, name, email, phoneNumber, identifier, avatarUrl, blocked };
}
