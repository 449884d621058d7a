import { prepared } from '../../postgres/prepared.ts';
import type { Sql } from '../../postgres/sql.ts';
import type { Endpoint } from '../core/endpoint.ts';
import { anySide } from './side-lanes.ts';

const batch = 1000;

// Skip locked lanes: whoever changes them computes their due time anew. Nothing waits here, so that the order does not
// matter, and the statement need not sort all waiting lanes.
const wakeStatement = prepared(`
  WITH waiting AS (
    SELECT id FROM lanes WHERE endpoint_kind = $1 AND ${anySide} AND endpoint_id = $2 AND due_at > now() AND lease_token IS NULL
      AND ($3::bigint IS NULL OR account_id = $3)
    LIMIT ${batch} FOR UPDATE SKIP LOCKED
  ), moved AS (
    UPDATE deliveries d SET next_attempt_at = now() FROM waiting w
    WHERE d.lane_id = w.id AND d.state = 'pending' AND d.next_attempt_at > now()
  )
  UPDATE lanes l SET due_at = now() FROM waiting w WHERE l.id = w.id RETURNING l.id`);

/**
 * Makes a batch of the deliveries that wait for the endpoint's next attempt due, in one account or in all; returns whether
 * there may be more.
 */
export async function wakeLanes(
  sql: Sql,
  { kind, id, accountId }: Endpoint & { accountId?: number },
): Promise<boolean> {
  const woken = await sql(wakeStatement, [kind, id, accountId ?? null]);
  return woken.length === batch;
}
