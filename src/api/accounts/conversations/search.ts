import { searchContacts } from '../../../domain/contacts/search.ts';
import { findConversationsOf } from '../../../domain/conversations/finding/of-contacts.ts';
import { searchConversations } from '../../../domain/conversations/finding/search.ts';
import { contactRecord, messageRecord } from '../../../events/payloads.ts';
import { doors } from '../../../http/route/admission/doors.ts';
import { presentListed } from './records.ts';

/** Found of each kind, at most. */
const most = 15;

export const searchRoutes = [
  doors.account(
    ['GET', '/api/v1/accounts/:account_id/search', 'Search contacts, conversations and messages'],
    { query: 'requests/search.query', reply: 'resources/search', role: 'agent' },
    async ({ services, sql, account, actor, query: { q } }) => {
      const scope = { accountId: account.id, actor };
      const { rows: contacts } = await searchContacts(sql, account.id, { text: q, page: 1 });
      const contactIds = contacts.map(({ id }) => id);
      const conversations = await findConversationsOf(sql, scope, { contactIds, most });
      const { found } = await searchConversations(sql, scope, { text: q, page: 1 });
      const messages = found
        .flatMap(({ listed, messages: some }) => some.map((message) => ({ message, of: listed.conversation })))
        .sort(
          (one, other) =>
            Number(other.message.createdAt) - Number(one.message.createdAt) || other.message.id - one.message.id,
        );
      return {
        payload: {
          contacts: contacts.map(contactRecord),
          conversations: conversations.map((listed) => presentListed(listed, services.fileLinks)),
          messages: messages.slice(0, most).map(({ message, of }) => messageRecord(message, of, services.fileLinks)),
        },
      };
    },
  ),
];
