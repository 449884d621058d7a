import { notFound } from '../../errors.ts';
import type { Actor } from '../../events/transaction.ts';
import { moment, momentOrNull, type Sql } from '../../postgres/sql.ts';
import { sendEvent } from '../../events/send-event.ts';
import { withHookContent } from '../../records/hook-content.ts';
import { findOutgoing } from '../../records/messages/outgoing.ts';
import { readConversation, visibleConversations } from '../conversations/access.ts';
import { partOfRowSql, type BotPart } from '../../records/bots/part.ts';
import type { BotRun } from './run-records.ts';

/** A recorded run with its event. */
export interface RecordedRun extends Omit<BotRun, 'messageIds'> {
  id: number;
  /** Whether the bot is the platform's. */
  isSystem: boolean;
  /** The part of its plugin that ran. */
  part: BotPart;
  /** The inbox of a channel; null for bots and automations. */
  inboxId: number | null;
  /** The secrets of the bot now. */
  secretNames: readonly string[];
  event: { id: number; name: string; body: Record<string, unknown> };
  /** The JSON of `actions`, as it was stored. */
  actionsText: string;
  createdAt: Date;
  /** When its content was deleted with a message; null for never. */
  erasedAt: Date | null;
  /** The request that it handled is deleted. */
  isIncomplete?: true;
}

/** Which runs of a list are wanted: `since` inclusive, `until` exclusive; those behind `after`. */
export interface RunFilter {
  botId?: number | undefined;
  conversationId: number | undefined;
  outcome: string | undefined;
  since: Date | null;
  until: Date | null;
  after: { createdAt: string; id: number } | null;
}

/** A stretch of a list, and the place of its last run where the list goes on; null at its end. */
export interface RunStretch {
  rows: RecordedRun[];
  next: { createdAt: string; id: number } | null;
}

interface Row {
  id: number;
  agent_bot_id: number;
  is_system: boolean;
  part: BotPart;
  inbox_id: number | null;
  secret_names: string[];
  conversation_id: number | null;
  event_id: number;
  event_name: string;
  event_body: Record<string, unknown>;
  attempt: number;
  plugin_id: string;
  plugin_version: string;
  bundle_hash: string;
  config: Record<string, unknown>;
  permissions: object | null;
  limits: object | null;
  seed: number;
  clock: string;
  calls: object[];
  outcome: string;
  actions: unknown[];
  actions_text: string;
  logs: unknown[];
  error: string | null;
  error_stack: string | null;
  cpu_ms: number;
  prompt_tokens: number;
  completion_tokens: number;
  handed_off: boolean;
  wall_ms: number;
  created_at: string;
  erased_at: string | null;
}

const pageSize = 25;
/** Characters of JSON in a stretch of more than one run. */
const maxChars = 4 * 1024 * 1024;

// As the run got it.
const body = `coalesce(CASE WHEN b.kind IN ('automation', 'channel') THEN e.account_payload END, e.bot_payload, '{}'::json)`;
const columns = `
  r.id, r.agent_bot_id, b.account_id IS NULL AS is_system, ${partOfRowSql('b.kind')} AS part,
  CASE WHEN b.kind = 'channel' THEN b.inbox_ids[1] END AS inbox_id,
  ARRAY(SELECT jsonb_object_keys(b.secrets)) AS secret_names, r.conversation_id, r.event_id, e.name AS event_name,
  ${body} AS event_body, r.attempt, r.plugin_id, r.plugin_version, r.bundle_hash, r.config,
  r.permissions, r.limits, r.seed, r.clock, r.calls, r.outcome, r.actions, r.actions::text AS actions_text, r.logs, r.error,
  r.error_stack, r.cpu_ms, r.prompt_tokens, r.completion_tokens, r.handed_off, r.wall_ms, r.created_at, r.erased_at`;
const joins = `
  JOIN agent_bots b ON b.id = r.agent_bot_id
  JOIN events e ON e.account_id = r.account_id AND e.id = r.event_id`;
// Runs without a conversation are about contacts and hooks, which all agents may see.
const visible = (
  actor: Actor,
) => `CASE WHEN r.conversation_id IS NULL THEN ${actor.kind === 'user' || actor.kind === 'system'}
    ELSE EXISTS (SELECT FROM conversations c WHERE c.account_id = $1 AND c.id = r.conversation_id
      AND ${visibleConversations(actor)}) END`;
const one = `SELECT ${columns} FROM bot_runs r ${joins} WHERE r.account_id = $1 AND r.id = $2`;

/** Runs of a bot, an automation or a channel in the conversations that the actor may see, and those without one, newest first. */
export function listRunsOfBot(
  sql: Sql,
  { accountId, actor, botId }: { accountId: number; actor: Actor; botId: number },
  filter: RunFilter,
): Promise<RunStretch> {
  const condition = `r.account_id = $1 AND r.agent_bot_id = $3 AND ${visible(actor)}`;
  return list(sql, { condition, parameters: [accountId, actor.id, botId], filter });
}

/**
 * Runs of all bots in the account's conversations that the actor may see, newest first. Errors: 404, 403 when the filter names a
 * conversation that the actor may not see.
 */
export async function listRuns(
  sql: Sql,
  { accountId, actor }: { accountId: number; actor: Actor },
  filter: RunFilter,
): Promise<RunStretch> {
  const { botId, conversationId } = filter;
  if (conversationId !== undefined) return listRunsIn(sql, { accountId, actor, conversationId }, filter);
  if (botId !== undefined) return listRunsOfBot(sql, { accountId, actor, botId }, filter);
  // The newest of each bot by the index of its runs, and of these the newest: no index of its own need be kept for it.
  const bots = 'agent_bots own WHERE own.account_id = $1 OR own.account_id IS NULL';
  const condition = `r.account_id = $1 AND r.agent_bot_id = own.id AND ${visible(actor)}`;
  return list(sql, { condition, bots, parameters: [accountId, actor.id], filter });
}

