import { prepared } from '../../postgres/prepared.ts';
import { moment, type Sql } from '../../postgres/sql.ts';
import { valuesOf, type Part } from '../../postgres/write-set.ts';
import { attachFiles, type Attachment } from './attachment.ts';
import { columns, excerptColumns, joins, shortenedColumns } from './listed.ts';
import { beside } from './places.ts';

export type SenderKind = 'contact' | 'user' | 'agent_bot' | 'automation' | 'system';
export type ContentType = 'text' | 'input_select' | 'input_email' | 'cards';

/** The author of a message; `id` is null for the service, and for authors that were deleted. */
export interface Sender {
  kind: SenderKind;
  id: number | null;
  name: string;
  email: string | null;
  avatarUrl: string | null;
}

/** A message of a conversation, or a private note. */
export interface Message {
  id: number;
  conversationId: number;
  type: 'incoming' | 'outgoing';
  content: string;
  contentType: ContentType;
  contentAttributes: Record<string, unknown>;
  private: boolean;
  /** `pending` until its channel has it. */
  status: 'pending' | 'sent' | 'delivered' | 'read' | 'failed';
  /** Why its channel could not send it; null unless it failed. */
  externalError: string | null;
  sourceId: string | null;
  sender: Sender;
  attachments: readonly Attachment[];
  createdAt: Date;
}

/** A message that is about to be added to a conversation. */
export type MessageDraft = Omit<Message, 'id' | 'conversationId' | 'externalError'>;

/** A message as statements return it. */
export interface MessageRow {
  id: number;
  conversation_id: number;
  message_type: Message['type'];
  content: string;
  content_type: ContentType;
  content_attributes: Record<string, unknown>;
  private: boolean;
  status: Message['status'];
  external_error: string | null;
  source_id: string | null;
  sender_kind: SenderKind;
  sender_id: number | null;
  sender_name: string | null;
  sender_email: string | null;
  sender_avatar: string | null;
  attachments: Attachment[] | null;
  created_at: string;
}

/** Bytes of texts and attributes in a page of more than one message. */
const maxPageBytes = 2 * 1024 * 1024;

const written: readonly { name: string; type: string; valueOf: (message: Message) => unknown }[] = [
  { name: 'id', type: 'bigint', valueOf: ({ id }) => id },
  { name: 'conversation_id', type: 'bigint', valueOf: ({ conversationId }) => conversationId },
  { name: 'message_type', type: 'text', valueOf: ({ type }) => type },
  { name: 'content', type: 'text', valueOf: ({ content }) => content },
  { name: 'content_type', type: 'text', valueOf: ({ contentType }) => contentType },
  { name: 'content_attributes', type: 'jsonb', valueOf: ({ contentAttributes }) => JSON.stringify(contentAttributes) },
  { name: 'private', type: 'boolean', valueOf: (message) => message.private },
  { name: 'status', type: 'text', valueOf: ({ status }) => status },
  { name: 'source_id', type: 'text', valueOf: ({ sourceId }) => sourceId },
  { name: 'sender_kind', type: 'text', valueOf: ({ sender }) => sender.kind },
  { name: 'sender_id', type: 'bigint', valueOf: ({ sender }) => sender.id },
  { name: 'attachments', type: 'jsonb', valueOf: attachmentsJson },
  { name: 'created_at', type: 'timestamptz', valueOf: ({ createdAt }) => createdAt },
];
const [writtenTypes, writtenNames] = [written.map(({ type }) => type), written.map(({ name }) => name).join(', ')];

// More rows are a shape that is not worth a plan of its own.
const maxHot = 4;

/** Inserts messages with their ids and files; contacts who wrote one get its moment as `last_activity_at`, unless they are old. */
export function insertMessages(messages: readonly Message[], { areOld = false } = {}): Part[] {
  const said: Part = {
    shape: `messages ${messages.length}`,
    hot: messages.length <= maxHot,
    parameters: messages.flatMap((message) => written.map(({ valueOf }) => valueOf(message))),
    text: (first) => `said AS (
      INSERT INTO messages (account_id, ${writtenNames}, updated_at)
      SELECT $1, m.*, m.created_at FROM (VALUES ${valuesOf(first, messages.length, writtenTypes)}) AS m (${writtenNames}))`,
  };
  const wrote = areOld ? [] : messages.filter(({ sender }) => sender.kind === 'contact');
  const lastWords = new Map(wrote.map(({ sender, createdAt }) => [sender.id, createdAt] as const));
  return messages.length === 0 ? [] : [...Array.from(lastWords, touchContact), said, ...attachFiles(messages)];
}

