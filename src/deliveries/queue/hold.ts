/**
 * SQL: whether the pending delivery `d` of the lane `l` is not held back by an older one. A pending delivery holds back all
 * behind it until it has failed so many times; then they overtake it. The lane's order is that of its events.
 */
export function isNotHeldBack(holdAttempts: string): string {
  return `d.event_id <= coalesce(
      (SELECT h.event_id FROM deliveries h WHERE h.lane_id = l.id AND h.state = 'pending' AND h.failures < ${holdAttempts}
       ORDER BY h.event_id LIMIT 1), d.event_id)`;
}
