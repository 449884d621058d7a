import { prepared } from '../../postgres/prepared.ts';
import type { TouchedEndpoint } from '../../postgres/database.ts';
import { sql, type Executor } from '../../postgres/sql.ts';
import { laneOrder } from './lock-order.ts';

/** An event to write, with its bodies as JSON text. */
export interface NewEvent {
  name: string;
  /** References to rows that delete the event with them (ON DELETE CASCADE); null where the event tells of that deletion. */
  conversationId: number | null;
  contactId: number | null;
  /** The conversation or contact whose events are delivered in order. */
  lane: { kind: 'conversation' | 'contact'; id: number };
  inboxId: number | null;
  sequence: number | null;
  depth: number;
  accountPayload: string | null;
  botPayload: string | null;
  bot: { botId: number; chosenBy: string; silence: string | null } | null;
}

// One statement writes the events (which get their feed positions later, see events/feed.ts), a delivery for each of their
// subscribers, and makes the lanes of those due, in the order of lock-order.ts.
const enqueueStatement = prepared(`
  WITH happened AS (
    SELECT nextval('events_id_seq') AS id, e.* FROM unnest($2::text[], $3::bigint[], $4::bigint[], $5::bigint[],
      $6::bigint[], $7::int[], $8::text[], $9::text[], $10::bigint[], $11::text[], $12::text[], $13::text[], $14::bigint[])
      WITH ORDINALITY AS e (name, conversation_id, contact_id, inbox_id, sequence, depth, account_payload, bot_payload,
      bot_id, bot_chosen_by, bot_silence, lane_kind, lane_id, position)
  ), written AS (
    INSERT INTO events (id, account_id, name, conversation_id, contact_id, inbox_id, sequence, depth, account_payload,
      bot_payload, bot_id, bot_chosen_by, bot_silence)
    SELECT e.id, $1, e.name, e.conversation_id, e.contact_id, e.inbox_id, e.sequence, e.depth, e.account_payload::json,
      e.bot_payload::json, e.bot_id, e.bot_chosen_by, e.bot_silence
    FROM happened e ORDER BY e.position
  ), unplaced AS (
    INSERT INTO unplaced_events (event_id, account_id) SELECT e.id, $1 FROM happened e
  ), subscribers AS (
    SELECT e.id AS event_id, 'webhook' AS endpoint_kind, w.id AS endpoint_id, e.lane_kind AS subject_kind,
      e.lane_id AS subject_id
    FROM happened e JOIN webhooks w ON w.account_id = $1 AND w.active AND e.name = ANY (w.subscriptions)
      AND (w.inbox_id IS NULL OR w.inbox_id = e.inbox_id)
    WHERE e.account_payload IS NOT NULL
    UNION ALL
    SELECT e.id, 'bot', e.bot_id, e.lane_kind, e.lane_id FROM happened e
    WHERE e.bot_payload IS NOT NULL AND e.bot_id IS NOT NULL AND e.bot_silence IS NULL
  ), touched_lanes AS (
    INSERT INTO lanes AS lane (account_id, endpoint_kind, endpoint_id, subject_kind, subject_id, due_at)
    SELECT $1, s.endpoint_kind, s.endpoint_id, s.subject_kind, s.subject_id, now() FROM subscribers s
    GROUP BY ${laneOrder('s')} ORDER BY ${laneOrder('s')}
    ON CONFLICT (account_id, subject_kind, subject_id, endpoint_kind, endpoint_id) DO UPDATE
      SET due_at = CASE WHEN lane.lease_token IS NULL THEN least(lane.due_at, now()) ELSE lane.due_at END
    RETURNING id, endpoint_kind, endpoint_id, subject_kind, subject_id
  )
  INSERT INTO deliveries (account_id, event_id, lane_id, endpoint_kind, endpoint_id)
  SELECT $1, s.event_id, lane.id, s.endpoint_kind, s.endpoint_id
  FROM subscribers s JOIN touched_lanes lane USING (subject_kind, subject_id, endpoint_kind, endpoint_id)
  RETURNING endpoint_kind AS kind, endpoint_id AS id`);

/**
 * Writes an account's events with a delivery for each of their subscribers, at the commit of what happened; returns the
 * endpoints with new deliveries.
 */
export async function enqueue(
  executor: Executor,
  accountId: number,
  events: readonly NewEvent[],
): Promise<TouchedEndpoint[]> {
  const touched = await sql<Omit<TouchedEndpoint, 'accountId'>>(executor, enqueueStatement, [
    accountId,
    events.map((event) => event.name),
    events.map((event) => event.conversationId),
    events.map((event) => event.contactId),
    events.map((event) => event.inboxId),
    events.map((event) => event.sequence),
    events.map((event) => event.depth),
    events.map((event) => event.accountPayload),
    events.map((event) => event.botPayload),
    events.map((event) => event.bot?.botId ?? null),
    events.map((event) => event.bot?.chosenBy ?? null),
    events.map((event) => event.bot?.silence ?? null),
    events.map((event) => event.lane.kind),
    events.map((event) => event.lane.id),
  ]);
  return touched.map((endpoint) => ({ ...endpoint, accountId }));
}
