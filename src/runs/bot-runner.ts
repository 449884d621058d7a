import type { Database } from '../postgres/database.ts';
import { isForSpeakers, silenceOfBot, quarantineNote } from '../domain/conversations/arbiter.ts';
import { suspendBot } from '../domain/bots/suspension.ts';
import { countFailedRun, countGoodRun, type Quarantine } from '../domain/bots/quarantine.ts';
import { recordRun, type BotRun } from '../domain/bots/run-records.ts';
import { AgentBot } from '../records/agent-bot.ts';
import { findConversation } from '../records/conversation-rows.ts';
import type { Conversation } from '../records/conversation.ts';
import { ApiError } from '../errors.ts';
import { system, transact, type Actor, type Transaction } from '../events/transaction.ts';
import type { Clock, Random } from '../lib/ports.ts';
import { applyActions, isPublic } from './apply-actions.ts';
import { validateConfig } from '../packages/manifest.ts';
import type { PluginPackage, Registry } from '../packages/registry.ts';
import type { RunResult, Sandbox } from '../sandbox/run.ts';
import type { SandboxLog } from '../sandbox/parent/pool.ts';

/** One event to be handled by a bot that runs inside the service. */
export interface BotEvent {
  account: { id: number; name: string };
  botId: number;
  event: { id: number; name: string; conversationId: number; depth: number };
  /** The event's body as JSON text. */
  body: string;
  attempt: number;
  /** Attempts before this one that ended with a result. */
  failures: number;
}

/** How the delivery of the event ended. `stale` undoes the run: somebody else has meanwhile taken the delivery over. */
export interface RunVerdict {
  state: 'pending' | 'delivered' | 'exhausted' | 'cancelled';
  delayMs: number;
  errorCode: string | null;
  /** What the bot's fault was, in its own or the service's words; for the log. */
  detail?: string;
  durationMs: number;
}

/** Writes the verdict in the transaction of the run's effects; false when the delivery is no longer ours. */
export type Settle = (tx: Transaction, verdict: RunVerdict) => Promise<boolean>;

export interface BotRunnerOptions {
  database: Database;
  registry: Registry;
  sandbox: Sandbox;
  clock: Clock;
  random: Random;
  /** Told of bots that are not called any more. */
  log: SandboxLog;
}

// Not the bot's fault, or not surely: worth another try before a person is called.
const transientOutcomes: ReadonlySet<string> = new Set(['crashed', 'queue_full']);
// Says nothing about the bot: a full service, or a customer who made it talk too much.
const blamelessOutcomes: ReadonlySet<string> = new Set(['queue_full', 'loop_suspected']);
const maxTransientAttempts = 3;
const transientDelayMs = 1000;

class StaleDelivery extends Error {}

interface Attempt {
  input: BotEvent;
  bot: AgentBot;
  pack: PluginPackage | null;
  config: Record<string, unknown>;
  seed: number;
  clock: Date;
  result: RunResult;
}

/** Logs that a quarantine begins, and the outcome that it begins with. */
export function tellQuarantine(
  log: SandboxLog,
  failure: { account: number; bot: number; outcome: string },
  { until }: Quarantine,
): void {
  const fields = { ...failure, until: until?.toISOString() ?? 'released' };
  log.warn(fields, 'this bot failed several times running and is not called for now');
}

function failed(outcome: RunResult['outcome'], error: string): RunResult {
  return { outcome, error, actions: [], logs: [], wallMs: 0 };
}

function runRecord(
  { input, bot, pack, config, seed, clock, result }: Attempt,
  outcome: string,
  error?: string,
): BotRun {
  return {
    botId: bot.id,
    conversationId: input.event.conversationId,
    eventId: input.event.id,
    attempt: input.attempt,
    pluginId: bot.pluginId ?? '',
    pluginVersion: pack?.manifest.version ?? '',
    bundleHash: pack?.bundle.hash ?? '',
    config,
    seed,
    clock,
    outcome,
    actions: result.actions,
    logs: result.logs,
    error: error ?? result.error ?? null,
    wallMs: result.wallMs,
  };
}

