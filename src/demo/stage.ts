import { setTimeout as wait } from 'node:timers/promises';
import { OperatorError } from '../lib/operator-error.ts';
import { systemRandom } from '../lib/ports.ts';
import { printable } from '../lib/text/printable.ts';
import { ServiceRefusal, type CallService } from '../lib/service-client.ts';
import type { Shape } from '../schemas.ts';
import { demoInboxes } from './furnish.ts';
import type { KeptPost, PlayMode } from './receiver.ts';
import type { PlayState } from './serve-play.ts';

export type Conversation = Shape<'resources/conversation'>;
export type Message = Shape<'resources/message'>;

const patienceMs = 30_000;
const lookMs = 150;

/** The running service as the demo uses it; at its end it removes everything that it has created. */
export class Stage {
  readonly call: CallService;
  /** The path of the account. */
  readonly account: string;
  /** The seat of the caller in the account. */
  readonly me: number;
  readonly inboxes: Readonly<Record<keyof typeof demoInboxes, number>>;
  /** The posts of the demo's own webhook so far. */
  readonly posts = new Map<number, KeptPost>();
  readonly #signal: AbortSignal;
  readonly #modeBefore: PlayMode;
  readonly #made: string[] = [];
  #hook: Shape<'resources/webhook'> | null = null;
  #since: number;

  private constructor(call: CallService, signal: AbortSignal, found: Found) {
    this.call = call;
    this.#signal = signal;
    this.account = `/api/v1/accounts/${found.accountId}`;
    this.me = found.me;
    this.inboxes = found.inboxes;
    this.#modeBefore = found.play.mode;
    const [after] = found.play.payload;
    this.#since = after?.id ?? 0;
  }

  /** Finds the demonstration data. Throws OperatorError, in one sentence, when the service runs without. */
  static async open(call: CallService, signal: AbortSignal): Promise<Stage> {
    return new Stage(call, signal, await find(call));
  }

  /** Creates a record below the account, which is deleted at the end. */
  async make<Reply extends { id: number }>(collection: string, body: object): Promise<Reply> {
    const made = await this.call<Reply>('POST', `${this.account}/${collection}`, body);
    this.#made.push(`${this.account}/${collection}/${made.id}`);
    return made;
  }

  /** Creates a webhook to the built-in receiver, and prints its posts as they arrive. */
  async openHook(subscriptions: readonly string[]): Promise<string> {
    const { url } = await this.call<PlayState>('GET', '/play/requests');
    const own = `${url}/demo-${systemRandom.uuid()}`;
    this.#hook = await this.make('webhooks', { url: own, name: 'npm run demo', subscriptions });
    return own;
  }

  async setMode(mode: PlayMode): Promise<void> {
    await this.call('PUT', '/play/mode', { mode });
  }

  /** A conversation of a new customer. */
  async begin(inbox: keyof typeof demoInboxes): Promise<Conversation> {
    const contact = await this.make<Shape<'resources/contact'>>('contacts', { name: 'Demo customer' });
    const body = { inbox_id: this.inboxes[inbox], contact_id: contact.id };
    return this.call<Conversation>('POST', `${this.account}/conversations`, body);
  }

  pathOf({ id }: Conversation): string {
    return `${this.account}/conversations/${id}`;
  }

  read(conversation: Conversation): Promise<Conversation> {
    return this.call<Conversation>('GET', this.pathOf(conversation));
  }

  /** The customer writes. */
  write(conversation: Conversation, content: string): Promise<Message> {
    say(`   customer  → "${content}"`);
    const body = { content, message_type: 'incoming' };
    return this.call<Message>('POST', `${this.pathOf(conversation)}/messages`, body);
  }

  /** Returns the bot's first public answer after a message. */
  async answerTo({ id, conversation_id: conversation }: Message): Promise<Message> {
    const path = `${this.account}/conversations/${conversation}/messages`;
    return this.until("the bot's answer", async () => {
      const { payload } = await this.call<Shape<'resources/message-list'>>('GET', path);
      const isAnswer = (message: Message) => message.id > id && message.sender?.type === 'AgentBot';
      return payload.find((message) => isAnswer(message) && !message.private);
    });
  }

