import type { ServerResponse } from 'node:http';
import { expect } from 'chai';
import { TestApp, type TestAppOptions } from './app.ts';
import { Receiver, type Received } from './receiver.ts';

// Typed `any`: replies are checked against their schemas when they are sent.
// oxlint-disable-next-line typescript/no-explicit-any
export type Body = any;

/** An endpoint whose deliveries are looked at: a webhook by its record. */
interface Hook {
  id: number;
}

/** Answers as a receiver that is broken. */
export function fail(_: Received, response: ServerResponse): void {
  response.writeHead(500).end('broken');
}

/** What tests of deliveries do again and again: with one service for the file, and a new receiver for each test. */
export class Sending {
  #app: TestApp | null = null;
  #inbox = 0;
  #receiver: Receiver | null = null;
  readonly #receivers: Receiver[] = [];

  /** Has mocha start the service before the tests of the file, and a receiver before each; they end with the file. */
  static use(options: TestAppOptions = {}): Sending {
    const sending = new Sending();
    before(async function () {
      this.timeout(60_000);
      await sending.#start(options);
    });
    beforeEach(() => sending.#startReceiver());
    // Webhooks of earlier tests would fail for the later ones.
    afterEach(() => sending.#deleteWebhooks());
    after(() => sending.#stop());
    return sending;
  }

  get app(): TestApp {
    if (!this.#app) throw new Error('The service is started before the first test');
    return this.#app;
  }

  /** The receiver of this test. */
  get receiver(): Receiver {
    if (!this.#receiver) throw new Error('A receiver is started before each test');
    return this.#receiver;
  }

  /** What the messages said that the receiver got. */
  get contents(): unknown[] {
    return this.receiver.received.map(({ body }) => body['content']);
  }

  async #start(options: TestAppOptions): Promise<void> {
    this.#app = await TestApp.start(options);
    this.#inbox = (await this.made('inboxes', { name: 'Deliveries' })).id as number;
  }

  async #startReceiver(): Promise<void> {
    this.#receiver = await Receiver.start();
    this.#receivers.push(this.#receiver);
  }

  async #deleteWebhooks(): Promise<void> {
    for (const { id } of (await this.app.get('webhooks')).body.payload) await this.app.delete(`webhooks/${id}`);
  }

  async #stop(): Promise<void> {
    await this.#app?.stop();
    for (const receiver of this.#receivers) await receiver.close();
  }

  /** The answer to a POST, which must have the status. */
  async made(path: string, body: object = {}, status = 201): Promise<Body> {
    const answer = await this.app.post(path, body);
    expect(answer.status, JSON.stringify(answer.body)).to.equal(status);
    return answer.body;
  }

  /** A new webhook at this test's receiver. */
  webhookFor(...subscriptions: string[]): Promise<Body> {
    return this.made('webhooks', { url: this.receiver.url, subscriptions });
  }

  /** The id of a new conversation with a new contact. */
  async conversation(): Promise<number> {
    const { id: contact } = await this.made('contacts', { name: 'Ada' });
    return (await this.made('conversations', { inbox_id: this.#inbox, contact_id: contact })).id as number;
  }

  say(conversation: number, content: string): Promise<Body> {
    return this.made(`conversations/${conversation}/messages`, { content, message_type: 'incoming' });
  }

  async deliveriesOf(webhook: Hook, query = ''): Promise<Body[]> {
    return (await this.app.get(`webhooks/${webhook.id}/deliveries${query}`)).body.payload;
  }

  /** The webhook's deliveries in the state, once there are so many. */
  eventuallyIn(webhook: Hook, state: string, count = 1): Promise<Body[]> {
    return this.app.eventually(async () => {
      const found = await this.deliveriesOf(webhook, `?state=${state}`);
      return found.length >= count && found;
    });
  }

  /** Puts off the next attempts of what waits by an hour: a busy machine comes to them before the test does what it is to. */
  async putOff(webhook: Hook): Promise<void> {
    await this.app.query(
      `UPDATE deliveries SET next_attempt_at = now() + interval '1 hour'
       WHERE endpoint_kind = 'webhook' AND endpoint_id = $1 AND state = 'pending' AND failures > 0`,
      [webhook.id],
    );
    await this.app.query(
      `UPDATE lanes SET due_at = now() + interval '1 hour'
       WHERE endpoint_kind = 'webhook' AND endpoint_id = $1 AND lease_token IS NULL AND due_at IS NOT NULL`,
      [webhook.id],
    );
  }

  async stateOf(delivery: number): Promise<string> {
    return (await this.app.get(`deliveries/${delivery}`)).body.state as string;
  }
}
