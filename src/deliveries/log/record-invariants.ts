import { isRecent, type Invariant } from './invariant.ts';

// Imported conversations bring their count along.
const unread = `
  answered AS (
    SELECT account_id, conversation_id, max(id) AS id FROM messages
    WHERE message_type = 'outgoing' AND NOT private AND sender_kind = 'user' GROUP BY account_id, conversation_id
  ), unread AS (
    SELECT c.account_id, c.id, c.unread_count, count(m.id) AS unread
    FROM conversations c LEFT JOIN answered a ON a.account_id = c.account_id AND a.conversation_id = c.id
    LEFT JOIN messages m ON m.account_id = c.account_id AND m.conversation_id = c.id AND m.message_type = 'incoming'
      AND NOT m.private AND m.id > coalesce(greatest(a.id, c.seen_through), 0)
    WHERE NOT EXISTS (SELECT FROM imported i
      WHERE i.account_id = c.account_id AND i.kind = 'conversation' AND i.local_id = c.id)
    GROUP BY c.account_id, c.id, c.unread_count
  )`;

const countColumns = 'account_id, assignee_id, status, inbox_id, team_id, agent_bot_id';

/** Counts of lists, and unread messages. */
export const counts: Invariant = {
  id: 'L6',
  name: 'the counts of conversations, of all and by assignee, are those of the conversations, and unread counts those of the messages',
  text: `
    WITH kept AS (
      SELECT ${countColumns}, total, assigned FROM conversation_counts
      UNION ALL SELECT ${countColumns}, total, assigned FROM conversation_count_changes
      UNION ALL
      SELECT c.account_id, whose.assignee_id, c.status, c.inbox_id, c.team_id, c.agent_bot_id, -count(*), -count(c.assignee_id)
      FROM conversations c CROSS JOIN LATERAL (
        SELECT NULL::bigint UNION ALL SELECT c.assignee_id WHERE c.assignee_id IS NOT NULL) AS whose (assignee_id)
      GROUP BY 1, 2, 3, 4, 5, 6
    ), ${unread}
    SELECT account_id, status, inbox_id, assignee_id, NULL::bigint AS conversation_id, sum(total)::bigint AS surplus,
      sum(assigned)::bigint AS surplus_assigned
    FROM kept GROUP BY ${countColumns} HAVING sum(total) <> 0 OR sum(assigned) <> 0
    UNION ALL
    SELECT account_id, NULL, NULL, NULL, id, unread_count - unread, NULL FROM unread WHERE unread_count <> unread`,
};

export const woken: Invariant = {
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

// A position is missing rightly only when its conversation or contact is gone, too. Positions up to `dropped` were deleted
// for their age. An event without a position that is younger than a minute is about to be placed. The last events of deleted
// conversations name none: they are in no order with each other.
export const placed: Invariant = {
  id: 'L10',
  name: 'every event that is older than a minute has one place in the feed, in the order of its conversation, and no place is missing',
  text: `
    WITH erased AS (
      SELECT p.account_id, p.position FROM erased_positions p WHERE NOT CASE p.subject_kind
        WHEN 'conversation' THEN EXISTS (SELECT FROM conversations c WHERE c.account_id = p.account_id AND c.id = p.subject_id)
        ELSE EXISTS (SELECT FROM contacts c WHERE c.account_id = p.account_id AND c.id = p.subject_id) END
    ), positions AS (
      SELECT p.account_id, p.position, h.dropped, h.position AS head,
        lag(p.position, 1, h.dropped) OVER account AS before, lead(p.position) OVER account AS after
      FROM (SELECT account_id, position FROM event_feed UNION ALL SELECT account_id, position FROM erased) p
      JOIN event_feed_heads h ON h.account_id = p.account_id AND p.position > h.dropped
      WINDOW account AS (PARTITION BY p.account_id ORDER BY p.position)
    ), ordered AS (
      SELECT e.account_id, e.id, f.position, e.sequence,
        lag(e.sequence) OVER (PARTITION BY e.account_id, e.conversation_id ORDER BY f.position) AS before
      FROM event_feed f JOIN events e ON e.account_id = f.account_id AND e.id = f.event_id
      WHERE e.sequence IS NOT NULL AND e.conversation_id IS NOT NULL
    )
    SELECT e.account_id, e.id AS event_id, NULL::bigint AS position, 'not placed' AS problem FROM events e
    WHERE NOT e.is_test AND e.created_at < now() - interval '1 minute' AND NOT EXISTS (
      SELECT FROM event_feed f WHERE f.account_id = e.account_id AND f.event_id = e.id)
    UNION ALL
    SELECT account_id, NULL, before + 1, 'missing' FROM positions WHERE position <> before + 1
    UNION ALL
    SELECT account_id, NULL, position + 1, 'missing' FROM positions WHERE after IS NULL AND position <> head
    UNION ALL
    SELECT h.account_id, NULL, h.position, 'missing' FROM event_feed_heads h WHERE h.position > h.dropped
      AND NOT EXISTS (SELECT FROM positions p WHERE p.account_id = h.account_id)
    UNION ALL
    SELECT account_id, id, position, 'before an earlier event' FROM ordered WHERE before > sequence`,
};

// Where events were deleted for their age, or are of 0.1.0, which forgot how many it had deleted, those messages are judged
// that are a day younger than the oldest event left: by then the clocks of processes agree.
export const announced: Invariant = {
  id: 'L11',
  name: 'every message has its message_created',
  text: `
    WITH since AS (
      SELECT a.id AS account_id, CASE WHEN coalesce(h.dropped, 0) = 0 AND NOT EXISTS (
          SELECT FROM events e WHERE e.account_id = a.id AND e.webhook_epoch IS NULL AND NOT e.is_test)
        THEN '-infinity' ELSE (
          SELECT min(e.created_at) + interval '1 day' FROM event_feed f
          JOIN events e ON e.account_id = f.account_id AND e.id = f.event_id AND e.webhook_epoch IS NOT NULL
          WHERE f.account_id = a.id AND f.position > coalesce(h.dropped, 0)) END AS at
      FROM accounts a LEFT JOIN event_feed_heads h ON h.account_id = a.id
    ), said AS (
      SELECT account_id, conversation_id, account_payload ->> 'id' AS message_id FROM events
      WHERE name = 'message_created' AND NOT is_test AND conversation_id IS NOT NULL
    )
    SELECT m.account_id, m.conversation_id, m.id AS message_id, count(s.message_id) AS events
    FROM messages m JOIN since ON since.account_id = m.account_id AND m.created_at > since.at
    LEFT JOIN said s ON s.account_id = m.account_id AND s.conversation_id = m.conversation_id AND s.message_id = m.id::text
    WHERE NOT ((m.content_attributes ? 'chatwoot' OR m.content_attributes ? 'deleted') AND EXISTS (
      SELECT FROM imported i WHERE i.account_id = m.account_id AND i.kind = 'conversation' AND i.local_id = m.conversation_id))
    GROUP BY m.account_id, m.conversation_id, m.id HAVING count(s.message_id) <> 1`,
};
