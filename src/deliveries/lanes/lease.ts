import { prepared } from '../../postgres/prepared.ts';
import type { Sql } from '../../postgres/sql.ts';
import { isNotHeldBack } from './hold.ts';
import { laneOrder } from './lock-order.ts';

/** A lane's lease. */
export interface Lease {
  laneId: number;
  token: string;
}

const leased = `FROM lanes l JOIN unnest($1::bigint[], $2::uuid[]) AS leased (id, token)
    ON l.id = leased.id AND l.lease_token = leased.token`;
const lockStatement = prepared(`SELECT l.id ${leased} ORDER BY ${laneOrder('l')} FOR UPDATE OF l`);
const lockFreeStatement = prepared(`SELECT l.id ${leased} ORDER BY ${laneOrder('l')} FOR UPDATE OF l SKIP LOCKED`);
const leasedStatement = prepared(`SELECT l.id ${leased}`);

/** Locks the lanes whose leases this process still holds, waiting for locked rows; returns their ids. */
export function lockLeased(sql: Sql, leases: readonly Lease[]): Promise<Set<number>> {
  return ask(sql, lockStatement, leases);
}

async function ask(sql: Sql, statement: string, lanes: readonly Lease[]): Promise<Set<number>> {
  const rows = await sql<{ id: number }>(statement, [
    lanes.map(({ laneId }) => laneId),
    lanes.map(({ token }) => token),
  ]);
  return new Set(rows.map(({ id }) => id));
}

/** Like lockLeased, without waiting: `skipped` are leases still held whose rows are locked by others. */
async function lockFree<Held extends Lease>(
  sql: Sql,
  leases: readonly Held[],
): Promise<{ locked: Set<number>; skipped: Held[] }> {
  const locked = await ask(sql, lockFreeStatement, leases);
  const others = leases.filter(({ laneId }) => !locked.has(laneId));
  const ours = others.length > 0 ? await ask(sql, leasedStatement, others) : new Set();
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
  sql: Sql,
  locked: ReadonlySet<number>,
  { holdAttempts, notBeforeSeconds }: { holdAttempts: number; notBeforeSeconds: number },
): Promise<void> {
  await sql(releaseStatement, [[...locked], holdAttempts, notBeforeSeconds]);
}

/** The pause after a locked head: without it, claims would repeat at once for as long as it is locked. */
const lockedHeadSeconds = 0.25;

/**
 * Gives back lanes with nothing to deliver, or with a locked head. Returns those whose rows are locked, unchanged. Runs in
 * the caller's transaction.
 */
export async function releaseLanes<Held extends Lease>(
  sql: Sql,
  lanes: readonly Held[],
  holdAttempts: number,
): Promise<Held[]> {
  const { locked, skipped } = await lockFree(sql, lanes);
  if (locked.size > 0) await releaseLocked(sql, locked, { holdAttempts, notBeforeSeconds: lockedHeadSeconds });
  return skipped;
}

const extendStatement = prepared('UPDATE lanes SET due_at = now() + make_interval(secs => $2) WHERE id = ANY ($1)');

/**
 * Makes leases expire `seconds` from now; skips leases that are lost. Returns those whose rows are locked, unchanged. Runs
 * in the caller's transaction.
 */
export async function extendLeases<Held extends Lease>(
  sql: Sql,
  leases: readonly Held[],
  seconds: number,
): Promise<Held[]> {
  const { locked, skipped } = await lockFree(sql, leases);
  if (locked.size > 0) await sql(extendStatement, [[...locked], seconds]);
  return skipped;
}
