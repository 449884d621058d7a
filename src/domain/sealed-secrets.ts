import { sql, type Executor } from '../lib/sql.ts';

/** Any one of the secrets that the database keeps sealed, or null while it keeps none. */
export async function anySealedSecret(executor: Executor): Promise<string | null> {
  const [row] = await sql<{ secret: string }>(
    executor,
    `(SELECT secret FROM webhooks LIMIT 1) UNION ALL (SELECT secret FROM agent_bots WHERE secret IS NOT NULL LIMIT 1)
     LIMIT 1`,
  );
  return row?.secret ?? null;
}
