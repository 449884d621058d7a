import { readConversation } from '../../../domain/conversations/access.ts';
import { checkFiles } from '../../../domain/attachments/checked-files.ts';
import { discardFiles } from '../../../domain/attachments/rows.ts';
import { deleteMessage, updateMessage } from '../../../domain/conversations/messages/edits.ts';
import { retryMessage } from '../../../domain/channels/outgoing.ts';
import { send } from '../../../domain/conversations/send.ts';
import { findMessage, findMessages } from '../../../records/messages/message.ts';
import { messageRecord } from '../../../events/payloads.ts';
import type { Attachment } from '../../../records/messages/attachment.ts';
import { notFound } from '../../../errors.ts';
import { doors } from '../../../http/route/admission/doors.ts';
import { windowOf } from '../../message-window.ts';

const base = '/api/v1/accounts/:account_id/conversations/:conversation_id/messages';

/** The text of a message: beside files it may be empty, and is not blank. */
export function textOf({ content = '' }: { content?: string }): string {
  return content.trim() === '' ? '' : content;
}

function placeOf(params: { conversation_id: number; message_id: number }) {
  return { conversationId: params.conversation_id, messageId: params.message_id };
}

/** Undefined where nothing was sent as a form. */
type Files = readonly Attachment[] | undefined;

export const messageRoutes = [
  doors.account(
    ['GET', base, 'List the messages of a conversation'],
    { query: 'requests/message.list.query', reply: 'resources/message-list', role: 'bot' },
    async ({ services, sql, account, actor, params, query }) => {
      const conversation = await readConversation(sql, account.id, actor, params.conversation_id);
      const messages = await findMessages(sql, account.id, conversation.id, windowOf(query));
      return { payload: messages.map((message) => messageRecord(message, conversation, services.fileLinks)) };
    },
  ),
  doors.account(
    ['POST', base, 'Send a message, or write a private note'],
    {
      body: 'requests/message.create',
      largeBody: true,
      withFiles: 'requests/message.with-files',
      reply: 'resources/message',
      role: 'bot',
      status: 201,
      description:
        'A form may have files, `attachments[]`; it must arrive within `UPLOAD_TIMEOUT_MS`, without a pause of 15 seconds. What a file is, is found in its content.',
    },
    {
      prepare: async ({ services, account, actor, params, files, read }): Promise<Files> => {
        const checked = checkFiles(files, services.attachments.bounds);
        if (checked.length > 0) await read((sql) => readConversation(sql, account.id, actor, params.conversation_id));
        return services.attachments.keep(account.id, checked, read);
      },
      handle: async ({ services, params, body, transact }, attachments = []) => {
        const { message, conversation } = await transact((tx) =>
          send(tx, params.conversation_id, {
            type: body.message_type,
            content: textOf(body),
            private: body.private ?? false,
            contentType: body.content_type ?? 'text',
            contentAttributes: body.content_attributes ?? {},
            sourceId: body.source_id ?? null,
            attachments,
          }),
        );
        return messageRecord(message, conversation, services.fileLinks);
      },
      refused: async (_, { transact }, attachments = []) => {
        if (attachments.length > 0) await transact((tx) => discardFiles(tx, attachments));
      },
    },
  ),
  doors.account(
    ['GET', `${base}/:message_id`, 'Get a message of a conversation'],
    {
      reply: 'resources/message',
      record: true,
      role: 'agent',
      description:
        'With its entity tag, by which a change in `If-Match` does not overwrite what somebody else has changed.',
    },
    async ({ services, sql, account, actor, params }) => {
      const conversation = await readConversation(sql, account.id, actor, params.conversation_id);
      const message = await findMessage(sql, account.id, conversation.id, params.message_id);
      if (!message) throw notFound('Message');
      return messageRecord(message, conversation, services.fileLinks);
    },
  ),
  doors.account(
    ['PATCH', `${base}/:message_id`, 'Update a message of a conversation'],
    { body: 'requests/message.update', largeBody: true, multipart: true, reply: 'resources/message', role: 'agent' },
    async ({ services, params, body, transact }) => {
      const changes = { status: body.status, content: body.content, contentAttributes: body.content_attributes };
      const { message, conversation } = await transact((tx) => updateMessage(tx, placeOf(params), changes));
      return messageRecord(message, conversation, services.fileLinks);
    },
  ),
  doors.account(
    ['POST', `${base}/:message_id/retry`, 'Send a failed message again'],
    {
      reply: 'resources/message',
      role: 'agent',
      errors: [409],
      description:
        'The channel of the inbox sends it again: it is `pending` until then. Refused (409) for a message that has not failed.',
    },
    async ({ services, params, transact }) => {
      const { message, conversation } = await transact((tx) => retryMessage(tx, placeOf(params)));
      return messageRecord(message, conversation, services.fileLinks);
    },
  ),
  doors.account(
    ['DELETE', `${base}/:message_id`, 'Delete a message of a conversation'],
    { reply: 'resources/empty', role: 'agent' },
    ({ params, transact }) => transact((tx) => deleteMessage(tx, placeOf(params))),
  ),
];
