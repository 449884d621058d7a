import type { Sql } from '../../postgres/sql.ts';
import { logColumns, toLogged, type LoggedDelivery, type LogRow } from './log.ts';

/**
 * Why a webhook has no delivery of an event: it is switched off, not subscribed to the event or only to those of another inbox,
 * its filter leaves the event out, or it was changed or created after the event.
 */
type Unsent = 'inactive' | 'subscriptions' | 'inbox' | 'filter' | 'changed';

/** A webhook with its deliveries of an event, oldest first; without any, with the reason. */
export interface EventReceiver {
  id: number;
  /** Null for a webhook that is deleted. */
  url: string | null;
  name: string | null;
  deliveries: LoggedDelivery[];
  unsent: Unsent | null;
}

type ReceiverRow = { [Column in keyof LogRow]: LogRow[Column] | null } & {
  receiver_id: number;
  url: string | null;
  receiver_name: string | null;
  unsent: Unsent;
};

/** Deliveries of one event that are shown. */
const maxDeliveries = 500;

// Asks the present filter, and the decision that the commit stored.
const statement = `
  WITH happened AS (SELECT * FROM events WHERE account_id = $1 AND id = $2),
  made AS (
    SELECT ${logColumns} FROM happened e JOIN deliveries d ON d.account_id = $1 AND d.event_id = e.id AND d.endpoint_kind = 'webhook'
    ORDER BY d.id LIMIT ${maxDeliveries}
  ), receiver AS (
    SELECT id FROM webhooks WHERE account_id = $1 UNION SELECT endpoint_id FROM made
  )
  SELECT receiver.id AS receiver_id, w.url, w.name AS receiver_name, made.*, CASE
    WHEN w.id = ANY (e.left_out) THEN 'filter'
    WHEN NOT w.active THEN 'inactive'
    WHEN e.account_payload IS NULL OR e.name <> ALL (w.subscriptions) THEN 'subscriptions'
    WHEN w.inbox_id <> e.inbox_id OR w.inbox_id IS NOT NULL AND e.inbox_id IS NULL THEN 'inbox'
    WHEN NOT passes_filter(w.filter, e.facts::jsonb) THEN 'filter'
    ELSE 'changed' END AS unsent
  FROM happened e CROSS JOIN receiver LEFT JOIN webhooks w ON w.account_id = $1 AND w.id = receiver.id
  LEFT JOIN made ON made.endpoint_id = receiver.id
  ORDER BY receiver.id, made.id`;

/** All webhooks of the account, and those that got the event and are deleted; none for an event that is not there. */
export async function findReceivers(sql: Sql, accountId: number, eventId: number): Promise<EventReceiver[]> {
  const rows = await sql<ReceiverRow>(statement, [accountId, eventId]);
  return [...Map.groupBy(rows, ({ receiver_id: id }) => id)].map(([id, found]) => {
    const deliveries = found.filter((row): row is ReceiverRow & LogRow => row.id !== null).map(toLogged);
    const { url = null, receiver_name: name = null, unsent = null } = found[0] ?? {};
    return { id, url, name, deliveries, unsent: deliveries.length > 0 ? null : unsent };
  });
}

/** Whether the account has the event. */
export async function knowsEvent(sql: Sql, accountId: number, id: number): Promise<boolean> {
  return (await sql('SELECT FROM events WHERE account_id = $1 AND id = $2', [accountId, id])).length > 0;
}
