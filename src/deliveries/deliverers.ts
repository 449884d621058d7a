import type { Database } from '../postgres/database.ts';
import { isForSpeakers, silenceOfBot } from '../domain/conversations/arbiter.ts';
import { countFailedRun, type Quarantine } from '../domain/bots/quarantine.ts';
import { suspendBot } from '../domain/bots/suspension.ts';
import { findAddress } from '../domain/endpoints/address.ts';
import { disableWebhook } from '../domain/webhooks.ts';
import type { Claimed } from './queue/claim.ts';
import type { EndpointKind } from './core/endpoint.ts';
import { isDefective, isHopeless, maxClaims } from './core/claims.ts';
import { deliverByHttp, ended, type DelivererPorts } from './deliver.ts';
import type { Attempted, Deliver } from './attempt.ts';
import { tellFailure } from './failure-log.ts';
import { finishDeliveries, type Finished } from './queue/finish.ts';
import type { DueEndpoint, SlotOutcome } from './core/slots.ts';
import { learning, type StandingOptions } from './endpoint-standing.ts';
import { findConversation } from '../records/conversation-rows.ts';
import { system, transact, type Transaction } from '../events/transaction.ts';
import { tellQuarantine, type BotRunner, type RunVerdict } from '../runs/bot-runner.ts';

export interface DelivererOptions extends DelivererPorts {
  database: Database;
  botRunner: BotRunner;
  holdAttempts: number;
  log: StandingOptions['log'];
  /** Told of what went wrong in keeping what an attempt says of its endpoint. */
  failed: (error: unknown) => void;
}

/** An attempt with what there is to tell of it; null when the delivery is somebody else's by now. */
interface Told extends Attempted {
  verdict: Pick<Finished, 'state' | 'status' | 'errorCode'> | null;
  detail: string | null;
}

type Attempt = (claimed: Claimed, standing: DueEndpoint) => Promise<Told>;

class StaleDelivery extends Error {}

function toWebhook(options: DelivererOptions): Attempt {
  return async (claimed) => {
    const { finished, outcome, step, detail } = await deliverByHttp(claimed, options);
    if (step?.step !== 'disable') {
      const next = await heedMove(options, claimed, finished);
      return { finished: next, outcome, verdict: next, detail };
    }
    // Lock order (queue/lock-order.ts): the webhook before the lane.
    const ending = await transact(options.database, { account: claimed.account, actor: system }, async (tx) => {
      const isGone = await disableWebhook(tx, claimed.endpoint, 'The receiver answered 410 Gone');
      const result: Finished = isGone ? finished : { ...finished, state: 'pending', delayMs: 0 };
      await finishDeliveries(tx.em, [result], options.holdAttempts);
      return result;
    });
    return { finished: null, outcome, verdict: ending, detail };
  };
}

// What failed at an address that is not the endpoint's any more is tried at once at the new one; without one it ends.
async function heedMove(
  { database }: DelivererOptions,
  { account, endpoint }: Claimed,
  finished: Finished,
): Promise<Finished> {
  if (finished.state === 'delivered' || finished.state === 'cancelled') return finished;
  // A look that fails must not cost the result.
  const address = await findAddress(database.em(), account.id, endpoint).catch(() => endpoint.url);
  if (address === endpoint.url) return finished;
  return address === null ? { ...finished, delayMs: 0 } : { ...finished, state: 'pending', delayMs: 0 };
}

// Somebody may have taken the conversation over since the event was written, or while a retry waited.
async function silenceNow(
  { database }: DelivererOptions,
  { account, event, endpoint }: Claimed,
): Promise<string | null> {
  if (event.conversationId === null || !isForSpeakers(event.name)) return null;
  const conversation = await findConversation(database.em(), account.id, event.conversationId);
  return conversation ? silenceOfBot(conversation, endpoint.id) : 'not_serving';
}

interface Ending {
  claimed: Claimed;
  finished: Finished;
  /** Tells people why they get the conversation. */
  note: string;
  /** What follows for the bot, in the same transaction. */
  judge?: (tx: Transaction) => Promise<void>;
}

/**
 * Ends the delivery of a bot that cannot answer, and gives the conversation to people; both or neither. False when
 * another process has taken the delivery over: it is for that one to judge the bot.
 */
async function giveToPeople(
  { database, holdAttempts }: DelivererOptions,
  { claimed, finished, note, judge }: Ending,
): Promise<boolean> {
  const { conversationId } = claimed.event;
  try {
    await transact(database, { account: claimed.account, actor: system }, async (tx) => {
      const suspension = { botId: claimed.endpoint.id, silence: 'bot_failed', note } as const;
      if (conversationId !== null) await suspendBot(tx, conversationId, suspension);
      await judge?.(tx);
      const written = await finishDeliveries(tx.em, [finished], holdAttempts);
      if (written.length === 0) throw new StaleDelivery();
    });
    return true;
  } catch (error) {
    if (!(error instanceof StaleDelivery)) throw error;
    return false;
  }
}

