import { prepared } from '../postgres/prepared.ts';
import { moment, momentOrNull, sql, type Executor } from '../postgres/sql.ts';

export type ConversationStatus = 'open' | 'resolved' | 'pending' | 'snoozed';
export type Priority = 'urgent' | 'high' | 'medium' | 'low';
/** How a bot ended its part in a conversation: it gave it away, was stopped in a loop, or could not answer. */
export type BotSilence = 'handed_off' | 'loop_suspected' | 'bot_failed';
/** How people took a conversation from its bot. */
export type HumanSilence = 'human_replied' | 'human_opened';
/** Why a bot cannot answer, whatever the conversation. */
export type Unfitness = 'plugin_missing' | 'bot_quarantined' | 'bot_disabled';

export interface Named {
  id: number;
  name: string;
}

/** The bot that serves a conversation: its own, else its inbox's. */
export interface ServingBot extends Named {
  chosenBy: 'conversation' | 'inbox';
  kind: 'webhook' | 'plugin';
  events: string[];
  hearsOwn: boolean;
  hearsNotes: boolean;
  /** Null when it can answer. */
  unfit: Unfitness | null;
}

/** A conversation with all that its answers and events tell of its surroundings. */
export interface Conversation {
  id: number;
  account: Named;
  /** `greets`: it may answer a customer by itself; `autoAssigns`: it may name an assignee by itself. */
  inbox: Named & { channelType: string; greets: boolean; autoAssigns: boolean };
  contact: Named & {
    email: string | null;
    phoneNumber: string | null;
    identifier: string | null;
    avatarUrl: string | null;
    blocked: boolean;
  };
  status: ConversationStatus;
  priority: Priority | null;
  assignee: Named | null;
  team: Named | null;
  bot: ServingBot | null;
  /** Binds the bot `botSilenceOf` alone, which may have been replaced since; null as long as that is. */
  botSilence: BotSilence | null;
  botSilenceOf: number | null;
  /** Binds every bot. */
  humanSilence: HumanSilence | null;
  /** Public messages of bots since the customer last spoke. */
  botStreak: number;
  labels: string[];
  sourceId: string | null;
  snoozedUntil: Date | null;
  waitingSince: Date | null;
  slaPolicyId: number | null;
  /** Null when the policy demands none, and once it was given or missed. */
  firstResponseDueAt: Date | null;
  /** Like firstResponseDueAt. */
  resolutionDueAt: Date | null;
  unreadCount: number;
  eventSequence: number;
  additionalAttributes: Record<string, unknown>;
  customAttributes: Record<string, unknown>;
  createdAt: Date;
  updatedAt: Date;
  lastActivityAt: Date;
}

// One row type for all, so that every reader of a conversation sees the same thing.
const columns = `
  c.id, c.account_id, a.name AS account_name, c.inbox_id, i.name AS inbox_name, i.channel_type,
  i.greeting_enabled OR i.working_hours_enabled AS inbox_greets, i.enable_auto_assignment AS inbox_auto_assigns,
  c.contact_id, ct.name AS contact_name, ct.email AS contact_email, ct.phone_number AS contact_phone,
  ct.identifier AS contact_identifier, ct.avatar_url AS contact_avatar, ct.blocked AS contact_blocked,
  c.status, c.priority, c.assignee_id, u.name AS assignee_name, c.team_id, t.name AS team_name,
  b.id AS bot_id, b.name AS bot_name, b.kind AS bot_kind, b.events AS bot_events, b.hears_own, b.hears_notes,
  b.installed AS bot_installed, b.disabled_reason IS NOT NULL AS bot_disabled,
  b.quarantined_at IS NOT NULL AND (b.quarantined_until IS NULL OR b.quarantined_until > now()) AS bot_quarantined,
  c.agent_bot_id IS NOT NULL AS bot_overrides,
  c.bot_silence, c.bot_silence_of, c.human_silence, c.bot_streak,
  ARRAY(SELECT l.title FROM conversation_labels cl JOIN labels l ON l.account_id = cl.account_id AND l.id = cl.label_id
        WHERE cl.account_id = c.account_id AND cl.conversation_id = c.id ORDER BY l.title) AS labels,
  c.source_id, c.snoozed_until, c.waiting_since, c.sla_policy_id,
  c.first_response_due_at, c.resolution_due_at, c.unread_count, c.event_sequence,
  c.additional_attributes, c.custom_attributes, c.created_at, c.updated_at, c.last_activity_at`;

