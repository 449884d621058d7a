/** Content of a deleted message. */
export const blank = { content: '', content_attributes: { deleted: true } };

type Json = Record<string, unknown>;

/** Where bodies of the format `chatwoot` show messages of a conversation: paths, as PostgreSQL writes them. */
export const shownIn = ['messages', 'conversation,messages', 'current_conversation,messages'];

/** A body of the format `chatwoot` without the content and the files of a message, wherever it shows it. */
export function withoutMessage(payload: Json, messageId: number): Json {
  const { conversation, current_conversation: current } = payload;
  return {
    ...(isMessage(payload, messageId) ? blankOf(payload) : payload),
    ...shown(payload, messageId),
    ...(isObject(conversation) ? { conversation: { ...conversation, ...shown(conversation, messageId) } } : {}),
    ...(isObject(current) ? { current_conversation: { ...current, ...shown(current, messageId) } } : {}),
  };
}

function shown({ messages }: Json, messageId: number): Json {
  if (!Array.isArray(messages)) return {};
  return { messages: messages.map((one: Json) => (one['id'] === messageId ? blankOf(one) : one)) };
}

// A conversation may have the same id.
function isMessage(payload: Json, messageId: number): boolean {
  return payload['id'] === messageId && 'message_type' in payload;
}

function blankOf({ attachments: _files, ...message }: Json): Json {
  return { ...message, ...blank };
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null;
}
