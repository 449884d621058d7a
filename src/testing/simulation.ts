import assert from 'node:assert';
import { assign } from '../domain/conversations/assignment/assignments.ts';
import { toggleStatus } from '../domain/conversations/lifecycle.ts';
import { send } from '../domain/conversations/send.ts';
import type { Actor } from '../events/transaction.ts';
import type { BotToRun } from '../records/bots/bot-to-run.ts';
import { choicesOf } from '../records/messages/rich-content.ts';
import type { SendRequest } from '../runs/doors/fetch.ts';
import type { InstalledPlugin } from '../runs/installed-plugins.ts';
import { hearingOf } from '../packages/manifest/heard-events.ts';
import type { Manifest } from '../packages/manifest/manifest.ts';
import type { ServingBot } from '../records/conversations/serving-bot.ts';
import type { Sandbox } from '../sandbox/run.ts';
import type {
  ConversationState,
  SentRequest,
  SimulateOptions,
  SimulatedHuman,
  SimulatedRun,
  Simulation,
} from './api.ts';
import { Player } from './player.ts';
import { awake } from './sandbox.ts';
import { Script } from './script.ts';
import { Stage, type Happening, type HearingAutomation } from './stage/stage.ts';
import { lineOf, linesOfRun } from './transcript.ts';

/** A plugin, where it runs, and the bot or automation with its settings. */
export interface Cast {
  plugin: () => InstalledPlugin;
  sandbox: Sandbox;
  bot: BotToRun;
  /** Sends requests in place of the script. */
  send?: SendRequest;
  /** Gets each line of the transcript as it arises. */
  told?: (line: string) => void;
}

/** Start of simulations: Monday, 5 January 2026, 10:00 UTC. */
export const defaultNow = '2026-01-05T10:00:00Z';
const human: Actor = {
  kind: 'user',
  id: 7,
  name: 'Agent 7',
  role: 'administrator',
  email: 'agent7@example.com',
  avatarUrl: null,
  depth: 0,
};

/** A conversation of one customer with one bot, or before one automation, in memory. */
export class SimulatedConversation implements Simulation {
  readonly human: SimulatedHuman;
  readonly #stage: Stage;
  readonly #player: Player;
  readonly #script: Script;
  readonly #told: (line: string) => void;
  readonly #lines: string[] = [];
  readonly #runs: SimulatedRun[] = [];
  readonly #kind: 'bot' | 'automation';
  #sinceMessage = 0;
  #hasBegun = false;

