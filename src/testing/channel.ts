import assert from 'node:assert';
import type { StoragePlace, StorageWrite } from '../domain/bots/storage.ts';
import { systemRandom } from '../lib/ports.ts';
import type { BotToRun } from '../records/bots/bot-to-run.ts';
import type { InstalledPlugin } from '../runs/installed-plugins.ts';
import { runBot, type RunPorts } from '../runs/run.ts';
import type { Sandbox } from '../sandbox/run.ts';
import type {
  JsonObject,
  SentRequest,
  SimulatedChannel,
  SimulatedMessage,
  SimulatedRequest,
  SimulateOptions,
} from './api.ts';
import { awake } from './sandbox.ts';
import { Script } from './script.ts';
import { defaultNow } from './simulation.ts';

/** A channel, and where it runs. */
interface Cast {
  pack: InstalledPlugin;
  sandbox: Sandbox;
  bot: BotToRun;
}

const account = { id: 1, name: 'Account' };
const conversationId = 1;
const customer = { id: 1, name: 'Customer', email: null, phone_number: null, identifier: null };

/** Calls a channel as the service does, and keeps what it stores. */
export class ChannelOnStage implements SimulatedChannel {
  readonly #cast: Cast;
  readonly #script: Script;
  readonly #ports: RunPorts;
  readonly #stored = new Map<string, string>();
  #events = 0;

  constructor(cast: Cast, options: SimulateOptions) {
    this.#cast = cast;
    this.#script = new Script(options);
    const now = new Date(options.now ?? defaultNow);
    this.#ports = {
      plugins: { find: () => Promise.resolve(cast.pack), refresh: () => Promise.resolve() },
      sandbox: cast.sandbox,
      clock: { now: () => now },
      random: systemRandom,
      doors: {
        send: this.#script.send,
        storage: {
          read: (place, key) => Promise.resolve(this.#stored.get(nameOf(place, key)) ?? null),
          used: () => Promise.resolve({ place: 0, total: 0 }),
          maxBytes: Infinity,
        },
      },
      openSecret: (secret) => secret,
    };
  }

  receives({ name, json, form, text, headers = {} }: SimulatedRequest): Promise<readonly JsonObject[]> {
    const [first = ''] = Object.keys(this.#cast.pack.manifest.hooks);
    const body = json === undefined ? (text ?? new URLSearchParams(form).toString()) : JSON.stringify(json);
    const received = { received_at: Math.floor(this.#ports.clock.now().getTime() / 1_000) };
    const hook = { name: name ?? first, id: this.#events + 1, headers, text: body, form: form ?? null, ...received };
    return this.#call('hook_received', { hook: { ...hook, is_json: json !== undefined } }, null);
  }

  async sends({ content, source_id: source = 'customer-1', ...rest }: SimulatedMessage): Promise<JsonObject> {
    const id = this.#events + 1;
    const message = {
      id,
      content,
      content_type: 'text',
      content_attributes: {},
      attachments: [],
      source_id: source,
      conversation_id: conversationId,
      sender: { id: 7, name: 'Agent 7', type: 'user' },
      ...rest,
    };
    const [end] = await this.#call('send', { id, message, contact: customer, account }, conversationId);
    assert(end, '`send` answered without `external_id`');
    return end;
  }

  requests(): readonly SentRequest[] {
    return this.#script.requests;
  }

  async #call(handler: string, fields: object, conversation: number | null): Promise<readonly JsonObject[]> {
    this.#events += 1;
    const { bot } = this.#cast;
    const event = { id: this.#events, name: handler, conversationId: conversation, depth: 0 };
    const body = JSON.stringify({ event: handler, ...fields });
    const input = { account, botId: bot.id, event, body, attempt: 1, failures: 0 };
    const { result, writes } = await awake(() => runBot(this.#ports, input, bot));
    const unexpected = this.#script.takeUnexpected();
    assert(unexpected.length === 0, `The test has no answer to ${unexpected.join(', ')}`);
    // Stored values stay however the run ended, as in the service.
    for (const write of writes) this.#write(write);
    assert(result.outcome === 'ok', `${result.outcome}: ${result.error ?? ''}`);
    return result.actions.map((action) => ({ ...action }));
  }

  #write(write: StorageWrite): void {
    const name = nameOf(write.place, write.key);
    if (write.kind === 'delete') this.#stored.delete(name);
    else if (write.kind === 'set') this.#stored.set(name, write.json);
    else this.#stored.set(name, String(Number(this.#stored.get(name) ?? 0) + write.by));
  }
}

function nameOf({ conversationId: conversation, contactId }: StoragePlace, key: string): string {
  return JSON.stringify([conversation, contactId, key]);
}
