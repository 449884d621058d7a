import { readStored, storedBytes, writeStored } from '../domain/bots/storage.ts';
import { suspendBot } from '../domain/bots/suspension.ts';
import { afterRun } from '../deliveries/core/after-run.ts';
import { ApiError } from '../errors.ts';
import { system } from '../events/transaction.ts';
import { systemRandom, type Random } from '../lib/ports.ts';
import type { BotToRun } from '../records/bots/bot-to-run.ts';
import { applyActions, isSuperseded } from '../runs/apply-actions.ts';
import { authorOf, endAfter, whyUnheard } from '../runs/conduct.ts';
import type { StorageReader } from '../runs/doors/storage.ts';
import { runBot, type Run, type RunPorts } from '../runs/run.ts';
import type { Sandbox } from '../sandbox/run.ts';
import type { SimulatedRun } from './api.ts';
import type { Script } from './script.ts';
import { filesOf } from './stage/files.ts';
import { sqlOf } from './stage/rows.ts';
import type { Stage, StageEvent } from './stage/stage.ts';

/** Parts of a simulation that a bot or an automation plays on. */
export interface PlayerOptions {
  stage: Stage;
  sandbox: Sandbox;
  bot: BotToRun;
  seed: number;
  /** Scripted answers of the doors of `ctx`, except the storage. */
  script: Pick<Script, 'send' | 'models' | 'knowledge' | 'tools'>;
  /** Finds the plugin, which a new version may replace. */
  plugins: RunPorts['plugins'];
  /** Opens a secret of the bot; by default its secrets are not sealed. */
  openSecret?: (sealed: string) => string;
  /** Called with every run, once its effects are applied. */
  told: (run: SimulatedRun) => void;
}

/** Calls the bot or the automation for the events of a stage, as the service does, and applies its actions there. */
export class Player {
  readonly #options: PlayerOptions;
  readonly #isAutomation: boolean;
  #runs = 0;

  constructor(options: PlayerOptions) {
    this.#options = options;
    this.#isAutomation = options.bot.part === 'automation';
  }

  /** Calls it for all waiting events, and for the events that follow from them. */
  async play(): Promise<void> {
    const { stage } = this.#options;
    for (let event = stage.takeEvent(); event; event = stage.takeEvent()) await this.#handle(event, 0);
  }

  async #handle(event: StageEvent, failures: number): Promise<void> {
    const { stage, bot } = this.#options;
    if (!this.#isAutomation && whyUnheard(stage.conversation, bot.id, event.name) !== null) return;
    const run = await this.#run(event, failures);
    const { outcome, error = '' } = run.result;
    const step = afterRun(outcome, failures);
    if (step === 'retry') return this.#handle(event, failures + 1);
    if (step === 'give up') return this.#fail(run, outcome, error);
    try {
      await this.#commit(run);
    } catch (refused) {
      // A domain verb refused an action: the bot's fault.
      if (!(refused instanceof ApiError)) throw refused;
      // People have the conversation: an automation is no bot of it that fails.
      if (this.#isAutomation && refused.code === 'bot_suppressed') return this.#tell(run, 'superseded', null);
      await this.#fail(run, refused.code, refused.message);
    }
  }

  #run(event: StageEvent, failures: number): Promise<Run> {
    const { stage, bot, sandbox, seed, plugins, script, openSecret = (secret: string) => secret } = this.#options;
    const { account } = stage.conversation;
    this.#runs += 1;
    const ports = {
      plugins,
      sandbox,
      clock: { now: () => stage.now },
      random: seeded(seed + this.#runs - 1),
      readMessages: (_: unknown, { limit, publicOnly }: { limit: number; publicOnly: boolean }) => {
        const readable = stage.messages.filter((message) => !publicOnly || !message.private);
        return Promise.resolve(readable.slice(-limit));
      },
      doors: {
        ...script,
        storage: storageOf(stage),
        replies: () => Promise.resolve(stage.replies),
        current: () => Promise.resolve({ conversation: stage.conversation, contact: stage.contact, isOpen: true }),
      },
      openSecret,
    };
    const { id, name, conversationId, depth, body } = event;
    const told = { id, name, conversationId, depth };
    return runBot(ports, { account, botId: bot.id, event: told, body, attempt: failures + 1, failures }, bot);
  }

  async #commit(run: Run): Promise<void> {
    const { stage, bot } = this.#options;
    const { actions } = run.result;
    const { conversationId, depth } = run.input.event;
    const superseded = !this.#isAutomation && isSuperseded(stage.conversation, run);
    if (!superseded) {
      const actor = authorOf({ bot, inboxIds: null }, depth);
      await stage.transact(actor, async (tx) => {
        const place = { conversationId, mayLeave: this.#isAutomation };
        await applyActions(tx, place, actions, filesOf(actions));
        await writeStored(tx, run.writes);
      });
    }
    this.#tell(run, superseded ? 'superseded' : run.result.outcome, null);
  }

  // Agents get the conversation of a bot, with a note that explains it: nobody waits for an automation.
  async #fail(run: Run, outcome: string, error: string): Promise<void> {
    const { stage, bot } = this.#options;
    if (!this.#isAutomation)
      await stage.transact(system, (tx) => suspendBot(tx, stage.conversation.id, endAfter(outcome, bot)));
    this.#tell(run, outcome, error);
  }

  #tell({ input, result }: Run, outcome: string, error: string | null): void {
    const { actions, logs, calls } = result;
    this.#options.told({
      event: input.event.name,
      outcome,
      error,
      actions: actions.map((action) => ({ ...action })),
      logs,
      calls,
    });
  }
}

function storageOf(stage: Stage): StorageReader {
  const sql = sqlOf(stage);
  return {
    read: (place, key, now) => readStored(sql, place, key, now),
    used: (place, now) => storedBytes(sql, place, now),
    maxBytes: Infinity,
  };
}

// The same seed gives the same run.
function seeded(seed: number): Random {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(seed >>> 0);
  return { ...systemRandom, bytes: () => bytes };
}
