import { dueAt } from '../../events/announcements.ts';
import { ApiError, invalid, notFound } from '../../errors.ts';
import type { Endpoint, ServerKind } from '../../deliveries/core/endpoint.ts';
import { cancelBacklog, wakeBacklog } from '../../deliveries/copies/backlogs.ts';
import { copyDelivery, findOriginal, insertTest, takeTurn, type Original } from '../../deliveries/copies/copies.ts';
import { countFailing, lookAtWaiting } from '../../deliveries/log/health.ts';
import { giveBackProbes, hurryProbe } from '../../deliveries/lanes/probes.ts';
import { personOf } from '../../deliveries/core/refusal.ts';
import { sampleChatwootBody } from '../../events/formats/sample.ts';
import { eventsFor, sampleBody } from '../../events/sample-body.ts';
import type { EventName } from '../../events/catalog.ts';
import type { Transaction } from '../../events/transaction.ts';
import { prepared } from '../../postgres/prepared.ts';
import type { AgentBot } from '../../records/bots/agent-bot.ts';
import { Webhook } from '../../records/webhook.ts';
import { lockOwnBot } from '../bots/bots.ts';
import { lockIfThere, lockOne, save } from '../small-rows.ts';

/** The rows of endpoints that are called over HTTP, by their kind. */
interface Servers {
  webhook: Webhook;
  bot: AgentBot;
}
type Server = Servers[ServerKind];
type ServerId<Kind extends ServerKind> = Endpoint & { kind: Kind };

/**
 * The endpoint of the account, locked. Errors: 404; 403 for a system bot; 422 for a bot without a server.
 */
export async function lockServer(tx: Transaction, { kind, id }: Endpoint): Promise<Server> {
  if (kind === 'webhook') return lockOne(tx.sql, Webhook, { id, accountId: tx.account.id });
  const bot = await lockOwnBot(tx.sql, tx.account.id, id);
  if (!bot.outgoingUrl) throw invalid('', 'outgoing_url', 'The bot has no server: nothing is sent to it');
  return bot;
}

/** Refuses what cannot be sent because the endpoint is switched off. Errors: 409. */
export function checkOn(server: Server | null): void {
  if (server === null) throw refused('endpoint_gone', 'The webhook was deleted');
  const isOff = server instanceof Webhook ? !server.active : Boolean(server.disabledReason);
  if (!isOff) return;
  const what = server instanceof Webhook ? 'webhook' : 'bot';
  throw refused('endpoint_off', `The ${what} is disabled. Enable it first.`);
}

const handledByRun =
  'The plugin of this bot handles the event in a run, and nothing of it was sent to the server: a run is not made twice. Replay it instead (POST …/runs/:id/replay), which repeats it and changes nothing';

function refused(code: string, message: string): ApiError {
  return new ApiError(409, code, message);
}

/**
 * Makes a delivery again, whatever its state: at once, out of order, and with the whole schedule of retries. When it arrives, the
 * deliveries of the same event to the same endpoint that are still pending end as delivered. Returns the new one's id.
 * Errors: 404; 409 while one of its attempts is running, for an endpoint that is off, and for an event that the bot's plugin
 * handled itself. Deliveries of others than `onlyWebhook` are not found, where one is named.
 */
export async function resend(tx: Transaction, id: number, onlyWebhook: number | null = null): Promise<number> {
  const original = await findResendable(tx, id, onlyWebhook);
  const { endpoint } = original;
  const isWebhook = endpoint.kind === 'webhook';
  const server = isWebhook
    ? await lockIfThere(tx.sql, Webhook, { id: endpoint.id, accountId: tx.account.id })
    : await lockServer(tx, endpoint);
  checkOn(server);
  const copy = await makeAgain(tx, original);
  await sendSoon(tx, endpoint);
  return copy;
}

/**
 * Has a plugin handle a request of a hook again, as `resend` does. Errors: 404; 409 while it is being handled.
 */
export async function handleAgain(tx: Transaction, id: number): Promise<void> {
  const [isFree, original] = await Promise.all([takeTurn(tx.sql, id), findOriginal(tx.sql, tx.account.id, id)]);
  if (!original) throw notFound('Delivery');
  if (!isFree) throw refused('delivery_running', 'Another request is resending this delivery at this moment');
  await makeAgain(tx, original);
  tx.announce('committed', dueAt(original.endpoint, tx.account.id));
}

/**
 * Makes many deliveries of an endpoint again, each like `resend`, in the order of the ids. The caller has locked the endpoint,
 * which is on. Returns how many were made; the others are refused.
 */
export async function resendAll(tx: Transaction, endpoint: Endpoint, ids: readonly number[]): Promise<number> {
  const originals = await succeeded(ids.map((id) => findResendable(tx, id)));
  const made = await succeeded(originals.map((original) => makeAgain(tx, original)));
  if (made.length > 0) await sendSoon(tx, endpoint);
  return made.length;
}

// The results of those that are not refused. Asked for in one tick, the statements for all of them go in one round trip.
async function succeeded<Result>(works: readonly Promise<Result>[]): Promise<Result[]> {
  return (await Promise.allSettled(works)).flatMap((work) => {
    if (work.status === 'fulfilled') return [work.value];
    if (work.reason instanceof ApiError) return [];
    throw work.reason;
  });
}

