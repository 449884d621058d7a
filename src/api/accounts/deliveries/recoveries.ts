import { readRecovery, recover } from '../../../domain/endpoints/recovery.ts';
import type { Recovery } from '../../../deliveries/copies/recover.ts';
import { doors } from '../../../http/route/admission/doors.ts';
import { fromUnixSeconds, unixSeconds } from '../../../lib/unix-time.ts';
import type { Shape } from '../../../schemas.ts';
import { endpointKinds } from './endpoint-kinds.ts';

const base = '/api/v1/accounts/:account_id';

export const recoveryRoutes = (['webhooks', 'agent_bots'] as const).flatMap((noun) => {
  const { kind, a } = endpointKinds[noun];
  return [
    doors.account(
      ['POST', `${base}/${noun}/:id/recover`, `Recover the deliveries of ${a}`],
      {
        body: 'requests/endpoint.recover',
        reply: 'resources/recovery-begun',
        role: 'administrator',
        audit: { action: 'delivery.recovered' },
        status: 202,
        errors: [409],
        description:
          'Sends again what was given up or cancelled: of each conversation in order, beside live deliveries, which do not wait for it. What is pending is not sent twice. With `missing`, a webhook also gets events that it has no delivery of: of the time before it was created or while it was switched off. Refused (409) while the endpoint is switched off.',
      },
      async ({ params: { id }, body: { since, until, states, missing = false }, transact }) => {
        const { failing, ...begun } = await transact((tx) =>
          recover(
            tx,
            { kind, id },
            {
              since: fromUnixSeconds(since),
              until: until === undefined ? null : fromUnixSeconds(until),
              states: states ?? null,
              withMissing: missing,
            },
          ),
        );
        return {
          ...begun,
          hint: failing > 0 ? `Deliveries are failing: ${failing}. Retry them by POST …/${noun}/${id}/retry` : null,
        };
      },
    ),
    doors.account(
      ['GET', `${base}/${noun}/:id/recover/:recovery_id`, `Get a recovery of ${a}`],
      { reply: 'resources/recovery', record: true, role: 'administrator' },
      async ({ sql, account, params: { id, recovery_id: recoveryId } }) =>
        presentRecovery(await readRecovery(sql, account.id, { endpoint: { kind, id }, id: recoveryId })),
    ),
  ];
});

function presentRecovery({ made, ...recovery }: Recovery): Shape<'resources/recovery'> {
  const { id, count, missing, phase } = recovery;
  const isBegun = phase === 'send';
  const isOver = made.pending + made.failing === 0;
  return {
    id,
    count,
    missing,
    ...made,
    since: unixSeconds(recovery.since),
    until: unixSeconds(recovery.until),
    states: [...recovery.states],
    state: phase === 'stopped' ? 'stopped' : isBegun && isOver ? 'done' : isBegun ? 'sending' : 'preparing',
    created_at: unixSeconds(recovery.createdAt),
  };
}
