import { checkFiles } from '../../domain/attachments/checked-files.ts';
import { discardFiles } from '../../domain/attachments/rows.ts';
import {
  beginOwn,
  listOwn,
  markOwnRead,
  needWritable,
  readOwn,
  resolveOwn,
  speakInOwn,
  submitToOwn,
  typeInOwn,
  type ClientConversation,
} from '../../domain/widget/client-conversations.ts';
import { widgetConversation, widgetMessage } from '../../domain/widget/records.ts';
import { doors } from '../../http/route/admission/doors.ts';
import type { Attachment } from '../../records/messages/attachment.ts';
import { findMessages } from '../../records/messages/message.ts';
import type { FileLinks } from '../../lib/file-links.ts';
import type { Shape } from '../../schemas.ts';
import { answerOf, publicWindowOf } from './messages.ts';

const base = '/public/api/v1/inboxes/:identifier/contacts/:contact_identifier/conversations';
const messages = `${base}/:conversation_id/messages`;
const blocked = 'A blocked contact gets 403 `contact_blocked`.';

function present(
  { conversation, lastMessage }: ClientConversation,
  links: FileLinks,
): Shape<'resources/client-conversation'> {
  const { id, name, email } = conversation.contact;
  return {
    ...widgetConversation(conversation),
    inbox_id: conversation.inbox.id,
    contact: { id, name, email },
    messages: lastMessage ? [widgetMessage(lastMessage, conversation.account.id, links)] : [],
  };
}

/** Undefined where nothing was sent as a form. */
type Files = readonly Attachment[] | undefined;

const actions = [
  doors.visitor(
    ['POST', `${base}/:conversation_id/toggle_status`, 'Resolve a conversation of a client'],
    {
      reply: 'resources/client-conversation',
      role: 'client',
      errors: [403],
      description: `It is resolved, or stays so: the contact's next message reopens it. ${blocked}`,
    },
    async ({ services, sql, visit, params, transact }) => {
      await transact((tx) => resolveOwn(tx, visit, params.conversation_id));
      return present(await readOwn(sql, visit, params.conversation_id), services.fileLinks);
    },
  ),
  doors.visitor(
    ['POST', `${base}/:conversation_id/toggle_typing`, 'Tell whether the contact of a client is typing'],
    {
      body: 'requests/client-typing',
      reply: 'resources/empty',
      role: 'client',
      errors: [403],
      description: `Streams and webhooks hear of it. ${blocked}`,
    },
    ({ visit, params: { conversation_id: id }, body, transact }) =>
      transact((tx) => typeInOwn(tx, visit, { id, isTyping: body.typing_status === 'on' })),
  ),
  doors.visitor(
    ['POST', `${base}/:conversation_id/update_last_seen`, 'Mark what was written to the contact of a client as read'],
    {
      reply: 'resources/client-conversation',
      role: 'client',
      description: 'At most the newest 100 messages at a time.',
    },
    async ({ services, sql, visit, params, transact }) => {
      await transact((tx) => markOwnRead(tx, visit, params.conversation_id));
      return present(await readOwn(sql, visit, params.conversation_id), services.fileLinks);
    },
  ),
];

const messageRoutes = [
  doors.visitor(
    ['GET', messages, 'List the messages of a conversation of a client'],
    {
      query: 'requests/message.list.query',
      reply: 'resources/client-messages',
      role: 'client',
      description: 'The latest 20, the 20 before a moment, or up to 100 after one; public ones, the oldest first.',
    },
    async ({ services, sql, account, visit, params, query }) => {
      const { conversation } = await readOwn(sql, visit, params.conversation_id);
      const found = await findMessages(sql, account.id, conversation.id, publicWindowOf(query));
      return found.map((message) => widgetMessage(message, account.id, services.fileLinks));
    },
  ),
  doors.visitor(
    ['POST', messages, 'Send a message of a client'],
    {
      body: 'requests/client-message.create',
      largeBody: true,
      withFiles: 'requests/widget-message.with-files',
      reply: 'resources/client-message',
      role: 'client',
      status: 201,
      errors: [403],
      description: `It reopens a resolved conversation. ${blocked} An e-mail address that was asked for (\`input_email\`) becomes the contact's.`,
    },
    {
      prepare: async ({ services, account, visit, params, files, read }): Promise<Files> => {
        const checked = checkFiles(files, services.attachments.bounds);
        if (checked.length > 0) await read((sql) => needWritable(sql, visit, params.conversation_id));
        return services.attachments.keep(account.id, checked, read);
      },
      handle: async ({ services, account, visit, params, body, files, transact }, attachments = []) => {
        const { content = '' } = body;
        // A form with files is of another schema: no answer, and known by no echo.
        const told = files.length > 0 ? null : (body as Shape<'requests/client-message.create'>);
        const words = { content: content.trim() === '' ? '' : content, answer: told && answerOf(told) };
        const said = { id: params.conversation_id, ...words, attachments };
        const written = await transact((tx) => speakInOwn(tx, visit, said));
        const message = widgetMessage(written, account.id, services.fileLinks);
        return told?.echo_id === undefined ? message : { ...message, echo_id: told.echo_id };
      },
      refused: async (_error, { transact }, attachments = []) => {
        if (attachments.length > 0) await transact((tx) => discardFiles(tx, attachments));
      },
    },
  ),
  doors.visitor(
    ['PATCH', `${messages}/:message_id`, 'Answer a message to a client'],
    {
      body: 'requests/client-message.update',
      reply: 'resources/client-message',
      role: 'client',
      errors: [403],
      description: `What was submitted stands in the message from then on, as \`content_attributes\`. ${blocked}`,
    },
    async ({ services, account, visit, params, body, transact }) => {
      const { conversation_id: id, message_id: messageId } = params;
      // The schema ensures at least one value.
      const value = body.submitted_values[0]?.value ?? '';
      const message = await transact((tx) => submitToOwn(tx, visit, { id, messageId, value }));
      return widgetMessage(message, account.id, services.fileLinks);
    },
  ),
];

/** Conversations and messages of clients. */
export const clientConversationRoutes = [
  doors.visitor(
    ['GET', base, 'List the conversations of a client'],
    {
      query: 'requests/client-conversation.list.query',
      reply: 'resources/client-conversations',
      role: 'client',
      description: 'Those of the contact in the inbox, the newest 25, or the 25 before one of them.',
    },
    async ({ services, sql, visit, query: { before } }) =>
      (await listOwn(sql, visit, before ?? null)).map((one) => present(one, services.fileLinks)),
  ),
  doors.visitor(
    ['POST', base, 'Begin a conversation of a client'],
    {
      body: 'requests/client-conversation.create',
      reply: 'resources/client-conversation',
      role: 'client',
      status: 201,
      errors: [403],
      description: blocked,
    },
    async ({ services, visit, body, transact }) => {
      const conversation = await transact((tx) => beginOwn(tx, visit, body.custom_attributes ?? {}));
      return present({ conversation, lastMessage: null }, services.fileLinks);
    },
  ),
  doors.visitor(
    ['GET', `${base}/:conversation_id`, 'Get a conversation of a client'],
    { reply: 'resources/client-conversation', record: true, role: 'client' },
    async ({ services, sql, visit, params }) =>
      present(await readOwn(sql, visit, params.conversation_id), services.fileLinks),
  ),
  ...actions,
  ...messageRoutes,
];
