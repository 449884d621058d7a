import type { Message } from '../../records/messages/message.ts';
import { storableText } from '../../lib/text/storable.ts';
import { unixSeconds, unixSecondsOrNull } from '../../lib/unix-time.ts';
import type { ChangedAttributes, EventName } from '../catalog.ts';
import { attachmentRecords } from '../payloads.ts';
import { agentOf, authorOf, contactOf, customerOf, speakerOf } from './chatwoot-people.ts';
import { freeOf, need, type Told } from './told.ts';

type Build = (told: Told) => Record<string, unknown>;

/** The bodies that the field's leader has, by event; it has none for the others, which keep ours. */
const bodies: { [Name in EventName]?: Build } = {
  contact_created: changedContact,
  contact_updated: (told) => ({ ...changedContact(told), changed_attributes: changesOf(told) }),
  message_created: messageOf,
  message_updated: messageOf,
  conversation_created: ownConversation,
  conversation_updated: changedConversation,
  conversation_status_changed: changedConversation,
  conversation_opened: ownConversation,
  conversation_resolved: ownConversation,
  conversation_typing_on: typingOf,
  conversation_typing_off: typingOf,
  webwidget_triggered: sessionOf,
};

/** Whether the format has a body of its own for the event. */
export function isFormatted(name: EventName): boolean {
  return bodies[name] !== undefined;
}

/** Bytes above which a body becomes lean; what is left is bounded by what a message may be. */
const maxWholeBytes = 262_144;

/** The same of typing: customers make such events as often as they like, and each is kept. */
const maxTypingBytes = 8_192;

/** Characters of a message's text that events show which are not its own; what is longer ends with an ellipsis. */
const maxShownChars = 2_048;

/** Bytes of such a message's attributes; more of them are left out. */
const maxShownAttributes = 4_096;

/** The body of an event as the field's leader has it, as JSON; null for events that it does not know. */
export function chatwootBody(name: EventName, told: Omit<Told, 'isLean'>): string | null {
  const build = bodies[name];
  if (!build) return null;
  const whole = JSON.stringify({ ...build({ ...told, isLean: false }), event: name });
  if (Buffer.byteLength(whole) <= (isTyping(name) ? maxTypingBytes : maxWholeBytes)) return whole;
  return JSON.stringify({ ...build({ ...told, isLean: true }), event: name });
}

function messageOf(told: Told): Record<string, unknown> {
  const [message, conversation] = [need(told.subject.message), need(told.subject.conversation)];
  return {
    account: conversation.account,
    additional_attributes: {},
    content_attributes: message.contentAttributes,
    content_type: message.contentType,
    content: message.content,
    conversation: conversationOf(told),
    created_at: message.createdAt.toISOString(),
    id: message.id,
    inbox: { id: conversation.inbox.id, name: conversation.inbox.name },
    message_type: message.type,
    private: message.private,
    sender: authorOf(message, told),
    source_id: message.sourceId,
    ...filesOf(message, told),
  };
}

function ownConversation(told: Told): Record<string, unknown> {
  return { ...conversationOf(told), account: need(told.subject.conversation).account };
}

function changedConversation(told: Told): Record<string, unknown> {
  return { ...ownConversation(told), changed_attributes: changesOf(told) };
}

function changedContact(told: Told): Record<string, unknown> {
  return contactOf(need(told.subject.contact), need(told.subject.account), told);
}

function changesOf({ subject: { changed = {} }, isLean }: Told): unknown[] {
  return Object.entries(changed).map(([name, change]) => ({ [name]: isLean ? {} : changeOf(change) }));
}

function changeOf({ previous, current }: ChangedAttributes[string]): Record<string, unknown> {
  return { previous_value: previous, current_value: current };
}

function typingOf(told: Told): Record<string, unknown> {
  const quiet = { ...told, around: { ...told.around, lastMessage: null } };
  return { user: customerOf(told), conversation: conversationOf(quiet), is_private: false };
}

function sessionOf(told: Told): Record<string, unknown> {
  const { inbox, account, conversation } = need(told.subject.session);
  const { contactInbox } = told.around;
  const within = conversation && { ...told, subject: { ...told.subject, conversation } };
  return {
    id: contactInbox?.id ?? null,
    contact: contactOf(need(told.subject.contact), account, told),
    inbox: { id: inbox.id, name: inbox.name },
    account: { id: account.id, name: account.name },
    current_conversation: within && conversationOf(within),
    source_id: contactInbox?.sourceId ?? null,
    event_info: {},
  };
}

