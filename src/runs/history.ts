import { fileTypeOf } from '../records/messages/attachment.ts';
import type { Message } from '../records/messages/message.ts';
import type { Permissions, RecordedCall } from '../sandbox/run.ts';
import { unixSeconds } from '../lib/unix-time.ts';

/** A conversation of an account. */
export interface RunPlace {
  accountId: number;
  conversationId: number;
}

/** Reads the latest messages of a conversation, oldest first. */
export type ReadMessages = (place: RunPlace, window: { limit: number; publicOnly: boolean }) => Promise<Message[]>;

/** All messages of a history together; the oldest are left out. */
const maxChars = 512 * 1024;

/**
 * The latest messages of a conversation, oldest first, as many as the permissions allow: as a call, because the messages may
 * be others when the run is repeated from its record. Null without the permission.
 */
export async function readHistory(
  readMessages: ReadMessages,
  { accountId, conversationId }: Omit<RunPlace, 'conversationId'> & { conversationId: number | null },
  { history: limit, notes_read: readsNotes, contact }: Permissions,
): Promise<RecordedCall | null> {
  if (limit === 0) return null;
  const startedAt = performance.now();
  const window = { limit, publicOnly: !readsNotes };
  const found = conversationId === null ? [] : await readMessages({ accountId, conversationId }, window);
  const messages = found.map((message) => view(message, contact.includes('name')));
  const ms = Math.round(performance.now() - startedAt);
  return { name: 'history', input: { limit }, output: fitting(messages), ms };
}

function view({ sender, attachments, ...message }: Message, showsContact: boolean) {
  const { id, kind: type, name } = sender;
  const files = attachments.map((file) => ({
    file_type: fileTypeOf(file.type),
    file_name: file.name,
    file_size: file.size,
  }));
  return {
    id: message.id,
    content: message.content,
    content_type: message.contentType,
    content_attributes: message.contentAttributes,
    message_type: message.type,
    private: message.private,
    created_at: unixSeconds(message.createdAt),
    sender: id === null ? null : { type, id, ...(type === 'contact' && !showsContact ? {} : { name }) },
    // Without links: those expire, and the record of a run is kept.
    ...(files.length > 0 ? { attachments: files } : {}),
  };
}

function fitting(messages: readonly object[]): object[] {
  let left = maxChars;
  const from = messages.findLastIndex((message) => (left -= JSON.stringify(message).length) < 0);
  return messages.slice(from + 1);
}