async function findResendable(tx: Transaction, id: number, onlyWebhook: number | null = null): Promise<Original> {
  const [isFree, found] = await Promise.all([takeTurn(tx.sql, id), findOriginal(tx.sql, tx.account.id, id)]);
  if (!found || !isOf(found.endpoint, onlyWebhook)) throw notFound('Delivery');
  if (!isFree) throw refused('delivery_running', 'Another request is resending this delivery at this moment');
  if (found.isRun) throw refused('handled_by_run', handledByRun);
  return found;
}

async function makeAgain(tx: Transaction, { id, isRunning }: Original): Promise<number> {
  if (isRunning) throw refused('delivery_running', 'An attempt of this delivery is running: wait for its end');
  const copy = await copyDelivery(tx.sql, tx.account.id, id);
  // It was deleted with its conversation since it was found.
  if (copy === null) throw notFound('Delivery');
  return copy;
}

function isOf({ kind, id }: Endpoint, webhookId: number | null): boolean {
  return webhookId === null || (kind === 'webhook' && id === webhookId);
}

/**
 * Sends the endpoint a sample of an event, in its format, marked as a test, once. Returns the delivery's id. Errors: 404, 403, 409, and 422
 * for an event that such an endpoint never gets.
 */
export async function sendTest(tx: Transaction, endpoint: Endpoint, wanted: string | undefined): Promise<number> {
  const server = await lockServer(tx, endpoint);
  checkOn(server);
  const audience = endpoint.kind === 'webhook' ? 'account' : 'bot';
  const known = eventsFor(audience);
  const subscribed = server instanceof Webhook ? server.subscriptions : server.events;
  const event = wanted ?? subscribed.find((name) => known.includes(name as EventName)) ?? known[0];
  if (!known.includes(event as EventName))
    throw invalid('/event', 'enum', `must be one of the events that it can get: ${known.join(', ')}`);
  const name = event as EventName;
  const body = sampleBody(name, audience, tx.account);
  const { format } = server;
  const formatted = format === 'default' ? null : sampleChatwootBody(name, tx.account);
  const id = await insertTest(tx.sql, tx.account.id, { endpoint, event: name, body, format, formatted });
  await sendSoon(tx, endpoint);
  return id;
}

// Behind an open circuit the next probe is due soon: somebody wants to know. Many requests make no more than one.
async function sendSoon(tx: Transaction, endpoint: Endpoint): Promise<void> {
  await hurryProbe(tx.sql, endpoint);
  tx.announce('committed', dueAt(endpoint, tx.account.id));
}

/**
 * Cancels all deliveries that wait for the endpoint, those that were asked for included; an attempt in progress is the last
 * of its delivery. Returns their number, 100,000 where there are more. Errors: 404, 403, 422.
 */
export async function cancelPending(tx: Transaction, endpoint: Endpoint): Promise<number> {
  await lockServer(tx, endpoint);
  const { pending } = await lookAtWaiting(tx.sql, tx.account.id, endpoint);
  await cancelBacklog(tx, endpoint, 'cancelled_on_request', personOf(tx.actor));
  return pending;
}

/**
 * Makes everything that is failing due at once, in order: what waits behind it follows. An open circuit tries at once. Returns
 * the number of failing deliveries, 100,000 where there are more. Errors: 404, 403, 409, 422.
 */
export async function retryNow(tx: Transaction, endpoint: Endpoint): Promise<number> {
  checkOn(await lockServer(tx, endpoint));
  const failing = await countFailing(tx.sql, tx.account.id, endpoint);
  await wakeBacklog(tx.sql, endpoint);
  await giveBackProbes(tx.sql, endpoint.kind, [endpoint.id]);
  tx.announce('committed', dueAt(endpoint, tx.account.id));
  return failing;
}

/** Stops sending to the endpoint until it is resumed; everything waits, and nothing ages. Errors: 404, 403, 422. */
export async function pause<Kind extends ServerKind>(
  tx: Transaction,
  endpoint: ServerId<Kind>,
): Promise<Servers[Kind]> {
  const server = await lockServer(tx, endpoint);
  if (!server.pausedAt) Object.assign(server, { pausedAt: tx.now, updatedAt: tx.now });
  await save(tx.sql, server);
  return server as Servers[Kind];
}

// Claims compare it with due times, which are the database's.
const noteResumption = {
  webhook: prepared('UPDATE webhooks SET resumed_at = now() WHERE id = $1'),
  bot: prepared('UPDATE agent_bots SET resumed_at = now() WHERE id = $1'),
};

/**
 * Goes on sending to the endpoint: what waited is due. Its circuit tries at once, and the time of the pause counts neither
 * for switching it off nor for giving up. Errors: 404, 403, 422.
 */
export async function resume<Kind extends ServerKind>(
  tx: Transaction,
  endpoint: ServerId<Kind>,
): Promise<Servers[Kind]> {
  const server = await lockServer(tx, endpoint);
  if (!server.pausedAt) return server as Servers[Kind];
  const pausedMs = Math.max(0, tx.now.getTime() - server.pausedAt.getTime());
  if (server.failingSince) server.failingSince = new Date(server.failingSince.getTime() + pausedMs);
  Object.assign(server, { pausedAt: null, updatedAt: tx.now });
  await save(tx.sql, server);
  await tx.sql(noteResumption[endpoint.kind], [endpoint.id]);
  await giveBackProbes(tx.sql, endpoint.kind, [endpoint.id]);
  tx.announce('committed', dueAt(endpoint, tx.account.id));
  return server as Servers[Kind];
}
