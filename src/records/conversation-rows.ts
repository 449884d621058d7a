import { prepared } from '../postgres/prepared.ts';
import { moment, momentOrNull, sql, type Executor } from '../postgres/sql.ts';
import type { BotSilence, Conversation, ConversationStatus, HumanSilence, Named, Priority } from './conversation.ts';
import { lastMessageColumn, toMessage, type Message, type MessageRow } from './message.ts';
import { servingBotColumns, toServingBot, type ServingBotRow } from './serving-bot.ts';

/** The columns of a conversation from `c` and the tables it is joined to: one list, so that every reader gets the same object. */
export const columns = `
  c.id, c.account_id, a.name AS account_name, c.inbox_id, i.name AS inbox_name, i.channel_type,
  i.greeting_enabled OR i.working_hours_enabled AS inbox_greets, i.enable_auto_assignment AS inbox_auto_assigns,
  c.contact_id, ct.name AS contact_name, ct.email AS contact_email, ct.phone_number AS contact_phone,
  ct.identifier AS contact_identifier, ct.avatar_url AS contact_avatar, ct.blocked AS contact_blocked,
  c.status, c.priority, c.assignee_id, u.name AS assignee_name, c.team_id, t.name AS team_name,
  ${servingBotColumns}, c.agent_bot_id IS NOT NULL AS bot_overrides,
  c.bot_silence, c.bot_silence_of, c.human_silence, c.bot_streak,
  ARRAY(SELECT l.title FROM conversation_labels cl JOIN labels l ON l.account_id = cl.account_id AND l.id = cl.label_id
        WHERE cl.account_id = c.account_id AND cl.conversation_id = c.id ORDER BY l.title) AS labels,
  c.source_id, c.snoozed_until, c.waiting_since, c.sla_policy_id,
  c.first_response_due_at, c.resolution_due_at, c.unread_count, c.event_sequence,
  c.additional_attributes, c.custom_attributes, c.created_at, c.updated_at, c.last_activity_at`;

/** The tables that `columns` reads beside `c`. */
export const joins = `
  JOIN accounts a ON a.id = c.account_id
  JOIN inboxes i ON i.account_id = c.account_id AND i.id = c.inbox_id
  JOIN contacts ct ON ct.account_id = c.account_id AND ct.id = c.contact_id
  LEFT JOIN seats u ON u.account_id = c.account_id AND u.id = c.assignee_id
  LEFT JOIN teams t ON t.account_id = c.account_id AND t.id = c.team_id
  LEFT JOIN agent_bots b ON b.id = coalesce(c.agent_bot_id, i.agent_bot_id)`;

/** A row with the columns. */
export interface Row extends ServingBotRow {
  id: number;
  account_id: number;
  account_name: string;
  inbox_id: number;
  inbox_name: string;
  channel_type: string;
  inbox_greets: boolean;
  inbox_auto_assigns: boolean;
  contact_id: number;
  contact_name: string;
  contact_email: string | null;
  contact_phone: string | null;
  contact_identifier: string | null;
  contact_avatar: string | null;
  contact_blocked: boolean;
  status: ConversationStatus;
  priority: Priority | null;
  assignee_id: number | null;
  assignee_name: string | null;
  team_id: number | null;
  team_name: string | null;
  bot_overrides: boolean;
  bot_silence: BotSilence | null;
  bot_silence_of: number | null;
  human_silence: HumanSilence | null;
  bot_streak: number;
  labels: string[];
  source_id: string | null;
  snoozed_until: string | null;
  waiting_since: string | null;
  sla_policy_id: number | null;
  first_response_due_at: string | null;
  resolution_due_at: string | null;
  unread_count: number;
  event_sequence: number;
  additional_attributes: Record<string, unknown>;
  custom_attributes: Record<string, unknown>;
  created_at: string;
  updated_at: string;
  last_activity_at: string;
}

const read = `SELECT ${columns} FROM conversations c ${joins}`;
const findOne = prepared(`${read} WHERE c.account_id = $1 AND c.id = $2`);

/** A conversation of the account, or null. To change one, lock it by Transaction.conversation. */
export async function findConversation(
  executor: Executor,
  accountId: number,
  id: number,
): Promise<Conversation | null> {
  const [row] = await sql<Row>(executor, findOne, [accountId, id]);
  return row ? toConversation(row) : null;
}

