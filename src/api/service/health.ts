import { notReady } from '../../http/server/refuse-unready.ts';
import { doors } from '../../http/route/doors.ts';
import { isMigrated } from '../../postgres/migrations/index.ts';

/** Liveness; and readiness: the start has completed, no shutdown has begun, and the database answers. */
export const healthRoutes = [
  doors.open(
    ['GET', '/healthz', 'Tell whether the process lives'],
    { reply: 'resources/health', role: 'anyone', needsNoDatabase: true },
    async () => ({ status: 'ok' }),
  ),
  doors.open(
    ['GET', '/readyz', 'Tell whether the service can serve'],
    { reply: 'resources/health', role: 'anyone' },
    async ({ services, em }) => {
      if (!services.started() || !services.accepting() || !(await isMigrated(em))) throw notReady();
      return { status: 'ready' };
    },
  ),
];
