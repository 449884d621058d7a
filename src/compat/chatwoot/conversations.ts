import { readConditions } from './conditions.ts';
import { dropBlanks, isObject, leaveOut, listOf, objectOf, spreadLists, unpack } from './json.ts';
import { theirConversation } from './conversation-records.ts';
import type { Json, Operation } from './operation.ts';

const base = '/api/v1/accounts/:account_id/conversations';
const zeroIds = ['page', 'inbox_id', 'team_id'];
const sortedBy = /^(last_activity_at|created_at)_(asc|desc)$/;

// Open conversations are listed by default, unless the request names a status or a text.
function readFilter(query: URLSearchParams): void {
  spreadLists(query, 'labels', 'labels[]');
  dropBlanks(query, zeroIds);
  if (!query.has('status') && !query.has('q')) query.set('status', 'open');
}

// Unknown sort fields fall back to the default order.
function readList(query: URLSearchParams): void {
  readFilter(query);
  const [, field, direction] = sortedBy.exec(query.get('sort_by') ?? '') ?? [];
  query.delete('sort_by');
  if (field !== undefined && !query.has('sort')) query.set('sort', `${direction === 'asc' ? '-' : ''}${field}`);
}

function readConversation(body: Json): Json {
  const attributes = unpack(body, ['additional_attributes', 'custom_attributes', 'message']);
  const given = leaveOut(attributes, ['', null], ['status', 'message', 'additional_attributes', 'custom_attributes']);
  const named = leaveOut(given, [0, null], ['team_id', 'contact_id']);
  const { message } = named;
  // An untouched form has no first message.
  return isObject(message) && !message['content'] ? leaveOut(named, [message], ['message']) : named;
}

function theirPage({ payload, meta }: Json): Json {
  return { meta: { ...objectOf(meta), all_count: objectOf(meta)['count'] }, payload: listed(payload) };
}

function listed(payload: unknown): Json[] {
  return listOf(payload).map(theirConversation);
}

/** Operations on lists of conversations, and on their records. */
export const conversationOperations: readonly Operation[] = [
  {
    method: 'GET',
    path: base,
    query: readList,
    answer: ({ data }: Json) => {
      const { meta, payload } = objectOf(data);
      return { data: { meta, payload: listed(payload) } };
    },
  },
  { method: 'GET', path: `${base}/meta`, query: readFilter },
  { method: 'GET', path: `${base}/search`, query: (query) => dropBlanks(query, zeroIds), answer: theirPage },
  {
    method: 'POST',
    path: `${base}/filter`,
    query: (query) => dropBlanks(query, zeroIds),
    body: readConditions,
    answer: theirPage,
  },
  { method: 'GET', path: `${base}/:id`, answer: theirConversation },
  { method: 'POST', path: base, body: readConversation, answer: theirConversation },
  {
    method: 'PATCH',
    path: `${base}/:id`,
    body: (body) => ({ ...body, ...(body['priority'] === '' ? { priority: null } : {}) }),
    answer: theirConversation,
  },
  { method: 'GET', path: '/api/v1/accounts/:account_id/contacts/:id/conversations', answer: theirPage },
];
