import { readBacklogs } from '../../deliveries/log/platform-backlogs.ts';
import { doors } from '../../http/route/admission/doors.ts';
import { presentCircuit } from '../accounts/deliveries/circuit.ts';

const millisecondsOfSecond = 1000;

export const platformBacklogRoutes = [
  doors.platform(
    ['GET', '/platform/api/v1/backlogs', 'List what waits, by endpoint'],
    {
      reply: 'resources/backlogs',
      role: 'platform',
      description:
        'Which account and which endpoint deliveries wait for, the longest wait first: at most 100. What a receiver holds up, what is paused, and what is retried are among it.',
    },
    async ({ sql, now }) => ({
      payload: (await readBacklogs(sql)).map(({ accountId, endpoint, pending, oldestPendingAt, ...health }) => ({
        account_id: accountId,
        endpoint,
        pending,
        oldest_seconds: Math.max(0, Math.floor((now.getTime() - oldestPendingAt.getTime()) / millisecondsOfSecond)),
        circuit: presentCircuit(health),
      })),
    }),
  ),
];
