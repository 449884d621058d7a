import { prepared } from '../../postgres/prepared.ts';
import { sql, type Executor } from '../../postgres/sql.ts';
import type { EndpointKind } from '../core/endpoint.ts';

// A probe is its process's for the length of a lease. A circuit that opened since it was looked at lets nothing through.
const takeStatements = { webhook: take('webhooks'), bot: take('agent_bots') };
const giveBackStatements = { webhook: giveBack('webhooks'), bot: giveBack('agent_bots') };

function take(table: string): string {
  return prepared(`UPDATE ${table} SET circuit_probe_at = now() + make_interval(secs => $2)
    WHERE id = ANY (ARRAY(${unlocked(table, 'circuit_probe_at <= now()')})) RETURNING id`);
}

function giveBack(table: string): string {
  return prepared(`UPDATE ${table} SET circuit_probe_at = now()
    WHERE id = ANY (ARRAY(${unlocked(table, 'circuit_probe_at > now()')}))`);
}

// An endpoint's row may be locked for long, by a request that changes it: nobody else's deliveries wait for that. NO KEY:
// FOR UPDATE would make every insert wait that refers to the endpoint.
function unlocked(table: string, condition: string): string {
  return `SELECT id FROM ${table} WHERE id = ANY ($1) AND ${condition} ORDER BY id FOR NO KEY UPDATE SKIP LOCKED`;
}

/**
 * Takes the right to a probe of each endpoint whose next one is due; answers those that nobody
 * else has taken or locked.
 */
export async function takeProbes(
  executor: Executor,
  { kind, endpointIds, seconds }: { kind: EndpointKind; endpointIds: readonly number[]; seconds: number },
): Promise<Set<number>> {
  const rows = await sql<{ id: number }>(executor, takeStatements[kind], [endpointIds, seconds]);
  return new Set(rows.map(({ id }) => id));
}

/** Lets others make probes that were taken, but for which no delivery was found. */
export async function giveBackProbes(executor: Executor, kind: EndpointKind, ids: readonly number[]): Promise<void> {
  await sql(executor, giveBackStatements[kind], [ids]);
}
