import { readAgentBot } from '../../../domain/bots/bots.ts';
import { cancelPending, sendTest } from '../../../domain/endpoints/requested-deliveries.ts';
import { readWebhook } from '../../../domain/webhooks.ts';
import { findLogged } from '../../../deliveries/log/attempts.ts';
import { lookAtAttempts } from '../../../deliveries/log/health.ts';
import { notFound } from '../../../errors.ts';
import { doors } from '../../../http/route/admission/doors.ts';
import { unixSecondsOrNull } from '../../../lib/unix-time.ts';
import type { Sql } from '../../../postgres/sql.ts';
import type { Shape } from '../../../schemas.ts';
import { presentCircuit } from './circuit.ts';
import { presentDelivery } from './delivery-records.ts';
import { endpointKinds } from './endpoint-kinds.ts';

const base = '/api/v1/accounts/:account_id';

/** The descriptions of the operations that pause and resume. */
export const pauseDescription =
  'Nothing is sent until it is resumed; deliveries wait, and nothing ages meanwhile. An attempt in progress ends by itself.';
export const resumeDescription = 'What waited is sent, in order. The time of the pause counts for nothing.';

/** The operations that webhooks and bots with a server have in common. */
export const endpointRoutes = (['webhooks', 'agent_bots'] as const).flatMap((noun) => {
  const { kind, a } = endpointKinds[noun];
  return [
    doors.account(
      ['POST', `${base}/${noun}/:id/test`, `Send ${a} a test`],
      {
        body: 'requests/endpoint.test',
        reply: 'resources/delivery',
        role: 'administrator',
        status: 202,
        errors: [409],
        description:
          'Sends a sample of an event, subscribed to or not, with the header `webhook-test: true`, once. It is in no feed. Refused (409) while the endpoint is switched off.',
      },
      ({ account, params: { id }, body, transact }) =>
        transact(async (tx) => presentLogged(tx.sql, account.id, await sendTest(tx, { kind, id }, body.event))),
    ),
    doors.account(
      ['POST', `${base}/${noun}/:id/cancel_pending`, `Cancel what waits for ${a}`],
      {
        reply: 'resources/cancelled-deliveries',
        role: 'administrator',
        description: 'An attempt in progress is the last of its delivery. Later events are sent as before.',
      },
      async ({ params: { id }, transact }) => ({ count: await transact((tx) => cancelPending(tx, { kind, id })) }),
    ),
    doors.account(
      ['GET', `${base}/${noun}/:id/health`, `Get the health of ${a}`],
      { reply: 'resources/endpoint-health', record: true, role: 'administrator' },
      async ({ sql, account, params: { id } }) => {
        const { circuit, paused } = await readStanding(sql, account.id, { kind, id });
        const recent = await lookAtAttempts(sql, account.id, { kind, id });
        return {
          attempts: recent.attempts,
          success_rate: recent.attempts === 0 ? null : recent.succeeded / recent.attempts,
          p50_ms: recent.p50,
          p95_ms: recent.p95,
          pending: recent.pending,
          oldest_pending_at: unixSecondsOrNull(recent.oldestPendingAt),
          consecutive_failures: circuit.consecutive_failures,
          circuit,
          paused,
        };
      },
    ),
  ];
});

/** A delivery that was just made. */
export async function presentLogged(sql: Sql, accountId: number, id: number): Promise<Shape<'resources/delivery'>> {
  const delivery = await findLogged(sql, accountId, id);
  if (!delivery) throw notFound('Delivery');
  return presentDelivery(delivery);
}

async function readStanding(sql: Sql, accountId: number, { kind, id }: { kind: 'webhook' | 'bot'; id: number }) {
  const endpoint = kind === 'webhook' ? await readWebhook(sql, accountId, id) : await readAgentBot(sql, accountId, id);
  return { circuit: presentCircuit(endpoint), paused: Boolean(endpoint.pausedAt) };
}
