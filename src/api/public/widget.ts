import { checkFiles } from '../../domain/attachments/checked-files.ts';
import { discardFiles } from '../../domain/attachments/rows.ts';
import { findPublicInbox, type Visit } from '../../domain/widget/visits.ts';
import { markRead, needUnblocked, readCurrent, speak } from '../../domain/widget/messages.ts';
import { openSession, type Session } from '../../domain/widget/sessions.ts';
import { findAwaitedMessage } from '../../deliveries/log/under-way.ts';
import { widgetConversation, widgetMessage } from '../../domain/widget/records.ts';
import type { Attachment } from '../../records/messages/attachment.ts';
import type { Conversation } from '../../records/conversations/conversation.ts';
import { findMessages } from '../../records/messages/message.ts';
import { forbidden, notFound } from '../../errors.ts';
import { doors } from '../../http/route/admission/doors.ts';
import { provenIdentifier } from './identity-proof.ts';
import { answerOf, publicWindowOf } from './messages.ts';
import { newToken } from '../../lib/secrets/tokens.ts';
import { readKept } from '../../live/read-page.ts';
import type { Shape } from '../../schemas.ts';

const base = '/public/api/v1/inboxes/:identifier';

function presentSession({ contact, conversation, granted }: Session, token: string): Shape<'resources/widget-session'> {
  const { id, name, email, phoneNumber, identifier } = contact;
  return {
    contact: {
      id,
      name,
      email: email ?? null,
      phone_number: phoneNumber ?? null,
      identifier: identifier ?? null,
    },
    ...(granted ? { contact_token: token } : {}),
    conversation: conversation && widgetConversation(conversation),
  };
}

/** Undefined where nothing was sent as a form. */
type Files = readonly Attachment[] | undefined;

export const widgetRoutes = [
  doors.open(
    ['GET', base, 'Get what a page shows of an inbox'],
    {
      reply: 'resources/widget-inbox',
      role: 'anyone',
      anyOrigin: true,
      errors: [403],
      description:
        'Pages of any origin may read the answer, so that they can tell people why there is no widget: 403 `origin_not_allowed` where the inbox does not allow the page.',
    },
    async ({ sql, params, browser: { foreignOrigin } }) => {
      const inbox = await findPublicInbox(sql, params.identifier);
      if (!inbox) throw notFound('Inbox');
      if (foreignOrigin !== null && !inbox.allowedOrigins.includes(foreignOrigin)) {
        throw forbidden('This page may not show the chat: its origin is not allowed', 'origin_not_allowed');
      }
      return { name: inbox.name, avatar_url: inbox.avatarUrl };
    },
  ),
  doors.visitor(
    ['POST', `${base}/sessions`, 'Open a session of a visitor'],
    {
      body: 'requests/widget-session.create',
      reply: 'resources/widget-session',
      role: 'visitor',
      status: 201,
      description:
        'Without a contact token it makes a contact, and answers the token once; with one that contact takes on what the body tells. An `identifier` counts only with its `identifier_hash`: then the session is that of the contact who has it, or gets it, and the answer carries a token where the caller had none of it.',
    },
    async ({ services, visit, body, transact }) => {
      const token = newToken('contact', services.random);
      const profile = {
        name: body.name,
        email: body.email,
        phoneNumber: body.phone_number,
        identifier: provenIdentifier(visit, body, services.secretBox),
        visitorAttributes: body.custom_attributes,
      };
      return presentSession(await transact((tx) => openSession(tx, visit, { profile, token })), token);
    },
  ),
  doors.visitor(
    ['GET', `${base}/conversation`, 'Get the conversation of the contact'],
    {
      reply: 'resources/widget-conversation',
      record: true,
      role: 'contact',
      description: 'The newest that is not resolved, else the newest.',
    },
    async ({ sql, visit }) => widgetConversation(await needCurrent(sql, visit)),
  ),
  doors.visitor(
    ['GET', `${base}/messages`, 'List the messages of the contact'],
    {
      query: 'requests/message.list.query',
      reply: 'resources/widget-message-list',
      role: 'contact',
      description: 'The latest 20 of the conversation, the 20 before a moment, or up to 100 after one.',
    },
    async ({ services, sql, visit, query }) => {
      const conversation = await readCurrent(sql, visit);
      if (!conversation) return { payload: [] };
      const messages = await findMessages(sql, visit.account.id, conversation.id, publicWindowOf(query));
      return { payload: messages.map((message) => widgetMessage(message, visit.account.id, services.fileLinks)) };
    },
  ),
  doors.visitor(
    ['POST', `${base}/messages`, 'Send a message of the contact'],
    {
      body: 'requests/widget-message.create',
      largeBody: true,
      withFiles: 'requests/widget-message.with-files',
      reply: 'resources/widget-message',
      role: 'contact',
      status: 201,
      errors: [403],
      description:
        "It reopens a resolved conversation, and begins one where there is none. A blocked contact gets 403 `contact_blocked`. An e-mail address that was asked for (`input_email`) becomes the contact's.",
    },
    {
      prepare: async ({ services, account, visit, files, read }): Promise<Files> => {
        const checked = checkFiles(files, services.attachments.bounds);
        if (checked.length > 0) await read((sql) => needUnblocked(sql, visit));
        return services.attachments.keep(account.id, checked, read);
      },
      handle: async ({ services, visit, body, files, transact }, attachments = []) => {
        const { content = '' } = body;
        // A form with files is of another schema, and no answer.
        const answer = files.length > 0 ? null : answerOf(body as Shape<'requests/widget-message.create'>);
        const said = { content: content.trim() === '' ? '' : content, answer, attachments };
        const { message } = await transact((tx) => speak(tx, visit, said));
        return widgetMessage(message, visit.account.id, services.fileLinks);
      },
      refused: async (_error, { transact }, attachments = []) => {
        if (attachments.length > 0) await transact((tx) => discardFiles(tx, attachments));
      },
    },
  ),
  doors.visitorStream(
    ['GET', `${base}/events`, 'Follow the conversation of the contact'],
    {
      reply: 'resources/widget-event',
      role: 'contact',
      description:
        'Server-sent events: public messages, the state of the conversation, and whether a bot is at work for the last message. The stream begins with what happens from now on: open it, then list the messages. It shows that it lives every 15 seconds, and ends with the contact and its token.',
    },
    async ({ services, sql, account, visit, address }) => {
      const { tokenId, contact, inbox } = visit;
      if (tokenId === null || !contact) throw notFound('Contact');
      const kept = await readKept(sql, account.id);
      const conversation = await readCurrent(sql, visit);
      const awaited = conversation && (await findAwaitedMessage(sql, account.id, conversation.id));
      const visiting = { accountId: account.id, inboxId: inbox.id, contactId: contact.id, tokenId, address };
      const place = { position: kept.head, floor: kept.dropped };
      return () => services.streams.openToVisitor({ ...visiting, place, awaited });
    },
  ),
  doors.visitor(
    ['POST', `${base}/update_last_seen`, 'Mark what was written to the contact as read'],
    {
      reply: 'resources/widget-conversation',
      role: 'contact',
      description: 'At most the newest 100 messages at a time.',
    },
    async ({ visit, transact }) => widgetConversation(await transact((tx) => markRead(tx, visit))),
  ),
];

async function needCurrent(sql: Parameters<typeof readCurrent>[0], visit: Visit): Promise<Conversation> {
  const conversation = await readCurrent(sql, visit);
  if (!conversation) throw notFound('Conversation');
  return conversation;
}
