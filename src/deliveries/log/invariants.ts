import { audited } from './audit-invariant.ts';
import { continuesCode } from '../core/verdict.ts';
import { claimableLanes } from '../lanes/claimable.ts';
import { isRecent, type Invariant } from './invariant.ts';
import { announced, counts, placed, woken } from './record-invariants.ts';

// The epoch that an event's commit saw; an event that was written by hand is judged by its time. Whom a filter left out is what
// the commit stored, and what the filter of that version says of the event's facts: both must agree.
const judged = `
  judged AS (
    SELECT e.account_id, e.id, e.name, e.inbox_id, e.bot_id, e.bot_payload IS NOT NULL AND e.bot_silence IS NULL AS to_bot,
      e.automation_ids, e.channel_id,
      coalesce(e.webhook_epoch, (SELECT max(v.epoch) FROM webhook_versions v
        WHERE v.account_id = e.account_id AND v.created_at <= e.created_at), 0) AS epoch,
      e.account_payload IS NOT NULL AS to_webhooks, e.facts, coalesce(e.left_out, '{}') AS left_out,
      CASE WHEN e.name ~ '^(webhook_(disabled|failing|recovered)|delivery_exhausted)$'
        THEN (e.account_payload #>> '{webhook,id}')::bigint END AS about_webhook
    FROM events e WHERE NOT e.is_test
  ), subscribed AS (
    SELECT j.account_id, j.id AS event_id, v.webhook_id, v.webhook_id <> ALL (j.left_out) AS is_sent,
      v.filter IS NULL OR passes_filter(v.filter, j.facts::jsonb) AS passes
    FROM judged j CROSS JOIN LATERAL (
      SELECT DISTINCT ON (webhook_id) webhook_id, active, subscriptions, inbox_id, filter FROM webhook_versions v
      WHERE v.account_id = j.account_id AND v.epoch <= j.epoch ORDER BY webhook_id, epoch DESC) v
    WHERE j.to_webhooks AND v.active AND j.name = ANY (v.subscriptions)
      AND (v.inbox_id IS NULL OR v.inbox_id = j.inbox_id) AND v.webhook_id IS DISTINCT FROM j.about_webhook
  ), wanted AS (
    SELECT account_id, event_id, 'webhook' AS endpoint_kind, webhook_id AS endpoint_id FROM subscribed WHERE is_sent
    UNION ALL
    SELECT account_id, id, 'bot', bot_id FROM judged WHERE to_bot AND bot_id IS NOT NULL
    UNION ALL
    SELECT account_id, id, 'automation', unnest(automation_ids) FROM judged
    UNION ALL
    SELECT account_id, id, 'channel', channel_id FROM judged WHERE channel_id IS NOT NULL
  )`;

const deliveries: Invariant = {
  id: 'L1',
  name: 'every event has one live delivery for each endpoint that was subscribed to it at its commit and whose filter it passed',
  text: `
    WITH ${judged}, made AS (
      SELECT account_id, event_id, endpoint_kind, endpoint_id, count(*) AS made FROM deliveries
      WHERE trigger = 'live' GROUP BY 1, 2, 3, 4
    )
    SELECT account_id, event_id, endpoint_kind, endpoint_id, coalesce(m.made, 0) AS deliveries
    FROM wanted w LEFT JOIN made m USING (account_id, event_id, endpoint_kind, endpoint_id)
    WHERE coalesce(m.made, 0) <> 1 AND CASE endpoint_kind
      WHEN 'webhook' THEN EXISTS (SELECT FROM webhooks x WHERE x.account_id = w.account_id AND x.id = endpoint_id)
      ELSE EXISTS (SELECT FROM agent_bots x WHERE x.id = endpoint_id) END
    UNION ALL
    SELECT m.account_id, m.event_id, m.endpoint_kind, m.endpoint_id, m.made
    FROM made m JOIN events e ON e.account_id = m.account_id AND e.id = m.event_id
    WHERE e.webhook_epoch IS NOT NULL AND NOT EXISTS (
      SELECT FROM wanted w WHERE w.account_id = m.account_id AND w.event_id = m.event_id
        AND w.endpoint_kind = m.endpoint_kind AND w.endpoint_id = m.endpoint_id)
    UNION ALL
    SELECT account_id, event_id, 'webhook', webhook_id, NULL FROM subscribed WHERE is_sent <> passes`,
};

