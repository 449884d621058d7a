import { notReady } from '../../http/server/refuse-unready.ts';
import { route } from '../../http/route/route.ts';
import { isMigrated } from '../../postgres/migrations/index.ts';

/** Whether the process lives, and whether it can serve: its start is through, it takes work, and the database answers. */
export const healthRoutes = [
  route(
    ['GET', '/healthz'],
    { summary: 'Tell whether the process lives', reply: 'resources/health', role: 'anyone', needsNoDatabase: true },
    async () => ({ status: 'ok' }),
  ),
  route(
    ['GET', '/readyz'],
    { summary: 'Tell whether the service can serve', reply: 'resources/health', role: 'anyone' },
    async ({ services, em }) => {
      if (!services.started() || !services.accepting() || !(await isMigrated(em))) throw notReady();
      return { status: 'ready' };
    },
  ),
];