  constructor(cast: Cast, options: SimulateOptions) {
    const { plugin, sandbox, bot, told = () => undefined } = cast;
    const now = new Date(options.now ?? defaultNow);
    assert(!Number.isNaN(now.getTime()), `\`now\` is no time: ${String(options.now)}`);
    this.#told = told;
    this.#kind = bot.part === 'automation' ? 'automation' : 'bot';
    this.#stage = new Stage(
      listenerOf(plugin().manifest, bot),
      { ...(options.contact ? { contact: options.contact } : {}), now },
      (happening) => this.#note(happening),
    );
    const { seed = 1 } = options;
    this.#script = new Script(options);
    const { models, knowledge, tools } = this.#script;
    const script = { send: cast.send ?? this.#script.send, models, knowledge, tools };
    this.#player = new Player({
      stage: this.#stage,
      sandbox,
      bot,
      seed,
      plugins: { find: () => Promise.resolve(plugin()), refresh: () => Promise.resolve() },
      script,
      told: (run) => this.#keep(run),
    });
    this.human = {
      takesOver: () => this.#act(human, (tx, id) => assign(tx, id, { assigneeId: human.id })),
      says: (content) => this.#act(human, (tx, id) => send(tx, id, { type: 'outgoing', content })),
      resolves: () => this.#setStatus('resolved'),
      givesBack: async () => {
        await this.#act(human, (tx, id) => assign(tx, id, { assigneeId: null }));
        await this.#setStatus('pending');
      },
    };
  }

  get now(): Date {
    return this.#stage.now;
  }

  get conversation(): ConversationState {
    const { status, priority, labels, team, assignee, customAttributes, snoozedUntil, slaPolicyId, bot } =
      this.#stage.conversation;
    const { silence, contact } = this.#stage;
    return structuredClone({
      status,
      priority,
      labels,
      team,
      assignee,
      custom_attributes: customAttributes,
      snoozed_until: snoozedUntil,
      sla_policy_id: slaPolicyId,
      bot: bot && { id: bot.id, name: bot.name },
      muted: contact.blocked,
      silence,
    });
  }

  customer(content: string): Promise<void> {
    return this.#act(this.#stage.customer, (tx, id) => send(tx, id, { type: 'incoming', content }));
  }

  async chooses(choice: string): Promise<void> {
    const question = this.#stage.messages.findLast((message) => choicesOf(message).length > 0);
    assert(question, 'No message offers a choice');
    const offered = choicesOf(question);
    const chosen = offered.find(({ title, value }) => choice === title || choice === value);
    assert(chosen, `The message offers ${offered.map(({ title }) => title).join(', ')}, not ${choice}`);
    const contentAttributes = { in_reply_to: question.id, submitted_values: [chosen] };
    const words = { type: 'incoming', content: chosen.title, contentAttributes } as const;
    return this.#act(this.#stage.customer, (tx, id) => send(tx, id, words));
  }

  opensWidget(): Promise<void> {
    return this.#act(this.#stage.customer, () => Promise.resolve(this.#stage.visit()));
  }

  async advance(seconds: number): Promise<void> {
    assert(seconds >= 0, 'Time does not run backwards: `advance` takes a positive number of seconds');
    const end = new Date(this.now.getTime() + seconds * 1000);
    this.#begin();
    for (let due = this.#stage.nextDue(end); due; due = this.#stage.nextDue(end)) {
      if (due > this.now) this.#stage.now = due;
      await this.#stage.happen();
      await this.#play();
    }
    this.#stage.now = end;
  }

  expectReply(expected: string | RegExp): void {
    const fits = (reply: string) => (typeof expected === 'string' ? reply === expected : expected.test(reply));
    if (this.replies().some(fits)) return;
    this.#fail(
      expected,
      `The ${this.#kind} did not say ${typeof expected === 'string' ? JSON.stringify(expected) : String(expected)}`,
    );
  }

  expectSilence(): void {
    if (this.replies().length > 0) this.#fail('nothing', `The ${this.#kind} was to be silent`);
  }

  transcript(): string {
    return this.#lines.join('\n');
  }

  replies(): string[] {
    const spoken = this.#stage.messages.slice(this.#sinceMessage);
    return spoken
      .filter(({ sender, private: isNote }) => isOfPlugin(sender.kind) && !isNote)
      .map(({ content }) => content);
  }

  notes(): string[] {
    return this.#stage.messages.filter((message) => message.private).map(({ content }) => content);
  }

  runs(): readonly SimulatedRun[] {
    return this.#runs;
  }

  requests(): readonly SentRequest[] {
    return this.#script.requests;
  }

  #setStatus(status: 'resolved' | 'pending'): Promise<void> {
    return this.#act(human, (tx, id) => toggleStatus(tx, id, { status, snoozedUntil: null }));
  }

  /** Something happens, and the plugin does what follows. */
  async #act(
    actor: Actor,
    work: (tx: Parameters<Parameters<Stage['transact']>[1]>[0], id: number) => Promise<unknown>,
  ): Promise<void> {
    this.#begin();
    const { conversation } = this.#stage;
    await this.#stage.transact(actor, async (tx) => {
      // Bots do not hear it.
      if (!this.#hasBegun && this.#kind === 'automation') tx.record('conversation_created', { conversation });
      await work(tx, conversation.id);
    });
    this.#hasBegun = true;
    await this.#play();
  }

  async #play(): Promise<void> {
    await awake(() => this.#player.play());
    const [unexpected] = this.#script.takeUnexpected();
    if (unexpected === undefined) return;
    const message = `The ${this.#kind} asked for ${unexpected}, and the simulation has no answer to that.\nTranscript:\n${this.transcript()}`;
    throw new assert.AssertionError({ message });
  }

  #begin(): void {
    this.#sinceMessage = this.#stage.messages.length;
  }

  #note(happening: Happening): void {
    const line = lineOf(happening);
    if (line !== null) this.#write(line);
  }

  #keep(run: SimulatedRun): void {
    this.#runs.push(run);
    for (const line of linesOfRun(run)) this.#write(line);
  }

  #write(line: string): void {
    const text = `${this.now.toISOString().slice(0, 19).replace('T', ' ')}  ${line}`;
    this.#lines.push(text);
    this.#told(text);
  }

  #fail(expected: unknown, problem: string): never {
    const actual = this.replies();
    const said = actual.length === 0 ? 'it said nothing' : `it said ${JSON.stringify(actual)}`;
    const message = `${problem}: ${said}.\nTranscript:\n${this.transcript()}`;
    throw new assert.AssertionError({ message, expected, actual });
  }
}

function isOfPlugin(kind: string): boolean {
  return kind === 'agent_bot' || kind === 'automation';
}

function listenerOf(manifest: Manifest, { id, name, part }: BotToRun): ServingBot | HearingAutomation {
  const { events, ...hearing } = hearingOf(manifest);
  if (part === 'automation') return { kind: 'automation', id, events };
  return { id, name, chosenBy: 'inbox', kind: 'plugin', unfit: null, ...hearing, events: [...events] };
}
