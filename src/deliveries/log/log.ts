import { momentOrNull, moment, type Sql } from '../../postgres/sql.ts';
import type { Endpoint, EndpointKind } from '../core/endpoint.ts';
import type { CancelledBy } from '../core/refusal.ts';
import type { Trigger } from '../core/trigger.ts';
import {
  findOldestPending,
  lookingThrough,
  parametersOf,
  withEvent,
  type DeliveryState,
  type LogFilter,
  type Place,
} from './log-filter.ts';

/** A delivery in the log. */
export interface LoggedDelivery {
  id: number;
  endpoint: Endpoint;
  event: { id: number; name: string; conversationId: number | null };
  state: DeliveryState;
  trigger: Trigger;
  /** Attempts so far, those in progress and those with an unknown end included. */
  attempts: number;
  lastStatus: number | null;
  lastError: string | null;
  /** Null when no further attempt follows. */
  nextAttemptAt: Date | null;
  /** Null for all that are not cancelled, and for those of bots that may not speak. */
  cancelledBy: CancelledBy | null;
  createdAt: Date;
}

/** A stretch of the log, and where it goes on; null at its end. */
export interface LogStretch {
  rows: LoggedDelivery[];
  next: Place | null;
}

export interface LogRow {
  id: number;
  endpoint_kind: EndpointKind;
  endpoint_id: number;
  event_id: number;
  event: string;
  conversation_id: number | null;
  state: 'pending' | 'delivered' | 'exhausted' | 'cancelled';
  trigger: Trigger;
  attempt: number;
  failures: number;
  last_status: number | null;
  last_error: string | null;
  next_attempt_at: string;
  cancelled_by: CancelledBy | null;
  created_at: string;
}

type FoundRow = { [Column in keyof LogRow]: LogRow[Column] | null } & {
  horizon_at: string | null;
  horizon_id: number | null;
};

const pageSize = 25;
/** Deliveries of an endpoint that are looked through for a page, where no index knows which of them are wanted. */
const maxLookedThrough = 500;
/** The columns of LogRow, of a delivery `d` and its event `e`. */
export const logColumns = `d.id, d.endpoint_kind, d.endpoint_id, d.event_id, e.name AS event, e.conversation_id, d.state,
  d.trigger, d.attempt, d.failures, d.last_status, d.last_error, d.next_attempt_at, d.cancelled_by, d.created_at`;

/**
 * A page of the account's deliveries, newest first. Looks through a bounded number of deliveries, so that a page may have
 * fewer than 25, and even none, while the log goes on.
 */
export async function listDeliveries(sql: Sql, accountId: number, filter: LogFilter): Promise<LogStretch> {
  const oldest = await findOldestPending(sql, accountId, filter);
  if (oldest === null) return { rows: [], next: null };
  const found = await sql<FoundRow>(statementOf(filter), [accountId, oldest, ...parametersOf(filter)]);
  const rows = found.filter((row): row is FoundRow & LogRow => row.id !== null);
  const page = rows.slice(0, pageSize);
  return { rows: page.map(toLogged), next: nextOf(found, rows, page.at(-1)) };
}

const knownConversation = `
  SELECT FROM conversations WHERE account_id = $1 AND id = $2
  UNION ALL SELECT FROM lanes WHERE account_id = $1 AND subject_kind = 'conversation' AND subject_id = $2 LIMIT 1`;

/** Whether the account has the conversation, or had it and still has deliveries of it. */
export async function knowsConversation(sql: Sql, accountId: number, id: number): Promise<boolean> {
  return (await sql(knownConversation, [accountId, id])).length > 0;
}

function nextOf(found: readonly FoundRow[], rows: readonly LogRow[], last: LogRow | undefined): Place | null {
  if (last && rows.length > pageSize) return { createdAt: last.created_at, id: last.id };
  const [first] = found;
  return first?.horizon_at && first.horizon_id ? { createdAt: first.horizon_at, id: first.horizon_id } : null;
}

export function toLogged(row: LogRow): LoggedDelivery {
  const isOpen = row.state === 'pending';
  return {
    id: row.id,
    endpoint: { kind: row.endpoint_kind, id: row.endpoint_id },
    event: { id: row.event_id, name: row.event, conversationId: row.conversation_id },
    state: isOpen && row.failures > 0 ? 'failing' : row.state,
    trigger: row.trigger,
    attempts: row.attempt,
    lastStatus: row.last_status,
    lastError: row.last_error,
    nextAttemptAt: isOpen ? momentOrNull(row.next_attempt_at) : null,
    cancelledBy: row.cancelled_by,
    createdAt: moment(row.created_at),
  };
}

function statementOf(filter: LogFilter): string {
  const { looked, limit, wanted } = lookingThrough(filter, (isFiltered) =>
    isFiltered ? maxLookedThrough : pageSize + 1,
  );
  return `
  WITH RECURSIVE ${looked},
  horizon AS MATERIALIZED (
    SELECT created_at, id FROM looked WHERE place = ${limit} ORDER BY created_at DESC, id DESC LIMIT 1
  ), found AS (
    SELECT ${logColumns} FROM looked d ${withEvent}
    WHERE ${wanted} AND (d.created_at, d.id) >= (
      coalesce((SELECT created_at FROM horizon), '-infinity'), coalesce((SELECT id FROM horizon), 0))
    ORDER BY d.created_at DESC, d.id DESC LIMIT ${pageSize + 1}
  )
  SELECT horizon.created_at AS horizon_at, horizon.id AS horizon_id, found.*
  FROM (SELECT) one LEFT JOIN horizon ON true LEFT JOIN found ON true ORDER BY found.created_at DESC, found.id DESC`;
}
