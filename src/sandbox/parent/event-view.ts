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
 * The event without the contact fields that the permissions do not grant. A contact can be `contact`, a `sender` or `actor` of
 * type contact, or `meta.sender`, the last also within `conversation` and `current_conversation`, and the event itself. No
 * permission grants the addresses of agents.
 */
export function viewEvent(event: unknown, permissions: Permissions): unknown {
  if (!isFields(event)) return event;
  const view: Fields = isContactEvent(event) ? stripContactEvent(event, permissions) : { ...event };
  if (isFields(view.user)) view.user = stripSender(view.user, permissions);
  if ('contact' in view) view.contact = stripContact(view.contact, permissions);
  if (isFields(view.sender)) view.sender = stripSender(view.sender, permissions);
  if (isFields(view.actor) && isContact(view.actor)) view.actor = stripContact(view.actor, permissions);
  if ('meta' in view) view.meta = stripMeta(view.meta, permissions);
  for (const name of ['conversation', 'current_conversation']) {
    const conversation = view[name];
    if (isFields(conversation)) view[name] = stripConversation(conversation, permissions);
  }
  return view;
}

/** The contact fields that the permissions do not grant. */
export function withheldFields({ contact }: Permissions): string[] {
  return contactFields.filter((field) => !contact.includes(field));
}

function stripConversation(conversation: Fields, permissions: Permissions): Fields {
  const view = { ...conversation };
  if ('contact' in view) view.contact = stripContact(view.contact, permissions);
  if ('meta' in view) view.meta = stripMeta(view.meta, permissions);
  return view;
}

function stripContact(contact: unknown, permissions: Permissions): unknown {
  if (!isFields(contact)) return contact;
  const visible = new Set<string>(permissions.contact);
  return Object.fromEntries(Object.entries(contact).filter(([key]) => alwaysVisible.has(key) || visible.has(key)));
}

function stripSender(sender: Fields, permissions: Permissions): unknown {
  return isContact(sender) ? stripContact(sender, permissions) : { ...sender, email: null };
}

// In the bodies of accounts, types are those of REST.
function isContact({ type }: Fields): boolean {
  return type === 'contact' || type === 'Contact';
}

function isContactEvent({ event }: Fields): boolean {
  return event === 'contact_created' || event === 'contact_updated';
}

// The event is the contact itself. Changes show values, too.
function stripContactEvent(event: Fields, permissions: Permissions): Fields {
  const withheld = new Set([...withheldFields(permissions), 'additional_attributes', 'thumbnail']);
  const without = (fields: Fields): Fields =>
    Object.fromEntries(Object.entries(fields).filter(([name]) => !withheld.has(name)));
  const { changed_attributes: changed, ...rest } = without(event);
  return isFields(changed) ? { ...rest, changed_attributes: without(changed) } : rest;
}

function stripMeta(meta: unknown, permissions: Permissions): unknown {
  return isFields(meta) && 'sender' in meta ? { ...meta, sender: stripContact(meta.sender, permissions) } : meta;
}
