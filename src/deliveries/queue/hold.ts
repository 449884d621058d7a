/**
 * SQL condition: no older delivery holds back the pending delivery `d` of the lane `l`. A pending delivery holds back those
 * behind it until it has failed `holdAttempts` times. A lane is ordered by its events.
 */
export function isNotHeldBack(holdAttempts: string): string {
  return `d.event_id <= coalesce(
      (SELECT h.event_id FROM deliveries h WHERE h.lane_id = l.id AND h.state = 'pending' AND h.failures < ${holdAttempts}
       ORDER BY h.event_id LIMIT 1), d.event_id)`;
}
