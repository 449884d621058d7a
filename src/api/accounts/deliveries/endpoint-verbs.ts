import { readAgentBot } from '../../../domain/bots/bots.ts';
import { cancelPending, retryNow, sendTest } from '../../../domain/endpoints/requested-deliveries.ts';
import { readWebhook } from '../../../domain/webhooks.ts';
import { findLogged } from '../../../deliveries/log/attempts.ts';
import { lookAtAttempts } from '../../../deliveries/log/health.ts';
import { findWaits } from '../../../deliveries/log/waits.ts';
import { notFound } from '../../../errors.ts';
import type { Transaction } from '../../../events/transaction.ts';
import { doors } from '../../../http/route/admission/doors.ts';
import type { Services } from '../../../http/route/call.ts';
import { unixSecondsOrNull } from '../../../lib/unix-time.ts';
import type { Sql } from '../../../postgres/sql.ts';
import type { Shape } from '../../../schemas.ts';
import { presentCircuit } from './circuit.ts';
import { presentDelivery } from './delivery-records.ts';
import { endpointKinds } from './endpoint-kinds.ts';
import { requireShared } from './shares.ts';

const base = '/api/v1/accounts/:account_id';

/** The descriptions of the operations that pause and resume. */
export const pauseDescription =
  'Nothing is sent until it is resumed; deliveries wait, for RETENTION_DAYS at most, and nothing ages meanwhile. An attempt in progress ends by itself. After a day the administrators get a mail.';
export const resumeDescription = 'What waited is sent, in order. The time of the pause counts for nothing.';

/** The operations that webhooks and bots with a server have in common. */
export const endpointRoutes = (['webhooks', 'agent_bots'] as const).flatMap((noun) => {
  const { kind, a, looker } = endpointKinds[noun];
  return [
    doors.account(
      ['POST', `${base}/${noun}/:id/test`, `Send ${a} a test`],
      {
        body: 'requests/endpoint.test',
        reply: 'resources/delivery',
        role: looker,
        audit: false,
        status: 202,
        errors: [409],
        description:
          'Sends a sample of an event, subscribed to or not, with the header `webhook-test: true`, once. It is in no feed. Refused (409) while the endpoint is switched off.',
      },
      async ({ services, principal, params: { id }, body, transact }) => {
        requireShared(principal, { kind, id }, 'Webhook');
        return transact(async (tx) => presentLogged(tx, await sendTest(tx, { kind, id }, body.event), services));
      },
    ),
    doors.account(
      ['POST', `${base}/${noun}/:id/retry`, `Retry what is failing for ${a}`],
      {
        reply: 'resources/retried-deliveries',
        role: 'administrator',
        audit: { action: 'delivery.retried' },
        status: 202,
        errors: [409],
        description:
          'Everything that is failing is due at once, in the order of each conversation, and what waits behind it follows. An open circuit tries once at once. Refused (409) while the endpoint is switched off.',
      },
      async ({ params: { id }, transact }) => ({ count: await transact((tx) => retryNow(tx, { kind, id })) }),
    ),
    doors.account(
      ['POST', `${base}/${noun}/:id/cancel_pending`, `Cancel what waits for ${a}`],
      {
        reply: 'resources/cancelled-deliveries',
        role: 'administrator',
        audit: { action: 'delivery.cancelled' },
        description: 'An attempt in progress is the last of its delivery. Later events are sent as before.',
      },
      async ({ params: { id }, transact }) => ({ count: await transact((tx) => cancelPending(tx, { kind, id })) }),
    ),
    doors.account(
      ['GET', `${base}/${noun}/:id/health`, `Get the health of ${a}`],
      { reply: 'resources/endpoint-health', record: true, role: looker },
      async ({ sql, principal, account, params: { id } }) => {
        requireShared(principal, { kind, id }, 'Webhook');
        return presentEndpointHealth(sql, account.id, { kind, id });
      },
    ),
  ];
});

/** A delivery that was just made. */
export async function presentLogged(
  { sql, account }: Pick<Transaction, 'sql' | 'account'>,
  id: number,
  { holdAttempts, gate }: Pick<Services, 'holdAttempts' | 'gate'>,
): Promise<Shape<'resources/delivery'>> {
  const delivery = await findLogged(sql, account.id, id);
  if (!delivery) throw notFound('Delivery');
  const waits = await findWaits(sql, { accountId: account.id, deliveries: [delivery], holdAttempts, gate });
  return presentDelivery(delivery, waits.get(delivery.id));
}

async function presentEndpointHealth(
  sql: Sql,
  accountId: number,
  endpoint: Parameters<typeof readStanding>[2],
): Promise<Shape<'resources/endpoint-health'>> {
  const { circuit, pausedAt } = await readStanding(sql, accountId, endpoint);
  const recent = await lookAtAttempts(sql, accountId, endpoint);
  return {
    attempts: recent.attempts,
    success_rate: recent.attempts === 0 ? null : recent.succeeded / recent.attempts,
    p50_ms: recent.p50,
    p95_ms: recent.p95,
    failed_p95_ms: recent.failedP95,
    pending: recent.pending,
    oldest_pending_at: unixSecondsOrNull(recent.oldestPendingAt),
    consecutive_failures: circuit.consecutive_failures,
    circuit,
    paused: pausedAt !== null,
    paused_at: unixSecondsOrNull(pausedAt),
  };
}

async function readStanding(sql: Sql, accountId: number, { kind, id }: { kind: 'webhook' | 'bot'; id: number }) {
  const endpoint = kind === 'webhook' ? await readWebhook(sql, accountId, id) : await readAgentBot(sql, accountId, id);
  return { circuit: presentCircuit(endpoint), pausedAt: endpoint.pausedAt ?? null };
}
