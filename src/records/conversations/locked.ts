import { prepared } from '../../postgres/prepared.ts';
import type { Sql } from '../../postgres/sql.ts';
import { columns, findConversation, findConversations, joins, toConversation, type Row } from './rows.ts';
import type { Conversation, ConversationStatus } from './conversation.ts';

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
export async function lockConversationRow(sql: Sql, accountId: number, id: number): Promise<Reserved | null> {
  const [row] = await sql<LockedRow>(lockOne, [accountId, id]);
  if (row?.unchanged) return { messageId: row.message_id, conversation: toConversation(row) };
  const conversation = row && (await findConversation(sql, accountId, id));
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
  /** Whether to prepare the statement: see prepared. */
  hot?: boolean;
  /** Whether to take an id for a message in each. */
  reserves?: boolean;
}

/** Like lockConversationRow, for many: in the order of their ids, which is the lock order. */
export async function lockConversationRows(
  sql: Sql,
  accountId: number,
  { ids, parameters, skipLocked = false, hot = false, reserves = false }: RowChoice,
): Promise<Reserved[]> {
  const messageId = reserves ? `nextval('messages_id_seq')` : 'NULL';
  const statement = `
    WITH c AS MATERIALIZED (SELECT *, ctid AS place FROM conversations WHERE account_id = $1 AND id = ANY (ARRAY(${ids}))
      ORDER BY id FOR UPDATE ${skipLocked ? 'SKIP LOCKED' : ''})
    SELECT ${messageId} AS message_id, ${isUnchanged}, ${columns} FROM c ${joins} ORDER BY c.id`;
  const rows = await sql<LockedRow>(hot ? prepared(statement) : statement, [accountId, ...parameters]);
  const stale = rows.filter(({ unchanged }) => !unchanged).map(({ id }) => id);
  const anew = stale.length > 0 ? await findConversations(sql, accountId, stale) : [];
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
      0 AS bot_streak, 0 AS bot_changes, NULL::timestamptz AS bot_changed_at, NULL AS handoff_reason, NULL AS closed_by, NULL::timestamptz AS session_began_at, $8::text AS source_id, NULL::timestamptz AS waiting_since, NULL::bigint AS sla_policy_id,
      NULL::timestamptz AS first_response_due_at, NULL::timestamptz AS resolution_due_at, 0 AS unread_count,
      0::bigint AS event_sequence, $9::jsonb AS additional_attributes, $10::jsonb AS custom_attributes,
      $11::timestamptz AS created_at, $11::timestamptz AS updated_at, $11::timestamptz AS last_activity_at
  )
  SELECT nextval('messages_id_seq') AS message_id, ${columns} FROM c ${joins}`);

/** A conversation created at `now`, as findConversation will read it; not inserted yet. Null without its inbox or contact. */
export async function draftConversation(
  sql: Sql,
  accountId: number,
  draft: ConversationDraft,
  now: Date,
): Promise<Reserved | null> {
  const [row] = await sql<Row & { message_id: number }>(draftStatement, [
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
