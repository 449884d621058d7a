import { prepared } from '../../postgres/prepared.ts';
import { moment, momentOrNull, type Sql } from '../../postgres/sql.ts';
import type {
  BotSilence,
  Conversation,
  ConversationStatus,
  HandoffReason,
  HumanSilence,
  Named,
  Priority,
} from './conversation.ts';
import { lastMessageColumn } from '../messages/listed.ts';
import { toMessage, type Message, type MessageRow } from '../messages/message.ts';
import { servingBotColumns, toServingBot, type ServingBotRow } from './serving-bot.ts';

/** The columns of a conversation from `c` and the tables it is joined to: one list, so that every reader gets the same object. */
export const columns = `
  c.id, c.account_id, a.name AS account_name, c.inbox_id, i.name AS inbox_name, i.channel_type,
  i.greeting_enabled OR i.working_hours_enabled AS inbox_greets, i.enable_auto_assignment AS inbox_auto_assigns, i.channel_id,
  c.contact_id, ct.name AS contact_name, ct.email AS contact_email, ct.phone_number AS contact_phone,
  ct.identifier AS contact_identifier, ct.avatar_url AS contact_avatar, ct.blocked AS contact_blocked,
  c.status, c.priority, c.assignee_id, u.name AS assignee_name, c.team_id, t.name AS team_name,
  ${servingBotColumns}, c.agent_bot_id IS NOT NULL AS bot_overrides,
  c.bot_silence, c.bot_silence_of, c.human_silence, c.bot_streak, c.bot_changes, c.bot_changed_at,
  c.handoff_reason, c.closed_by, c.session_began_at,
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
  channel_id: number | null;
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
  bot_changes: number;
  bot_changed_at: string | null;
  handoff_reason: HandoffReason | null;
  closed_by: Conversation['closedBy'];
  session_began_at: string | null;
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
export async function findConversation(sql: Sql, accountId: number, id: number): Promise<Conversation | null> {
  const [row] = await sql<Row>(findOne, [accountId, id]);
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
      channelId: row.channel_id,
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
    botChanges: row.bot_changes,
    botChangedAt: momentOrNull(row.bot_changed_at),
    handoffReason: row.handoff_reason,
    closedBy: row.closed_by,
    sessionBeganAt: momentOrNull(row.session_began_at),
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

/** The conversations of the account with these ids, in the order of the ids. */
export async function findConversations(sql: Sql, accountId: number, ids: readonly number[]): Promise<Conversation[]> {
  const rows = await sql<Row>(findMany, [accountId, ids]);
  return rows.map(toConversation);
}

/** A conversation of a list, with its newest message, shortened where that is long. */
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
  sql: Sql,
  accountId: number,
  ids: readonly number[],
): Promise<ListedConversation[]> {
  if (ids.length === 0) return [];
  const rows = await sql<Row & { last_message: MessageRow | null }>(findManyListed, [accountId, ids]);
  return rows.map((row) => ({
    conversation: toConversation(row),
    lastMessage: row.last_message && toMessage(row.last_message),
  }));
}

/** Makes a function that reads a conversation like findConversation, together with whether it meets a condition. */
export function readerWith(condition: string): (
  sql: Sql,
  /** Parameters `$1` to `$3` of the condition on `c`. */
  parameters: [accountId: number, actorId: number | null, id: number],
) => Promise<{ conversation: Conversation; meets: boolean } | null> {
  const statement = prepared(`SELECT ${columns}, coalesce(${condition}, false) AS meets FROM conversations c ${joins}
    WHERE c.account_id = $1 AND c.id = $3`);
  return async (sql, parameters) => {
    const [row] = await sql<Row & { meets: boolean }>(statement, parameters);
    return row ? { conversation: toConversation(row), meets: row.meets } : null;
  };
}
