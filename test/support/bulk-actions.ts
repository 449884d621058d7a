import { rowsOf } from './kept-client.ts';
import type { Body, Sending } from './sending.ts';

/** Deliveries that one transaction of a bulk action works on. */
export const batch = 200;

/** The path of a webhook's bulk actions. */
export const bulkOf = (webhook: Body): string => `webhooks/${webhook.id}/deliveries/bulk`;

/** So many deliveries in the state, each of an event of its own, in fifty lanes. On a connection without a timeout. */
export async function insertDeliveries(
  sending: Sending,
  webhook: Body,
  count: number,
  state = 'exhausted',
): Promise<{ id: number }[]> {
  const made = await rowsOf<{ id: string }>(
    sending.app.databaseUrl,
    `WITH lane AS (
       INSERT INTO lanes (account_id, endpoint_kind, endpoint_id, subject_kind, subject_id, due_at)
       SELECT 1, 'webhook', $1, 'contact', 1000000 + g, CASE WHEN $3 = 'pending' THEN now() + interval '1 hour' END
       FROM generate_series(0, 49) g RETURNING id, subject_id - 1000000 AS number
     ), event AS (
       INSERT INTO events (account_id, name, account_payload) SELECT 1, 'contact_updated', json_build_object('number', g)
       FROM generate_series(1, $2) g RETURNING id, (account_payload ->> 'number')::bigint % 50 AS number)
     INSERT INTO deliveries (account_id, event_id, lane_id, endpoint_kind, endpoint_id, state, attempt, failures, finished_at,
       next_attempt_at, created_at)
     SELECT 1, e.id, lane.id, 'webhook', $1, $3, 1, 1, CASE WHEN $3 <> 'pending' THEN now() END,
       now() + interval '1 hour', now() - interval '1 hour'
     FROM event e JOIN lane USING (number) RETURNING id`,
    [webhook.id, count, state],
  );
  return made.map(({ id }) => ({ id: Number(id) }));
}