function conversationOf(told: Told): Record<string, unknown> {
  const conversation = need(told.subject.conversation);
  const { contact, inbox } = conversation;
  const { contactInbox } = told.around;
  const shown = shownOf(told);
  return {
    additional_attributes: freeOf(conversation.additionalAttributes, told),
    can_reply: true,
    channel: inbox.channelType,
    contact_inbox: contactInbox && {
      id: contactInbox.id,
      contact_id: contact.id,
      inbox_id: inbox.id,
      source_id: contactInbox.sourceId,
    },
    id: conversation.id,
    account_id: conversation.account.id,
    inbox_id: inbox.id,
    messages: shown ? [lastMessageOf(shown, told)] : [],
    labels: conversation.labels,
    meta: {
      sender: { ...customerOf(told), type: 'contact' },
      assignee: agentOf(conversation.assignee),
      assignee_type: conversation.assignee ? 'User' : null,
      team: conversation.team && { id: conversation.team.id, name: conversation.team.name },
    },
    status: conversation.status,
    custom_attributes: freeOf(conversation.customAttributes, told),
    snoozed_until: conversation.snoozedUntil?.toISOString() ?? null,
    unread_count: conversation.unreadCount,
    priority: conversation.priority,
    waiting_since: unixSecondsOrNull(conversation.waitingSince) ?? 0,
    last_activity_at: unixSeconds(conversation.lastActivityAt),
    timestamp: unixSeconds(conversation.lastActivityAt),
    created_at: unixSeconds(conversation.createdAt),
    updated_at: conversation.updatedAt.getTime() / 1000,
  };
}

function isTyping(name: EventName): boolean {
  return bodies[name] === typingOf;
}

/** Whether a body of the event shows the newest public message of its conversation, which must be read for it. */
export function wantsNewest(name: EventName, told: Pick<Told, 'subject'>): boolean {
  return showsNewest(told) && !isTyping(name);
}

/** Whether the event's conversation shows the newest public message, and not the one that the event is about. */
function showsNewest({ subject: { message } }: Pick<Told, 'subject'>): boolean {
  return !message || message.private;
}

// Never a note: receivers could take it for an answer to the customer.
function shownOf(told: Told): Message | null {
  return showsNewest(told) ? told.around.lastMessage : need(told.subject.message);
}

const typeNumbers = { incoming: 0, outgoing: 1 } as const;
const senderTypes = {
  contact: 'Contact',
  user: 'User',
  agent_bot: 'AgentBot',
  automation: 'AgentBot',
  system: null,
} as const;

// As REST answers of the field's leader show a message: its type is a number there.
function lastMessageOf(message: Message, told: Told): Record<string, unknown> {
  const { account, inbox, id, lastActivityAt, assignee, unreadCount } = need(told.subject.conversation);
  return {
    id: message.id,
    content: shownText(message, told),
    account_id: account.id,
    inbox_id: inbox.id,
    conversation_id: id,
    message_type: typeNumbers[message.type],
    created_at: unixSeconds(message.createdAt),
    private: message.private,
    // The field has no word for what waits to be sent.
    status: message.status === 'pending' ? 'sent' : message.status,
    source_id: message.sourceId,
    content_type: message.contentType,
    content_attributes: shownAttributes(message, told),
    sender_type: senderTypes[message.sender.kind],
    sender_id: message.sender.id,
    conversation: {
      assignee_id: assignee?.id ?? null,
      unread_count: unreadCount,
      last_activity_at: unixSeconds(lastActivityAt),
      contact_inbox: { source_id: told.around.contactInbox?.sourceId ?? null },
    },
    sender: speakerOf(message, told),
    ...filesOf(message, told),
  };
}

// Told once more with every event of the conversation: a long message would be stored with each.
function shownText({ content }: Message, told: Told): string {
  if (told.isLean) return '';
  return !showsNewest(told) || content.length <= maxShownChars ? content : `${storableText(content, maxShownChars)}…`;
}

function shownAttributes(message: Message, told: Told): Record<string, unknown> {
  const { contentAttributes } = message;
  if (told.isLean) return marksOf(message);
  const isLong = showsNewest(told) && JSON.stringify(contentAttributes).length > maxShownAttributes;
  return isLong ? marksOf(message) : contentAttributes;
}

function marksOf({ contentAttributes }: Message): Record<string, unknown> {
  return contentAttributes['deleted'] === true ? { deleted: true } : {};
}

// Readers take an empty list for files.
function filesOf(message: Message, { subject, links }: Told): Record<string, unknown> {
  if (message.attachments.length === 0) return {};
  const { id } = need(subject.conversation).account;
  return { attachments: attachmentRecords(message, id, links).map((file) => ({ ...file, account_id: id })) };
}
