import { theirContact } from './contact-records.ts';
import { theirConversation } from './conversation-records.ts';
import { dropBlanks, listOf, objectOf } from './json.ts';
import { theirMessage } from './message-records.ts';
import type { Json, Operation } from './operation.ts';

function theirFindings({ payload }: Json): Json {
  const { contacts, conversations, messages } = objectOf(payload);
  return {
    payload: {
      contacts: listOf(contacts).map(theirContact),
      conversations: listOf(conversations).map(theirConversation),
      messages: listOf(messages).map(theirMessage),
      articles: [],
    },
  };
}

/** Search in everything. */
export const searchOperations: readonly Operation[] = [
  {
    method: 'GET',
    path: '/api/v1/accounts/:account_id/search',
    query: (query) => dropBlanks(query),
    answer: theirFindings,
  },
];
