import { listAuditLog, type AuditEntry, type AuditFilter } from '../../domain/audit/list.ts';
import { doors } from '../../http/route/admission/doors.ts';
import type { Services } from '../../http/route/call.ts';
import type { Sql } from '../../postgres/sql.ts';
import { optionalDate, unixSeconds } from '../../lib/unix-time.ts';
import type { Shape } from '../../schemas.ts';
import { presentStretch, readCursor } from '../cursor.ts';

type Asked = Shape<'requests/audit-log.query'>;

const numeric = /^\d+$/;

/** Returns a stretch of the audit log of an account, or of the platform for null, as the query selects it. */
export async function readAuditLog(
  { services, sql, query }: { services: Services; sql: Sql; query: Asked },
  accountId: number | null,
) {
  const list = accountId === null ? 'audit log of the platform' : `audit log of account ${accountId}`;
  const found = await listAuditLog(sql, accountId, auditFilter(services, list, query));
  return presentStretch(found, presentAuditEntry, { ...services, list });
}

// `list` names the log, whose cursors no other takes.
function auditFilter({ secretBox }: Services, list: string, asked: Asked): AuditFilter {
  const { action, actor_id: actorId, target, since, until, cursor } = asked;
  const [type, id = null] = target?.split(':') ?? [];
  return {
    action,
    actorId,
    target: type === undefined ? null : { type, id },
    since: optionalDate(since),
    until: optionalDate(until),
    after: readCursor(secretBox, list, cursor),
  };
}

function presentAuditEntry(entry: AuditEntry): Shape<'resources/audit-entry'> {
  const { id, at, actor, action, target, changes, address, requestId } = entry;
  return {
    id,
    at: unixSeconds(at),
    actor,
    action,
    target: target && { type: target.type, id: numeric.test(target.id) ? Number(target.id) : target.id },
    changes: Object.fromEntries(Object.entries(changes).map(([field, [before, after]]) => [field, [before, after]])),
    address,
    request_id: requestId,
  };
}

export const auditLogRoutes = [
  doors.account(
    ['GET', '/api/v1/accounts/:account_id/audit_log', 'List the audit log'],
    {
      query: 'requests/audit-log.query',
      reply: 'resources/audit-entry-list',
      role: 'administrator',
      description:
        'Who changed what only administrators change, and who signed in. Each entry is written with the act itself; none is changed afterwards. They are kept for REPORT_RETENTION_DAYS.',
    },
    (call) => readAuditLog(call, call.account.id),
  ),
];
