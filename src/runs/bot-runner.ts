import { holdForBot, presumeForBot } from '../domain/conversations/bots/loops.ts';
import { suspendBot } from '../domain/bots/suspension.ts';
import { countFailedRun, type Quarantine } from '../domain/bots/quarantine.ts';
import { writeStored } from '../domain/bots/storage.ts';
import { keepHealth } from '../domain/bots/health.ts';
import { keepGoodRun, keepRun } from '../domain/bots/run-records.ts';
import { afterRun, isBlamed, transientDelayMs } from '../deliveries/core/after-run.ts';
import type { Verdict } from '../deliveries/core/verdict.ts';
import { StaleDelivery } from '../deliveries/lanes/finish.ts';
import type { BotToRun, FoundWithBot } from '../records/bots/bot-to-run.ts';
import { isBrokenReference } from '../postgres/errors.ts';
import type { Conversation } from '../records/conversations/conversation.ts';
import { ApiError } from '../errors.ts';
import { system, transact, type Actor, type Transaction } from '../events/transaction.ts';
import { applyActions, isSuperseded, speaks } from './apply-actions.ts';
import { actorOf, endAfter, noteOfStop, noteOfUnfit, whyUnheard } from './conduct.ts';
import { settleAll } from './settle-all.ts';
import { tellQuarantine } from './quarantine-log.ts';
import { FileError } from './fetched-file.ts';
import { filesOfRun, type ReplyFiles } from './reply-files.ts';
import { recordOf, runBot, type BotEvent, type Run, type RunPorts } from './run.ts';
import { runPortsOf, type RunnerOptions } from './runner-options.ts';

/** The verdict on the event's delivery. */
export interface RunVerdict extends Pick<Verdict, 'state' | 'delayMs' | 'errorCode' | 'durationMs'> {
  /** The error message of the bot or the service, for the log. */
  detail?: string;
  /** Whether the bot forwards the event: the delivery goes on to its server, instead of ending. */
  forwards?: boolean;
  /** Milliseconds until the event is handled once more beside its lane, which goes on; absent where it is not. */
  againAfterMs?: number;
}

/**
 * Settles the delivery with the commit of the run's effects, which is refused when the delivery is no longer this
 * process's.
 */
export type Settle = (tx: Transaction, verdict: RunVerdict) => void;

/** An event for the bot of its conversation. */
export type EventInConversation = BotEvent & { event: { conversationId: number } };

/** An event whose delivery was claimed. */
interface ClaimedEvent extends EventInConversation {
  /** The conversation and the bot at the claim; null when either was gone. */
  found: FoundWithBot | null;
}

/** A run, and the conversation as it was when its event was claimed. */
interface RunOfFound extends Run {
  input: EventInConversation;
  found: FoundWithBot;
}

/** The verdict of a run; `effects` are under way. */
interface Conclusion {
  verdict: Omit<RunVerdict, 'durationMs'>;
  effects: readonly Promise<unknown>[];
}

/** The end of a run that has no effects. */
interface RunEnd {
  outcome: string;
  error: string;
}

/** The actor of a run's effects, and the number of messages that its bot is going to write. */
interface Doing {
  actor: Actor;
  speaking?: number;
}

/** Runs plugin bots on events: first in the sandbox; then all actions, or none, in one transaction. */
export class BotRunner {
  readonly #options: RunnerOptions;
  readonly #ports: RunPorts;

  constructor(options: RunnerOptions) {
    this.#options = options;
    this.#ports = runPortsOf(options);
  }