// A conversation that was deleted meanwhile took the delivery with it.
async function lock(tx: Transaction, conversationId: number): Promise<Conversation> {
  const conversation = await tx.conversation(conversationId);
  if (!conversation) throw new StaleDelivery();
  return conversation;
}

// A bot that was replaced does nothing at all any more; one that is silent may still write notes and set labels.
function silences(conversation: Conversation, { bot, result }: Attempt): boolean {
  const silence = silenceOfBot(conversation, bot.id);
  return silence === 'not_serving' || (silence !== null && result.actions.some(isPublic));
}

function actorOf(bot: AgentBot, depth: number): Actor {
  const { id, name, avatarUrl } = bot;
  return { kind: 'agent_bot', id, name, role: null, email: null, avatarUrl: avatarUrl ?? null, depth };
}

/** Runs bots on their events: in the sandbox first, then, in one transaction, all they decided or none of it. */
export class BotRunner {
  readonly #options: BotRunnerOptions;

  constructor(options: BotRunnerOptions) {
    this.#options = options;
  }

  /** Handles one event; `settle` writes the end of its delivery together with the effects. */
  async handle(input: BotEvent, settle: Settle): Promise<void> {
    const em = this.#options.database.em();
    const bot = await em.findOne(AgentBot, { id: input.botId });
    const conversation = await findConversation(em, input.account.id, input.event.conversationId);
    if (!bot || !conversation) return this.#cancel(input, settle, 'gone');
    const silence = silenceOfBot(conversation, bot.id);
    const unheard = silence === 'not_serving' || (silence !== null && isForSpeakers(input.event.name));
    if (unheard) return this.#cancel(input, settle, silence);
    if (conversation.bot?.unfit === 'bot_quarantined') return this.#passOver(input, bot, settle);
    const attempt = await this.#run(input, bot);
    try {
      await this.#settle(attempt, settle);
    } catch (error) {
      await this.#recover(attempt, settle, error);
    }
  }

