import { countFailedRun, type Quarantine } from '../domain/bots/quarantine.ts';
import { repeatFailedCheck } from '../domain/channels/checks.ts';
import { keepHealth } from '../domain/bots/health.ts';
import { keepGoodRun, keepRun } from '../domain/bots/run-records.ts';
import { writeStored } from '../domain/bots/storage.ts';
import { afterRun, isBlamed, transientDelayMs } from '../deliveries/core/after-run.ts';
import { retrySchedule } from '../deliveries/core/retry.ts';
import { maxCausationDepth } from '../deliveries/lanes/enqueue.ts';
import { StaleDelivery } from '../deliveries/lanes/finish.ts';
import { ApiError } from '../errors.ts';
import { isHookRequestKept, noteConversations } from '../domain/upkeep/hook-subjects.ts';
import type { Action } from '../sandbox/run.ts';
import { hasWaitedTooLong } from '../domain/hooks/patience.ts';
import { system, transact, type Actor, type Transaction } from '../events/transaction.ts';
import { HookFiles } from '../records/embedded-files.ts';
import type { FreeBot } from '../records/bots/free-bot.ts';
import type { ActingIn } from '../domain/conversations/of-place.ts';
import { findAwaited, giveUpAwaited } from '../domain/channels/awaited-files.ts';
import { applyActions } from './apply-actions.ts';
import { receive, UnknownMessage } from './channel-actions.ts';
import { incomingFiles, type IncomingFiles } from './incoming-files.ts';
import type { RunVerdict, Settle } from './bot-runner.ts';
import { awaitingVerdict } from './awaiting-verdict.ts';
import { authorOf } from './conduct.ts';
import { FileError } from './fetched-file.ts';
import { Pacer } from './pacer.ts';
import { tellQuarantine } from './quarantine-log.ts';
import { filesOfRun, type ReplyFiles } from './reply-files.ts';
import { broughtFromOutside } from './sandbox-outcomes.ts';
import { recordOf, refusedRun, runBot, type BotEvent, type Run, type RunPorts } from './run.ts';
import { runPortsOf, type RunnerOptions } from './runner-options.ts';

/** An event whose delivery was claimed. */
interface ClaimedEvent extends BotEvent {
  /** Null when the bot or the automation is gone. */
  found: FreeBot | null;
  /** Whether the delivery is made once more, in a lane of its own. */
  isRepeated: boolean;
}

interface FreeRun extends Run {
  input: ClaimedEvent;
  found: FreeBot;
}

type Verdict = Omit<RunVerdict, 'durationMs'>;

/**
 * Runs plugins that serve no conversation: automations, bots on events without a conversation, and channels on requests of their
 * hooks. Nobody waits for their answer: a run that fails hands nothing off. Its actions are applied in one transaction, all or none.
 */
export class FreeRunner {
  readonly #options: RunnerOptions;
  readonly #ports: RunPorts;
  readonly #pacer: Pacer;

  constructor(options: RunnerOptions) {
    this.#options = options;
    this.#ports = runPortsOf(options);
    this.#pacer = new Pacer(options.clock);
  }

  /** Handles one event, and settles its delivery together with the run's effects. Throws what `settle` throws. */
  async handle(input: ClaimedEvent, settle: Settle): Promise<void> {
    const { event, found } = input;
    if (!found) return this.#cancel(input, settle, 'gone');
    const { bot, unfit } = found;
    if (unfit !== null) return this.#passOver(input, settle, unfit);
    if (event.depth > maxCausationDepth) return this.#refuse(input, settle, found);
    const body = event.name === 'hook_received' ? await this.#readHook(input) : input.body;
    if (body === null) return this.#cancel(input, settle, 'gone');
    const author = { actor: authorOf(found, event.depth), acting: actingIn(found), requestId: requestIdOf(input) };
    const run = {
      ...(await runBot(this.#ports, { ...input, body, author }, bot)),
      input: { ...input, body, author },
      found,
    };
    try {
      await this.#conclude(run, settle);
    } catch (error) {
      if (error instanceof RequestErased) return this.#cancel(input, settle, 'gone');
      if (!(error instanceof ApiError)) throw error;
      // People have the conversation, perhaps since the run began.
      if (error.code === 'bot_suppressed') return this.#drop(run, settle);
      await this.#fail(run, settle, error.code, error.message);
    }
  }

  async #conclude(run: FreeRun, settle: Settle): Promise<void> {
    const { input, result } = run;
    const trouble = troubleOf(run);
    if (trouble) return this.#tryLater(run, settle, trouble);
    const step = afterRun(result.outcome, input.failures);
    if (step === 'retry') return this.#retry(run, settle, { outcome: result.outcome, detail: result.error ?? '' });
    if (step === 'give up') return this.#fail(run, settle, result.outcome, result.error ?? '');
    const { files: store } = this.#options;
    const incoming = incomingFiles(run, {
      openSecret: this.#options.openSecret,
      isLast: retrySchedule.channel[input.failures] === undefined,
      files: this.#hookFilesOf(input),
      known: await this.#knownFiles(run),
    });
    const files = await filesOfRun(run, store, incoming);
    if (files instanceof FileError) return this.#settleWithoutFiles(run, settle, files);
    try {
      await this.#commitEffects(run, settle, { files, incoming });
    } catch (error) {
      if (!(error instanceof UnknownMessage)) throw error;
      await this.#retry(run, settle, { outcome: 'unknown_message', detail: error.message });
    } finally {
      await store?.discard(files, input.account.id);
    }
  }

  // A message that is known already is brought in again for the files that it awaits alone.
  async #knownFiles({ input, found, result }: FreeRun): Promise<IncomingFiles['known']> {
    const [inboxId] = found.bot.part === 'channel' ? (found.inboxIds ?? []) : [];
    const ids = result.actions.flatMap((action) =>
      action.type === 'incoming' && action.attachments ? action.external_id : [],
    );
    if (inboxId === undefined) return new Map();
    const place = { accountId: input.account.id, inboxId, requestId: requestIdOf(input) };
    return findAwaited(this.#options.database.sql, place, ids);
  }

  #hookFilesOf(input: BotEvent): HookFiles | null {
    const requestId = requestIdOf(input);
    return requestId === null
      ? null
      : new HookFiles(this.#options.database.sql, { accountId: input.account.id, requestId });
  }

  #settleWithoutFiles(run: FreeRun, settle: Settle, { outcome, message: detail }: FileError): Promise<void> {
    const isRetried = afterRun(outcome, run.input.failures) === 'retry';
    return isRetried ? this.#retry(run, settle, { outcome, detail }) : this.#fail(run, settle, outcome, detail);
  }

