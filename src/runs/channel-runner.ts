import { markFailed, markSent } from '../domain/channels/outgoing.ts';
import { keepHealth } from '../domain/bots/health.ts';
import { countFailedRun, type Quarantine } from '../domain/bots/quarantine.ts';
import { keepGoodRun, keepRun } from '../domain/bots/run-records.ts';
import { writeStored } from '../domain/bots/storage.ts';
import { ApiError } from '../errors.ts';
import { isBlamed } from '../deliveries/core/after-run.ts';
import { retrySchedule } from '../deliveries/core/retry.ts';
import { continuesCode } from '../deliveries/core/verdict.ts';
import { StaleDelivery } from '../deliveries/lanes/finish.ts';
import { sendEvent } from '../events/send-event.ts';
import { system, transact, type Transaction } from '../events/transaction.ts';
import type { FreeBot } from '../records/bots/free-bot.ts';
import { findMessage } from '../records/messages/message.ts';
import { findOutgoing } from '../records/messages/outgoing.ts';
import { reasonOf } from './run-error.ts';
import type { Action } from '../sandbox/run.ts';
import type { RunVerdict, Settle } from './bot-runner.ts';
import { tellQuarantine } from './quarantine-log.ts';
import { recordOf, runBot, type BotEvent, type Run, type RunPorts } from './run.ts';
import { runPortsOf, type RunnerOptions } from './runner-options.ts';

/** A message to send, whose delivery was claimed. */
interface ClaimedMessage extends BotEvent {
  event: BotEvent['event'] & { conversationId: number };
  /** Null when the channel is gone. */
  found: FreeBot | null;
}

/** How an attempt to send a message ended. */
type SendEnd =
  | { type: 'sent'; externalId: string }
  | { type: 'refused'; reason: string }
  | { type: 'later'; reason: string; waitMs: number }
  /** A part was sent, and another run sends the rest. */
  | { type: 'continues'; waitMs: number }
  | { type: 'failed'; outcome: string; reason: string };

type Verdict = Omit<RunVerdict, 'durationMs'>;

const unfitDelayMs = 30_000;
/** Attempts on a message of which none has failed, at most; the longest message of all takes 6 on Telegram. */
const maxParts = 50;
const answeredWrongly: ReadonlySet<string> = new Set([
  'invalid_actions',
  'forbidden_action',
  'too_many_actions',
  'no_handler',
]);
const unanswered = 'The channel did not answer with the id of the message';
const lostAnswer = 'The mail server got the mail and did not confirm it: it may have arrived';

/**
 * Has channels send messages. A message is `sent` once the channel has answered with its id in the other system, and `failed` when
 * it refuses the message or the last attempt fails; the status, the record of the run and the end of the delivery commit together.
 */
export class ChannelRunner {
  readonly #options: RunnerOptions;
  readonly #ports: RunPorts;

  constructor(options: RunnerOptions) {
    this.#options = options;
    this.#ports = runPortsOf(options);
  }

  /** Sends a message, and settles its delivery. Throws what `settle` throws. */
  async send(input: ClaimedMessage, settle: Settle): Promise<void> {
    const { found, event, account } = input;
    if (!found) return this.#end(input, settle, 'gone');
    const messageId = Number((JSON.parse(input.body) as { id: string | number }).id);
    const place = { conversationId: event.conversationId, messageId };
    const outgoing = await findOutgoing(this.#options.database.sql, account.id, place);
    // It was deleted, or sent by an earlier delivery.
    if (outgoing?.message.status !== 'pending') return this.#end(input, settle, 'not_pending');
    if (found.unfit !== null) return this.#wait(input, settle, found.unfit);
    if (outgoing.sourceId === null) return this.#refuse(input, settle, messageId);
    const body = JSON.stringify(sendEvent(outgoing));
    const run = await runBot(this.#ports, { ...input, body, handler: 'send' }, found.bot);
    await this.#conclude(run, settle, messageId);
  }

  async #conclude(run: Run, settle: Settle, messageId: number): Promise<void> {
    const { input, bot, result } = run;
    const end = run.openMail === 'unknown' ? orUnanswered(endOf(result, input.attempt)) : endOf(result, input.attempt);
    let quarantine: Quarantine | null = null;
    await this.#commit(input, async (tx) => {
      const message = await this.#reach(tx, input, messageId);
      const verdict = verdictOf(end, input);
      if (isGood(end)) keepGoodRun(tx, recordOf(run, 'ok'));
      else keepRun(tx, { ...recordOf(run, outcomeOf(end), end.reason), handedOff: false });
      // However the run ended, what it had sent by then is not to be sent again.
      await this.#keepWrites(tx, run);
      if (end.type === 'failed' && isFault(end)) quarantine = await countFailedRun(tx, bot.id, end.outcome);
      if (message && end.type === 'sent') await markSent(tx, message, end.externalId);
      if (message && !isGood(end) && verdict.state === 'exhausted') await markFailed(tx, message, end.reason);
      keepHealthAfter(tx, run, end);
      settle(tx, { ...verdict, durationMs: result.wallMs });
    });
    const { id: account } = input.account;
    if (quarantine) tellQuarantine(this.#options.log, { account, bot: bot.id, outcome: outcomeOf(end) }, quarantine);
  }

