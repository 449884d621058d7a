import { arrayParameter, type ElementType } from '../../postgres/array-parameter.ts';
import { valuesOf, type Part } from '../../postgres/write-set.ts';
import { liveLaneOrder } from './lock-order.ts';

/** Bots and automations do not act on events whose causation depth is larger. */
export const maxCausationDepth = 5;

/** An event to write, with its bodies as JSON text. */
export interface NewEvent {
  name: string;
  /** References to rows that delete the event with them (ON DELETE CASCADE); null where the event tells of that deletion. */
  conversationId: number | null;
  contactId: number | null;
  /** The conversation, contact, webhook or key of a hook whose events are delivered in order. */
  lane: { kind: 'conversation' | 'contact' | 'webhook' | 'hook'; id: number };
  inboxId: number | null;
  sequence: number | null;
  depth: number;
  /** The bot whose call caused it: the depth follows at least that of the last event it was sent; null for all others. */
  requestedBy: number | null;
  accountPayload: string | null;
  botPayload: string | null;
  /** The values by which webhooks filter, as JSON text; null where there are none. */
  facts: string | null;
  /** Whether the format `chatwoot` has a body of its own for the event. */
  isFormatted: boolean;
  /** That body, if it was made. */
  chatwootPayload: string | null;
  bot: { botId: number; chosenBy: string; silence: string | null } | null;
  /** The only automation that it is for; null for all that listen. */
  automationId: number | null;
  /** The channel that it is for: of a message to send, or a request to receive; null for all other events. */
  channelId: number | null;
  /** The automation that caused it, which does not hear it. */
  causedBy: number | null;
}

const columns: readonly { name: string; type: ElementType; valueOf: (event: NewEvent) => unknown }[] = [
  { name: 'name', type: 'text', valueOf: ({ name }) => name },
  { name: 'conversation_id', type: 'bigint', valueOf: ({ conversationId }) => conversationId },
  { name: 'contact_id', type: 'bigint', valueOf: ({ contactId }) => contactId },
  { name: 'inbox_id', type: 'bigint', valueOf: ({ inboxId }) => inboxId },
  { name: 'sequence', type: 'bigint', valueOf: ({ sequence }) => sequence },
  { name: 'depth', type: 'int', valueOf: ({ depth }) => depth },
  { name: 'requested_by', type: 'bigint', valueOf: ({ requestedBy }) => requestedBy },
  { name: 'account_payload', type: 'text', valueOf: ({ accountPayload }) => accountPayload },
  { name: 'bot_payload', type: 'text', valueOf: ({ botPayload }) => botPayload },
  { name: 'facts', type: 'text', valueOf: ({ facts }) => facts },
  { name: 'is_formatted', type: 'boolean', valueOf: ({ isFormatted }) => isFormatted },
  { name: 'chatwoot_payload', type: 'text', valueOf: ({ chatwootPayload }) => chatwootPayload },
  { name: 'bot_id', type: 'bigint', valueOf: ({ bot }) => bot?.botId ?? null },
  { name: 'bot_chosen_by', type: 'text', valueOf: ({ bot }) => bot?.chosenBy ?? null },
  { name: 'bot_silence', type: 'text', valueOf: ({ bot }) => bot?.silence ?? null },
  { name: 'automation_id', type: 'bigint', valueOf: ({ automationId }) => automationId },
  { name: 'channel_id', type: 'bigint', valueOf: ({ channelId }) => channelId },
  { name: 'caused_by', type: 'bigint', valueOf: ({ causedBy }) => causedBy },
  { name: 'lane_kind', type: 'text', valueOf: ({ lane }) => lane.kind },
  { name: 'lane_id', type: 'bigint', valueOf: ({ lane }) => lane.id },
];
const [types, names] = [columns.map(({ type }) => type), columns.map(({ name }) => name).join(', ')];

// More rows are sent as an array for each column.
const maxSingly = 4;

/**
 * Writes an account's events (which get their feed positions later, see events/feed.ts), a delivery for each of their
 * subscribers, in the subscriber's format, and makes the lanes of those due, in the order of lock-order.ts. Answers the
 * endpoints (`kind`, `id`) with new deliveries. Automations get those of too great a depth as well: their runs refuse them, with a
 * record.
 */