function touchContact([id, at]: readonly [number | null, Date], index: number): Part {
  const name = `active_${index}`;
  return {
    shape: name,
    hot: index === 0,
    parameters: [id, at],
    text: (first) =>
      `${name} AS (UPDATE contacts SET last_activity_at = $${first + 1} WHERE account_id = $1 AND id = $${first} RETURNING 1)`,
    locks: name,
  };
}

/** The next message's id; to be taken under the lock of its conversation, so that its messages are in the order of ids. */
export async function nextMessageId(sql: Sql): Promise<number> {
  const rows = await sql<{ id: number }>(`SELECT nextval('messages_id_seq') AS id`);
  return (rows[0] as { id: number }).id;
}

/** Which messages of a conversation to read; moments and messages are exclusive. */
export interface MessageWindow {
  before?: Date | undefined;
  after?: Date | undefined;
  /** Reads messages before it by time, since copies of old messages have later ids; by id if it is not in the conversation. */
  beforeId?: number | undefined;
  afterId?: number | undefined;
  /** Leaves out private notes. */
  publicOnly?: boolean;
  /** The number of messages; default 20, or 100 after a moment. */
  limit?: number;
  /** Shortens long texts: for lists of conversations. */
  isShortened?: boolean;
}

const pageSize = 20;
const pageSizeAfter = 100;

/**
 * Messages of a conversation, oldest first: the latest 20, the 20 before a moment or a message, or up to 100 after one (and
 * then before the other, if given). Fewer where they are large, and at least one: a reader goes on from the outermost.
 */
export async function findMessages(
  sql: Sql,
  accountId: number,
  conversationId: number,
  window: MessageWindow,
): Promise<Message[]> {
  const { before = null, after = null, beforeId = null, afterId = null, publicOnly = false } = window;
  const forward = after !== null || afterId !== null;
  const limit = window.limit ?? (forward ? pageSizeAfter : pageSize);
  const order = forward ? 'created_at, id' : 'created_at DESC, id DESC';
  const rows = await sql<MessageRow>(
    `SELECT ${window.isShortened ? shortenedColumns : columns} FROM (
       SELECT *, row_number() OVER page AS place,
         sum(octet_length(content) + octet_length(content_attributes::text)) OVER page AS bytes
       FROM (
         SELECT * FROM messages WHERE account_id = $1 AND conversation_id = $2
           AND ($3::timestamptz IS NULL OR created_at < $3) AND ($4::timestamptz IS NULL OR created_at > $4)
           AND NOT (private AND $6) ${beside('before', '$7')} ${beside('after', '$8')}
         ORDER BY ${order} LIMIT $5) found
       WINDOW page AS (ORDER BY ${order} ROWS UNBOUNDED PRECEDING)) m ${joins}
     WHERE m.place = 1 OR m.bytes <= ${maxPageBytes} ORDER BY m.created_at, m.id`,
    [accountId, conversationId, before, after, limit, publicOnly, beforeId, afterId],
  );
  return rows.map(toMessage);
}

/** A message, of its row. */
export function toMessage(row: MessageRow): Message {
  return {
    id: row.id,
    conversationId: row.conversation_id,
    type: row.message_type,
    content: row.content,
    contentType: row.content_type,
    contentAttributes: row.content_attributes,
    private: row.private,
    status: row.status,
    externalError: row.external_error,
    sourceId: row.source_id,
    sender: {
      kind: row.sender_kind,
      id: row.sender_name === null ? null : row.sender_id,
      name: row.sender_name ?? '',
      email: row.sender_email,
      avatarUrl: row.sender_avatar,
    },
    attachments: row.attachments ?? [],
    createdAt: moment(row.created_at),
  };
}

/** A message of a conversation, or null. */
export async function findMessage(
  sql: Sql,
  accountId: number,
  conversationId: number,
  id: number,
): Promise<Message | null> {
  const [message] = await findMessagesById(sql, accountId, [id]);
  return message?.conversationId === conversationId ? message : null;
}

