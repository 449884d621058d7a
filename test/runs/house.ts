import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TestApp, type TestAppOptions } from '../support/app.ts';
import { openConversation } from '../faults/plugins.ts';
import { writePackage } from '../support/packages.ts';

/** A bot of a test: bodies of its handlers by event, which get `ctx`, and its permissions; `top` runs when it is loaded. */
export interface TestBot {
  on: Readonly<Record<string, string>>;
  /** The events of the manifest, where they are not those of the handlers. */
  events?: readonly string[];
  permissions?: object;
  hooks?: object;
  config?: object;
  limits?: object;
  top?: string;
}

/** A run as it is recorded. */
export interface RunRow {
  outcome: string;
  error: string | null;
  error_stack: string | null;
  calls: { name: string; input: unknown; output?: unknown; error?: { code: string; message: string } }[];
  actions: Record<string, unknown>[];
  logs: { level: string; message: string; fields?: object }[];
  config: Record<string, unknown>;
}

const shippedPlugins = join(import.meta.dirname, '../../plugins');

/** A service with bots of its own, and with packages of plugins/ where they are asked for, each created over HTTP and serving an inbox. */
export class BotHouse {
  readonly app: TestApp;
  readonly #root: string;
  readonly #inboxes: ReadonlyMap<string, number>;
  readonly #bots: ReadonlyMap<string, number>;

  private constructor(app: TestApp, root: string, made: { inboxes: Map<string, number>; bots: Map<string, number> }) {
    this.app = app;
    this.#root = root;
    this.#inboxes = made.inboxes;
    this.#bots = made.bots;
  }

  static async open(
    bots: Readonly<Record<string, TestBot>>,
    options: TestAppOptions & { bodies?: Readonly<Record<string, object>>; shipped?: readonly string[] } = {},
  ): Promise<BotHouse> {
    const root = mkdtempSync(join(tmpdir(), 'switchboard-house-'));
    for (const [id, bot] of Object.entries(bots)) writeBot(join(root, 'bots', id), id, bot);
    for (const id of options.shipped ?? [])
      cpSync(join(shippedPlugins, id), join(root, 'plugins', id), { recursive: true });
    const app = await TestApp.start({ ...options, pluginRoot: root });
    const made = { inboxes: new Map<string, number>(), bots: new Map<string, number>() };
    for (const id of Object.keys(bots)) {
      const body = { name: id, kind: 'plugin', plugin_id: id, ...options.bodies?.[id] };
      const bot = await app.post('agent_bots', body);
      if (bot.status !== 201) throw new Error(JSON.stringify(bot.body));
      const inbox = await app.post('inboxes', { name: id, channel: { type: 'api' } });
      if (inbox.status !== 201) throw new Error(JSON.stringify(inbox.body));
      await app.post(`inboxes/${inbox.body.id}/set_agent_bot`, { agent_bot: bot.body.id });
      made.bots.set(id, bot.body.id as number);
      made.inboxes.set(id, inbox.body.id as number);
    }
    return new BotHouse(app, root, made);
  }

  /** Every run that the bots have made is repeated first, from its record: it ends as it did. */
  async close(): Promise<void> {
    try {
      await this.#replayAll();
    } finally {
      await this.app.stop();
      rmSync(this.#root, { recursive: true });
    }
  }

  async #replayAll(): Promise<void> {
    const runs = await this.app.query<{ id: number; account_id: number; outcome: string }>(
      `SELECT id, account_id, outcome FROM bot_runs WHERE bundle_hash <> '' AND erased_at IS NULL AND outcome NOT IN ('crashed', 'queue_full') ORDER BY id LIMIT 500`,
    );
    for (const { id, account_id: account, outcome } of runs) {
      const replay = async () => (await this.app.post(`/api/v1/accounts/${account}/runs/${id}/replay`)).body;
      let body = await replay();
      // A busy machine may end a repetition by its time.
      for (let more = 0; more < 5 && !body.identical; more += 1) body = await replay();
      if (!body.identical) throw new Error(`The run ${id}, ${outcome}, cannot be replayed: ${JSON.stringify(body)}`);
    }
  }

  botOf(id: string): number {
    return this.#bots.get(id) ?? 0;
  }

  inboxOf(id: string): number {
    return this.#inboxes.get(id) ?? 0;
  }

  /** Opens a conversation that the bot serves. */
  conversation(id: string): Promise<number> {
    return openConversation(this.app, this.inboxOf(id));
  }

  /** The customer writes; nobody waits for the bot. */
  async say(conversation: number, content = 'Hello'): Promise<void> {
    const { status, body } = await this.app.post(`conversations/${conversation}/messages`, {
      content,
      message_type: 'incoming',
    });
    if (status !== 200 && status !== 201) throw new Error(JSON.stringify(body));
  }

  /** The customer writes; the bot's run as it is recorded. */
  async ask(conversation: number, content = 'Hello'): Promise<RunRow> {
    const before = (await this.runs(conversation)).length;
    await this.say(conversation, content);
    return this.runAfter(conversation, before);
  }

  /** The run after so many. */
  async runAfter(conversation: number, count: number): Promise<RunRow> {
    let run: RunRow | undefined;
    await this.app.eventually(async () => {
      run = (await this.runs(conversation))[count];
      return run !== undefined;
    });
    if (!run) throw new Error('There was no run');
    return run;
  }

  runs(conversation: number): Promise<RunRow[]> {
    return this.app.query<RunRow & Record<string, unknown>>(
      'SELECT outcome, error, error_stack, calls, actions, logs, config FROM bot_runs WHERE conversation_id = $1 ORDER BY id',
      [conversation],
    );
  }

  /** A new conversation with the bot, one message of the customer, and the run. */
  async askAnew(id: string, content?: string): Promise<{ conversation: number; run: RunRow }> {
    const conversation = await this.conversation(id);
    return { conversation, run: await this.ask(conversation, content) };
  }
}

function writeBot(
  folder: string,
  id: string,
  { on, events = Object.keys(on), top = '', permissions = {}, ...more }: TestBot,
): void {
  const handlers = Object.entries(on).map(([event, body]) => `async ${event}(ctx) { ${body}\n }`);
  const code = `import { defineBot } from 'switchboard/bot';\n${top}\nexport default defineBot({ on: { ${handlers.join(',')} } });`;
  writePackage(folder, { id, events, permissions, ...more }, code);
}
