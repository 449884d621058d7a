import { findProblems } from '../../schemas.ts';
import { dropBlanks, isObject, leaveOut, listOf, objectOf, unpack } from './json.ts';
import { meantType, theirMessage } from './message-records.ts';
import type { Json, Operation } from './operation.ts';

const base = '/api/v1/accounts/:account_id/conversations/:conversation_id/messages';

const digits = /^\d+$/;

/** `before` and `after` are ids of messages; what only looks like a number is refused, as none. */
export function readWindow(query: URLSearchParams): void {
  dropBlanks(query, ['before', 'after']);
  for (const name of ['before', 'after']) {
    const value = query.get(name);
    query.delete(name);
    if (value !== null) query.set(`${name}_message`, digits.test(value) ? value : 'none');
  }
}

// Kinds that are text here, with what they show kept beside it; the copies of an import are so too. Cards are, where they lack
// something that cards need here.
const shownAsText = [
  'input_text',
  'input_textarea',
  'cards',
  'form',
  'article',
  'incoming_email',
  'input_csat',
  'integrations',
  'sticker',
  'voice_call',
];

function readMessage(body: Json): Json {
  const given = leaveOut(body, ['', null], ['content_type', 'content_attributes', 'private']);
  return readKind({ ...unpack(given, ['content_attributes']), message_type: meantType(body['message_type']) });
}

function readKind(body: Json): Json {
  const { content_type: type, content_attributes: attributes = {}, content } = body;
  if (typeof type !== 'string' || !shownAsText.includes(type) || !isObject(attributes)) return body;
  const titles = listOf(attributes['items']).flatMap(({ title }) => (typeof title === 'string' ? title : []));
  const read = { ...body, content: content || titles.join('\n') };
  if (type === 'cards' && findProblems('requests/message.create', { ...read, content: 'x' }).length === 0) return read;
  const kept = { ...attributes, chatwoot: { ...objectOf(attributes['chatwoot']), content_type: type } };
  return { ...read, content_type: 'text', content_attributes: kept };
}

/** Messages of a conversation. */
export const messageOperations: readonly Operation[] = [
  {
    method: 'GET',
    path: base,
    query: readWindow,
    answer: ({ payload }: Json) => ({ meta: {}, payload: listOf(payload).map(theirMessage) }),
  },
  {
    method: 'POST',
    path: base,
    body: readMessage,
    answer: (message: Json, { sent: { echo_id: echo } }) => ({
      ...theirMessage(message),
      ...(echo === undefined ? {} : { echo_id: echo }),
    }),
  },
  {
    method: 'PATCH',
    path: `${base}/:id`,
    body: (body) => leaveOut(unpack(body, ['content_attributes']), ['', null], ['content', 'content_attributes']),
    answer: theirMessage,
  },
];
