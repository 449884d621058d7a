import type { Database } from '../database.ts';
import { sql } from '../lib/sql.ts';

const batch = 1000;

/**
 * Deletes events older than `days`, with their deliveries, attempts and bot runs; those with a delivery still to make
 * stay. Answers how many.
 */
export async function deleteOldEvents(database: Database, days: number): Promise<number> {
  let deleted = 0;
  for (;;) {
    const rows = await sql(
      database.em(),
      `DELETE FROM events WHERE id IN (
         SELECT e.id FROM events e WHERE e.created_at < now() - make_interval(days => $1) AND NOT EXISTS (
           SELECT FROM deliveries d WHERE d.account_id = e.account_id AND d.event_id = e.id AND d.state = 'pending')
         ORDER BY e.id LIMIT ${batch})
       RETURNING id`,
      [days],
    );
    deleted += rows.length;
    if (rows.length < batch) return deleted;
  }
}
