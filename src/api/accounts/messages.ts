import { readConversation } from '../../domain/conversations/access.ts';
import { stopLoop } from '../../domain/bots/suspension.ts';
import { deleteMessage, updateMessage } from '../../domain/conversations/message-edits.ts';
import { send } from '../../domain/conversations/send.ts';
import { findMessages } from '../../records/message.ts';
import { messageRecord } from '../../events/payloads.ts';
import { doors } from '../../http/route/doors.ts';
import { fromUnixSeconds } from '../../lib/unix-time.ts';

const base = '/api/v1/accounts/:account_id/conversations/:conversation_id/messages';

function placeOf(params: { conversation_id: number; message_id: number }) {
  return { conversationId: params.conversation_id, messageId: params.message_id };
}

export const messageRoutes = [
  doors.account(
    ['GET', base, 'List the messages of a conversation'],
    { query: 'requests/message.list.query', reply: 'resources/message-list', role: 'bot' },
    async ({ em, account, actor, params, query }) => {
      const conversation = await readConversation(em, account.id, actor, params.conversation_id);
      const window = {
        ...(query.before === undefined ? {} : { before: fromUnixSeconds(query.before) }),
        ...(query.after === undefined ? {} : { after: fromUnixSeconds(query.after) }),
      };
      const messages = await findMessages(em, account.id, conversation.id, window);
      return { payload: messages.map((message) => messageRecord(message, conversation)) };
    },
  ),
  doors.account(
    ['POST', base, 'Send a message, or write a private note'],
    {
      body: 'requests/message.create',
      largeBody: true,
      multipart: true,
      reply: 'resources/message',
      role: 'bot',
      status: 201,
    },
    {
      handle: async ({ params, body, transact }) => {
        const { message, conversation } = await transact((tx) =>
          send(tx, params.conversation_id, {
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
      refused: (error, { actor, params, transact }) =>
        stopLoop(transact, { error, actor, conversationId: params.conversation_id }),
    },
  ),
  doors.account(
    ['PATCH', `${base}/:message_id`, 'Update a message of a conversation'],
    { body: 'requests/message.update', largeBody: true, multipart: true, reply: 'resources/message', role: 'agent' },
    async ({ params, body, transact }) => {
      const changes = { status: body.status, content: body.content, contentAttributes: body.content_attributes };
      const { message, conversation } = await transact((tx) => updateMessage(tx, placeOf(params), changes));
      return messageRecord(message, conversation);
    },
  ),
  doors.account(
    ['DELETE', `${base}/:message_id`, 'Delete a message of a conversation'],
    { reply: 'resources/empty', role: 'agent' },
    ({ params, transact }) => transact((tx) => deleteMessage(tx, placeOf(params))),
  ),
];
