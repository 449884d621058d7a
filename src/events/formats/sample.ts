import { noFileLinks } from '../../lib/file-links.ts';
import type { Conversation, Named, SilenceColumn } from '../../records/conversations/conversation.ts';
import type { Message } from '../../records/messages/message.ts';
import type { EventName } from '../catalog.ts';
import { chatwootBody } from './chatwoot.ts';
import type { KeptSubject, ToldContact } from './told.ts';

const moment = new Date('2025-11-22T12:00:00.000Z');

const contact: ToldContact = {
  id: 1,
  name: 'Ada Lovelace',
  email: 'ada@example.com',
  phoneNumber: '+14155552671',
  identifier: '14155552671@s.whatsapp.net',
  avatarUrl: null,
  blocked: false,
  customAttributes: {},
  additionalAttributes: {},
};

const message: Message = {
  id: 1,
  conversationId: 1,
  type: 'incoming',
  content: 'Where is my order?',
  contentType: 'text',
  contentAttributes: {},
  private: false,
  status: 'sent',
  externalError: null,
  sourceId: null,
  sender: { kind: 'contact', id: 1, name: contact.name, email: contact.email, avatarUrl: null },
  attachments: [],
  createdAt: moment,
};

/** A body of the event in the format of the field's leader, for people who try their receiver; null where it has none. */
export function sampleChatwootBody(name: EventName, account: Named): string | null {
  const conversation = conversationIn(account);
  const { inbox } = conversation;
  const subject: KeptSubject = {
    account,
    contact,
    conversation,
    ...(name.startsWith('message_') ? { message } : {}),
    changed: { status: { previous: 'pending', current: 'open' } },
    session: { contact: contact as never, inbox, account, conversation, begun: true },
  };
  const contactInbox = { id: 1, sourceId: contact.identifier ?? '' };
  return chatwootBody(name, { subject, around: { contact, contactInbox, lastMessage: message }, links: noFileLinks });
}

// No body tells of the silence of bots.
function conversationIn(account: Named): Conversation {
  const conversation: Omit<Conversation, SilenceColumn> = {
    id: 1,
    account,
    inbox: { id: 1, name: 'WhatsApp', channelType: 'Channel::Api', greets: false, autoAssigns: false, channelId: null },
    contact,
    status: 'open',
    priority: null,
    assignee: null,
    team: null,
    labels: [],
    snoozedUntil: null,
    waitingSince: moment,
    unreadCount: 1,
    additionalAttributes: {},
    customAttributes: {},
    createdAt: moment,
    updatedAt: moment,
    lastActivityAt: moment,
    bot: null,
    botChanges: 0,
    botChangedAt: null,
    handoffReason: null,
    closedBy: null,
    sessionBeganAt: null,
    sourceId: null,
    slaPolicyId: null,
    firstResponseDueAt: null,
    resolutionDueAt: null,
    eventSequence: 0,
  };
  return conversation as Conversation;
}
