import { prepared } from '../../postgres/prepared.ts';
import { sql, type Executor } from '../../postgres/sql.ts';
import { botPatienceSeconds } from '../core/retry.ts';
import type { DueLanes } from '../core/endpoint.ts';
import type { Share } from '../core/slots.ts';
import { isNotHeldBack } from './hold.ts';
import { laneOrder } from './lock-order.ts';

/** A lane's lease. */
export interface Lease {
  laneId: number;
  token: string;
}

/** A lane that has just been leased, and its endpoint. */
export interface LeasedLane {
  id: number;
  endpointId: number;
  accountId: number;
}

/** How many lanes to lease of each endpoint; those due longest come first. */
export interface LeaseBounds extends DueLanes {
  shares: readonly Share[];
  leaseSeconds: number;
}

const leaseStatements = { webhook: lease('webhooks'), bot: lease('agent_bots') };

/** Leases due lanes under `token`. */
export async function leaseLanes(executor: Executor, bounds: LeaseBounds, token: string): Promise<LeasedLane[]> {
  const { kind, isSide, shares, leaseSeconds } = bounds;
  const rows = await sql<{ id: number; endpoint_id: number; account_id: number }>(executor, leaseStatements[kind], [
    kind,
    shares.map(({ id }) => id),
    shares.map(({ accountId }) => accountId),
    shares.map(({ lanes }) => lanes),
    shares.map(({ circuit }) => circuit),
    shares.map(({ circuit }) => (circuit === 'open' ? botPatienceSeconds : 0)),
    token,
    leaseSeconds,
    isSide,
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

/** Locks the lanes whose leases this process still holds, waiting for locked rows; returns their ids. */
export function lockLeased(executor: Executor, leases: readonly Lease[]): Promise<Set<number>> {
  return ask(executor, lockStatement, leases);
}

/** Like lockLeased, without waiting: `skipped` are leases still held whose rows are locked by others. */
async function lockFree<Held extends Lease>(
  executor: Executor,
  leases: readonly Held[],
): Promise<{ locked: Set<number>; skipped: Held[] }> {
  const locked = await ask(executor, lockFreeStatement, leases);
  const others = leases.filter(({ laneId }) => !locked.has(laneId));
  const ours = others.length > 0 ? await ask(executor, leasedStatement, others) : new Set();
  return { locked, skipped: others.filter(({ laneId }) => ours.has(laneId)) };
}

// Due when its head is, but no sooner than $3 seconds; deliveries that are held back do not count.
const releaseStatement = prepared(`
  UPDATE lanes l SET lease_token = NULL, due_at = (
    SELECT min(greatest(d.next_attempt_at, now() + make_interval(secs => $3))) FROM deliveries d
    WHERE d.lane_id = l.id AND d.state = 'pending' AND ${isNotHeldBack('$2')})
  WHERE l.id = ANY ($1)`);

/** Ends the leases of locked lanes: each is due when its head is, but no sooner than `notBeforeSeconds`. */
async function releaseLocked(
  executor: Executor,
  locked: ReadonlySet<number>,
  { holdAttempts, notBeforeSeconds }: { holdAttempts: number; notBeforeSeconds: number },
): Promise<void> {
  await sql(executor, releaseStatement, [[...locked], holdAttempts, notBeforeSeconds]);
}

/** The pause after a locked head: without it, claims would repeat at once for as long as it is locked. */
const lockedHeadSeconds = 0.25;

/**
 * Gives back lanes with nothing to deliver, or with a locked head. Returns those whose rows are locked, unchanged. Runs in
 * the caller's transaction.
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
 * Makes leases expire `seconds` from now; skips leases that are lost. Returns those whose rows are locked, unchanged. Runs
 * in the caller's transaction.
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

// The lease doubles as the due time, so that a lane whose process died becomes due by itself. Its next lease lasts up to
// twice as long, at random: if one of several such deliveries crashes the process again, the others become due at other
// times. The array keeps the planner from joining the candidates by a scan of all lanes.
function lease(table: string): string {
  return prepared(`
    WITH candidate AS (
      SELECT due.id FROM unnest($2::bigint[], $3::bigint[], $4::int[], $5::text[], $6::int[])
        AS share (endpoint_id, account_id, wanted, circuit, due_for)
      CROSS JOIN LATERAL (
        SELECT l.id FROM lanes l WHERE l.endpoint_kind = $1 AND l.is_side = $9 AND l.endpoint_id = share.endpoint_id
          AND l.account_id = share.account_id AND l.due_at <= now() - make_interval(secs => share.due_for)
        ORDER BY l.due_at LIMIT share.wanted FOR UPDATE SKIP LOCKED) due
      WHERE share.circuit <> 'closed'
        OR NOT EXISTS (SELECT FROM ${table} e WHERE e.id = share.endpoint_id AND e.circuit_probe_at IS NOT NULL)
    )
    UPDATE lanes SET lease_token = $7, due_at = now() + make_interval(
      secs => $8 * CASE WHEN lease_token IS NULL THEN 1 ELSE 1 + random() END)
    WHERE id = ANY (ARRAY(SELECT id FROM candidate)) RETURNING id, endpoint_id, account_id`);
}
