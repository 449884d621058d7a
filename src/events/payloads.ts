import { fileTypeOf, type Attachment } from '../records/messages/attachment.ts';
import type { Conversation, Named } from '../records/conversations/conversation.ts';
import type { Contact } from '../records/contacts/contact.ts';
import type { Message, SenderKind } from '../records/messages/message.ts';
import type { FileLinks } from '../lib/file-links.ts';
import { unixSeconds, unixSecondsOrNull } from '../lib/unix-time.ts';
import type { Shape } from '../schemas.ts';

const restSenderType = { contact: 'Contact', user: 'User', agent_bot: 'AgentBot', automation: 'Automation' } as const;

/** The author of a message in REST answers and account webhooks; null for the service and for deleted authors. */
export function senderRecord(message: Message): Shape<'resources/message'>['sender'] {
  const { sender } = message;
  return known(sender) ? { id: sender.id, name: sender.name, type: restSenderType[sender.kind] } : null;
}

function known(
  sender: Message['sender'],
): sender is Message['sender'] & { kind: keyof typeof restSenderType; id: number } {
  return sender.kind !== 'system' && sender.id !== null;
}

/** The files of a message. */
export function attachmentRecords(
  { id, attachments }: Message,
  accountId: number,
  links: FileLinks,
): Shape<'resources/message'>['attachments'] {
  return attachments.map((attachment) => attachmentRecord(attachment, { messageId: id, accountId, links }));
}

function attachmentRecord(
  { id, name, type, size, width, height }: Attachment,
  { messageId, accountId, links }: { messageId: number; accountId: number; links: FileLinks },
): Shape<'resources/message'>['attachments'][number] {
  const url = links.urlOf({ accountId, id, name });
  const fileType = fileTypeOf(type);
  return {
    id,
    message_id: messageId,
    file_type: fileType,
    file_name: name,
    extension: /\.([^.]+)$/.exec(name)?.[1]?.toLowerCase() ?? null,
    content_type: type,
    file_size: size,
    data_url: url,
    ...(fileType === 'image' ? { thumb_url: url } : {}),
    width,
    height,
  };
}

function filesOf(message: Message, { account }: Conversation, links: FileLinks) {
  return message.attachments.length === 0 ? {} : { attachments: attachmentRecords(message, account.id, links) };
}

/** A message in REST answers. */
export function messageRecord(
  message: Message,
  conversation: Conversation,
  links: FileLinks,
): Shape<'resources/message'> {
  return {
    id: message.id,
    account_id: conversation.account.id,
    conversation_id: conversation.id,
    inbox_id: conversation.inbox.id,
    content: message.content,
    message_type: message.type,
    status: message.status,
    external_error: message.externalError,
    private: message.private,
    content_type: message.contentType,
    content_attributes: message.contentAttributes,
    source_id: message.sourceId,
    created_at: unixSeconds(message.createdAt),
    sender: senderRecord(message),
    attachments: attachmentRecords(message, conversation.account.id, links),
  };
}

function named(value: Named | null): Named | null {
  return value === null ? null : { id: value.id, name: value.name };
}

/** A conversation in REST answers and account webhooks, without its last message. */
export function conversationRecord(conversation: Conversation): Shape<'shapes/conversation'> {
  const { contact, inbox } = conversation;
  return {
    id: conversation.id,
    account_id: conversation.account.id,
    inbox_id: inbox.id,
    status: conversation.status,
    priority: conversation.priority,
    unread_count: conversation.unreadCount,
    source_id: conversation.sourceId,
    labels: conversation.labels,
    snoozed_until: unixSecondsOrNull(conversation.snoozedUntil),
    waiting_since: unixSecondsOrNull(conversation.waitingSince),
    sla_policy_id: conversation.slaPolicyId,
    handoff_reason: conversation.handoffReason,
    additional_attributes: conversation.additionalAttributes,
    custom_attributes: conversation.customAttributes,
    contact: { id: contact.id, name: contact.name, email: contact.email },
    meta: {
      sender: conversationSender(conversation),
      channel: inbox.channelType,
      assignee: named(conversation.assignee),
      team: named(conversation.team),
      agent_bot: named(conversation.bot),
    },
    created_at: unixSeconds(conversation.createdAt),
    updated_at: unixSeconds(conversation.updatedAt),
    last_activity_at: unixSeconds(conversation.lastActivityAt),
  };
}

