import { leaveOut, listOf, unpack } from './json.ts';
import { theirMessage } from './message-records.ts';
import { readWindow } from './messages.ts';
import type { Json, Operation } from './operation.ts';

const base = '/public/api/v1/inboxes/:identifier/contacts';
const conversations = `${base}/:contact/conversations`;
const messages = `${conversations}/:conversation/messages`;

function readClient(body: Json): Json {
  const given = leaveOut(
    body,
    ['', null],
    ['name', 'email', 'phone_number', 'avatar_url', 'identifier', 'identifier_hash', 'source_id', 'custom_attributes'],
  );
  return unpack(given, ['custom_attributes']);
}

function theirConversation(conversation: Json): Json {
  return { ...conversation, messages: listOf(conversation['messages']).map(theirMessage) };
}

/** The public API of the clients of an inbox. */
export const clientOperations: readonly Operation[] = [
  { method: 'POST', path: base, body: readClient },
  { method: 'PATCH', path: `${base}/:contact`, body: readClient },
  { method: 'GET', path: conversations, answer: (list: unknown) => listOf(list).map(theirConversation) },
  {
    method: 'POST',
    path: conversations,
    body: (body) => leaveOut(unpack(body, ['custom_attributes']), ['', null], ['custom_attributes']),
    answer: theirConversation,
  },
  { method: 'GET', path: `${conversations}/:conversation`, answer: theirConversation },
  { method: 'POST', path: `${conversations}/:conversation/toggle_status`, answer: theirConversation },
  { method: 'POST', path: `${conversations}/:conversation/update_last_seen`, answer: theirConversation },
  { method: 'GET', path: messages, query: readWindow, answer: (list: unknown) => listOf(list).map(theirMessage) },
  {
    method: 'POST',
    path: messages,
    body: (body) => leaveOut(body, ['', null], ['echo_id', 'content_attributes']),
    answer: theirMessage,
  },
  { method: 'PATCH', path: `${messages}/:id`, answer: theirMessage },
];
