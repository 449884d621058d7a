import type { Logger } from 'pino';
import type { Database } from './database.ts';
import { recordAttempt, type AttemptOnEndpoint } from './domain/endpoint-health.ts';
import { wakeLanes } from './domain/waiting-lanes.ts';
import type { Claimed } from './engine/claim.ts';
import type { Deliver } from './engine/engine.ts';
import { system, transact } from './events/transaction.ts';
import type { Random } from './lib/ports.ts';

export interface StandingOptions {
  database: Database;
  random: Random;
  /** Told of endpoints whose circuit opens or closes, or that are switched off. */
  log: Pick<Logger, 'info' | 'warn'>;
  /** Told of what went wrong in keeping what an attempt says of its endpoint. */
  failed: (error: unknown) => void;
}

const messages = {
  opened: 'endpoint does not answer: it is only tried now and then',
  closed: 'endpoint answers again',
  expired: 'endpoint switched off: it has done nothing but fail for 5 days',
} as const;

async function learn(
  { database, log }: StandingOptions,
  { account, endpoint }: Claimed,
  attempt: AttemptOnEndpoint,
): Promise<void> {
  const scope = { account, actor: system };
  const change = await transact(database, scope, (tx) => recordAttempt(tx, attempt));
  if (change === null) return;
  const fields = { account: account.id, [endpoint.kind]: endpoint.id };
  if (change !== 'closed') return log.warn(fields, messages[change]);
  log.info(fields, messages.closed);
  while (await transact(database, scope, (tx) => wakeLanes(tx.em, endpoint)));
  database.announce('deliveries', [{ kind: endpoint.kind, id: endpoint.id, accountId: account.id }]);
}

/**
 * Keeps what each attempt says of its endpoint. That is written before the attempt itself, and its lane free again:
 * nobody takes that past a circuit that is to open. A success of what is known to be well says nothing new.
 */
export function learning(options: StandingOptions, deliver: Deliver): Deliver {
  return async (claimed, standing) => {
    const attempted = await deliver(claimed, standing);
    const { outcome } = attempted;
    const isProbe = standing.circuit === 'probe';
    const isKnown = outcome === 'delivered' && standing.isProven === true && standing.circuit === 'closed';
    if (isKnown || (outcome === 'skipped' && !isProbe)) return attempted;
    const { endpoint } = claimed;
    const attempt = { endpoint, outcome, isProbe, fraction: options.random.fraction() };
    await learn(options, claimed, attempt).catch(options.failed);
    return attempted;
  };
}
