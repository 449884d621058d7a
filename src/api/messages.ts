import { readConversation } from '../domain/access.ts';
import { send } from '../domain/messages.ts';
import { findMessages } from '../entities/message.ts';
import { messageRecord } from '../events/payloads.ts';
import { route } from '../http/route.ts';
import { fromUnixSeconds } from '../lib/unix-time.ts';

const base = '/api/v1/accounts/:account_id/conversations/:conversation_id/messages';

export const messageRoutes = [
  route(
    ['GET', base],
    { query: 'requests/message.list.query', reply: 'resources/message-list', role: 'bot' },
    async ({ em, account, actor, ids, query }) => {
      const conversation = await readConversation(em, account.id, actor, ids.conversation_id ?? 0);
      const window = {
        ...(query.before === undefined ? {} : { before: fromUnixSeconds(query.before) }),
        ...(query.after === undefined ? {} : { after: fromUnixSeconds(query.after) }),
      };
      const messages = await findMessages(em, account.id, conversation.id, window);
      return { payload: messages.map((message) => messageRecord(message, conversation)) };
    },
  ),
  route(
    ['POST', base],
    { body: 'requests/message.create', reply: 'resources/message', role: 'bot', status: 201 },
    async ({ ids, body, transact }) => {
      const { message, conversation } = await transact((tx) =>
        send(tx, ids.conversation_id ?? 0, {
          type: body.message_type,
          content: body.content,
          private: body.private ?? false,
          contentType: body.content_type ?? 'text',
          contentAttributes: body.content_attributes ?? {},
          sourceId: body.source_id ?? null,
        }),
      );
      return messageRecord(message, conversation);
    },
  ),
];