// Why a bot's server is not asked any more, and the note that tells people so.
function givenUp({ endpoint }: Claimed, { circuit }: DueEndpoint): { errorCode: string; note: string } | null {
  if (endpoint.disabledReason !== null) {
    return {
      errorCode: 'bot_disabled',
      note: `The bot is switched off: ${endpoint.disabledReason}. Please take over.`,
    };
  }
  if (circuit !== 'open') return null;
  return { errorCode: 'circuit_open', note: 'The bot has not answered anybody for a while. Please take over.' };
}

// A bot's server that cannot be reached must not leave its customer waiting.
function toBotServer(options: DelivererOptions): Attempt {
  return async (claimed, standing) => {
    const silence = await silenceNow(options, claimed);
    if (silence !== null) {
      return { finished: ended(claimed, 'cancelled', silence), outcome: 'skipped', verdict: null, detail: null };
    }
    const refusal = givenUp(claimed, standing);
    if (refusal) {
      const finished = ended(claimed, 'exhausted', refusal.errorCode);
      const isOurs = await giveToPeople(options, { claimed, finished, note: refusal.note });
      return { finished: null, outcome: 'skipped', verdict: isOurs ? finished : null, detail: null };
    }
    const { finished: made, outcome, detail } = await deliverByHttp(claimed, options);
    const finished = await heedMove(options, claimed, made);
    if (finished.state !== 'exhausted') return { finished, outcome, verdict: finished, detail };
    const note = `The bot could not be reached (${finished.errorCode ?? finished.status}). Please take over.`;
    const isOurs = await giveToPeople(options, { claimed, finished, note });
    return { finished: null, outcome, verdict: isOurs ? finished : null, detail };
  };
}

// A full queue is not the plugin's doing.
function outcomeOfRun({ state, errorCode }: RunVerdict): SlotOutcome {
  if (state === 'delivered') return 'delivered';
  return state === 'cancelled' || errorCode === 'queue_full' ? 'skipped' : 'failed';
}

function toPlugin({ botRunner, holdAttempts }: DelivererOptions): Attempt {
  return async (claimed: Claimed) => {
    const { deliveryId, laneId, token, account, event, endpoint, body, attempt, failures } = claimed;
    const { id, name, conversationId, depth } = event;
    if (conversationId === null) throw new Error('A bot hears only of conversations');
    const input = { account, botId: endpoint.id, event: { id, name, conversationId, depth }, body, attempt, failures };
    const told: Told = { finished: null, outcome: 'skipped', verdict: null, detail: null };
    await botRunner.handle(input, async (tx, verdict) => {
      const finished = { deliveryId, laneId, token, status: null, responseBody: null, ...verdict };
      const isOurs = (await finishDeliveries(tx.em, [finished], holdAttempts)).length > 0;
      told.outcome = isOurs ? outcomeOfRun(verdict) : 'skipped';
      told.verdict = isOurs ? finished : null;
      told.detail = verdict.detail ?? null;
      return isOurs;
    });
    return told;
  };
}

function endDefective(options: DelivererOptions): Attempt {
  return async (claimed) => {
    const finished = ended(claimed, 'exhausted', 'defect');
    const told = { outcome: 'skipped', verdict: finished, detail: `${maxClaims} attempts left no result` } as const;
    if (claimed.endpoint.kind !== 'bot' || isHopeless(claimed)) return { finished, ...told };
    const note = `The bot left no result ${maxClaims} times (defect). Please take over.`;
    const { account, endpoint } = claimed;
    let quarantine: Quarantine | null = null;
    // A bot inside the service that left no result has failed as well; that of a server is for its circuit to judge.
    const judge = async (tx: Transaction): Promise<void> => {
      if (endpoint.url === null) quarantine = await countFailedRun(tx, endpoint.id, 'defect');
    };
    const isOurs = await giveToPeople(options, { claimed, finished, note, judge });
    const failure = { account: account.id, bot: endpoint.id, outcome: 'defect' };
    if (isOurs && quarantine) tellQuarantine(options.log, failure, quarantine);
    return { finished: null, ...told, verdict: isOurs ? finished : null };
  };
}

/** How deliveries are made to each kind of endpoint. Each failure leaves a line in the log. */
export function createDeliverers(options: DelivererOptions): Record<EndpointKind, Deliver> {
  const byHttp = toBotServer(options);
  const byPlugin = toPlugin(options);
  const asDefective = endDefective(options);
  const told =
    (attempt: Attempt): Deliver =>
    async (claimed, standing) => {
      const make = isDefective(claimed) ? asDefective : attempt;
      const { finished, outcome, verdict, detail } = await make(claimed, standing);
      const hasFailed = verdict?.state === 'pending' || verdict?.state === 'exhausted';
      if (hasFailed) tellFailure(options.log, claimed, verdict, detail);
      return { finished, outcome };
    };
  const toServer = learning(options, told(byHttp));
  const toRunner = told(byPlugin);
  return {
    webhook: learning(options, told(toWebhook(options))),
    bot: (claimed, standing) => (claimed.endpoint.url === null ? toRunner : toServer)(claimed, standing),
  };
}
