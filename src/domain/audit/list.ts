import { notFound } from '../../errors.ts';
import { moment, type Sql } from '../../postgres/sql.ts';
import type { Acting, Changes } from './acts.ts';

/** An entry of the audit log. */
export interface AuditEntry {
  id: number;
  at: Date;
  actor: Acting;
  action: string;
  target: { type: string; id: string } | null;
  changes: Changes;
  address: string | null;
  requestId: string | null;
}

/** Selects entries; what is absent selects nothing. */
export interface AuditFilter {
  action: string | undefined;
  actorId: number | undefined;
  target: { type: string; id: string | null } | null;
  since: Date | null;
  until: Date | null;
  /** Entries older than this one. */
  after: Place | null;
}

/** An entry's place in the list: lists that go on behind a record name its moment, too. */
interface Place {
  createdAt: string;
  id: number;
}

interface Row {
  id: number;
  at: string;
  actor_type: Acting['type'];
  actor_id: number | null;
  actor_name: string | null;
  action: string;
  target_type: string | null;
  target_id: string | null;
  changes: Changes;
  address: string | null;
  request_id: string | null;
}

const perStretch = 50;

/**
 * Entries of an account, or of the platform (`accountId` null), newest first; `next` is the last one's place where there are more.
 * Errors: 404 for an actor who never was in the account.
 */
export async function listAuditLog(
  sql: Sql,
  accountId: number | null,
  { action, actorId, target, since, until, after }: AuditFilter,
): Promise<{ rows: AuditEntry[]; next: Place | null }> {
  if (accountId !== null && actorId !== undefined) await requireActor(sql, accountId, actorId);
  // Two statements, since `IS NOT DISTINCT FROM` finds nothing by an index.
  const ofAccount = accountId === null ? 'account_id IS NULL AND $1::bigint IS NULL' : 'account_id = $1';
  const found = await sql<Row>(
    `SELECT id, at, actor_type, actor_id, actor_name, action, target_type, target_id, changes, address, request_id
     FROM audit_log WHERE ${ofAccount} AND ($2::text IS NULL OR action = $2) AND ($3::bigint IS NULL OR actor_id = $3)
       AND ($4::text IS NULL OR target_type = $4) AND ($5::text IS NULL OR target_id = $5)
       AND ($6::timestamptz IS NULL OR at >= $6) AND ($7::timestamptz IS NULL OR at < $7) AND ($8::bigint IS NULL OR id < $8)
     ORDER BY id DESC LIMIT ${perStretch + 1}`,
    [accountId, action, actorId, target?.type, target?.id, since, until, after?.id].map((value) => value ?? null),
  );
  const rows = found.slice(0, perStretch);
  const last = found.length > perStretch ? rows.at(-1) : undefined;
  return { rows: rows.map(toEntry), next: last ? { createdAt: last.at, id: last.id } : null };
}

async function requireActor(sql: Sql, accountId: number, id: number): Promise<void> {
  const [known] = await sql('SELECT FROM seats WHERE account_id = $1 AND id = $2', [accountId, id]);
  if (!known) throw notFound('Agent');
}

function toEntry(row: Row): AuditEntry {
  return {
    id: row.id,
    at: moment(row.at),
    actor: { type: row.actor_type, id: row.actor_id, name: row.actor_name },
    action: row.action,
    target: row.target_type === null ? null : { type: row.target_type, id: row.target_id ?? '' },
    changes: row.changes,
    address: row.address,
    requestId: row.request_id,
  };
}
