/** A rule that always holds in the database: its statement finds violations. */
export interface Invariant {
  id: `L${number}`;
  name: string;
  /** Returns rows that break it, with account and subject; `$1` is the number of failures that a lane is held for. */
  text: string;
}

// Deleted events leave gaps in the feed up to `dropped`, where readers were promised nothing.
const isRecent = (account: string, event: string) => `NOT EXISTS (
  SELECT FROM event_feed f JOIN event_feed_heads h ON h.account_id = f.account_id
  WHERE f.account_id = ${account} AND f.event_id = ${event} AND f.position <= h.dropped)`;

// The epoch that an event's commit saw; an event that was written by hand is judged by its time.
const judged = `
  judged AS (
    SELECT e.account_id, e.id, e.name, e.inbox_id, e.bot_id, e.bot_payload IS NOT NULL AND e.bot_silence IS NULL AS to_bot,
      coalesce(e.webhook_epoch, (SELECT max(v.epoch) FROM webhook_versions v
        WHERE v.account_id = e.account_id AND v.created_at <= e.created_at), 0) AS epoch,
      e.account_payload IS NOT NULL AS to_webhooks
    FROM events e WHERE NOT e.is_test
  ), wanted AS (
    SELECT j.account_id, j.id AS event_id, 'webhook' AS endpoint_kind, v.webhook_id AS endpoint_id
    FROM judged j CROSS JOIN LATERAL (
      SELECT DISTINCT ON (webhook_id) webhook_id, active, subscriptions, inbox_id FROM webhook_versions v
      WHERE v.account_id = j.account_id AND v.epoch <= j.epoch ORDER BY webhook_id, epoch DESC) v
    WHERE j.to_webhooks AND v.active AND j.name = ANY (v.subscriptions)
      AND (v.inbox_id IS NULL OR v.inbox_id = j.inbox_id)
    UNION ALL
    SELECT account_id, id, 'bot', bot_id FROM judged WHERE to_bot AND bot_id IS NOT NULL
  )`;

const deliveries: Invariant = {
  id: 'L1',
  name: 'every event has one live delivery for each endpoint that was subscribed to it at its commit',
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
        AND w.endpoint_kind = m.endpoint_kind AND w.endpoint_id = m.endpoint_id)`,
};

const scheduled: Invariant = {
  id: 'L2',
  name: 'every delivery has ended, or its lane is due or leased',
  text: `
    SELECT d.account_id, d.id AS delivery_id, d.state, l.due_at, d.finished_at
    FROM deliveries d LEFT JOIN lanes l ON l.account_id = d.account_id AND l.id = d.lane_id
    WHERE CASE d.state WHEN 'pending' THEN l.due_at IS NULL OR d.finished_at IS NOT NULL
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

const counts: Invariant = {
  id: 'L6',
  name: 'the counts of conversations are those of the conversations',
  text: `
    WITH kept AS (
      SELECT account_id, status, inbox_id, team_id, agent_bot_id, total, assigned FROM conversation_counts WHERE assignee_id IS NULL
      UNION ALL
      SELECT account_id, status, inbox_id, team_id, agent_bot_id, total, assigned FROM conversation_count_changes
      WHERE assignee_id IS NULL
      UNION ALL
      SELECT account_id, status, inbox_id, team_id, agent_bot_id, -count(*), -count(assignee_id) FROM conversations
      GROUP BY 1, 2, 3, 4, 5
    )
    SELECT account_id, status, inbox_id, sum(total)::bigint AS surplus, sum(assigned)::bigint AS surplus_assigned
    FROM kept GROUP BY account_id, status, inbox_id, team_id, agent_bot_id
    HAVING sum(total) <> 0 OR sum(assigned) <> 0`,
};

const woken: Invariant = {
  id: 'L7',
  name: 'each change of a status begins where the one before ended: a snooze ends once',
  text: `
    WITH said AS (
      SELECT e.account_id, e.id, e.conversation_id, e.account_payload ->> 'status' AS status,
        e.account_payload #>> '{changed_attributes,status,previous}' AS previous,
        lag(e.id) OVER told AS before_id, lag(e.account_payload ->> 'status') OVER told AS before,
        lead(e.id) OVER told AS after_id
      FROM events e WHERE e.name IN ('conversation_created', 'conversation_status_changed') AND NOT e.is_test
        AND e.conversation_id IS NOT NULL
      WINDOW told AS (PARTITION BY e.account_id, e.conversation_id ORDER BY e.sequence)
    )
    SELECT s.account_id, s.conversation_id, s.id AS event_id, s.before, s.previous, NULL AS status FROM said s
    WHERE s.before_id IS NOT NULL AND s.before IS DISTINCT FROM s.previous AND ${isRecent('s.account_id', 's.before_id')}
    UNION ALL
    SELECT s.account_id, s.conversation_id, s.id, s.status, NULL, c.status
    FROM said s JOIN conversations c ON c.account_id = s.account_id AND c.id = s.conversation_id
    WHERE s.after_id IS NULL AND c.status <> s.status`,
};

const answered: Invariant = {
  id: 'L8',
  name: 'a bot acts on an event once at most',
  text: `
    SELECT account_id, event_id, agent_bot_id, count(*) AS runs FROM bot_runs WHERE outcome = 'ok'
    GROUP BY account_id, event_id, agent_bot_id HAVING count(*) > 1`,
};

const separate: Invariant = {
  id: 'L9',
  name: 'event, conversation, endpoint, lane and delivery are of one account',
  text: `
    SELECT d.account_id, 'delivery' AS what, d.id, w.account_id AS other FROM deliveries d
      JOIN webhooks w ON d.endpoint_kind = 'webhook' AND w.id = d.endpoint_id WHERE w.account_id <> d.account_id
    UNION ALL
    SELECT d.account_id, 'delivery', d.id, b.account_id FROM deliveries d
      JOIN agent_bots b ON d.endpoint_kind = 'bot' AND b.id = d.endpoint_id WHERE b.account_id <> d.account_id
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
];
