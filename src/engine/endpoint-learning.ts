import { announce } from '../events/announcements.ts';
import { setTimeout as wait } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Database } from '../postgres/database.ts';
import type { EndpointOutcome, HealthChange } from '../deliveries/core/circuit.ts';
import type { DueEndpoint } from '../deliveries/core/slots.ts';
import { learnFrom, type AttemptOnEndpoint } from '../domain/endpoints/health.ts';
import { wakeLanes } from '../deliveries/lanes/wake.ts';
import type { Claimed } from '../deliveries/lanes/claim.ts';
import { system, transact } from '../events/transaction.ts';
import type { Random } from '../lib/ports.ts';

export interface LearningOptions {
  database: Database;
  random: Random;
  /** Logs endpoints whose circuit opens or closes, and those that are switched off. */
  log: Pick<Logger, 'info' | 'warn'>;
  /** Called with errors in storing what an attempt shows of its endpoint. */
  failed: (error: unknown) => void;
}

const messages = {
  opened: 'endpoint does not answer: it is only tried now and then',
  closed: 'endpoint answers again',
  expired: 'endpoint switched off: it has done nothing but fail for 5 days',
} as const;

const lockedTries = 20;
const lockedRetryMs = 250;

/** Stores what an attempt shows of its endpoint; `standing` is the endpoint's state when the delivery was claimed. */
export type Learn = (claimed: Claimed, standing: DueEndpoint, outcome: EndpointOutcome) => Promise<void>;

/**
 * Stores in the endpoint's row what attempts show of it. This is written before the attempt's result, which frees the lane:
 * no process can claim the lane before the circuit opens.
 */
export function learning(options: LearningOptions): Learn {
  const turns = new Turns();
  return async (claimed, standing, outcome) => {
    const isProbe = standing.circuit === 'probe';
    if (outcome === 'skipped' && !isProbe) return;
    const { endpoint } = claimed;
    const { kind } = endpoint;
    if (kind === 'automation' || kind === 'channel') return;
    const attempt = { endpoint: { ...endpoint, kind }, outcome, isProbe, fraction: options.random.fraction() };
    await learn(options, turns, { claimed, attempt }).catch(options.failed);
  };
}

/** Serializes work with the same key. */
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

// While an endpoint's row is locked, its attempts wait in slots of their own account and without a connection; an endpoint
// uses one connection of the process at most. After that time the lesson is dropped.
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
  // A webhook that is switched off tells its account itself.
  if (change === 'expired' && endpoint.kind === 'webhook') return;
  if (change !== 'closed') return log.warn(fields, messages[change]);
  log.info(fields, messages.closed);
  while (await transact(database, scope, (tx) => wakeLanes(tx.sql, endpoint)));
  const woken = { kind: endpoint.kind, id: endpoint.id, accountId: account.id };
  const deliveries = [woken, { ...woken, isSide: true }];
  announce(database, 'committed', { events: false, deliveries });
}