export function enqueue(events: readonly NewEvent[]): Part[] {
  if (events.length === 0) return [];
  const isFew = events.length <= maxSingly;
  const part: Part = {
    shape: isFew ? `events ${events.length}` : 'events',
    hot: true,
    parameters: isFew
      ? events.flatMap((event) => columns.map(({ valueOf }) => valueOf(event)))
      : columns.map(({ type, valueOf }) => arrayParameter(type, events.map(valueOf))),
    text: (first, after) =>
      `happened AS MATERIALIZED (SELECT nextval('events_id_seq') AS id, e.* FROM ${
        isFew ? `(VALUES ${valuesOf(first, events.length, types)})` : `unnest(${arraysFrom(first)})`
      } AS e (${names}) WHERE ${after}), ${expressions}`,
    answer: 'SELECT endpoint_kind AS kind, endpoint_id AS id FROM delivered',
  };
  return [part];
}

function arraysFrom(first: number): string {
  return types.map((type, index) => `$${first + index}::${type}[]`).join(', ');
}

// Null for the default, which a subscriber gets too that wants another one only since the transaction began: its body was not made.
const formatFor = (format: string): string =>
  `CASE WHEN ${format} <> 'default' AND (e.chatwoot_payload IS NOT NULL OR NOT e.is_formatted) THEN ${format} END`;

// A bot's server need not say which event it reacts to: then it is the last one of the conversation that it was sent within a
// minute, if that is one of the last hundred. What its call repeats can only make it more. Its calls alone never reach a depth
// at which it is not told (bot-loops.ts counts them), but a run that they cause continues at theirs.
const depth = `CASE WHEN e.requested_by IS NULL THEN e.depth ELSE greatest(e.depth, least(${maxCausationDepth}, 1 + coalesce((
  SELECT s.depth FROM events s WHERE s.account_id = $1 AND s.conversation_id = e.conversation_id
    AND s.sequence > e.sequence - 100 AND s.bot_id = e.requested_by AND EXISTS (
      SELECT FROM deliveries d WHERE d.account_id = $1 AND d.event_id = s.id AND d.endpoint_kind = 'bot'
        AND d.endpoint_id = e.requested_by AND d.attempt > 0 AND (d.lease_token IS NOT NULL
          OR coalesce(d.finished_at, d.next_attempt_at) > now() - interval '60 seconds'))
  ORDER BY s.sequence DESC LIMIT 1), 0))) END`;

// The body ends with the depth that was known before.
const accountPayload = `CASE WHEN e.requested_by IS NULL THEN e.account_payload
  ELSE regexp_replace(e.account_payload, '"depth":\\d+\\}$', '"depth":' || caused.depth || '}') END::json`;

// An automation whose plugin cannot run, or that is in quarantine, hears nothing: it is not made up for.
function isFit(automation: string): string {
  return `${automation}.plugin_obstacle IS NULL AND ${automation}.config_fits AND (${automation}.quarantined_at IS NULL
    OR coalesce(${automation}.quarantined_until <= now(), false))`;
}