/** Runs in a conversation, newest first. Errors: 404, 403 when the actor may not see the conversation. */
export async function listRunsIn(
  sql: Sql,
  { accountId, actor, conversationId }: { accountId: number; actor: Actor; conversationId: number },
  filter: RunFilter,
): Promise<RunStretch> {
  await readConversation(sql, accountId, actor, conversationId);
  const condition = 'r.account_id = $1 AND r.conversation_id = $2';
  return list(sql, { condition, parameters: [accountId, conversationId], filter });
}

/** A run. Errors: 404, 403 when the actor may not see its conversation. */
export async function readRun(sql: Sql, accountId: number, actor: Actor, id: number): Promise<RecordedRun> {
  const [row] = await sql<Row>(one, [accountId, id]);
  if (!row) throw notFound('Run');
  if (row.conversation_id !== null) await readConversation(sql, accountId, actor, row.conversation_id);
  else if (actor.kind !== 'user') throw notFound('Run');
  const run = toRun(row);
  const whole = await readWholeEvent(sql, accountId, row, run);
  return whole ? { ...run, event: { ...run.event, body: whole } } : { ...run, isIncomplete: true };
}

// Events of hooks and channels have no content of their own: runs read it from the rows.
async function readWholeEvent(sql: Sql, accountId: number, row: Row, { event }: RecordedRun) {
  if (event.name === 'hook_received') return withHookContent(sql, accountId, event.body);
  if (row.part !== 'channel' || row.conversation_id === null) return event.body;
  const place = { conversationId: row.conversation_id, messageId: Number(event.body['id']) };
  const outgoing = await findOutgoing(sql, accountId, place);
  return outgoing && sendEvent(outgoing);
}

interface Listing {
  condition: string;
  /** Bots, as `own`, whose newest runs are listed one by one; by default the condition alone selects the runs. */
  bots?: string;
  parameters: unknown[];
  filter: RunFilter;
}

// A stretch ends early where its runs are long, so that no answer holds more than one can be asked for.
async function list(sql: Sql, { condition, bots, parameters, filter }: Listing): Promise<RunStretch> {
  const { botId = null, conversationId = null, outcome = null, since, until, after } = filter;
  const asked = [botId, conversationId, outcome, since, until, after?.createdAt ?? null, after?.id ?? null];
  const [$bot, $conversation, $outcome, $since, $until, $createdAt, $id] = asked.map(
    (_, place) => `$${parameters.length + place + 1}`,
  );
  const newest = 'ORDER BY r.created_at DESC, r.id DESC';
  const wanted = `
    SELECT r.* FROM bot_runs r WHERE ${condition}
      AND (r.agent_bot_id = ${$bot} OR ${$bot}::bigint IS NULL)
      AND (r.conversation_id = ${$conversation} OR ${$conversation}::bigint IS NULL)
      AND (r.outcome = ${$outcome} OR ${$outcome}::text IS NULL)
      AND r.created_at >= coalesce(${$since}::timestamptz, '-infinity')
      AND r.created_at < coalesce(${$until}::timestamptz, 'infinity')
      AND (r.created_at, r.id) < (coalesce(${$createdAt}::timestamptz, 'infinity'), coalesce(${$id}::bigint, 0))
    ${newest} LIMIT ${pageSize + 1}`;
  const found = bots
    ? `SELECT r.* FROM (SELECT own.id FROM ${bots}) own CROSS JOIN LATERAL (${wanted}) r ${newest} LIMIT ${pageSize + 1}`
    : wanted;
  const rows = await sql<Row & { found: number }>(
    `SELECT * FROM (
       SELECT ${columns}, count(*) OVER () AS found, row_number() OVER newest AS place,
         sum(length(r.calls::text) + length(r.logs::text) + length(r.actions::text) + length(${body}::text)) OVER newest AS chars
       FROM (${found}) r ${joins}
       WINDOW newest AS (ORDER BY r.created_at DESC, r.id DESC)) page
     WHERE place <= ${pageSize} AND (place = 1 OR chars <= ${maxChars}) ORDER BY place`,
    [...parameters, ...asked],
  );
  const last = rows.at(-1);
  const next = last && last.found > rows.length ? { createdAt: last.created_at, id: last.id } : null;
  return { rows: rows.map(toRun), next };
}

function toRun(row: Row): RecordedRun {
  return {
    id: row.id,
    botId: row.agent_bot_id,
    isSystem: row.is_system,
    part: row.part,
    inboxId: row.inbox_id,
    secretNames: row.secret_names,
    conversationId: row.conversation_id,
    eventId: row.event_id,
    event: { id: row.event_id, name: row.event_name, body: row.event_body },
    attempt: row.attempt,
    pluginId: row.plugin_id,
    pluginVersion: row.plugin_version,
    bundleHash: row.bundle_hash,
    config: row.config,
    permissions: row.permissions,
    limits: row.limits,
    seed: row.seed,
    clock: moment(row.clock),
    calls: row.calls,
    outcome: row.outcome,
    actions: row.actions,
    actionsText: row.actions_text,
    logs: row.logs,
    error: row.error === null ? null : { message: row.error, stack: row.error_stack },
    cpuMs: row.cpu_ms,
    promptTokens: row.prompt_tokens,
    completionTokens: row.completion_tokens,
    handedOff: row.handed_off,
    wallMs: row.wall_ms,
    createdAt: moment(row.created_at),
    erasedAt: momentOrNull(row.erased_at),
  };
}
