import type { Sql } from '../../postgres/sql.ts';

/** The webhook whose deliveries were given up. */
interface Of {
  accountId: number;
  webhookId: number;
}

/** A delivery that was given up, and the event that did not arrive; null when it is gone. */
export interface Exhausted {
  id: number;
  event: string | null;
  error: string | null;
}

const takeStatement = `
  WITH taken AS (
    DELETE FROM exhausted_deliveries q WHERE q.account_id = $1 AND q.webhook_id = $2 AND q.delivery_id IN (
      SELECT delivery_id FROM exhausted_deliveries WHERE account_id = $1 AND webhook_id = $2 ORDER BY delivery_id LIMIT $3)
    RETURNING q.delivery_id
  )
  SELECT t.delivery_id AS id, e.name AS event, d.last_error AS error
  FROM taken t LEFT JOIN deliveries d ON d.account_id = $1 AND d.id = t.delivery_id
  LEFT JOIN events e ON e.account_id = $1 AND e.id = d.event_id ORDER BY t.delivery_id`;

/** Takes the oldest of the webhook's deliveries that were given up and not reported yet. */
export function takeExhausted(sql: Sql, { accountId, webhookId }: Of, limit: number): Promise<Exhausted[]> {
  return sql<Exhausted>(takeStatement, [accountId, webhookId, limit]);
}

/** Has a delivery that was taken be taken again later. */
export async function keepExhausted(sql: Sql, { accountId, webhookId }: Of, id: number): Promise<void> {
  const text = 'INSERT INTO exhausted_deliveries (account_id, webhook_id, delivery_id) VALUES ($1, $2, $3)';
  await sql(text, [accountId, webhookId, id]);
}

/** Forgets all of them; returns how many. */
export async function dropExhausted(sql: Sql, { accountId, webhookId }: Of): Promise<number> {
  const text = 'DELETE FROM exhausted_deliveries WHERE account_id = $1 AND webhook_id = $2 RETURNING delivery_id';
  return (await sql(text, [accountId, webhookId])).length;
}
