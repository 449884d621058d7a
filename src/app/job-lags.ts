import type { Sql } from '../postgres/sql.ts';

/** For each kind of alarm, the seconds that the one that is due longest waits to ring; 0 where none is due. */
export async function readJobLags(sql: Sql): Promise<Map<string, number>> {
  const rows = await sql<{ name: string; lag: number }>(
    `SELECT name, greatest(0, extract(epoch FROM now() - min(next_run_at)))::float8 AS lag
     FROM agenda_jobs WHERE NOT disabled AND next_run_at IS NOT NULL GROUP BY name`,
  );
  return new Map(rows.map(({ name, lag }) => [name, lag]));
}
