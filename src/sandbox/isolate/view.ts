// Runs inside the isolate before the bot is loaded (see bootstrap.ts).

/** JSON as an object. */
export type Fields = Record<string, unknown>;

const { freeze, keys } = Object;
const { parse } = JSON;

/** Freezes a value and everything in it, recursively. */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  for (const key of keys(value)) deepFreeze((value as Fields)[key]);
  return freeze(value);
}

function fieldsAt(fields: Fields | undefined | null, name: string): Fields | null {
  const value = fields?.[name];
  return typeof value === 'object' && value !== null ? (value as Fields) : null;
}

function pick(from: Fields, names: readonly string[]): Fields {
  const picked: Fields = {};
  for (const name of names) if (name in from) picked[name] = from[name];
  return picked;
}

const messageFields = [
  'id',
  'content',
  'content_type',
  'content_attributes',
  'message_type',
  'private',
  'created_at',
  'sender',
  'source_id',
  'additional_attributes',
  'attachments',
];
const conversationFields = ['id', 'status', 'account_id', 'inbox_id', 'labels', 'priority', 'custom_attributes'];
const contactFields = [
  'id',
  'name',
  'email',
  'phone_number',
  'identifier',
  'custom_attributes',
  'visitor_attributes',
  'blocked',
];

function contactOf(event: Fields, conversation: Fields | null): Fields | null {
  const sender = fieldsAt(event, 'sender');
  return (
    fieldsAt(event, 'contact') ??
    (sender?.type === 'contact' || sender?.type === 'Contact' ? sender : null) ??
    fieldsAt(fieldsAt(conversation ?? event, 'meta'), 'sender')
  );
}

// The body comes once, as text: as JSON too, it would be as large again.
function hookOf(hook: Fields | null): Fields | null {
  if (hook === null) return null;
  const { is_json: isJson, ...rest } = hook;
  return { ...rest, json: isJson === true ? (parse(rest.text as string) as unknown) : null };
}

function messageOf(event: Fields, handler: string): Fields | null {
  if (handler.startsWith('message_')) return pick(event, messageFields);
  return handler === 'send' ? fieldsAt(event, 'message') : null;
}

/** The fields of `ctx` that come from the event. */
export function viewOf(event: Fields, handler: string): Fields {
  const isConversation = handler.startsWith('conversation_') || handler === 'schedule' || handler === 'sla_breached';
  const given = fieldsAt(event, 'conversation') ?? fieldsAt(event, 'current_conversation');
  const conversation = isConversation && given === null ? pick(event, conversationFields) : given;
  const inboxId = conversation?.inbox_id;
  return {
    event,
    message: messageOf(event, handler),
    conversation,
    contact: handler.startsWith('contact_') ? pick(event, contactFields) : contactOf(event, given),
    inbox: fieldsAt(event, 'inbox') ?? (inboxId === undefined ? null : { id: inboxId }),
    account: fieldsAt(event, 'account'),
    ...(handler === 'hook_received' ? { hook: hookOf(fieldsAt(event, 'hook')) } : {}),
  };
}