function conversationSender({ contact }: Conversation): Shape<'shapes/conversation'>['meta']['sender'] {
  const { id, name, email, phoneNumber, identifier } = contact;
  return { id, name, email, phone_number: phoneNumber, identifier, type: 'Contact' };
}

/** A contact in REST answers and account webhooks. */
export function contactRecord(contact: Contact): Shape<'shapes/contact'> {
  return {
    id: contact.id,
    account_id: contact.accountId,
    name: contact.name,
    email: contact.email ?? null,
    phone_number: contact.phoneNumber ?? null,
    identifier: contact.identifier ?? null,
    blocked: contact.blocked,
    thumbnail: contact.avatarUrl ?? null,
    custom_attributes: contact.customAttributes,
    visitor_attributes: contact.visitorAttributes,
    additional_attributes: contact.additionalAttributes,
    deletion_requested_at: unixSecondsOrNull(contact.deletionRequestedAt ?? null),
    last_activity_at: unixSecondsOrNull(contact.lastActivityAt ?? null),
    created_at: unixSeconds(contact.createdAt),
    updated_at: unixSeconds(contact.updatedAt),
  };
}

/** The body of a message event for account webhooks, without `sequence`. */
export function accountMessage(message: Message, conversation: Conversation, links: FileLinks) {
  const { contact, inbox } = conversation;
  return {
    id: String(message.id),
    content: message.content,
    created_at: message.createdAt.toISOString(),
    message_type: message.type,
    private: message.private,
    content_type: message.contentType,
    content_attributes: message.contentAttributes,
    status: message.status,
    ...(message.externalError === null ? {} : { external_error: message.externalError }),
    source_id: message.sourceId,
    sender: senderRecord(message),
    conversation: {
      id: conversation.id,
      status: conversation.status,
      inbox_id: inbox.id,
      meta: { sender: conversationSender(conversation) },
    },
    inbox: named(inbox),
    contact: { id: contact.id, name: contact.name, email: contact.email },
    account: conversation.account,
    ...filesOf(message, conversation, links),
  };
}

/** The body of a typing event of the contact, for account webhooks. */
export function typingContact({ id, status, inbox, contact, account }: Conversation) {
  return {
    conversation: { id, status, inbox_id: inbox.id },
    user: { id: contact.id, name: contact.name, type: 'Contact' },
    is_private: false,
    account,
  };
}

function botMeta({ contact, inbox }: Conversation) {
  return { sender: { id: contact.id, name: contact.name, type: 'contact' }, channel: inbox.channelType };
}

function botSender(message: Message, conversation: Conversation) {
  const { sender } = message;
  if (!known(sender)) return null;
  const contact = sender.kind === 'contact' ? conversation.contact : null;
  const type: Exclude<SenderKind, 'system'> = sender.kind;
  return {
    id: sender.id,
    name: sender.name,
    email: sender.email,
    phone_number: contact?.phoneNumber ?? null,
    avatar: sender.avatarUrl,
    identifier: contact?.identifier ?? null,
    type,
  };
}

/** The conversation within the bodies of messages and sessions for bots. */
export function botConversationBrief(conversation: Conversation) {
  return {
    id: conversation.id,
    account_id: conversation.account.id,
    status: conversation.status,
    assignee: named(conversation.assignee),
    meta: botMeta(conversation),
  };
}

/** The body of a message event for bots. */
export function botMessage(message: Message, conversation: Conversation, links: FileLinks) {
  const { account, inbox } = conversation;
  return {
    id: message.id,
    content: message.content,
    content_type: message.contentType,
    message_type: message.type,
    created_at: unixSeconds(message.createdAt),
    private: message.private,
    source_id: message.sourceId,
    additional_attributes: conversation.additionalAttributes,
    content_attributes: message.contentAttributes,
    sender: botSender(message, conversation),
    inbox: { id: inbox.id, name: inbox.name, channel: inbox.channelType },
    conversation: botConversationBrief(conversation),
    account,
    ...filesOf(message, conversation, links),
  };
}

/** The body of conversation_opened and conversation_resolved for bots. */
export function botConversation(conversation: Conversation) {
  const { account, inbox } = conversation;
  return {
    id: conversation.id,
    status: conversation.status,
    account_id: account.id,
    inbox_id: inbox.id,
    meta: botMeta(conversation),
    account,
  };
}
