import { eventState, lastDelivery } from '../../deliveries/log/event-state.ts';
import { ApiError, notFound } from '../../errors.ts';
import { moment, type Sql } from '../../postgres/sql.ts';
import type { Page } from '../small-rows.ts';

/** A request as lists show it. */
export interface HookRequestRow {
  id: number;
  receivedAt: Date;
  outcome: 'accepted' | 'refused' | 'duplicate';
  reason: string | null;
  bytes: number;
  key: string | null;
  /** Null for a request that was not accepted. */
  state: 'waiting' | 'done' | 'failed' | null;
  runId: number | null;
}

/** A request with its content; a refused one and a duplicate have none. */
export interface WholeHookRequest extends HookRequestRow {
  headers: readonly (readonly [name: string, value: string])[];
  body: Buffer | null;
}

interface Row extends Omit<HookRequestRow, 'receivedAt' | 'runId'> {
  received_at: string;
  run_id: number | null;
}

const perPage = 25;

const ofEvent = { accountId: 'r.account_id', eventId: 'r.event_id' };
/** Columns of a request `r`: its state is that of the delivery of its event that was requested last. */
const columns = `r.id, r.received_at, r.outcome, r.reason, r.bytes, r.key, CASE WHEN r.outcome = 'accepted' THEN ${eventState(ofEvent)} END AS state,
  (SELECT b.id FROM bot_runs b WHERE b.account_id = r.account_id AND b.event_id = r.event_id ORDER BY b.id DESC LIMIT 1) AS run_id`;
const ofHook = 'FROM hook_requests r WHERE r.account_id = $1 AND r.hook_id = $2';

/** Returns one page of the requests of a hook, newest first. */
export async function listHookRequests(
  sql: Sql,
  { accountId, hookId }: { accountId: number; hookId: number },
  page: number,
): Promise<Page<HookRequestRow>> {
  const [counted] = await sql<{ count: number }>(`SELECT count(*) AS count ${ofHook}`, [accountId, hookId]);
  const rows = await sql<Row>(`SELECT ${columns} ${ofHook} ORDER BY r.id DESC LIMIT $3 OFFSET $4`, [
    accountId,
    hookId,
    perPage,
    (page - 1) * perPage,
  ]);
  return { rows: rows.map(toRequest), count: counted?.count ?? 0, page, perPage };
}

/** Returns a request of a hook. Errors: 404. */
export async function readHookRequest(
  sql: Sql,
  { accountId, hookId, id }: { accountId: number; hookId: number; id: number },
): Promise<WholeHookRequest> {
  const [row] = await sql<Row & { headers: WholeHookRequest['headers'] | null; body: Buffer | null }>(
    `SELECT ${columns}, r.headers, r.body ${ofHook} AND r.id = $3`,
    [accountId, hookId, id],
  );
  if (!row) throw notFound('Request');
  return { ...toRequest(row), headers: row.headers ?? [], body: row.body };
}

function toRequest({
  received_at: receivedAt,
  run_id: runId,
  id,
  outcome,
  reason,
  bytes,
  key,
  state,
}: Row): HookRequestRow {
  return { id, receivedAt: moment(receivedAt), outcome, reason, bytes, key, state, runId };
}

/**
 * Returns the delivery by which a request is handled, to be made again. Errors: 404; 409 for a request that was not accepted, or
 * is erased, since nothing of it is kept.
 */
export async function readHandling(
  sql: Sql,
  { accountId, hookId, id }: { accountId: number; hookId: number; id: number },
): Promise<number> {
  const [row] = await sql<{ is_kept: boolean; delivery_id: number | null }>(
    `SELECT r.erased_at IS NULL AND r.outcome = 'accepted' AS is_kept, ${lastDelivery(ofEvent)} AS delivery_id ${ofHook} AND r.id = $3`,
    [accountId, hookId, id],
  );
  if (!row) throw notFound('Request');
  if (row.is_kept && row.delivery_id !== null) return row.delivery_id;
  throw new ApiError(409, 'not_kept', 'Nothing of this request is kept: it cannot be handled again');
}