  // What a verb refuses is the bot's fault; a delivery that somebody else has taken over is none.
  async #recover(attempt: Attempt, settle: Settle, error: unknown): Promise<void> {
    if (error instanceof StaleDelivery) return;
    if (!(error instanceof ApiError)) throw error;
    try {
      await this.#fail(attempt, settle, { outcome: error.code, error: error.message });
    } catch (later) {
      if (!(later instanceof StaleDelivery)) throw later;
    }
  }

  async #run(input: BotEvent, bot: AgentBot): Promise<Attempt> {
    const { registry, sandbox, clock, random } = this.#options;
    const pack = registry.get(bot.pluginId ?? '') ?? null;
    const seed = random.bytes(4).readUInt32BE();
    const now = clock.now();
    const base = { input, bot, pack, seed, clock: now };
    if (!pack) return { ...base, config: {}, result: failed('load_failed', `No plugin ${bot.pluginId} is installed`) };
    const { config, problems } = validateConfig(pack.manifest, bot.config);
    if (problems.length > 0)
      return { ...base, config, result: failed('load_failed', problems.map(({ message }) => message).join('; ')) };
    const { limits, permissions } = pack.manifest;
    const result = await sandbox.run({
      owner: { account: input.account.id, bot: bot.id },
      bundle: pack.bundle,
      event: JSON.parse(input.body) as unknown,
      handler: input.event.name,
      config,
      seed,
      now: now.getTime(),
      limits,
      permissions,
    });
    return { ...base, config, result };
  }

  async #settle(attempt: Attempt, settle: Settle): Promise<void> {
    const { input, result } = attempt;
    if (result.outcome !== 'ok' && result.outcome !== 'no_handler') {
      if (transientOutcomes.has(result.outcome) && input.failures + 1 < maxTransientAttempts) {
        return this.#retry(attempt, settle);
      }
      return this.#fail(attempt, settle, { outcome: result.outcome, error: result.error ?? '' });
    }
    await this.#commit(attempt, actorOf(attempt.bot, input.event.depth + 1), settle, async (tx) => {
      const { conversationId } = input.event;
      const superseded = silences(await lock(tx, conversationId), attempt);
      if (!superseded) await applyActions(tx, conversationId, result.actions);
      await recordRun(tx, runRecord(attempt, superseded ? 'superseded' : result.outcome));
      await countGoodRun(tx, attempt.bot.id);
      return { state: 'delivered', delayMs: 0, errorCode: superseded ? 'superseded' : null };
    });
  }

  #retry(attempt: Attempt, settle: Settle): Promise<void> {
    const { outcome } = attempt.result;
    return this.#commit(attempt, system, settle, async (tx) => {
      await lock(tx, attempt.input.event.conversationId);
      await recordRun(tx, runRecord(attempt, outcome));
      return { state: 'pending', delayMs: transientDelayMs, errorCode: outcome, detail: attempt.result.error ?? '' };
    });
  }

  // The customer never waits for a bot that cannot answer: people get the conversation, with a note that says why.
  async #fail(attempt: Attempt, settle: Settle, { outcome, error }: { outcome: string; error: string }): Promise<void> {
    const { input, bot } = attempt;
    let quarantine: Quarantine | null = null;
    await this.#commit(attempt, system, settle, async (tx) => {
      const { conversationId } = input.event;
      await lock(tx, conversationId);
      const silence = outcome === 'loop_suspected' ? 'loop_suspected' : 'bot_failed';
      const note = `The bot ${bot.name} could not answer (${outcome}). Please take over.`;
      await suspendBot(tx, conversationId, { botId: bot.id, silence, note });
      await recordRun(tx, runRecord(attempt, outcome, error));
      quarantine = blamelessOutcomes.has(outcome) ? null : await countFailedRun(tx, bot.id, outcome);
      return { state: 'exhausted', delayMs: 0, errorCode: outcome, detail: error };
    });
    if (quarantine) tellQuarantine(this.#options.log, { account: input.account.id, bot: bot.id, outcome }, quarantine);
  }

  // What waited for the bot since before its quarantine: people get the conversation at once.
  #passOver(input: BotEvent, bot: AgentBot, settle: Settle): Promise<void> {
    return this.#transact(input, system, async (tx) => {
      const note = quarantineNote(bot.name);
      await suspendBot(tx, input.event.conversationId, { botId: bot.id, silence: 'bot_failed', note });
      const written = await settle(tx, { state: 'cancelled', delayMs: 0, errorCode: 'bot_quarantined', durationMs: 0 });
      if (!written) throw new StaleDelivery();
    }).catch((error: unknown) => {
      if (!(error instanceof StaleDelivery)) throw error;
    });
  }

  #cancel(input: BotEvent, settle: Settle, errorCode: string): Promise<void> {
    return this.#transact(input, system, async (tx) => {
      await settle(tx, { state: 'cancelled', delayMs: 0, errorCode, durationMs: 0 });
    });
  }

  #commit(
    { input, result }: Attempt,
    actor: Actor,
    settle: Settle,
    work: (tx: Transaction) => Promise<Omit<RunVerdict, 'durationMs'>>,
  ): Promise<void> {
    return this.#transact(input, actor, async (tx) => {
      const verdict = await work(tx);
      if (!(await settle(tx, { ...verdict, durationMs: result.wallMs }))) throw new StaleDelivery();
    });
  }

  #transact(input: BotEvent, actor: Actor, work: (tx: Transaction) => Promise<void>): Promise<void> {
    return transact(this.#options.database, { account: input.account, actor }, work);
  }
}
