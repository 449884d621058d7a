import type { Permissions } from '../run.ts';

type Fields = Record<string, unknown>;

// Says which contact, and nothing about them.
const alwaysVisible = new Set(['id', 'type']);

/**
 * The event as a bot with these permissions may see it: wherever a contact stands (`contact`, a `sender` of type contact,
 * `meta.sender`, also within `conversation` and `current_conversation`), the fields that were not granted are gone.
 */
export function viewEvent(event: unknown, permissions: Permissions): unknown {
  if (!isFields(event)) return event;
  const view: Fields = { ...event };
  if ('contact' in view) view.contact = stripContact(view.contact, permissions);
  if (isFields(view.sender) && view.sender.type === 'contact') view.sender = stripContact(view.sender, permissions);
  if ('meta' in view) view.meta = stripMeta(view.meta, permissions);
  for (const name of ['conversation', 'current_conversation']) {
    const conversation = view[name];
    if (isFields(conversation) && 'meta' in conversation) {
      view[name] = { ...conversation, meta: stripMeta(conversation.meta, permissions) };
    }
  }
  return view;
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function stripContact(contact: unknown, permissions: Permissions): unknown {
  if (!isFields(contact)) return contact;
  const visible = new Set<string>(permissions.contact);
  return Object.fromEntries(Object.entries(contact).filter(([key]) => alwaysVisible.has(key) || visible.has(key)));
}

function stripMeta(meta: unknown, permissions: Permissions): unknown {
  return isFields(meta) && 'sender' in meta ? { ...meta, sender: stripContact(meta.sender, permissions) } : meta;
}