  /** Waits until `look` returns a value, and prints the receiver's posts meanwhile. Throws OperatorError after the time limit. */
  async until<Value>(what: string, look: () => Promise<Value> | Value): Promise<Exclude<Value, false | undefined>> {
    for (let waited = 0; waited < patienceMs; waited += lookMs) {
      await this.#hear();
      const found = await look();
      if (found !== undefined && found !== false) return found as Exclude<Value, false | undefined>;
      await wait(lookMs, undefined, { signal: this.#signal });
    }
    throw new OperatorError(`The demo waited for ${what} in vain.`);
  }

  /** Waits until everything that happened has arrived at the demo's webhook. */
  async settle(): Promise<void> {
    const path = `${this.account}/webhooks/${this.#hook?.id}/deliveries?state=pending`;
    await this.until('the posts of the webhook', async () => {
      const { payload } = await this.call<Shape<'resources/delivery-list'>>('GET', path);
      return payload.length === 0;
    });
    await this.#hear();
  }

  /** Removes everything that the demo created. */
  async clear(): Promise<void> {
    await this.setMode(this.#modeBefore);
    for (const path of this.#made.toReversed()) await this.call('DELETE', path);
  }

  async #hear(): Promise<void> {
    const { payload } = await this.call<PlayState>('GET', `/play/requests?after=${this.#since}`);
    for (const post of payload.toReversed()) {
      // Reported later, together with its answer.
      if (post.status === null) return;
      this.#since = post.id;
      if (!this.#hook?.url.endsWith(post.path)) continue;
      this.posts.set(post.id, post);
      tell(post);
    }
  }
}

/** Prints lines; texts of others cannot change the terminal. */
export function say(line: string): void {
  for (const one of line.split('\n')) process.stdout.write(`${printable(one)}\n`);
}

function tell({ body, webhook_id: id, attempt, verified, status }: KeptPost): void {
  const { event, status: now, content } = JSON.parse(body) as { event: string; status?: string; content?: string };
  say(`   receiver  ← ${content === undefined ? `${event}: now ${now}` : `${event}: "${firstLine(content)}"`}`);
  const signature = verified ? 'valid' : 'INVALID';
  say(`               ${id}, attempt ${attempt}, signature ${signature}; answers ${status}`);
}

// And a sign where there are more.
function firstLine(text: string): string {
  const [first = '', ...more] = text.split('\n');
  return more.length > 0 ? `${first} …` : first;
}

interface Found {
  accountId: number;
  me: number;
  inboxes: Stage['inboxes'];
  play: PlayState;
}

async function find(call: CallService): Promise<Found> {
  const play = await call<PlayState>('GET', '/play/requests').catch((error: unknown) => {
    if (!(error instanceof ServiceRefusal) || error.status !== 404) throw error;
    throw new OperatorError(
      'This service runs without demonstration data, of which the demo needs the inboxes and the built-in receiver: start it with DEMO=true on an empty database, or without DATABASE_URL on a new DATA_DIR.',
    );
  });
  if (play.problem !== null) throw new OperatorError(`The built-in receiver gets no webhooks: ${play.problem}`);
  const { accounts } = await call<Shape<'resources/profile'>>('GET', '/api/v1/profile');
  const [account] = accounts;
  if (!account)
    throw new OperatorError('The holder of this token belongs to no account: give --token of an administrator.');
  const { payload } = await call<Shape<'resources/inbox-list'>>('GET', `/api/v1/accounts/${account.id}/inboxes`);
  const idOf = (name: string): number => payload.find((inbox) => inbox.name === name)?.id ?? missing(name);
  const inboxes = { faq: idOf(demoInboxes.faq), ai: idOf(demoInboxes.ai) };
  return { accountId: account.id, me: account.agent_id, inboxes, play };
}

function missing(name: string): never {
  throw new OperatorError(
    `The first account has no inbox “${name}” of the demonstration data, which only an empty database gets: start the service with a new DATA_DIR.`,
  );
}
