import type { Visit } from '../../domain/widget/visits.ts';
import { markRead, readCurrent, speak } from '../../domain/widget/messages.ts';
import { openSession, type Session } from '../../domain/widget/sessions.ts';
import type { Conversation } from '../../records/conversation.ts';
import { findMessages, type Message } from '../../records/message.ts';
import { invalid, notFound } from '../../errors.ts';
import { senderRecord } from '../../events/payloads.ts';
import { doors } from '../../http/route/doors.ts';
import { isIdentityProven } from './identity-proof.ts';
import type { SecretBox } from '../../lib/secret-box.ts';
import { newToken } from '../../lib/tokens.ts';
import { fromUnixSeconds, unixSeconds } from '../../lib/unix-time.ts';
import type { Shape } from '../../schemas.ts';

const base = '/public/api/v1/inboxes/:identifier';

// Schemas of their own for customers, without agents' ids, labels and attributes.
function presentConversation(conversation: Conversation): Shape<'resources/widget-conversation'> {
  const { id, status, assignee, createdAt, lastActivityAt } = conversation;
  return {
    id,
    status,
    assignee: assignee && { name: assignee.name },
    created_at: unixSeconds(createdAt),
    last_activity_at: unixSeconds(lastActivityAt),
  };
}

function presentMessage(message: Message): Shape<'resources/widget-message'> {
  const sender = senderRecord(message);
  return {
    id: message.id,
    conversation_id: message.conversationId,
    content: message.content,
    message_type: message.type,
    status: message.status,
    content_type: message.contentType,
    content_attributes: message.contentAttributes,
    created_at: unixSeconds(message.createdAt),
    sender: sender && { name: sender.name, type: sender.type, avatar_url: message.sender.avatarUrl },
    attachments: [],
  };
}

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
    conversation: conversation && presentConversation(conversation),
  };
}

// An identifier without a proof is ignored: an error would reveal which identifiers exist.
function provenIdentifier(
  { identitySecrets }: Visit,
  { identifier, identifier_hash: proof }: Shape<'requests/widget-session.create'>,
  box: SecretBox,
): string | null {
  if (!identifier || !proof) return null;
  const secrets = identitySecrets.map((sealed) => box.open(sealed));
  if (isIdentityProven(secrets, identifier, proof)) return identifier;
  throw invalid(
    '/identifier_hash',
    'proof',
    "`identifier_hash` is not the proof of this identifier by the inbox's identity secret",
  );
}

function windowOf({ before, after }: Shape<'requests/message.list.query'>) {
  return {
    publicOnly: true,
    ...(before === undefined ? {} : { before: fromUnixSeconds(before) }),
    ...(after === undefined ? {} : { after: fromUnixSeconds(after) }),
  };
}

export const widgetRoutes = [
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
    async ({ em, visit }) => presentConversation(await needCurrent(em, visit)),
  ),
  doors.visitor(
    ['GET', `${base}/messages`, 'List the messages of the contact'],
    {
      query: 'requests/message.list.query',
      reply: 'resources/widget-message-list',
      role: 'contact',
      description: 'The latest 20 of the conversation, the 20 before a moment, or up to 100 after one.',
    },
    async ({ em, visit, query }) => {
      const conversation = await readCurrent(em, visit);
      if (!conversation) return { payload: [] };
      const messages = await findMessages(em, visit.account.id, conversation.id, windowOf(query));
      return { payload: messages.map(presentMessage) };
    },
  ),
  doors.visitor(
    ['POST', `${base}/messages`, 'Send a message of the contact'],
    {
      body: 'requests/widget-message.create',
      largeBody: true,
      reply: 'resources/widget-message',
      role: 'contact',
      status: 201,
      description: 'It reopens a resolved conversation, and begins one where there is none.',
    },
    async ({ visit, body, transact }) =>
      presentMessage((await transact((tx) => speak(tx, visit, body.content))).message),
  ),
  doors.visitor(
    ['POST', `${base}/update_last_seen`, 'Mark what was written to the contact as read'],
    {
      reply: 'resources/widget-conversation',
      role: 'contact',
      description: 'At most the newest 100 messages at a time.',
    },
    async ({ visit, transact }) => presentConversation(await transact((tx) => markRead(tx, visit))),
  ),
];

async function needCurrent(em: Parameters<typeof readCurrent>[0], visit: Visit): Promise<Conversation> {
  const conversation = await readCurrent(em, visit);
  if (!conversation) throw notFound('Conversation');
  return conversation;
}