/** The conversation of a row with the columns. */
export function toConversation(row: Row): Conversation {
  return {
    id: row.id,
    account: { id: row.account_id, name: row.account_name },
    inbox: {
      id: row.inbox_id,
      name: row.inbox_name,
      channelType: row.channel_type,
      greets: row.inbox_greets,
      autoAssigns: row.inbox_auto_assigns,
    },
    contact: {
      id: row.contact_id,
      name: row.contact_name,
      email: row.contact_email,
      phoneNumber: row.contact_phone,
      identifier: row.contact_identifier,
      avatarUrl: row.contact_avatar,
      blocked: row.contact_blocked,
    },
    status: row.status,
    priority: row.priority,
    assignee: named(row.assignee_id, row.assignee_name),
    team: named(row.team_id, row.team_name),
    bot: toServingBot(row, row.bot_overrides ? 'conversation' : 'inbox'),
    botSilence: row.bot_silence,
    botSilenceOf: row.bot_silence_of,
    humanSilence: row.human_silence,
    botStreak: row.bot_streak,
    labels: row.labels,
    sourceId: row.source_id,
    snoozedUntil: momentOrNull(row.snoozed_until),
    waitingSince: momentOrNull(row.waiting_since),
    slaPolicyId: row.sla_policy_id,
    firstResponseDueAt: momentOrNull(row.first_response_due_at),
    resolutionDueAt: momentOrNull(row.resolution_due_at),
    unreadCount: row.unread_count,
    eventSequence: row.event_sequence,
    additionalAttributes: row.additional_attributes,
    customAttributes: row.custom_attributes,
    createdAt: moment(row.created_at),
    updatedAt: moment(row.updated_at),
    lastActivityAt: moment(row.last_activity_at),
  };
}

function named(id: number | null, name: string | null): Named | null {
  return id === null ? null : { id, name: name ?? '' };
}

const inOrder = 'WHERE c.account_id = $1 AND c.id = ANY($2) ORDER BY array_position($2::bigint[], c.id)';
const findMany = prepared(`${read} ${inOrder}`);

async function findConversations(
  executor: Executor,
  accountId: number,
  ids: readonly number[],
): Promise<Conversation[]> {
  const rows = await sql<Row>(executor, findMany, [accountId, ids]);
  return rows.map(toConversation);
}

/** A conversation of a list, with its newest message. */
export interface ListedConversation {
  conversation: Conversation;
  lastMessage: Message | null;
}

const findManyListed = prepared(`SELECT ${columns}, ${lastMessageColumn} FROM conversations c ${joins} ${inOrder}`);

/**
 * The conversations of the account with these ids, in the order of the ids. Apart from the statement that finds the ids: that
 * one is planned anew for each filter, which these joins would make dear.
 */
export async function findListedConversations(
  executor: Executor,
  accountId: number,
  ids: readonly number[],
): Promise<ListedConversation[]> {
  if (ids.length === 0) return [];
  const rows = await sql<Row & { last_message: MessageRow | null }>(executor, findManyListed, [accountId, ids]);
  return rows.map((row) => ({
    conversation: toConversation(row),
    lastMessage: row.last_message && toMessage(row.last_message),
  }));
}

/** Makes a function that reads a conversation like findConversation, together with whether it meets a condition. */
export function readerWith(condition: string): (
  executor: Executor,
  /** Parameters `$1` to `$3` of the condition on `c`. */
  parameters: [accountId: number, actorId: number | null, id: number],
) => Promise<{ conversation: Conversation; meets: boolean } | null> {
  const statement = prepared(`SELECT ${columns}, coalesce(${condition}, false) AS meets FROM conversations c ${joins}
    WHERE c.account_id = $1 AND c.id = $3`);
  return async (executor, parameters) => {
    const [row] = await sql<Row & { meets: boolean }>(executor, statement, parameters);
    return row ? { conversation: toConversation(row), meets: row.meets } : null;
  };
}

// A row that changed while we waited for it is read again: what is joined to it stems from before.
const isUnchanged = `c.place = (SELECT seen.ctid FROM conversations seen WHERE seen.account_id = $1 AND seen.id = c.id) AS unchanged`;
const lockOne = prepared(`
  WITH c AS MATERIALIZED (SELECT *, ctid AS place FROM conversations WHERE account_id = $1 AND id = $2 FOR UPDATE)
  SELECT nextval('messages_id_seq') AS message_id, ${isUnchanged}, ${columns} FROM c ${joins}`);
interface LockedRow extends Row {
  unchanged: boolean;
  message_id: number | null;
}

/** A conversation, and an id for its next message, if one was taken under its lock. */
export interface Reserved {
  conversation: Conversation;
  messageId: number | null;
}

