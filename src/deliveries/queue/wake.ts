import { prepared } from '../../postgres/prepared.ts';
import { sql, type Executor } from '../../postgres/sql.ts';
import type { Endpoint } from '../core/endpoint.ts';

const batch = 1000;

// Lanes that others are changing are passed by: they look at what is due themselves. Nothing waits for a lane here, so
// their order does not matter, and a batch does not sort all that wait.
const wakeStatement = prepared(`
  WITH waiting AS (
    SELECT id FROM lanes WHERE endpoint_kind = $1 AND endpoint_id = $2 AND due_at > now() AND lease_token IS NULL
      AND ($3::bigint IS NULL OR account_id = $3)
    LIMIT ${batch} FOR UPDATE SKIP LOCKED
  ), moved AS (
    UPDATE deliveries d SET next_attempt_at = now() FROM waiting w
    WHERE d.lane_id = w.id AND d.state = 'pending' AND d.next_attempt_at > now()
  )
  UPDATE lanes l SET due_at = now() FROM waiting w WHERE l.id = w.id RETURNING l.id`);

/**
 * Makes due what waits for the endpoint's next attempt, one batch of it, in one account or in all; answers whether there
 * may be more.
 */
export async function wakeLanes(
  executor: Executor,
  { kind, id, accountId }: Endpoint & { accountId?: number },
): Promise<boolean> {
  const woken = await sql(executor, wakeStatement, [kind, id, accountId ?? null]);
  return woken.length === batch;
}
