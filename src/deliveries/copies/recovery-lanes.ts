import { liveLaneOrder } from '../lanes/lock-order.ts';

/**
 * SQL of the CTEs `made` and `opened`: the deliveries that the CTE `from` wants of the recovery `$1`, in the order of their events,
 * each with its `id` and its `own_lane`, which is opened. `from` has the columns of a delivery, and its subject's.
 *
 * Each delivery finds its lane's id by itself, or is given the one of its subject's first delivery: joined with the lanes that
 * are inserted, whose number the planner takes for small, each would be compared with each of them. ("+ 0": of the subject's few
 * lanes, not of the recovery's many.) A lane may have been emptied between two batches: it was woken with all of its endpoint,
 * or cancelled.
 */
export function withLanes(from: string): string {
  return `numbered AS MATERIALIZED (
    SELECT nextval('deliveries_id_seq') AS id, t.*, coalesce(own.id, nextval('lanes_id_seq')) AS lane
    FROM (SELECT * FROM ${from} ORDER BY event_id) t
    LEFT JOIN LATERAL (SELECT o.id FROM lanes o WHERE o.account_id = t.account_id AND o.subject_kind = t.subject_kind
      AND o.subject_id = t.subject_id AND o.endpoint_kind = t.endpoint_kind AND o.endpoint_id = t.endpoint_id
      AND o.side + 0 = -$1::bigint LIMIT 1) own ON true
  ), made AS MATERIALIZED (
    SELECT f.*, first_value(f.lane) OVER (PARTITION BY f.subject_kind, f.subject_id ORDER BY f.id) AS own_lane FROM numbered f
  ), opened AS (
    INSERT INTO lanes (id, account_id, endpoint_kind, endpoint_id, subject_kind, subject_id, side, due_at)
    SELECT DISTINCT own_lane, account_id, endpoint_kind, endpoint_id, subject_kind, subject_id, -$1::bigint, ${parked} FROM made m
    ORDER BY ${liveLaneOrder('m').replaceAll('m.', '')}
    ON CONFLICT (account_id, subject_kind, subject_id, endpoint_kind, endpoint_id, side)
      DO UPDATE SET due_at = coalesce(lanes.due_at, ${parked})
  )`;
}

// Until all deliveries are there their lanes wait, so that none overtakes another; if its process dies they become due.
const parked = `now() + interval '1 hour'`;

/** SQL condition: the lane waits until all deliveries of its recovery are there. */
export const isParked = `due_at > now() + interval '10 minutes'`;

/** SQL condition on a phase: not all deliveries of the recovery may be sent yet. */
export const isPreparing = `phase IN ('gather', 'missing', 'release')`;