/** A conversation of the account, locked (FOR UPDATE) until the transaction ends; null when there is none. */
export async function lockConversationRow(executor: Executor, accountId: number, id: number): Promise<Reserved | null> {
  const [row] = await sql<LockedRow>(executor, lockOne, [accountId, id]);
  if (row?.unchanged) return { messageId: row.message_id, conversation: toConversation(row) };
  const conversation = row && (await findConversation(executor, accountId, id));
  return conversation ? { messageId: row.message_id, conversation } : null;
}

/** Which conversations to lock. */
export interface RowChoice {
  /** Statement for the ids; `$1` is the account. */
  ids: string;
  /** Parameters from `$2` on. */
  parameters: readonly unknown[];
  /** Skips rows that other transactions have locked, instead of waiting for them. */
  skipLocked?: boolean;
  /** Whether to prepare the statement (see prepared), and to take an id for a message in each. */
  hot?: boolean;
}

/** Like lockConversationRow, for many: in the order of their ids, which is the lock order. */
export async function lockConversationRows(
  executor: Executor,
  accountId: number,
  { ids, parameters, skipLocked = false, hot = false }: RowChoice,
): Promise<Reserved[]> {
  const messageId = hot ? `nextval('messages_id_seq')` : 'NULL';
  const statement = `
    WITH c AS MATERIALIZED (SELECT *, ctid AS place FROM conversations WHERE account_id = $1 AND id = ANY (ARRAY(${ids}))
      ORDER BY id FOR UPDATE ${skipLocked ? 'SKIP LOCKED' : ''})
    SELECT ${messageId} AS message_id, ${isUnchanged}, ${columns} FROM c ${joins} ORDER BY c.id`;
  const rows = await sql<LockedRow>(executor, hot ? prepared(statement) : statement, [accountId, ...parameters]);
  const stale = rows.filter(({ unchanged }) => !unchanged).map(({ id }) => id);
  const anew = stale.length > 0 ? await findConversations(executor, accountId, stale) : [];
  const readAnew = new Map(anew.map((conversation) => [conversation.id, conversation]));
  return rows.map((row) => ({
    conversation: readAnew.get(row.id) ?? toConversation(row),
    messageId: row.message_id,
  }));
}

/** A new conversation. */
export interface ConversationDraft {
  inboxId: number;
  contactId: number;
  status: ConversationStatus;
  snoozedUntil: Date | null;
  assigneeId: number | null;
  teamId: number | null;
  sourceId: string | null;
  additionalAttributes: Record<string, unknown>;
  customAttributes: Record<string, unknown>;
}

const draftStatement = prepared(`
  WITH c AS (
    SELECT nextval('conversations_id_seq') AS id, $1::bigint AS account_id, $2::bigint AS inbox_id, $3::bigint AS contact_id,
      $4::text AS status, NULL AS priority, $5::timestamptz AS snoozed_until, $6::bigint AS assignee_id, $7::bigint AS team_id,
      NULL::bigint AS agent_bot_id, NULL AS bot_silence, NULL::bigint AS bot_silence_of, NULL AS human_silence,
      0 AS bot_streak, $8::text AS source_id, NULL::timestamptz AS waiting_since, NULL::bigint AS sla_policy_id,
      NULL::timestamptz AS first_response_due_at, NULL::timestamptz AS resolution_due_at, 0 AS unread_count,
      0::bigint AS event_sequence, $9::jsonb AS additional_attributes, $10::jsonb AS custom_attributes,
      $11::timestamptz AS created_at, $11::timestamptz AS updated_at, $11::timestamptz AS last_activity_at
  )
  SELECT nextval('messages_id_seq') AS message_id, ${columns} FROM c ${joins}`);

/** A conversation created at `now`, as findConversation will read it; not inserted yet. Null without its inbox or contact. */
export async function draftConversation(
  executor: Executor,
  accountId: number,
  draft: ConversationDraft,
  now: Date,
): Promise<Reserved | null> {
  const [row] = await sql<Row & { message_id: number }>(executor, draftStatement, [
    accountId,
    draft.inboxId,
    draft.contactId,
    draft.status,
    draft.snoozedUntil,
    draft.assigneeId,
    draft.teamId,
    draft.sourceId,
    JSON.stringify(draft.additionalAttributes),
    JSON.stringify(draft.customAttributes),
    now,
  ]);
  return row ? { conversation: toConversation(row), messageId: row.message_id } : null;
}
