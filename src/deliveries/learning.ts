import { setTimeout as wait } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Database } from '../postgres/database.ts';
import type { HealthChange } from './core/circuit.ts';
import { learnFrom, type AttemptOnEndpoint } from '../domain/endpoints/health.ts';
import { wakeLanes } from './queue/wake.ts';
import type { Claimed } from './queue/claim.ts';
import type { Deliver } from './attempt.ts';
import { system, transact } from '../events/transaction.ts';
import type { Random } from '../lib/ports.ts';

export interface LearningOptions {
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

const lockedTries = 20;
const lockedRetryMs = 250;

/** Lets work that has a key in common be done one after the other. */
class Turns {
  readonly #last = new Map<string, Promise<unknown>>();

  async take<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
    const mine = (this.#last.get(key) ?? Promise.resolve()).then(work);
    const over = mine.catch(() => undefined);
    this.#last.set(key, over);
    try {
      return await mine;
    } finally {
      if (this.#last.get(key) === over) this.#last.delete(key);
    }
  }
}

// While the endpoint's row is locked its attempts wait for it, in slots of their own account and without a connection;
// of the process's connections an endpoint has one at most. What stays locked for longer than that learns nothing.
async function learn(
  options: LearningOptions,
  turns: Turns,
  { claimed: { account, endpoint }, attempt }: { claimed: Claimed; attempt: AttemptOnEndpoint },
): Promise<void> {
  const { database } = options;
  const keep = () => transact(database, { account, actor: system }, (tx) => learnFrom(tx, attempt));
  for (let left = lockedTries; left > 0; left -= 1) {
    const change = await turns.take(`${endpoint.kind}:${endpoint.id}`, keep);
    if (change !== 'locked') return follow(options, { account, endpoint }, change);
    await wait(lockedRetryMs);
  }
  throw new Error(`The ${endpoint.kind} ${endpoint.id} stayed locked; what an attempt said of it is lost`);
}

async function follow(
  { database, log }: LearningOptions,
  { account, endpoint }: Pick<Claimed, 'account' | 'endpoint'>,
  change: HealthChange,
): Promise<void> {
  const scope = { account, actor: system };
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
export function learning(options: LearningOptions, deliver: Deliver): Deliver {
  const turns = new Turns();
  return async (claimed, standing) => {
    const attempted = await deliver(claimed, standing);
    const { outcome } = attempted;
    const isProbe = standing.circuit === 'probe';
    const isKnown = outcome === 'delivered' && standing.isProven === true && standing.circuit === 'closed';
    if (isKnown || (outcome === 'skipped' && !isProbe)) return attempted;
    const { endpoint } = claimed;
    const attempt = { endpoint, outcome, isProbe, fraction: options.random.fraction() };
    await learn(options, turns, { claimed, attempt }).catch(options.failed);
    return attempted;
  };
}
