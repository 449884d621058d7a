// Greater than all ids, so that what is not held back is a range of the index: a lane may have very many pending deliveries.
const afterAll = '9223372036854775807';

/**
 * SQL condition: no older delivery holds back the pending delivery `d` of the lane `l`. A pending delivery holds back those
 * behind it until it has failed `holdAttempts` times. A lane is ordered by its events.
 */
export function isNotHeldBack(holdAttempts: string): string {
  return `d.event_id <= coalesce(
      (SELECT h.event_id FROM deliveries h WHERE h.lane_id = l.id AND h.state = 'pending' AND h.failures < ${holdAttempts}
       ORDER BY h.event_id LIMIT 1), ${afterAll})`;
}

/**
 * SQL of a lateral subquery, in the statement that finishes a lane's delivery `f`: when the lane is due by the rules of
 * `isNotHeldBack`. The snapshot shows the delivery as it was before, so `f` has `lane_id`, `id`, `event_id`, `state`,
 * `failures` and `next_attempt_at` as they are now; all but the first are null when no delivery was finished.
 */
export function dueAfterFinish(holdAttempts: string): string {
  return `(SELECT least(
      (SELECT min(greatest(d.next_attempt_at, now())) ${others('d')} AND d.event_id <= coalesce(holder.event_id, ${afterAll})),
      CASE WHEN f.state = 'pending' AND f.event_id <= coalesce(holder.event_id, f.event_id)
        THEN greatest(f.next_attempt_at, now()) END) AS at
    FROM (SELECT least(
      (SELECT h.event_id ${others('h')} AND h.failures < ${holdAttempts} ORDER BY h.event_id LIMIT 1),
      CASE WHEN f.state = 'pending' AND f.failures < ${holdAttempts} THEN f.event_id END) AS event_id) holder)`;
}

/** Like dueAfterFinish: the `id` of the delivery that is next after the delivered `f`, if one is due; else no row. */
export function nextAfterDelivered(holdAttempts: string): string {
  return `(SELECT d.id ${others('d')} AND d.next_attempt_at <= now() AND coalesce(
      (SELECT h.event_id ${others('h')} AND h.failures < ${holdAttempts} ORDER BY h.event_id LIMIT 1), ${afterAll}) >= d.event_id
    ORDER BY d.event_id LIMIT 1)`;
}

// The pending deliveries of the lane but the finished one.
function others(alias: string): string {
  return `FROM deliveries ${alias} WHERE ${alias}.lane_id = f.lane_id AND ${alias}.state = 'pending' AND ${alias}.id IS DISTINCT FROM f.id`;
}
