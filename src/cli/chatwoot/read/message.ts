import type { ForeignMessage } from '../../../domain/imports/messages.ts';
import type { Attachment } from '../../../records/messages/attachment.ts';
import type { ContentType, Sender, SenderKind } from '../../../records/messages/message.ts';
import { findProblems } from '../../../schemas.ts';
import type { Ids } from '../copying.ts';
import { idOf, isLonger, oneOf, pastOf, readAttributes, recordOf, textOf, type Foreign } from '../values.ts';

/** Characters of a message, the API's limit. */
const mostContent = 150_000;

/** A message that can be stored, and sentences about values that were changed for it. */
export interface ReadMessage {
  message: ForeignMessage;
  problems: string[];
}

/** Context for reading a message: its copied files (`files`), and the fields that stand for the others (`missing`). */
export interface MessageReading {
  now: Date;
  /** The time of a message that has none. */
  otherwise: Date;
  files: readonly Attachment[];
  missing: readonly Foreign[];
}

type Kind = 'incoming' | 'outgoing' | 'activity' | 'template';
const kinds: readonly Kind[] = ['incoming', 'outgoing', 'activity', 'template'];

/**
 * Reads a message; null without an id. Messages that neither a customer nor an agent wrote (activities, templates) are the
 * system's; Chatwoot's other fields are stored in `content_attributes.chatwoot`.
 */
export function toMessage(given: Foreign, agents: Ids, reading: MessageReading): ReadMessage | null {
  const foreignId = idOf(given['id']);
  if (foreignId === null) return null;
  const problems: string[] = [];
  const nature = natureOf(given, problems);
  const { kind, isIncoming, isDeleted, attributes } = nature;
  const content = isDeleted ? '' : contentOf(given, reading, problems);
  const { contentType, ...otherType } = contentTypeOf(given, content, attributes);
  const sender = senderOf(recordOf(given['sender']), nature, agents);
  const repliesTo = idOf(attributes['in_reply_to']);
  const more = { ...otherType, ...foreignSender(given, sender), ...missingOf(reading) };
  return {
    problems,
    message: {
      foreignId,
      type: isIncoming ? 'incoming' : 'outgoing',
      content,
      contentType,
      contentAttributes: withMore(attributes, { id: foreignId, ...(isSpoken(kind) ? {} : { kind }), ...more }),
      private: nature.isNote,
      status: oneOf(given['status'], ['sent', 'delivered', 'read', 'failed']) ?? 'sent',
      sourceId: isLonger(given['source_id'], 255) ? null : textOf(given['source_id'], 255),
      sender,
      ...(repliesTo === null ? {} : { repliesTo }),
      attachments: isDeleted ? [] : reading.files,
      createdAt: pastOf(given['created_at'], reading.now, reading.otherwise),
    },
  };
}

/** Kind and visibility of a message. */
interface Nature {
  kind: Kind;
  isIncoming: boolean;
  isNote: boolean;
  isDeleted: boolean;
  attributes: Record<string, unknown>;
}

function natureOf(given: Foreign, problems: string[]): Nature {
  const kind = kindOf(given['message_type'], problems);
  const attributes = readAttributes(given, 'content_attributes', problems);
  const isIncoming = kind === 'incoming' && given['private'] !== true;
  const isNote = !isIncoming && (given['private'] === true || kind === 'activity');
  return { kind, isIncoming, isNote, isDeleted: attributes['deleted'] === true, attributes };
}

function isSpoken(kind: Kind): boolean {
  return kind === 'incoming' || kind === 'outgoing';
}

function missingOf({ missing }: MessageReading): { attachments?: readonly Foreign[] } {
  return missing.length > 0 ? { attachments: missing } : {};
}

// REST sends numbers, events send words.
function kindOf(value: unknown, problems: string[]): Kind {
  const kind = typeof value === 'number' ? kinds[value] : oneOf(value, kinds);
  if (kind) return kind;
  problems.push(`the message_type ${textOf(value, 64) ?? 'is missing'}: it became a private note`);
  return 'activity';
}

// A placeholder for a message without text and files, which would count as deleted.
function contentOf(given: Foreign, { files, missing }: MessageReading, problems: string[]): string {
  if (isLonger(given['content'], mostContent)) problems.push(`its text was cut after ${mostContent} characters`);
  const text = textOf(given['content'], mostContent);
  if (text !== null || files.length > 0) return text ?? '';
  return placeholderOf(missing);
}

/** Returns a text for a message that has none, and no file here. */
export function placeholderOf(missing: readonly Foreign[]): string {
  return (
    missing.map(({ file_type: type, title }) => `[${textOf(title ?? type, 255) ?? 'file'}]`).join(' ') || '(no text)'
  );
}

function contentTypeOf(
  given: Foreign,
  content: string,
  attributes: Record<string, unknown>,
): { contentType: ContentType; content_type?: string } {
  const type = textOf(given['content_type'], 64) ?? 'text';
  const known = oneOf(type, ['text', 'input_select', 'input_email', 'cards']);
  const body = {
    content: content || 'x',
    message_type: 'outgoing',
    content_type: type,
    content_attributes: attributes,
  };
  if (known && (known === 'text' || findProblems('requests/message.create', body).length === 0))
    return { contentType: known };
  return { contentType: 'text', content_type: type };
}

const senderKinds: Readonly<Record<string, SenderKind>> = {
  contact: 'contact',
  user: 'user',
  agent_bot: 'agent_bot',
  agentbot: 'agent_bot',
  captain_assistant: 'agent_bot',
};

// Only the id is stored: the name is read where the message is shown. The contact is the conversation's.
function senderOf(sender: Foreign, { kind, isIncoming }: Nature, agents: Ids): Sender {
  if (isIncoming) return by('contact', null);
  if (kind !== 'outgoing') return by('system', null);
  const given = senderKinds[textOf(sender['type'], 32)?.toLowerCase() ?? ''] ?? 'user';
  if (given !== 'user') return by(given === 'contact' ? 'system' : given, null);
  return by('user', agents.get(idOf(sender['id']) ?? 0) ?? null);
}

function by(kind: SenderKind, id: number | null): Sender {
  return { kind, id, name: '', email: null, avatarUrl: null };
}

// Chatwoot's bots and people who have no seat here are stored by name alone.
function foreignSender(given: Foreign, { id, kind }: Sender): { sender?: object } {
  const sender = recordOf(given['sender']);
  const name = textOf(sender['name'], 255);
  return id !== null || kind === 'contact' || name === null
    ? {}
    : { sender: { name, type: textOf(sender['type'], 32) } };
}

// Ids of messages in the attributes are Chatwoot's; the id here of the answered message is added when the message is written.
function withMore(attributes: Record<string, unknown>, more: Record<string, unknown>): Record<string, unknown> {
  const repliesTo = idOf(attributes['in_reply_to']);
  const { in_reply_to: _theirs, ...own } = attributes;
  return { ...own, chatwoot: { ...more, ...(repliesTo === null ? {} : { in_reply_to: repliesTo }) } };
}
