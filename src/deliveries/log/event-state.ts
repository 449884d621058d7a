/**
 * SQL of the state of the event `account`, `event` for its bot or automation: `done` once a delivery has arrived, `waiting` while one
 * is pending, else `failed`. Of an event without a delivery it is `failed`: nobody handles it any more.
 */
export function eventState({ accountId, eventId }: { accountId: string; eventId: string }): string {
  const some = (condition: string): string => `EXISTS (SELECT FROM deliveries d WHERE d.account_id = ${accountId}
    AND d.event_id = ${eventId} AND d.endpoint_kind IN ('bot', 'automation', 'channel') AND ${condition})`;
  return `CASE WHEN ${some(`d.state = 'pending'`)} THEN 'waiting' WHEN ${some(`d.state = 'delivered'`)} THEN 'done' ELSE 'failed' END`;
}

/** SQL of the id of the delivery of an event that a bot or automation was made last; null without one. */
export function lastDelivery({ accountId, eventId }: { accountId: string; eventId: string }): string {
  return `(SELECT d.id FROM deliveries d WHERE d.account_id = ${accountId} AND d.event_id = ${eventId}
    AND d.endpoint_kind IN ('bot', 'automation', 'channel') ORDER BY d.id DESC LIMIT 1)`;
}