  #commitEffects(
    run: FreeRun,
    settle: Settle,
    { files, incoming }: { files: ReplyFiles; incoming: IncomingFiles },
  ): Promise<void> {
    const { input, bot, found, result, writes } = run;
    return this.#commit(run, settle, authorOf(found, input.event.depth), async (tx) => {
      keepEnd(tx, run, incoming);
      if (run.health !== undefined) keepHealth(tx, bot.id, run.health);
      if (found.bot.part === 'channel') repeatFailedCheck(tx, bot.id);
      const [inboxId] = found.bot.part === 'channel' ? (found.inboxIds ?? []) : [];
      const isLastForReceipts = afterRun('unavailable', input.failures) !== 'retry';
      const requestId = requestIdOf(input);
      const received = { files, incoming, requestId, isLastForReceipts };
      const reached = inboxId === undefined ? [] : await receive(tx, result.actions, { inboxId, ...received });
      await applyActions(tx, { conversationId: input.event.conversationId, mayLeave: true }, result.actions, files);
      if (requestId !== null) await noteConversations(tx, requestId, [...conversationsIn(result.actions), ...reached]);
      // The run is repeated for its files, and has to find what this one found.
      if (incoming.awaited.size > 0) return awaitingVerdict(incoming, input);
      if (input.isRepeated && requestId !== null) await giveUpAwaited(tx, requestId, 'The channel names it no more');
      if (writes.length > 0) await writeStored(tx, writes);
      return { state: 'delivered', delayMs: 0, errorCode: null, forwards: run.forwards };
    });
  }

  #drop(run: FreeRun, settle: Settle): Promise<void> {
    return this.#commit(run, settle, system, async (tx) => {
      keepGoodRun(tx, recordOf(run, 'superseded'));
      return { state: 'delivered', delayMs: 0, errorCode: 'superseded' };
    });
  }

  // Nobody sends again what another system has sent: unless the plugin would answer the same, it is tried for as long as a message that is to be sent.
  #tryLater(run: FreeRun, settle: Settle, { outcome, detail, waitMs }: Trouble): Promise<void> {
    const scheduled = hopeless.has(outcome) ? undefined : retrySchedule.channel[run.input.failures];
    if (scheduled === undefined) return this.#fail(run, settle, outcome, detail);
    return this.#retry(run, settle, { outcome, detail, delayMs: Math.max(scheduled, waitMs) });
  }

  #retry(
    run: FreeRun,
    settle: Settle,
    { outcome, detail, delayMs = transientDelayMs }: { outcome: string; detail: string; delayMs?: number },
  ): Promise<void> {
    return this.#commit(run, settle, system, async (tx) => {
      keepRun(tx, { ...recordOf(run, outcome, detail === '' ? undefined : detail), handedOff: false });
      return { state: 'pending', delayMs, errorCode: outcome, detail };
    });
  }

  async #fail(run: FreeRun, settle: Settle, outcome: string, detail: string): Promise<void> {
    const { input, bot } = run;
    let quarantine: Quarantine | null = null;
    await this.#commit(run, settle, system, async (tx) => {
      keepRun(tx, { ...recordOf(run, outcome, detail), handedOff: false });
      const requestId = requestIdOf(input);
      if (run.found.bot.part === 'channel' && requestId !== null) await giveUpAwaited(tx, requestId, detail);
      const isInnocent = run.found.bot.part === 'channel' && broughtFromOutside.has(outcome);
      if (isBlamed(outcome) && !isInnocent) quarantine = await countFailedRun(tx, bot.id, outcome);
      return { state: 'exhausted', delayMs: 0, errorCode: outcome, detail };
    });
    if (quarantine) tellQuarantine(this.#options.log, { account: input.account.id, bot: bot.id, outcome }, quarantine);
  }

  // Ends loops in which automations react to what automations and bots have caused.
  #refuse(input: ClaimedEvent, settle: Settle, found: FreeBot): Promise<void> {
    const sentence = `The event was caused by automations and bots, ${input.event.depth} in a row`;
    const run = { ...refusedRun(this.#ports, input, found.bot), input, found };
    return this.#commit(run, settle, system, async (tx) => {
      keepRun(tx, { ...recordOf(run, 'causation_depth', sentence), handedOff: false });
      return { state: 'cancelled', delayMs: 0, errorCode: 'causation_depth' };
    });
  }

  async #readHook({ account, body }: ClaimedEvent): Promise<string | null> {
    const event = await this.#ports.readHook?.(account.id, JSON.parse(body) as Record<string, unknown>);
    return event ? JSON.stringify(event) : null;
  }

  // Senders of hooks do not send again: what they sent waits, since the plugin may be repaired, or its quarantine end.
  #passOver(input: ClaimedEvent, settle: Settle, errorCode: string): Promise<void> {
    const requestId = requestIdOf(input);
    if (requestId === null) return this.#cancel(input, settle, errorCode);
    return this.#transact(input, system, async (tx) => {
      const state = (await hasWaitedTooLong(tx, requestId)) ? 'exhausted' : 'pending';
      if (state === 'exhausted') await giveUpAwaited(tx, requestId, `The channel could not run (${errorCode})`);
      settle(tx, { state, delayMs: this.#pacer.delayMs(input.botId), errorCode, durationMs: 0 });
    });
  }

  #cancel(input: ClaimedEvent, settle: Settle, errorCode: string): Promise<void> {
    const requestId = requestIdOf(input);
    return this.#transact(input, system, async (tx) => {
      if (requestId !== null) await giveUpAwaited(tx, requestId, 'The request that brought it is gone');
      settle(tx, { state: 'cancelled', delayMs: 0, errorCode, durationMs: 0 });
    });
  }

  #commit(
    { input, result }: FreeRun,
    settle: Settle,
    actor: Actor,
    work: (tx: Transaction) => Promise<Verdict>,
  ): Promise<void> {
    const { conversationId } = input.event;
    const requestId = requestIdOf(input);
    return this.#transact(input, actor, async (tx) => {
      // A conversation that was deleted meanwhile took its deliveries with it.
      if (conversationId !== null && !(await tx.conversation(conversationId))) throw new StaleDelivery();
      const verdict = await work(tx);
      // Recorded, it would stay behind what was erased during the run.
      if (requestId !== null && !(await isHookRequestKept(tx, requestId))) throw new RequestErased();
      settle(tx, { ...verdict, durationMs: result.wallMs });
    });
  }

  #transact(input: BotEvent, actor: Actor, work: (tx: Transaction) => Promise<void>): Promise<void> {
    return transact(this.#options.database, { account: input.account, actor }, work);
  }
}

