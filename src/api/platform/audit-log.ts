import { doors } from '../../http/route/admission/doors.ts';
import { readAuditLog } from '../accounts/audit-log.ts';

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
    (call) => readAuditLog(call, null),
  ),
];