// A filter is asked here, once: `left_out` keeps its decision. An event that no filter left out has none.
const expressions = `
  subscribed AS (
    SELECT e.id AS event_id, w.id AS endpoint_id, e.lane_kind AS subject_kind, e.lane_id AS subject_id,
      ${formatFor('w.format')} AS format, w.filter IS NULL OR passes_filter(w.filter, e.facts::jsonb) AS passes
    FROM happened e JOIN webhooks w ON w.account_id = $1 AND w.active AND e.name = ANY (w.subscriptions)
      AND (w.inbox_id IS NULL OR w.inbox_id = e.inbox_id) AND NOT (e.lane_kind = 'webhook' AND e.lane_id = w.id)
    WHERE e.account_payload IS NOT NULL
  ), heard AS (
    SELECT e.id AS event_id, a.id AS endpoint_id, e.lane_kind AS subject_kind, e.lane_id AS subject_id
    FROM happened e JOIN agent_bots a ON a.account_id = $1 AND a.kind = 'automation' AND a.active
      AND CASE WHEN e.automation_id IS NOT NULL THEN a.id = e.automation_id
        ELSE e.account_payload IS NOT NULL AND e.name = ANY (a.events) AND a.id IS DISTINCT FROM e.caused_by
          AND (a.inbox_ids IS NULL OR e.inbox_id = ANY (a.inbox_ids))
          AND (a.hears_notes OR (e.facts::json ->> 'private') IS DISTINCT FROM 'true') AND ${isFit('a')} END
  ), written AS (
    INSERT INTO events (id, account_id, name, conversation_id, contact_id, inbox_id, sequence, depth, account_payload,
      bot_payload, chatwoot_payload, bot_id, bot_chosen_by, bot_silence, facts, left_out, automation_ids, channel_id, lone_account_id,
      webhook_epoch)
    SELECT e.id, $1, e.name, e.conversation_id, e.contact_id, e.inbox_id, e.sequence, caused.depth, ${accountPayload},
      e.bot_payload::json, e.chatwoot_payload::json, e.bot_id, e.bot_chosen_by, e.bot_silence, e.facts::json, l.left_out,
      (SELECT array_agg(h.endpoint_id) FROM heard h WHERE h.event_id = e.id), e.channel_id,
      CASE WHEN e.conversation_id IS NULL AND e.contact_id IS NULL THEN $1::bigint END,
      coalesce((SELECT epoch FROM webhook_epochs WHERE account_id = $1), 0)
    FROM happened e CROSS JOIN LATERAL (SELECT ${depth} AS depth) caused LEFT JOIN (
      SELECT event_id, array_agg(endpoint_id) AS left_out FROM subscribed WHERE NOT passes GROUP BY event_id) l ON l.event_id = e.id
  ), unplaced AS (
    INSERT INTO unplaced_events (event_id, account_id) SELECT e.id, $1 FROM happened e
  ), subscribers AS (
    SELECT event_id, 'webhook' AS endpoint_kind, endpoint_id, subject_kind, subject_id, format FROM subscribed WHERE passes
    UNION ALL
    SELECT e.id, 'bot', e.bot_id, e.lane_kind, e.lane_id, (
      SELECT ${formatFor('b.format')} FROM agent_bots b WHERE b.id = e.bot_id LIMIT 1)
    FROM happened e
    WHERE e.bot_payload IS NOT NULL AND e.bot_id IS NOT NULL AND e.bot_silence IS NULL
    UNION ALL
    SELECT event_id, 'automation', endpoint_id, subject_kind, subject_id, NULL FROM heard
    UNION ALL
    SELECT e.id, 'channel', e.channel_id, e.lane_kind, e.lane_id, NULL FROM happened e WHERE e.channel_id IS NOT NULL
  ), touched_lanes AS (
    INSERT INTO lanes AS lane (account_id, endpoint_kind, endpoint_id, subject_kind, subject_id, due_at)
    SELECT $1, s.endpoint_kind, s.endpoint_id, s.subject_kind, s.subject_id, now() FROM subscribers s
    GROUP BY ${liveLaneOrder('s')} ORDER BY ${liveLaneOrder('s')}
    ON CONFLICT (account_id, subject_kind, subject_id, endpoint_kind, endpoint_id, side) DO UPDATE
      SET due_at = CASE WHEN lane.lease_token IS NULL THEN least(lane.due_at, now()) ELSE lane.due_at END
    RETURNING id, endpoint_kind, endpoint_id, subject_kind, subject_id
  ), delivered AS (
    INSERT INTO deliveries (account_id, event_id, lane_id, endpoint_kind, endpoint_id, format)
    SELECT $1, s.event_id, lane.id, s.endpoint_kind, s.endpoint_id, s.format
    FROM subscribers s JOIN touched_lanes lane USING (subject_kind, subject_id, endpoint_kind, endpoint_id)
    RETURNING endpoint_kind, endpoint_id
  )`;
