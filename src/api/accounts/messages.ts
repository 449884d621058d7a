import { readConversation } from '../../domain/conversations/access.ts';
import { stopLoop } from '../../domain/bots/suspension.ts';
import { deleteMessage, updateMessage } from '../../domain/conversations/message-edits.ts';
import { send } from '../../domain/conversations/send.ts';
import { findMessages } from '../../records/message.ts';
import { messageRecord } from '../../events/payloads.ts';
import { route } from '../../http/route/route.ts';
import { fromUnixSeconds } from '../../lib/unix-time.ts';

const base = '/api/v1/accounts/:account_id/conversations/:conversation_id/messages';

function placeOf(ids: Record<string, number>) {
  return { conversationId: ids.conversation_id ?? 0, messageId: ids.message_id ?? 0 };
}

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
    {
      summary: 'Send a message, or write a private note',
      body: 'requests/message.create',
      largeBody: true,
      reply: 'resources/message',
      role: 'bot',
      status: 201,
    },
    {
      handle: async ({ ids, body, transact }) => {
        const { message, conversation } = await transact((tx) =>
          send(tx, placeOf(ids).conversationId, {
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
      refused: (error, { actor, ids, transact }) =>
        stopLoop(transact, { error, actor, conversationId: placeOf(ids).conversationId }),
    },
  ),
  route(
    ['PATCH', `${base}/:message_id`],
    { body: 'requests/message.update', largeBody: true, reply: 'resources/message', role: 'agent' },
    async ({ ids, body, transact }) => {
      const changes = { status: body.status, content: body.content, contentAttributes: body.content_attributes };
      const { message, conversation } = await transact((tx) => updateMessage(tx, placeOf(ids), changes));
      return messageRecord(message, conversation);
    },
  ),
  route(['DELETE', `${base}/:message_id`], { reply: 'resources/empty', role: 'agent' }, async ({ ids, transact }) => {
    await transact((tx) => deleteMessage(tx, placeOf(ids)));
    return {};
  }),
];