// A lane that was parked by a recovery waits for an hour at most; a lease ends sooner, and so do clocks agree.
const asked = `
  pending AS (
    SELECT d.*, min(d.event_id) FILTER (WHERE d.failures < $1) OVER (PARTITION BY d.lane_id) AS holder
    FROM deliveries d WHERE d.state = 'pending'
  ), heads AS (
    SELECT account_id, lane_id, min(next_attempt_at) AS next_attempt_at FROM pending
    WHERE event_id <= coalesce(holder, event_id) GROUP BY account_id, lane_id
  ), late AS (
    SELECT l.account_id, l.id FROM heads h JOIN lanes l ON l.account_id = h.account_id AND l.id = h.lane_id
    WHERE l.due_at > CASE WHEN l.lease_token IS NULL THEN greatest(h.next_attempt_at, now()) ELSE now() END
      + CASE WHEN l.lease_token IS NULL AND l.side >= 0 THEN interval '1 minute' ELSE interval '1 hour' END
  )`;

// An engine that is alive has leases, or has just ended an attempt, as long as anything may be claimed.
const stuck = `
  stuck AS (
    SELECT c.account_id, c.id FROM (${claimableLanes}) c WHERE c.since < now() - interval '1 minute'
      AND NOT EXISTS (SELECT FROM lanes WHERE lease_token IS NOT NULL AND due_at > now())
      AND coalesce((SELECT created_at FROM attempts ORDER BY id DESC LIMIT 1), '-infinity') < now() - interval '1 minute'
  )`;

const scheduled: Invariant = {
  id: 'L2',
  name: 'every delivery has ended, or its lane is leased or due when its next attempt is, and what may be sent is being sent',
  text: `
    WITH ${asked}, ${stuck}
    SELECT d.account_id, d.id AS delivery_id, d.state, d.next_attempt_at, l.due_at, d.finished_at
    FROM deliveries d LEFT JOIN lanes l ON l.account_id = d.account_id AND l.id = d.lane_id
    WHERE CASE d.state
      WHEN 'pending' THEN l.due_at IS NULL OR d.finished_at IS NOT NULL OR d.next_attempt_at > now() + interval '2 days'
        OR (l.account_id, l.id) IN (SELECT account_id, id FROM late) OR (l.account_id, l.id) IN (SELECT account_id, id FROM stuck)
      ELSE d.finished_at IS NULL OR d.lease_token IS NOT NULL END`,
};

const proven: Invariant = {
  id: 'L3',
  name: 'what is delivered was answered once, and what was answered is delivered',
  text: `
    SELECT d.account_id, d.id AS delivery_id, d.state, count(a.id) AS delivered_attempts
    FROM deliveries d LEFT JOIN attempts a
      ON a.account_id = d.account_id AND a.delivery_id = d.id AND a.outcome = 'delivered'
    GROUP BY d.account_id, d.id, d.state, d.event_id, d.endpoint_kind, d.endpoint_id
    HAVING count(a.id) > 1 OR (count(a.id) = 1) <> (d.state = 'delivered') AND NOT (
      d.state = 'delivered' AND EXISTS (
        SELECT FROM deliveries r WHERE r.account_id = d.account_id AND r.event_id = d.event_id AND r.id <> d.id
          AND r.endpoint_kind = d.endpoint_kind AND r.endpoint_id = d.endpoint_id AND r.state = 'delivered'))`,
};

// Leaves out deliveries that a resend has answered: it passed beside the lane, and may have overtaken earlier ones.
const ordered: Invariant = {
  id: 'L4',
  name: 'events of a conversation are numbered without a gap, and a lane delivers them in this order',
  text: `
    WITH numbered AS (
      SELECT e.account_id, e.id, e.conversation_id, e.sequence,
        lead(e.sequence) OVER (PARTITION BY e.account_id, e.conversation_id ORDER BY e.sequence) AS following
      FROM events e WHERE e.conversation_id IS NOT NULL AND NOT e.is_test
    ), sent AS (
      SELECT d.account_id, d.id, d.is_answered, d.finished_at, max(d.finished_at) FILTER (WHERE d.failures < $1)
        OVER (PARTITION BY d.lane_id ORDER BY d.event_id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS earlier
      FROM deliveries d WHERE d.state = 'delivered' AND d.trigger = 'live'
    )
    SELECT n.account_id, n.conversation_id, n.sequence, coalesce(n.following, c.event_sequence + 1) AS following, NULL AS delivery_id
    FROM numbered n JOIN conversations c ON c.account_id = n.account_id AND c.id = n.conversation_id
    WHERE coalesce(n.following, c.event_sequence + 1) <> n.sequence + 1 AND ${isRecent('n.account_id', 'n.id')}
    UNION ALL
    SELECT s.account_id, NULL, NULL, NULL, s.id FROM sent s WHERE s.earlier > s.finished_at AND NOT s.is_answered`,
};

