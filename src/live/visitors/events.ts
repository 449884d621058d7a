import { findSeenConversations } from '../../domain/widget/seen-conversations.ts';
import { widgetConversation, widgetMessage } from '../../domain/widget/records.ts';
import type { FileLinks } from '../../lib/file-links.ts';
import type { Sql } from '../../postgres/sql.ts';
import { findMessagesById, type Message } from '../../records/messages/message.ts';
import type { Shape } from '../../schemas.ts';
import type { FeedEvent } from '../read-page.ts';

/** An event as the contact of the conversation sees it. */
export interface ToldVisitor {
  contactId: number;
  inboxId: number;
  bytes: Buffer;
  /** Whether it is a message of the contact, which somebody is to answer. */
  asks: boolean;
}

type Told = Shape<'resources/widget-event'>;

const ofMessages = new Set(['message_created', 'message_updated']);
const told = new Set([...ofMessages, 'conversation_created', 'conversation_status_changed', 'conversation_updated']);

/** Returns the bytes of an event that shows a contact whether a bot is at work. */
export function writeTyping(isTyping: boolean): Buffer {
  return write({ event: 'typing', typing: isTyping });
}

/**
 * Returns the events of the account that following contacts may see, by position: public messages and the state of the
 * conversation, as they are now. All other events are left out.
 */
export async function tellVisitors(
  sql: Sql,
  { accountId, links }: { accountId: number; links: FileLinks },
  { events, contacts }: { events: readonly FeedEvent[]; contacts: readonly number[] },
): Promise<Map<number, ToldVisitor>> {
  const concerned = events.filter(({ name, payload }) => payload !== null && told.has(name));
  const ids = [...new Set(concerned.flatMap(({ conversationId }) => conversationId ?? []))];
  const conversations = await findSeenConversations(sql, accountId, { ids, contacts });
  const theirs = concerned.flatMap((event): Theirs[] => {
    const seen = event.conversationId === null ? undefined : conversations.get(event.conversationId);
    return seen ? [{ event, seen, messageId: messageOf(event) }] : [];
  });
  const messages = await findPublic(
    sql,
    accountId,
    theirs.flatMap(({ messageId }) => messageId ?? []),
  );
  const present = (message: Message) => widgetMessage(message, accountId, links);
  return new Map(theirs.flatMap((one) => tell(one, messages, present)));
}

type Seen = Awaited<ReturnType<typeof findSeenConversations>> extends Map<number, infer One> ? One : never;

/** An event of a contact's conversation, and the message that it is about, if it is about one. */
interface Theirs {
  event: FeedEvent;
  seen: Seen;
  messageId: number | null;
}

function messageOf({ name, payload }: FeedEvent): number | null {
  if (payload === null || !ofMessages.has(name)) return null;
  return Number((JSON.parse(payload) as { id: string }).id);
}

// Privacy follows the message rows, even where an event's body differs.
async function findPublic(sql: Sql, accountId: number, ids: readonly number[]): Promise<ReadonlyMap<number, Message>> {
  if (ids.length === 0) return new Map();
  const messages = await findMessagesById(sql, accountId, ids);
  return new Map(messages.filter((message) => !message.private).map((message) => [message.id, message]));
}

function tell(
  { event, seen, messageId }: Theirs,
  messages: ReadonlyMap<number, Message>,
  present: (message: Message) => ReturnType<typeof widgetMessage>,
): [position: number, ToldVisitor][] {
  const { contactId, inboxId } = seen;
  const telling = (words: Told, asks = false): [number, ToldVisitor] => [
    event.position,
    { contactId, inboxId, bytes: write(words), asks },
  ];
  if (messageId === null) return [telling({ event: 'conversation_changed', conversation: widgetConversation(seen) })];
  const message = messages.get(messageId);
  if (!message) return [];
  const isNew = event.name === 'message_created';
  const name = isNew ? 'message_created' : 'message_updated';
  return [telling({ event: name, message: present(message) }, isNew && message.type === 'incoming')];
}

function write(words: Told): Buffer {
  return Buffer.from(`event: ${words.event}\ndata: ${JSON.stringify(words)}\n\n`);
}
