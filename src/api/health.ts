import { ApiError } from '../errors.ts';
import { route } from '../http/route.ts';
import { isMigrated } from '../migrations/index.ts';

function notReady(): ApiError {
  return new ApiError(503, 'not_ready', 'The service is not ready', { headers: { 'retry-after': '1' } });
}

/** Whether the process lives, and whether it can serve. */
export const healthRoutes = [
  route(
    ['GET', '/healthz'],
    { summary: 'Tell whether the process lives', reply: 'resources/health', role: 'anyone' },
    async () => ({ status: 'ok' }),
  ),
  route(
    ['GET', '/readyz'],
    { summary: 'Tell whether the service can serve', reply: 'resources/health', role: 'anyone' },
    async ({ services, em }) => {
      if (!services.accepting() || !(await isMigrated(em))) throw notReady();
      return { status: 'ready' };
    },
  ),
];
