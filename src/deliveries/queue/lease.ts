import { prepared } from '../../postgres/prepared.ts';
import { sql, type Executor } from '../../postgres/sql.ts';
import type { EndpointKind } from './claim.ts';
import { botPatienceSeconds } from './due-endpoints.ts';
import type { Share } from '../core/slots.ts';

export interface LeasedLane {
  id: number;
  endpointId: number;
  accountId: number;
}

/** What a lease may take: of each share's lanes so many, the longest due first. */
export interface LeaseBounds {
  kind: EndpointKind;
  shares: readonly Share[];
  leaseSeconds: number;
}

// A probe is its process's for the length of a lease. A circuit that opened since it was looked at lets nothing through.
const probeStatements = {
  webhook: takeProbe('webhooks'),
  bot: takeProbe('agent_bots'),
};
const giveBack = (table: string) =>
  prepared(`UPDATE ${table} SET circuit_probe_at = now()
    WHERE id = ANY (ARRAY(${unlocked(table, 'circuit_probe_at > now()')}))`);
const giveBackStatements = { webhook: giveBack('webhooks'), bot: giveBack('agent_bots') };
const leaseStatements = {
  webhook: lease('webhooks'),
  bot: lease('agent_bots'),
};

function takeProbe(table: string): string {
  return prepared(`UPDATE ${table} SET circuit_probe_at = now() + make_interval(secs => $2)
    WHERE id = ANY (ARRAY(${unlocked(table, 'circuit_probe_at <= now()')})) RETURNING id`);
}

// An endpoint's row may be locked for long, by a request that changes it: nobody else's deliveries wait for that. NO KEY:
// FOR UPDATE would make every insert wait that refers to the endpoint.
function unlocked(table: string, condition: string): string {
  return `SELECT id FROM ${table} WHERE id = ANY ($1) AND ${condition} ORDER BY id FOR NO KEY UPDATE SKIP LOCKED`;
}

// The lease doubles as the due time, so a lane whose process died becomes due by itself. A lane left behind is leased for
// up to twice as long, at random: should one of these deliveries end the process again, the others come back apart from
// it. Joined instead of gathered in an array, the candidates would be looked up by reading all lanes.
function lease(table: string): string {
  return prepared(`
    WITH candidate AS (
      SELECT due.id FROM unnest($2::bigint[], $3::bigint[], $4::int[], $5::text[], $6::int[])
        AS share (endpoint_id, account_id, wanted, circuit, due_for)
      CROSS JOIN LATERAL (
        SELECT l.id FROM lanes l WHERE l.endpoint_kind = $1 AND l.endpoint_id = share.endpoint_id
          AND l.account_id = share.account_id AND l.due_at <= now() - make_interval(secs => share.due_for)
        ORDER BY l.due_at LIMIT share.wanted FOR UPDATE SKIP LOCKED) due
      WHERE share.circuit <> 'closed'
        OR NOT EXISTS (SELECT FROM ${table} e WHERE e.id = share.endpoint_id AND e.circuit_probe_at IS NOT NULL)
    )
    UPDATE lanes SET lease_token = $7, due_at = now() + make_interval(
      secs => $8 * CASE WHEN lease_token IS NULL THEN 1 ELSE 1 + random() END)
    WHERE id = ANY (ARRAY(SELECT id FROM candidate)) RETURNING id, endpoint_id, account_id`);
}

/**
 * Takes the right to a probe of each endpoint whose next one is due; answers those that nobody
 * else has taken or locked.
 */
export async function takeProbes(
  executor: Executor,
  { kind, endpointIds, seconds }: { kind: EndpointKind; endpointIds: readonly number[]; seconds: number },
): Promise<Set<number>> {
  const rows = await sql<{ id: number }>(executor, probeStatements[kind], [endpointIds, seconds]);
  return new Set(rows.map(({ id }) => id));
}

/** Lets others make probes that were taken, but for which no delivery was found. */
export async function giveBackProbes(executor: Executor, kind: EndpointKind, ids: readonly number[]): Promise<void> {
  await sql(executor, giveBackStatements[kind], [ids]);
}

/** Leases due lanes under `token`. */
export async function leaseLanes(executor: Executor, bounds: LeaseBounds, token: string): Promise<LeasedLane[]> {
  const { kind, shares, leaseSeconds } = bounds;
  const rows = await sql<{ id: number; endpoint_id: number; account_id: number }>(executor, leaseStatements[kind], [
    kind,
    shares.map(({ id }) => id),
    shares.map(({ accountId }) => accountId),
    shares.map(({ lanes }) => lanes),
    shares.map(({ circuit }) => circuit),
    shares.map(({ circuit }) => (circuit === 'open' ? botPatienceSeconds : 0)),
    token,
    leaseSeconds,
  ]);
  return rows.map((row) => ({ id: row.id, endpointId: row.endpoint_id, accountId: row.account_id }));
}
