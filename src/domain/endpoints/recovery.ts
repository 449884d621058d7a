import { dueAt } from '../../events/announcements.ts';
import { invalid, notFound } from '../../errors.ts';
import type { Endpoint } from '../../deliveries/core/endpoint.ts';
import {
  findRecovery,
  findUnfinishedRecoveries,
  insertRecovery,
  recoverSome,
  type Recoverable,
  type Recovery,
  type Started,
  type Unfinished,
} from '../../deliveries/copies/recover.ts';
import { countFailing } from '../../deliveries/log/health.ts';
import { catalog, fleetingEvents, type EventName } from '../../events/catalog.ts';
import { isFormatted } from '../../events/formats/chatwoot.ts';
import { system, transact, type Transaction } from '../../events/transaction.ts';
import type { Database } from '../../postgres/database.ts';
import type { Sql } from '../../postgres/sql.ts';
import { findAddress } from './address.ts';
import { sweep } from '../upkeep/sweep.ts';
import { checkOn, lockServer } from './requested-deliveries.ts';

/**
 * Deliveries to recover; without `until` all up to now, without `states` the exhausted and cancelled ones; `withMissing` those of
 * events, too, that the webhook would have got by its present subscriptions if it had been there and on.
 */
export interface Asked {
  since: Date;
  until: Date | null;
  states: readonly Recoverable[] | null;
  withMissing: boolean;
}

// Fleeting events, such as typing, are outdated by now.
const leftOut = fleetingEvents;
const formatted = (Object.keys(catalog) as EventName[]).filter(isFormatted);
const onlyWebhooks = 'Only webhooks have missing events: the bot that gets an event is chosen when the event happens';
// Steps within the request, so that few deliveries are sent before its answer. The sweep does the rest.
const stepsAtOnce = 2;

/**
 * Sends all events again that the endpoint missed in a time: in the order of the events of each conversation, beside live
 * deliveries, and without events that are pending, samples and fleeting events. Returns the id and the number of
 * deliveries; where that is 0, also how many are failing, which are not sent again.
 * Errors: 404; 403 for a system bot; 409 for an endpoint that is off; 422 for a time that ends before it begins, and for
 * missing events of a bot.
 */
export async function recover(
  tx: Transaction,
  endpoint: Endpoint,
  { since, until, states, withMissing }: Asked,
): Promise<Started & { failing: number }> {
  if (withMissing && endpoint.kind !== 'webhook') throw invalid('/missing', 'webhook', onlyWebhooks);
  checkOn(await lockServer(tx, endpoint));
  const end = until ?? new Date(tx.now.getTime() + 1000);
  if (end <= since)
    throw invalid(until ? '/until' : '/since', 'range', 'The time must begin before it ends, and not later than now');
  const wanted = {
    endpoint,
    since,
    until: end,
    states: states ?? (['exhausted', 'cancelled'] as const),
    leftOut,
    withMissing,
  };
  const started = await insertRecovery(tx.sql, tx.account.id, wanted);
  for (let step = 0; step < stepsAtOnce; step++) if (!(await goOnRecovering(tx, started.id))) break;
  const failing = started.count === 0 ? await countFailing(tx.sql, tx.account.id, endpoint) : 0;
  return { ...started, failing };
}

/** Does a batch of a recovery; returns true if another can follow. */
async function goOnRecovering(tx: Transaction, id: number): Promise<boolean> {
  const { due, more } = await recoverSome(tx.sql, id, {
    leftOut,
    formatted,
    isOn: async (accountId, endpoint) => (await findAddress(tx.sql, accountId, endpoint)) !== null,
  });
  if (due) tx.announce('committed', dueAt(due, tx.account.id));
  return more;
}

const pageSize = 100;
// Batches of one recovery per sweep, so that none delays the others for long.
const batchesPerSweep = 200;

/** Continues recoveries that their requests did not complete; returns the number of those worked on. */
export function finishRecoveries(database: Database): Promise<number> {
  return sweep<Unfinished>(database, {
    name: 'recovering deliveries',
    nameOf: ({ id, account }) => `recovery ${id} of account ${account.id}`,
    page: (after) => findUnfinishedRecoveries(database.sql, { after: after?.id ?? 0, limit: pageSize }),
    pageSize,
    atOnce: 1,
    work: async ([recovery]) => (recovery ? goOnFor(database, recovery) : 0),
  });
}

async function goOnFor(database: Database, { id, account }: Unfinished): Promise<number> {
  for (let done = 0; done < batchesPerSweep; done++) {
    if (!(await transact(database, { account, actor: system }, (tx) => goOnRecovering(tx, id)))) break;
  }
  return 1;
}

/** Returns a recovery of the endpoint, and its progress. Errors: 404. */
export async function readRecovery(
  sql: Sql,
  accountId: number,
  which: { endpoint: Endpoint; id: number },
): Promise<Recovery> {
  const recovery = await findRecovery(sql, accountId, which);
  if (!recovery) throw notFound('Recovery');
  return recovery;
}
