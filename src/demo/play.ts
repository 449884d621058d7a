import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { demoEndpoint } from './endpoint.ts';
import { signatureHeaders } from '../deliveries/core/sign.ts';
import { OperatorError } from '../lib/operator-error.ts';
import { systemClock } from '../lib/ports.ts';
import type { CallService } from '../lib/service-client.ts';
import { unixSeconds } from '../lib/unix-time.ts';
import type { Shape } from '../schemas.ts';

/** The fields of an event that the demo prints. */
interface ToldEvent {
  event: string;
  status?: string;
  content?: string;
}

/** A webhook request that the demo's receiver got. */
interface Post {
  id: string;
  attempt: string;
  event: ToldEvent;
  signed: boolean;
}

const snoozeSeconds = 2;
const patienceMs = 20_000;

/** Plays a customer's story on the running service, with a webhook receiver, and prints it line by line. */
export async function demo(call: CallService): Promise<void> {
  const receiver = new DemoReceiver();
  try {
    await play(call, receiver);
  } finally {
    receiver.close();
  }
  const valid = receiver.posts.filter(({ signed }) => signed).length;
  say(`\nDone: ${receiver.posts.length} posts received, ${valid} of them with a valid signature.`);
}

/** A webhook receiver that answers the first request with an error on purpose and keeps all requests. */
class DemoReceiver {
  readonly posts: Post[] = [];
  secret = '';
  readonly #server: Server;

  constructor() {
    this.#server = createServer((request, response) => {
      void this.#receive(request, response);
    });
  }

  async #receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.#keep(request, await readText(request));
    response.statusCode = this.posts.length === 1 ? 500 : 200;
    response.end();
  }

  #keep(request: IncomingMessage, body: string): void {
    const post: Post = {
      id: String(request.headers['webhook-id']),
      attempt: String(request.headers['webhook-attempt']),
      event: JSON.parse(body) as ToldEvent,
      signed: isSigned(this.secret, request, body),
    };
    this.posts.push(post);
    const answer = this.posts.length === 1 ? '500, on purpose' : '200';
    const { event, status, content } = post.event;
    const what = content === undefined ? `${event}: now ${status}` : `${event}: "${content}"`;
    say(`   receiver  ← ${what}`);
    say(
      `               webhook-id ${post.id}, attempt ${post.attempt}, signature ${post.signed ? 'valid' : 'INVALID'}; answers ${answer}`,
    );
  }

  async listen(): Promise<string> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const { address, port } = demoEndpoint;
    this.#server.once('error', reject).listen(port, address, resolve);
    await promise.catch((error: Error) => {
      throw new OperatorError(`The demo cannot listen on ${address}:${port}: ${error.message}`);
    });
    return `http://${address}:${port}/demo`;
  }

  async posted(count: number): Promise<void> {
    await until(`${count} webhook posts`, () => this.posts.length >= count);
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}

async function readText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

function isSigned(secret: string, request: IncomingMessage, body: string): boolean {
  const header = (name: string) => String(request.headers[name]);
  const timestamp = new Date(Number(header('webhook-timestamp')) * 1000);
  const expected = signatureHeaders({ id: header('webhook-id'), timestamp, body, secrets: [secret] });
  return expected['webhook-signature'] === header('webhook-signature');
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

async function until(what: string, done: () => boolean | Promise<boolean>): Promise<void> {
  for (let waited = 0; !(await done()); waited += 50) {
    if (waited > patienceMs) throw new OperatorError(`The demo waited for ${what} in vain.`);
    await wait(50);
  }
}

async function play(call: CallService, receiver: DemoReceiver): Promise<void> {
  const { accounts } = await call<Shape<'resources/profile'>>('GET', '/api/v1/profile');
  const account = `/api/v1/accounts/${accounts[0]?.id}`;
  say('1. A webhook is registered');
  const subscriptions = ['message_created', 'conversation_status_changed'];
  const url = await receiver.listen();
  const webhook = await call<Shape<'resources/webhook-with-secret'>>('POST', `${account}/webhooks`, {
    url,
    subscriptions,
  });
  receiver.secret = webhook.secret;
  say(`   ${url} will hear ${subscriptions.join(' and ')}`);
  try {
    say('\n2. A customer appears in the demo inbox');
    const { payload: inboxes } = await call<Shape<'resources/inbox-list'>>('GET', `${account}/inboxes`);
    const contact = await call<Shape<'resources/contact'>>('POST', `${account}/contacts`, { name: 'Demo customer' });
    const body = { inbox_id: inboxes.find(({ name }) => name === 'Demo inbox')?.id, contact_id: contact.id };
    const conversation = await call<Shape<'resources/conversation'>>('POST', `${account}/conversations`, body);
    const bot = conversation.meta.agent_bot?.name ?? 'nobody';
    say(
      `   contact ${contact.id}, conversation ${conversation.id}: ${conversation.status}, served by the bot "${bot}"`,
    );
    const path = `${account}/conversations/${conversation.id}`;
    await playMessage(call, receiver, path);
    await playSnooze(call, receiver, path);
  } finally {
    await call('DELETE', `${account}/webhooks/${webhook.id}`);
  }
}

async function playMessage(call: CallService, receiver: DemoReceiver, conversation: string): Promise<void> {
  const question = 'What are your opening hours?';
  say(`\n3. The customer writes: "${question}"`);
  await call('POST', `${conversation}/messages`, { content: question, message_type: 'incoming' });
  let messages: Shape<'resources/message'>[] = [];
  await until("the bot's answer", async () => {
    ({ payload: messages } = await call<Shape<'resources/message-list'>>('GET', `${conversation}/messages`));
    return messages.some(({ sender }) => sender?.type === 'AgentBot');
  });
  const answer = messages.find(({ sender }) => sender?.type === 'AgentBot');
  say(`   bot       → "${answer?.content}" (${answer?.sender?.name}, in its sandbox)`);
  say('   The post that failed comes again after 5 s, and only then the next of this conversation:');
  await receiver.posted(3);
}

async function playSnooze(call: CallService, receiver: DemoReceiver, conversation: string): Promise<void> {
  say(`\n4. An agent snoozes the conversation for ${snoozeSeconds} s`);
  const { updated_at: now } = await call<Shape<'resources/conversation'>>('GET', conversation);
  const snoozedUntil = Math.max(now, unixSeconds(systemClock.now())) + snoozeSeconds;
  await call('POST', `${conversation}/toggle_status`, { status: 'snoozed', snoozed_until: snoozedUntil });
  await until('the end of the snooze', async () => {
    const { status } = await call<Shape<'resources/conversation'>>('GET', conversation);
    return status === 'open';
  });
  await receiver.posted(5);
  say('   The conversation is open again.');
}
