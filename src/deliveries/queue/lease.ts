import { prepared } from '../../postgres/prepared.ts';
import { sql, type Executor } from '../../postgres/sql.ts';
import { botPatienceSeconds } from '../core/retry.ts';
import type { EndpointKind } from '../core/endpoint.ts';
import type { Share } from '../core/slots.ts';
import { isNotHeldBack } from './hold.ts';
import { laneOrder } from './lock-order.ts';

/** A lane as it is leased under a token. */
export interface Lease {
  laneId: number;
  token: string;
}

/** A lane that has just been leased, and the endpoint it leads to. */
export interface LeasedLane {
  id: number;
  endpointId: number;
  accountId: number;
}

/** How many lanes to lease of each endpoint, those that are due longest first. */
export interface LeaseBounds {
  kind: EndpointKind;
  shares: readonly Share[];
  leaseSeconds: number;
}

const leaseStatements = { webhook: lease('webhooks'), bot: lease('agent_bots') };

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

const leased = `FROM lanes l JOIN unnest($1::bigint[], $2::uuid[]) AS leased (id, token)
    ON l.id = leased.id AND l.lease_token = leased.token`;
const lockStatement = prepared(`SELECT l.id ${leased} ORDER BY ${laneOrder('l')} FOR UPDATE OF l`);
const lockFreeStatement = prepared(`SELECT l.id ${leased} ORDER BY ${laneOrder('l')} FOR UPDATE OF l SKIP LOCKED`);
const leasedStatement = prepared(`SELECT l.id ${leased}`);

async function ask(executor: Executor, statement: string, lanes: readonly Lease[]): Promise<Set<number>> {
  const rows = await sql<{ id: number }>(executor, statement, [
    lanes.map(({ laneId }) => laneId),
    lanes.map(({ token }) => token),
  ]);
  return new Set(rows.map(({ id }) => id));
}

/** Locks the lanes whose leases are still ours, waiting for those that somebody else has locked; answers their ids. */
export function lockLeased(executor: Executor, leases: readonly Lease[]): Promise<Set<number>> {
  return ask(executor, lockStatement, leases);
}

/** Like lockLeased, without waiting: `skipped` are still ours, but locked by somebody else. */
export async function lockFree<Held extends Lease>(
  executor: Executor,
  leases: readonly Held[],
): Promise<{ locked: Set<number>; skipped: Held[] }> {
  const locked = await ask(executor, lockFreeStatement, leases);
  const others = leases.filter(({ laneId }) => !locked.has(laneId));
  const ours = others.length > 0 ? await ask(executor, leasedStatement, others) : new Set();
  return { locked, skipped: others.filter(({ laneId }) => ours.has(laneId)) };
}

// Due again when its head is, but not for so many seconds: a delivery that still holds the lane back hides all behind it.
const releaseStatement = prepared(`
  UPDATE lanes l SET lease_token = NULL, due_at = (
    SELECT min(greatest(d.next_attempt_at, now() + make_interval(secs => $3))) FROM deliveries d
    WHERE d.lane_id = l.id AND d.state = 'pending' AND ${isNotHeldBack('$2')})
  WHERE l.id = ANY ($1)`);

/** Gives locked lanes back: due again when their heads are, but not before so many seconds. */
export async function releaseLocked(
  executor: Executor,
  locked: ReadonlySet<number>,
  { holdAttempts, notBeforeSeconds }: { holdAttempts: number; notBeforeSeconds: number },
): Promise<void> {
  await sql(executor, releaseStatement, [[...locked], holdAttempts, notBeforeSeconds]);
}

/** A lane whose head was locked is not claimed again at once, or claims would do nothing else while it is. */
const lockedHeadSeconds = 0.25;

/**
 * Gives lanes back that had nothing to deliver, or whose delivery somebody else has locked. Answers those whose rows
 * somebody else has locked: they are as before. Runs in the caller's transaction.
 */
export async function releaseLanes<Held extends Lease>(
  executor: Executor,
  lanes: readonly Held[],
  holdAttempts: number,
): Promise<Held[]> {
  const { locked, skipped } = await lockFree(executor, lanes);
  if (locked.size > 0) await releaseLocked(executor, locked, { holdAttempts, notBeforeSeconds: lockedHeadSeconds });
  return skipped;
}

const extendStatement = prepared('UPDATE lanes SET due_at = now() + make_interval(secs => $2) WHERE id = ANY ($1)');

/**
 * Lets leases last for so many seconds from now, 0 to end them; one that somebody else has meanwhile is left alone.
 * Answers those whose rows somebody else has locked: they are as before. Runs in the caller's transaction.
 */
export async function extendLeases<Held extends Lease>(
  executor: Executor,
  leases: readonly Held[],
  seconds: number,
): Promise<Held[]> {
  const { locked, skipped } = await lockFree(executor, leases);
  if (locked.size > 0) await sql(executor, extendStatement, [[...locked], seconds]);
  return skipped;
}
