import type { Endpoint, EndpointKind } from '../../deliveries/core/endpoint.ts';
import { prepared } from '../../postgres/prepared.ts';
import type { Sql } from '../../postgres/sql.ts';

const addresses: Partial<Record<EndpointKind, string>> = {
  webhook: prepared('SELECT url FROM webhooks WHERE account_id = $1 AND id = $2 AND active'),
  bot: prepared('SELECT outgoing_url AS url FROM agent_bots WHERE (account_id = $1 OR account_id IS NULL) AND id = $2'),
};

/** The present URL of the endpoint for the account's deliveries; null when it is deleted or switched off. */
export async function findAddress(sql: Sql, accountId: number, { kind, id }: Endpoint): Promise<string | null> {
  const statement = addresses[kind];
  if (statement === undefined) return null;
  const [row] = await sql<{ url: string | null }>(statement, [accountId, id]);
  return row?.url ?? null;
}