// Cards with links alone ask for nothing.
const asks = `(content_type IN ('input_select', 'input_email')
  OR content_type = 'cards' AND content_attributes @? '$.items[*].actions[*] ? (@.type == "postback")')`;

/** The newest public message of a conversation that asks for a choice or an e-mail address, or null. */
export async function findNewestQuestion(sql: Sql, accountId: number, conversationId: number): Promise<Message | null> {
  const [row] = await sql<MessageRow>(
    `SELECT ${columns} FROM (
       SELECT * FROM messages WHERE account_id = $1 AND conversation_id = $2
         AND message_type = 'outgoing' AND NOT private AND ${asks}
       ORDER BY created_at DESC, id DESC LIMIT 1) m ${joins}`,
    [accountId, conversationId],
  );
  return row ? toMessage(row) : null;
}

/** The messages of the account with these ids, in no order. */
export async function findMessagesById(
  sql: Sql,
  accountId: number,
  ids: readonly number[],
  { isShortened = false }: Pick<MessageWindow, 'isShortened'> = {},
): Promise<Message[]> {
  const rows = await sql<MessageRow>(
    `SELECT ${isShortened ? shortenedColumns : columns} FROM messages m ${joins} WHERE m.account_id = $1 AND m.id = ANY ($2)`,
    [accountId, ids],
  );
  return rows.map(toMessage);
}

/** Like findMessagesById, with long texts shortened to the surroundings of the text that was searched for. */
export async function findExcerptsById(
  sql: Sql,
  accountId: number,
  { ids, text }: { ids: readonly number[]; text: string },
): Promise<Message[]> {
  const statement = `SELECT ${excerptColumns} FROM messages m ${joins} WHERE m.account_id = $1 AND m.id = ANY ($2)`;
  return (await sql<MessageRow>(statement, [accountId, ids, text.trim()])).map(toMessage);
}

/** Writes the columns of a message that may change. */
export async function saveMessage(sql: Sql, accountId: number, message: Message, now: Date): Promise<void> {
  await sql(
    `UPDATE messages SET content = $3, content_attributes = $4, status = $5, updated_at = $6, attachments = $7, external_error = $8,
       source_id = $9
     WHERE account_id = $1 AND id = $2`,
    [
      accountId,
      message.id,
      message.content,
      JSON.stringify(message.contentAttributes),
      message.status,
      now,
      attachmentsJson(message),
      message.externalError,
      message.sourceId,
    ],
  );
}

const findLast = prepared(`SELECT ${columns} FROM (SELECT * FROM messages WHERE account_id = $1 AND conversation_id = $2
  ORDER BY created_at DESC, id DESC LIMIT 1) m ${joins}`);

/** The newest message of a conversation, or null. */
export async function findLastMessage(sql: Sql, accountId: number, conversationId: number): Promise<Message | null> {
  const [row] = await sql<MessageRow>(findLast, [accountId, conversationId]);
  return row ? toMessage(row) : null;
}

const countStatement = prepared(`SELECT count(*) AS count FROM messages WHERE account_id = $1 AND conversation_id = $2
  AND created_at > $3 AND sender_kind IN ('agent_bot', 'automation') AND NOT private`);

/** The number of public messages from bots and automations in the conversation since a moment. */
export async function countBotMessagesSince(
  sql: Sql,
  accountId: number,
  conversationId: number,
  since: Date,
): Promise<number> {
  const rows = await sql<{ count: number }>(countStatement, [accountId, conversationId, since]);
  return rows[0]?.count ?? 0;
}

const findQuestion = prepared(`SELECT content FROM messages WHERE account_id = $1 AND conversation_id = $2
  AND message_type = 'incoming' AND content <> '' ORDER BY created_at DESC, id DESC LIMIT 1`);

/** The text of the customer's last message in a conversation; null when there is none. */
export async function findLastQuestion(sql: Sql, accountId: number, conversationId: number): Promise<string | null> {
  const [row] = await sql<{ content: string }>(findQuestion, [accountId, conversationId]);
  return row?.content ?? null;
}

function attachmentsJson({ attachments }: Pick<Message, 'attachments'>): string | null {
  return attachments.length === 0 ? null : JSON.stringify(attachments);
}
