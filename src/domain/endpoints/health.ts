import type { Transaction } from '../../events/transaction.ts';
import type { ServerKind } from '../../deliveries/core/endpoint.ts';
import { prepared } from '../../postgres/prepared.ts';
import { moment, momentOrNull } from '../../postgres/sql.ts';
import {
  nextHealth,
  type EndpointHealth,
  type EndpointOutcome,
  type HealthChange,
} from '../../deliveries/core/circuit.ts';
import { disableWebhook } from '../webhooks.ts';
import { tellRecovered } from './notices.ts';

/** A finished attempt on an endpoint. */
export interface AttemptOnEndpoint {
  endpoint: { kind: ServerKind; id: number; url: string | null };
  outcome: EndpointOutcome;
  isProbe: boolean;
  /** A random number in [0, 1). */
  fraction: number;
}

interface HealthRow {
  url: string | null;
  now: string;
  is_proven: boolean;
  consecutive_failures: number;
  unanswered_attempts: number;
  failing_since: string | null;
  circuit_trips: number;
  circuit_probe_at: string | null;
}

const columns = `now(), is_proven, consecutive_failures, unanswered_attempts, failing_since, circuit_trips, circuit_probe_at`;
const rows = {
  webhook: `SELECT url, ${columns} FROM webhooks WHERE account_id = $1 AND id = $2 AND active`,
  bot: `SELECT outgoing_url AS url, ${columns} FROM agent_bots
    WHERE (account_id = $1 OR account_id IS NULL) AND id = $2 AND disabled_reason IS NULL`,
};
const find = { webhook: prepared(rows.webhook), bot: prepared(rows.bot) };
// NO KEY: a full row lock would block inserts that refer to the endpoint; for a system bot, in all accounts.
const lock = {
  webhook: prepared(`${rows.webhook} FOR NO KEY UPDATE SKIP LOCKED`),
  bot: prepared(`${rows.bot} FOR NO KEY UPDATE SKIP LOCKED`),
};
const write = (table: string) =>
  prepared(`UPDATE ${table} SET is_proven = $2, consecutive_failures = $3, unanswered_attempts = $4, failing_since = $5,
    circuit_trips = $6, circuit_probe_at = $7 WHERE id = $1`);
const writes = { webhook: write('webhooks'), bot: write('agent_bots') };

/** The reason in the row of a bot whose server is called no more. */
const botExpired = "Every delivery to the bot's server has failed for 5 days";

/**
 * Stores in an endpoint's row what an attempt shows: opens and closes its circuit, and switches off an endpoint that has
 * failed for five days (a webhook's pending deliveries are cancelled). Returns what changed; null when nothing did, or when
 * the endpoint is deleted, switched off or has another address by now. Does not wait: returns `locked`, without storing
 * anything, when another transaction holds the row.
 */
export async function learnFrom(tx: Transaction, attempt: AttemptOnEndpoint): Promise<HealthChange | 'locked'> {
  const known = await lockHealth(tx, attempt);
  if (known === null || known === 'locked') return known;
  const { kind, id } = attempt.endpoint;
  const { health, change } = nextHealth(known.health, { ...attempt, kind, now: known.now });
  await tx.sql(writes[kind], [
    id,
    health.isProven,
    health.consecutiveFailures,
    health.unansweredAttempts,
    health.failingSince,
    health.circuitTrips,
    health.circuitProbeAt,
  ]);
  if (change === 'expired') await switchOff(tx, attempt.endpoint);
  if (kind === 'webhook' && attempt.outcome === 'delivered') await tellRecovered(tx, id);
  return change;
}

async function lockHealth(
  tx: Transaction,
  { endpoint }: AttemptOnEndpoint,
): Promise<{ health: EndpointHealth; now: Date } | 'locked' | null> {
  const [row] = await tx.sql<HealthRow>(lock[endpoint.kind], [tx.account.id, endpoint.id]);
  if (!row && (await tx.sql(find[endpoint.kind], [tx.account.id, endpoint.id])).length > 0) return 'locked';
  // The endpoint was deleted, switched off or moved: the attempt says nothing about its health.
  if (!row || row.url !== endpoint.url) return null;
  const health = {
    isProven: row.is_proven,
    consecutiveFailures: row.consecutive_failures,
    unansweredAttempts: row.unanswered_attempts,
    failingSince: momentOrNull(row.failing_since),
    circuitTrips: row.circuit_trips,
    circuitProbeAt: momentOrNull(row.circuit_probe_at),
  };
  return { health, now: moment(row.now) };
}

async function switchOff(tx: Transaction, { kind, id, url }: AttemptOnEndpoint['endpoint']): Promise<void> {
  if (kind === 'webhook') return void (await disableWebhook(tx, { id, url }, 'five_days'));
  await tx.sql('UPDATE agent_bots SET disabled_reason = $2, updated_at = now() WHERE id = $1', [id, botExpired]);
}
