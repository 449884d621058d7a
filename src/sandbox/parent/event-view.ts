import type { Permissions } from '../run.ts';
import { isFields } from '../wire.ts';
import type { Fields } from '../wire.ts';

const contactFields = [
  'name',
  'email',
  'phone_number',
  'identifier',
  'custom_attributes',
  'visitor_attributes',
] as const satisfies readonly Permissions['contact'][number][];

// These two identify the contact and need no permission.
const alwaysVisible = new Set(['id', 'type']);

/**
 * The event without the contact fields that the permissions do not grant. A contact can be `contact`, a `sender` of
 * type contact, or `meta.sender`, the last also within `conversation` and `current_conversation`. No permission grants the
 * addresses of agents.
 */
export function viewEvent(event: unknown, permissions: Permissions): unknown {
  if (!isFields(event)) return event;
  const view: Fields = { ...event };
  if ('contact' in view) view.contact = stripContact(view.contact, permissions);
  if (isFields(view.sender)) view.sender = stripSender(view.sender, permissions);
  if ('meta' in view) view.meta = stripMeta(view.meta, permissions);
  for (const name of ['conversation', 'current_conversation']) {
    const conversation = view[name];
    if (isFields(conversation) && 'meta' in conversation) {
      view[name] = { ...conversation, meta: stripMeta(conversation.meta, permissions) };
    }
  }
  return view;
}

/** The contact fields that the permissions do not grant. */
export function withheldFields({ contact }: Permissions): string[] {
  return contactFields.filter((field) => !contact.includes(field));
}

function stripContact(contact: unknown, permissions: Permissions): unknown {
  if (!isFields(contact)) return contact;
  const visible = new Set<string>(permissions.contact);
  return Object.fromEntries(Object.entries(contact).filter(([key]) => alwaysVisible.has(key) || visible.has(key)));
}

function stripSender(sender: Fields, permissions: Permissions): unknown {
  return sender.type === 'contact' ? stripContact(sender, permissions) : { ...sender, email: null };
}

function stripMeta(meta: unknown, permissions: Permissions): unknown {
  return isFields(meta) && 'sender' in meta ? { ...meta, sender: stripContact(meta.sender, permissions) } : meta;
}
