import manifest from '../../../package.json' with { type: 'json' };
import { upgrading } from '../../errors.ts';
import { notReady } from '../../http/server/refusals/unready.ts';
import { doors } from '../../http/route/admission/doors.ts';
import { isMigrated } from '../../postgres/migrations/index.ts';

/**
 * Liveness; readiness: the start has completed, no shutdown has begun, and the database answers, with the reason where nothing is
 * sent; and which service it is, by which clients try an address.
 */
export const healthRoutes = [
  doors.open(
    ['GET', '/healthz', 'Tell whether the process lives'],
    { reply: 'resources/health', role: 'anyone', needsNoDatabase: true },
    async () => ({ status: 'ok' }),
  ),
  doors.open(
    ['GET', '/api', 'Tell which service answers'],
    { reply: 'resources/service', role: 'anyone' },
    async ({ sql, now }) => {
      // Queues are tables of the same database.
      await sql('SELECT 1');
      return { version: manifest.version, timestamp: now.toISOString(), queue_services: 'ok', data_services: 'ok' };
    },
  ),
  doors.open(
    ['GET', '/readyz', 'Tell whether the service can serve'],
    { reply: 'resources/health', role: 'anyone' },
    async ({ services, sql }) => {
      if (await services.upgrade.look()) throw upgrading();
      if (!services.started() || !services.accepting() || !(await isMigrated(sql))) throw notReady();
      const reason = await services.home.look();
      return reason === null ? { status: 'ready' } : { status: 'ready', sending: false, reason };
    },
  ),
];
