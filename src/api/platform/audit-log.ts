import { listAuditLog } from '../../domain/audit/list.ts';
import { doors } from '../../http/route/admission/doors.ts';
import { auditFilter, presentAuditEntry } from '../accounts/audit-log.ts';
import { presentStretch } from '../cursor.ts';

const list = 'audit log of the platform';

export const platformAuditLogRoutes = [
  doors.platform(
    ['GET', '/platform/api/v1/audit_log', 'List the audit log of the platform'],
    {
      query: 'requests/audit-log.query',
      reply: 'resources/audit-entry-list',
      role: 'platform',
      description:
        'Who changed accounts, people, plugins and the bots of the platform. Accounts have logs of their own.',
    },
    async ({ services, sql, query }) => {
      const found = await listAuditLog(sql, null, auditFilter(services, list, query));
      return presentStretch(found, presentAuditEntry, { ...services, list });
    },
  ),
];