  // Storage that is full by now must not undo that a message was sent.
  async #keepWrites(tx: Transaction, { input, bot, writes }: Run): Promise<void> {
    if (writes.length === 0) return;
    try {
      await tx.savepoint(() => writeStored(tx, writes));
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      this.#options.log.warn(
        { account: input.account.id, bot: bot.id, reason: error.message },
        'a channel could not store what it had sent',
      );
    }
  }

  async #reach(tx: Transaction, { event, account }: BotEvent, messageId: number) {
    const conversation = event.conversationId === null ? null : await tx.conversation(event.conversationId);
    // A conversation that was deleted meanwhile took its deliveries with it.
    if (!conversation) throw new StaleDelivery();
    const message = await findMessage(tx.sql, account.id, conversation.id, messageId);
    return message && { conversation, message };
  }

  #refuse(input: ClaimedMessage, settle: Settle, messageId: number): Promise<void> {
    const reason = 'The contact is not known in this channel: the customer has to write first';
    return this.#commit(input, async (tx) => {
      const reached = await this.#reach(tx, input, messageId);
      if (reached) await markFailed(tx, reached, reason);
      settle(tx, { state: 'exhausted', delayMs: 0, errorCode: 'no_address', detail: reason, durationMs: 0 });
    });
  }

  // The channel may be repaired, or its quarantine end: the message waits for it.
  #wait(input: ClaimedMessage, settle: Settle, errorCode: string): Promise<void> {
    return this.#commit(input, async (tx) => {
      settle(tx, { state: 'pending', delayMs: unfitDelayMs, errorCode, durationMs: 0 });
    });
  }

  #end(input: ClaimedMessage, settle: Settle, errorCode: string): Promise<void> {
    return this.#commit(input, async (tx) => {
      settle(tx, { state: 'cancelled', delayMs: 0, errorCode, durationMs: 0 });
    });
  }

  #commit(input: BotEvent, work: (tx: Transaction) => Promise<void>): Promise<void> {
    return transact(this.#options.database, { account: input.account, actor: system }, work);
  }
}

function endOf(result: Run['result'], attempt: number): SendEnd {
  if (result.outcome !== 'ok') return { type: 'failed', outcome: result.outcome, reason: reasonOf(result.error ?? '') };
  for (const action of result.actions) {
    if (action.type === 'sent') return { type: 'sent', externalId: action.external_id };
    if (action.type === 'refused') return { type: 'refused', reason: action.reason };
    if (action.type === 'later') return laterOf(action, attempt);
  }
  return { type: 'failed', outcome: 'invalid_actions', reason: unanswered };
}

// Sent again, the customer would have it twice.
function orUnanswered(end: SendEnd): SendEnd {
  return isGood(end) ? end : { type: 'refused', reason: lostAnswer };
}

// An error of the handler is most often a failure of the other system, which may be slow, too: no fault of the code.
function isFault({ outcome }: Extract<SendEnd, { type: 'failed' }>): boolean {
  return outcome !== 'threw' && outcome !== 'deadline' && isBlamed(outcome);
}

function laterOf({ reason, seconds = 0, progress }: Extract<Action, { type: 'later' }>, attempt: number): SendEnd {
  const waitMs = seconds * 1_000;
  return progress && attempt <= maxParts ? { type: 'continues', waitMs } : { type: 'later', reason, waitMs };
}

type GoodEnd = Extract<SendEnd, { type: 'sent' | 'continues' }>;

function isGood(end: SendEnd): end is GoodEnd {
  return end.type === 'sent' || end.type === 'continues';
}

function outcomeOf(end: SendEnd): string {
  if (end.type === 'failed') return end.outcome;
  return isGood(end) ? 'ok' : end.type;
}

/** Pure. `failures` are earlier attempts of the delivery that ended with a result. */
function verdictOf(end: SendEnd, { failures }: Pick<BotEvent, 'failures'>): Verdict {
  if (end.type === 'sent') return { state: 'delivered', delayMs: 0, errorCode: null };
  if (end.type === 'continues') return { state: 'pending', delayMs: end.waitMs, errorCode: continuesCode };
  const ended = { errorCode: outcomeOf(end), detail: end.reason };
  const scheduled = isFinal(end) ? undefined : retrySchedule.channel[failures];
  if (scheduled === undefined) return { state: 'exhausted', delayMs: 0, ...ended };
  return { state: 'pending', delayMs: end.type === 'later' ? Math.max(end.waitMs, scheduled) : scheduled, ...ended };
}

// Where `send` has returned, the customer may have the message: what it answered wrongly would be answered so again.
function isFinal(end: Exclude<SendEnd, GoodEnd>): boolean {
  return end.type === 'refused' || (end.type === 'failed' && answeredWrongly.has(end.outcome));
}

// A message that one customer's chat refuses says nothing of the channel, and neither does a full queue of the service.
function keepHealthAfter(tx: Transaction, { bot }: Pick<Run, 'bot'>, end: SendEnd): void {
  if (isGood(end)) keepHealth(tx, bot.id, null);
  if (end.type === 'failed' && isBlamed(end.outcome)) keepHealth(tx, bot.id, end.reason);
}