const counted: Invariant = {
  id: 'L5',
  name: 'the attempts of a delivery are numbered from 1 without a gap',
  text: `
    SELECT d.account_id, d.id AS delivery_id, d.attempt, count(a.id) AS attempts, max(a.number) AS last
    FROM deliveries d LEFT JOIN attempts a ON a.account_id = d.account_id AND a.delivery_id = d.id
    GROUP BY d.account_id, d.id, d.attempt, d.lease_token
    HAVING count(a.id) <> count(DISTINCT a.number) OR coalesce(max(a.number), 0) <> count(a.id)
      OR count(a.id) <> d.attempt - CASE WHEN d.lease_token IS NULL THEN 0 ELSE 1 END`,
};

// A request of a hook that was resent is handled once more, and several runs send the parts of a message.
const answered: Invariant = {
  id: 'L8',
  name: 'a bot acts on an event once at most',
  text: `
    SELECT account_id, event_id, agent_bot_id, runs FROM (
      SELECT account_id, event_id, agent_bot_id, count(*) AS runs FROM bot_runs WHERE outcome = 'ok'
      GROUP BY account_id, event_id, agent_bot_id HAVING count(*) > 1) r
    WHERE runs > 1 + (SELECT count(*) FROM deliveries d WHERE d.account_id = r.account_id AND d.event_id = r.event_id
      AND d.endpoint_kind <> 'webhook' AND d.endpoint_id = r.agent_bot_id AND d.trigger = 'resend' AND NOT d.forwarded)
      + (SELECT count(*) FROM deliveries d JOIN attempts a ON a.account_id = d.account_id AND a.delivery_id = d.id
      WHERE d.account_id = r.account_id AND d.event_id = r.event_id AND d.endpoint_kind = 'channel'
      AND d.endpoint_id = r.agent_bot_id AND a.error_code = '${continuesCode}')`,
};

const separate: Invariant = {
  id: 'L9',
  name: 'event, conversation, endpoint, lane and delivery are of one account',
  text: `
    SELECT d.account_id, 'delivery' AS what, d.id, w.account_id AS other FROM deliveries d
      JOIN webhooks w ON d.endpoint_kind = 'webhook' AND w.id = d.endpoint_id WHERE w.account_id <> d.account_id
    UNION ALL
    SELECT d.account_id, 'delivery', d.id, b.account_id FROM deliveries d
      JOIN agent_bots b ON d.endpoint_kind <> 'webhook' AND b.id = d.endpoint_id WHERE b.account_id <> d.account_id
    UNION ALL
    SELECT d.account_id, 'delivery', d.id, e.account_id FROM deliveries d JOIN events e ON e.id = d.event_id
      WHERE e.account_id <> d.account_id
    UNION ALL
    SELECT d.account_id, 'delivery', d.id, l.account_id FROM deliveries d JOIN lanes l ON l.id = d.lane_id
      WHERE (l.account_id, l.endpoint_kind, l.endpoint_id) <> (d.account_id, d.endpoint_kind, d.endpoint_id)
    UNION ALL
    SELECT l.account_id, 'lane', l.id, c.account_id FROM lanes l
      JOIN conversations c ON l.subject_kind = 'conversation' AND c.id = l.subject_id WHERE c.account_id <> l.account_id
    UNION ALL
    SELECT e.account_id, 'event', e.id, c.account_id FROM events e JOIN conversations c ON c.id = e.conversation_id
      WHERE c.account_id <> e.account_id
    UNION ALL
    SELECT e.account_id, 'event', e.id, b.account_id FROM events e JOIN agent_bots b ON b.id = e.bot_id
      WHERE b.account_id <> e.account_id`,
};

// Deliveries of 0.1.0 have no cause, and a delivery whose webhook was switched off while it was in progress may have none.
const cancelled: Invariant = {
  id: 'L12',
  name: 'a cancelled delivery has who or what cancelled it',
  text: `
    SELECT d.account_id, d.id AS delivery_id, d.last_error FROM deliveries d
    JOIN events e ON e.account_id = d.account_id AND e.id = d.event_id AND (e.webhook_epoch IS NOT NULL OR e.is_test)
    WHERE d.state = 'cancelled' AND d.cancelled_by IS NULL AND CASE WHEN d.endpoint_kind <> 'webhook' THEN d.last_error IS NULL
      ELSE NOT EXISTS (SELECT FROM webhook_versions v
        WHERE v.account_id = d.account_id AND v.webhook_id = d.endpoint_id AND NOT v.active) END`,
};

/** The ledger: everything that must hold after any failure of processes, networks and disks. */
export const invariants: readonly Invariant[] = [
  deliveries,
  scheduled,
  proven,
  ordered,
  counted,
  counts,
  woken,
  answered,
  separate,
  placed,
  announced,
  cancelled,
  audited,
];