  /** Handles one event, and settles its delivery together with the run's effects. Throws what `settle` throws. */
  async handle(input: ClaimedEvent, settle: Settle): Promise<void> {
    const { event, found } = input;
    if (!found) return this.#cancel(input, settle, 'gone');
    const { bot, conversation } = found;
    const unheard = whyUnheard(conversation, bot.id, event.name);
    if (unheard !== null) return this.#cancel(input, settle, unheard);
    const note = noteOfUnfit(conversation.bot?.unfit ?? null, bot.name);
    if (note) return this.#passOver(input, bot, { ...note, settle });
    const run = { ...(await runBot(this.#ports, input, bot)), input, found };
    try {
      await this.#conclude(run, settle);
    } catch (error) {
      if (isBrokenReference(error) && (await this.#isGone(bot.id))) return this.#cancel(input, settle, 'gone');
      // A domain verb refused an action: the bot's fault.
      if (!(error instanceof ApiError)) throw error;
      await this.#fail(run, settle, { outcome: error.code, error: error.message });
    }
  }

  // Ignores runs of a deleted bot: deleting it does not wait for them.
  async #isGone(botId: number): Promise<boolean> {
    return (await this.#options.database.sql('SELECT FROM agent_bots WHERE id = $1', [botId])).length === 0;
  }

  #conclude(run: RunOfFound, settle: Settle): Promise<void> {
    const { input, result } = run;
    const step = afterRun(result.outcome, input.failures);
    const end = { outcome: result.outcome, error: result.error ?? '' };
    if (step === 'commit') return this.#commitWithFiles(run, settle);
    return step === 'retry' ? this.#retry(run, settle, end) : this.#fail(run, settle, end);
  }

  // The files are stored before the transaction, which waits for no other host.
  async #commitWithFiles(run: RunOfFound, settle: Settle): Promise<void> {
    const { input } = run;
    const files = await filesOfRun(run, this.#options.files);
    if (files instanceof FileError) {
      const end = { outcome: files.outcome, error: files.message };
      const isRetried = afterRun(files.outcome, input.failures) === 'retry';
      return isRetried ? this.#retry(run, settle, end) : this.#fail(run, settle, end);
    }
    try {
      await this.#commitEffects(run, files, settle);
    } finally {
      await this.#options.files?.discard(files, input.account.id);
    }
  }

  #commitEffects(run: RunOfFound, files: ReplyFiles, settle: Settle): Promise<void> {
    const { input, bot, result } = run;
    const doing = { actor: actorOf(bot, input.event.depth), speaking: result.actions.filter(speaks).length };
    return this.#commit(run, doing, settle, (tx, conversation) => {
      const stop = noteOfStop(conversation, bot);
      if (stop !== null) return dropEffects(tx, conversation, { run, note: stop });
      const superseded = isSuperseded(conversation, run);
      keepGoodRun(tx, recordOf(run, superseded ? 'superseded' : result.outcome));
      if (run.health !== undefined) keepHealth(tx, bot.id, run.health);
      return {
        verdict: {
          state: 'delivered',
          delayMs: 0,
          errorCode: superseded ? 'superseded' : null,
          forwards: run.forwards && !superseded,
        },
        effects: superseded ? [] : [applyEffects(tx, conversation.id, run, files)],
      };
    });
  }

  #retry(run: RunOfFound, settle: Settle, { outcome, error: detail }: RunEnd): Promise<void> {
    return this.#commit(run, { actor: system }, settle, (tx) => {
      keepRun(tx, { ...recordOf(run, outcome, detail === '' ? undefined : detail), handedOff: false });
      return { verdict: { state: 'pending', delayMs: transientDelayMs, errorCode: outcome, detail }, effects: [] };
    });
  }

  // The customer must not wait for a bot that cannot answer: hands off to agents, with a note of the reason.
  async #fail(run: RunOfFound, settle: Settle, { outcome, error }: RunEnd): Promise<void> {
    const { input, bot } = run;
    let quarantine: Quarantine | null = null;
    await this.#commit(run, { actor: system }, settle, (tx, conversation) => {
      keepRun(tx, recordOf(run, outcome, error));
      const blame = async (): Promise<void> => {
        quarantine = await countFailedRun(tx, bot.id, outcome);
      };
      return {
        verdict: { state: 'exhausted', delayMs: 0, errorCode: outcome, detail: error },
        effects: [suspendBot(tx, conversation.id, endAfter(outcome, bot)), ...(isBlamed(outcome) ? [blame()] : [])],
      };
    });
    if (quarantine) tellQuarantine(this.#options.log, { account: input.account.id, bot: bot.id, outcome }, quarantine);
  }

  // The bot became unfit after the delivery was made: hands off to agents at once.
  #passOver(
    input: EventInConversation,
    bot: BotToRun,
    { why, note, settle }: { why: string; note: string; settle: Settle },
  ): Promise<void> {
    return this.#transact(input, system, async (tx) => {
      await suspendBot(tx, input.event.conversationId, { botId: bot.id, silence: 'bot_failed', note });
      settle(tx, { state: 'cancelled', delayMs: 0, errorCode: why, durationMs: 0 });
    });
  }

  #cancel(input: BotEvent, settle: Settle, errorCode: string): Promise<void> {
    return this.#transact(input, system, async (tx) => {
      settle(tx, { state: 'cancelled', delayMs: 0, errorCode, durationMs: 0 });
    });
  }

  // Lock, record and verdict are sent with the commit of the effects, if the conversation is as it was at the claim.
  #commit(
    { input, found, result }: RunOfFound,
    { actor, speaking = 0 }: Doing,
    settle: Settle,
    conclude: (tx: Transaction, conversation: Conversation) => Conclusion,
  ): Promise<void> {
    return this.#transact(input, actor, async (tx) => {
      const { conversationId: id } = input.event;
      const held = () => (speaking > 0 ? holdForBot(tx, id) : tx.conversation(id));
      const conversation = tx.mayPresume ? presumeForBot(tx, found, speaking) : await held();
      // A conversation that was deleted meanwhile took its deliveries with it.
      if (!conversation) throw new StaleDelivery();
      const { verdict, effects } = conclude(tx, conversation);
      await settleAll(effects);
      settle(tx, { ...verdict, durationMs: result.wallMs });
    });
  }

  #transact(input: BotEvent, actor: Actor, work: (tx: Transaction) => Promise<void>): Promise<void> {
    return transact(this.#options.database, { account: input.account, actor }, work);
  }
}

async function applyEffects(
  tx: Transaction,
  conversationId: number,
  { result, writes }: Run,
  files: ReplyFiles,
): Promise<void> {
  await applyActions(tx, { conversationId, mayLeave: false }, result.actions, files);
  if (writes.length > 0) await writeStored(tx, writes);
}

// People get the conversation, as they would have without the run.
function dropEffects(
  tx: Transaction,
  { id }: Conversation,
  { run, note }: { run: RunOfFound; note: string },
): Conclusion {
  const errorCode = 'plugin_disabled';
  keepRun(tx, recordOf(run, errorCode, 'The plugin was disabled while the bot ran'));
  const ending = { botId: run.bot.id, silence: 'bot_failed', note } as const;
  return {
    verdict: { state: 'delivered', delayMs: 0, errorCode },
    effects: [suspendBot(tx.as(system), id, ending)],
  };
}
