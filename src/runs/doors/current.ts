import { contactRecord, conversationRecord } from '../../events/payloads.ts';
import type { Contact } from '../../records/contacts/contact.ts';
import type { Conversation } from '../../records/conversations/conversation.ts';
import { viewEvent } from '../../sandbox/parent/event-view.ts';
import type { Permissions } from '../../sandbox/run.ts';
import { UnavailableError } from './errors.ts';
import type { StorageOwner } from './storage.ts';

/** The conversation and the contact of a run as they are now; null for an event without them. */
interface Current {
  conversation: Conversation | null;
  contact: Contact | null;
  /** Whether it is within the hours of the inbox; null without a conversation. */
  isOpen: boolean | null;
}

/** Reads the current state of what a run is about. */
export type ReadCurrent = (place: StorageOwner, now: Date) => Promise<Current>;

/** `ctx.current`: the records as REST shows them, without fields of the contact that are not granted. */
export async function currentDoor(
  { owner, permissions, now }: { owner: StorageOwner; permissions: Permissions; now: Date },
  read: ReadCurrent | undefined,
): Promise<unknown> {
  if (!read) throw new UnavailableError('current');
  const { conversation, contact, isOpen } = await read(owner, now);
  const hours = isOpen === null ? null : isOpen ? 'inside' : 'outside';
  const records = {
    conversation: conversation && conversationRecord(conversation),
    contact: contact && contactRecord(contact),
  };
  return { ...(viewEvent(records, permissions) as object), hours };
}
