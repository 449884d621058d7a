import type { Sql } from '../../postgres/sql.ts';

/** How much waits to be delivered, over all accounts. */
export interface BacklogFigures {
  pending: number;
  /** Age of the oldest delivery that has not ended; 0 without one. */
  oldestSeconds: number;
  /** How long the lane that is due longest has been due; 0 when none is. */
  lagSeconds: number;
}

/** Reads how much waits to be delivered, from the indexes of what waits. */
export async function readBacklogFigures(sql: Sql): Promise<BacklogFigures> {
  const [row] = await sql<{ pending: number; oldest: number; lag: number }>(
    `SELECT count(*) AS pending, coalesce(extract(epoch FROM now() - min(d.created_at)), 0)::float8 AS oldest,
       (SELECT coalesce(extract(epoch FROM now() - min(due_at)), 0)::float8 FROM lanes
        WHERE due_at IS NOT NULL AND due_at <= now()) AS lag
     FROM deliveries d WHERE d.state = 'pending'`,
  );
  return { pending: row?.pending ?? 0, oldestSeconds: row?.oldest ?? 0, lagSeconds: row?.lag ?? 0 };
}
