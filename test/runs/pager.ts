import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Config } from '../../src/config.ts';
import { TestApp } from '../support/app.ts';
import { send } from '../support/hook-senders.ts';
import { writePackage } from '../support/packages.ts';
import { Receiver } from '../support/receiver.ts';

/** A message as agents see it. */
interface Shown {
  id: number;
  content: string;
  status: string;
  source_id: string | null;
  external_error: string | null;
}

interface ConnectedInbox {
  id: number;
  hook_url: string;
}

const code = (sends: Readonly<Record<string, string>>): string => `
  import { defineChannel } from 'switchboard/bot';
  export default defineChannel({
    received(ctx, request) {
      const { id, from, receipt } = request.json;
      if (receipt) return ctx.channel.status(receipt);
      ctx.channel.incoming({ source_id: from, external_id: id, content: 'Hello' });
    },
    async send(ctx, message) {
      switch (message.content.split(' ')[0]) {
        ${Object.entries(sends)
          .map(([word, body]) => `case '${word}': { ${body} }`)
          .join('\n')}
      }
      const answer = await ctx.fetch(ctx.config.api_url, {
        method: 'POST', body: { to: message.source_id, text: message.content },
      });
      if (answer.status !== 200) throw new Error('The pager answered ' + answer.status);
      return { external_id: answer.json().id };
    },
  });`;

/** A channel, as far as a test sets it. */
interface PagerOptions {
  config?: Partial<Config>;
  limits?: object;
  /** It sends mail from the address, by the server. */
  mail?: { address: string; server: string };
}

/** Answers as a pager that takes a message. */
export const take: Parameters<Receiver['answerWith']>[0] = ({ body }, response) =>
  void response
    .writeHead(200, { 'content-type': 'application/json' })
    .end(JSON.stringify({ id: `${String(body['to'])}:${String(body['text'])}` }));

function manifestOf(limits: object, mail: PagerOptions['mail']) {
  const url = { title: 'API URL', type: 'string', format: 'uri', default: 'https://pager.example', 'x-host': true };
  const address = { title: 'Address', type: 'string', maxLength: 254 };
  const network = { hosts: ['$api_url'], methods: ['POST'], reasoning: 'Sends messages to the pager.' };
  const permissions = { hooks: true, network, ...(mail ? { mail: 'SMTP_URL' } : {}) };
  const properties = { api_url: url, ...(mail ? { address } : {}) };
  const config = { type: 'object', additionalProperties: false, properties, required: mail ? ['address'] : [] };
  const hooks = { messages: { verify: 'none' } };
  const named = mail ? { identity: 'address' } : {};
  return { id: 'pager', kind: 'channel', events: [], limits, hooks, permissions, config, ...named };
}

/**
 * A service with an inbox of a channel plugin, whose other system is `receiver`. `sends` are bodies of `send`, by the first word of
 * the message; other messages go to the receiver.
 */
export class Pager {
  readonly app: TestApp;
  readonly receiver: Receiver;
  readonly #root: string;
  readonly #inbox: ConnectedInbox;
  #ids = 0;

  private constructor(app: TestApp, made: { receiver: Receiver; root: string; inbox: ConnectedInbox }) {
    this.app = app;
    this.receiver = made.receiver;
    this.#root = made.root;
    this.#inbox = made.inbox;
  }

  static async open(
    sends: Readonly<Record<string, string>>,
    { config = {}, limits = {}, mail }: PagerOptions = {},
  ): Promise<Pager> {
    const root = mkdtempSync(join(tmpdir(), 'switchboard-pager-'));
    writePackage(join(root, 'plugins', 'pager'), manifestOf(limits, mail), code(sends));
    const receiver = await Receiver.start();
    receiver.answerWith(take);
    const app = await TestApp.start({ pluginRoot: root, config });
    const settings = { api_url: receiver.url, ...(mail ? { address: mail.address } : {}) };
    const secrets = mail ? { SMTP_URL: mail.server } : {};
    const channel = { type: 'plugin', plugin_id: 'pager', config: settings, secrets };
    const { status, body } = await app.post('inboxes', { name: 'Pager', channel });
    expect(status, JSON.stringify(body)).to.equal(201);
    return new Pager(app, { receiver, root, inbox: body });
  }

  async close(): Promise<void> {
    await this.app.stop();
    await this.receiver.close();
    rmSync(this.#root, { recursive: true });
  }

  /** Has a customer write. Returns the conversation. */
  async begin(customer: string): Promise<number> {
    await this.write(customer);
    return this.app.eventually(async () => {
      const [found] = await this.app.query<{ id: number }>(
        'SELECT id FROM conversations WHERE inbox_id = $1 AND source_id = $2',
        [this.#inbox.id, customer],
      );
      return found?.id;
    });
  }

  /** Has a customer write, and waits for nothing. */
  write(customer: string): Promise<void> {
    this.#ids += 1;
    return this.#request({ id: `in-${this.#ids}`, from: customer });
  }

  /** Has the other system tell what became of a message. */
  tell(receipt: { external_id: string; message_id: number; status: string }): Promise<void> {
    return this.#request({ receipt });
  }

  async #request(fields: object): Promise<void> {
    expect((await send(this.#inbox.hook_url, JSON.stringify(fields))).status).to.equal(202);
  }

  async say(conversation: number, content: string): Promise<Shown> {
    const message = { content, message_type: 'outgoing' };
    const { status, body } = await this.app.post(`conversations/${conversation}/messages`, message);
    expect(status, JSON.stringify(body)).to.equal(201);
    return body;
  }

  async messages(conversation: number): Promise<Shown[]> {
    return (await this.app.get(`conversations/${conversation}/messages`)).body.payload;
  }

  /** Waits until a message has the status. */
  settled(conversation: number, id: number, status: string): Promise<Shown> {
    return this.app.eventually(async () =>
      (await this.messages(conversation)).find((message) => message.id === id && message.status === status),
    );
  }

  /** Outcomes of the runs that have sent messages of a conversation, in order. */
  async outcomes(conversation: number): Promise<string[]> {
    const { payload } = (await this.app.get(`runs?conversation_id=${conversation}`)).body;
    return payload.map(({ outcome }: { outcome: string }) => outcome).toReversed();
  }

  async health(): Promise<{ state: string; last_error: string | null; since: number | null }> {
    return (await this.app.get(`inboxes/${this.#inbox.id}`)).body.channel.health;
  }

  /** Saves the settings of the inbox as they are, which ends a quarantine. */
  async save(): Promise<void> {
    const channel = { config: { api_url: this.receiver.url } };
    const { status, body } = await this.app.patch(`inboxes/${this.#inbox.id}`, { channel });
    expect(status, JSON.stringify(body)).to.equal(200);
  }

  /** Texts that the other system has got for a customer, in order. */
  textsTo(customer: string): unknown[] {
    return this.receiver.received.filter(({ body }) => body['to'] === customer).map(({ body }) => body['text']);
  }
}