const joins = `
  JOIN accounts a ON a.id = c.account_id
  JOIN inboxes i ON i.account_id = c.account_id AND i.id = c.inbox_id
  JOIN contacts ct ON ct.account_id = c.account_id AND ct.id = c.contact_id
  LEFT JOIN seats u ON u.account_id = c.account_id AND u.id = c.assignee_id
  LEFT JOIN teams t ON t.account_id = c.account_id AND t.id = c.team_id
  LEFT JOIN agent_bots b ON b.id = coalesce(c.agent_bot_id, i.agent_bot_id)`;

interface Row {
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
  bot_id: number | null;
  bot_name: string | null;
  bot_kind: 'webhook' | 'plugin' | null;
  bot_events: string[] | null;
  hears_own: boolean | null;
  hears_notes: boolean | null;
  bot_installed: boolean | null;
  bot_disabled: boolean | null;
  bot_quarantined: boolean | null;
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

function named(id: number | null, name: string | null): Named | null {
  return id === null ? null : { id, name: name ?? '' };
}

function unfitness(row: Row): Unfitness | null {
  if (!row.bot_installed) return 'plugin_missing';
  if (row.bot_disabled) return 'bot_disabled';
  return row.bot_quarantined ? 'bot_quarantined' : null;
}

function servingBot(row: Row): ServingBot | null {
  if (row.bot_id === null || row.bot_kind === null) return null;
  return {
    id: row.bot_id,
    name: row.bot_name ?? '',
    chosenBy: row.bot_overrides ? 'conversation' : 'inbox',
    kind: row.bot_kind,
    events: row.bot_events ?? [],
    hearsOwn: row.hears_own ?? false,
    hearsNotes: row.hears_notes ?? false,
    unfit: unfitness(row),
  };
}

function toConversation(row: Row): Conversation {
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
    bot: servingBot(row),
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

// A row that somebody else has just changed is locked in its newest version, but what stands beside it comes from the
// version that the statement began with.
const unchanged = `c.ctid = (SELECT seen.ctid FROM conversations seen WHERE seen.account_id = $1 AND seen.id = $2)`;

const oneConversation = 'WHERE c.account_id = $1 AND c.id = $2';
const findOne = prepared(`SELECT ${columns}, true AS unchanged FROM conversations c ${joins} ${oneConversation}`);
const findAndLock = prepared(
  `SELECT ${columns}, ${unchanged} AS unchanged FROM conversations c ${joins} ${oneConversation} FOR UPDATE OF c`,
);

/** One conversation of the account, or null. `lock` holds its row until the transaction ends. */
export async function findConversation(
  executor: Executor,
  accountId: number,
  id: number,
  options: { lock?: boolean } = {},
): Promise<Conversation | null> {
  const [row] = await sql<Row & { unchanged: boolean }>(executor, options.lock ? findAndLock : findOne, [
    accountId,
    id,
  ]);
  if (row && !row.unchanged) return findConversation(executor, accountId, id);
  return row ? toConversation(row) : null;
}

/** The named conversations of the account, in the order of the ids. */
export async function findConversations(
  executor: Executor,
  accountId: number,
  ids: readonly number[],
): Promise<Conversation[]> {
  const rows = await sql<Row>(
    executor,
    `SELECT ${columns} FROM conversations c ${joins} WHERE c.account_id = $1 AND c.id = ANY($2)
     ORDER BY array_position($2::bigint[], c.id)`,
    [accountId, ids],
  );
  return rows.map(toConversation);
}

const saveStatement = prepared(
  `UPDATE conversations SET status = $3, priority = $4, assignee_id = $5, team_id = $6, bot_silence = $7,
       bot_streak = $8, snoozed_until = $9, waiting_since = $10, sla_policy_id = $11, unread_count = $12,
       event_sequence = $13, additional_attributes = $14, custom_attributes = $15, updated_at = $16, last_activity_at = $17,
       first_response_due_at = $18, resolution_due_at = $19, bot_silence_of = $20, human_silence = $21
     WHERE account_id = $1 AND id = $2`,
);

/** Writes back what verbs may change on a conversation that the transaction has locked. */
export async function saveConversation(executor: Executor, conversation: Conversation): Promise<void> {
  await sql(executor, saveStatement, [
    conversation.account.id,
    conversation.id,
    conversation.status,
    conversation.priority,
    conversation.assignee?.id ?? null,
    conversation.team?.id ?? null,
    conversation.botSilence,
    conversation.botStreak,
    conversation.snoozedUntil,
    conversation.waitingSince,
    conversation.slaPolicyId,
    conversation.unreadCount,
    conversation.eventSequence,
    JSON.stringify(conversation.additionalAttributes),
    JSON.stringify(conversation.customAttributes),
    conversation.updatedAt,
    conversation.lastActivityAt,
    conversation.firstResponseDueAt,
    conversation.resolutionDueAt,
    conversation.botSilenceOf,
    conversation.humanSilence,
  ]);
}