function keepEnd(tx: Transaction, run: FreeRun, { awaited, trouble }: IncomingFiles): void {
  if (awaited.size === 0) return keepGoodRun(tx, recordOf(run, run.result.outcome));
  keepRun(tx, { ...recordOf(run, 'attachment_unavailable', trouble ?? undefined), handedOff: false });
}

/** Outcomes that would be the same again. */
const hopeless: ReadonlySet<string> = new Set(['invalid_actions', 'forbidden_action', 'too_many_actions']);

/** A request of a hook was erased while its run was under way. */
class RequestErased extends Error {}

function requestIdOf({ event, body }: BotEvent): number | null {
  return event.name === 'hook_received' ? (JSON.parse(body) as { request_id: number }).request_id : null;
}

function conversationsIn(actions: readonly Action[]): number[] {
  return actions.flatMap((action) => (action as { conversation_id?: number }).conversation_id ?? []);
}

/** Why a request of a hook of a channel could not be handled now. */
interface Trouble {
  outcome: string;
  detail: string;
  waitMs: number;
}

function troubleOf({ found, result }: FreeRun): Trouble | null {
  if (found.bot.part !== 'channel' || result.outcome === 'no_handler') return null;
  const later = result.actions.find((action) => action.type === 'later');
  if (later) return { outcome: 'later', detail: later.reason, waitMs: (later.seconds ?? 0) * 1_000 };
  return result.outcome === 'ok' ? null : { outcome: result.outcome, detail: result.error ?? '', waitMs: 0 };
}

function actingIn({ bot, inboxIds }: FreeBot): ActingIn {
  return bot.part === 'bot' ? { botId: bot.id } : { inboxIds };
}
