import { expect } from 'chai';
import { spawn, type ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { TestApp } from '../../support/app.ts';
import { startHttpsReceiver, type HttpsReceiver } from '../../support/https-receiver.ts';
import type { Received } from '../../support/receiver.ts';

const path = join(import.meta.dirname, '../../../docs/webhook-bot-server.mjs');

describe('the worked server of docs/', function () {
  this.timeout(60_000);
  let app: TestApp;
  let https: HttpsReceiver;
  let child: ChildProcess;
  let url: string;
  let inboxId: number;
  let statuses: number[];

  before(async () => {
    app = await TestApp.start();
    https = await startHttpsReceiver();
    const { body: bot } = await app.post('agent_bots', { name: 'Echo', outgoing_url: https.receiver.url });
    inboxId = (await app.post('inboxes', { name: 'Echo' })).body.id;
    await app.post(`inboxes/${inboxId}/set_agent_bot`, { agent_bot: bot.id });
    const env = { SWITCHBOARD_URL: app.url, BOT_TOKEN: bot.access_token, BOT_SECRET: bot.secret, PORT: '0' };
    child = spawn(process.execPath, [path], { env, stdio: ['ignore', 'pipe', 'inherit'] });
    const [line] = await new Promise<string[]>((resolve) =>
      createInterface({ input: child.stdout! }).once('line', (one) => resolve([one])),
    );
    url = `http://127.0.0.1:${/\d+$/.exec(line!)![0]}/`;
  });

  after(async () => {
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill();
    await ended;
    await app.stop();
    await https.close();
  });

  // TLS ends here, as before any such server.
  beforeEach(() => {
    statuses = [];
    https.receiver.answerWith((post, response) => {
      void pass(post).then((status) => response.writeHead(status).end());
    });
  });

  async function pass({ headers, text }: Received, changes: Record<string, string> = {}): Promise<number> {
    const signed = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) => [
      name,
      String(headers[name]),
    ]);
    const { status } = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...Object.fromEntries(signed), ...changes },
      body: text,
    });
    statuses.push(status);
    return status;
  }

  async function converse() {
    const { body: contact } = await app.post('contacts', { name: 'Carla' });
    const { body } = await app.post('conversations', { inbox_id: inboxId, contact_id: contact.id });
    const at = `conversations/${body.id}`;
    return {
      at,
      hear: (content: string) => app.post(`${at}/messages`, { content, message_type: 'incoming' }),
      said: async (): Promise<string[]> =>
        (await app.get(`${at}/messages`)).body.payload
          .filter((message: { message_type: string }) => message.message_type === 'outgoing')
          .map(({ content }: { content: string }) => content),
      record: async () => (await app.get(at)).body,
    };
  }
  const delivered = () =>
    app.eventually(async () => {
      const waiting = await app.query(`SELECT FROM deliveries WHERE endpoint_kind = 'bot' AND state = 'pending'`);
      return waiting.length === 0;
    });

  it('has 40 lines', () => {
    expect(readFileSync(path, 'utf8').trimEnd().split('\n')).to.have.lengthOf.at.most(40);
  });

  it('answers the customer once, and not itself', async () => {
    const { hear, said, record } = await converse();
    await hear('Hello');
    await app.eventually(async () => (await said()).length > 0);
    await delivered();
    expect(await said()).to.deep.equal(['You said: Hello']);
    expect(statuses).to.deep.equal([204, 204]);
    // The same delivery again, as after an answer that got lost.
    const [post] = https.receiver.received;
    expect(await pass(post!)).to.equal(204);
    expect(await said()).to.deep.equal(['You said: Hello']);
    expect((await record()).status).to.equal('pending');
  });

  it('refuses what is forged or old', async () => {
    const { hear, said } = await converse();
    await hear('Hello');
    await app.eventually(async () => (await said()).length > 0);
    await delivered();
    const post = https.receiver.received.at(-2)!;
    expect(await pass({ ...post, text: post.text.replace('Hello', 'Hallo') })).to.equal(401);
    expect(await pass(post, { 'webhook-signature': 'v1,' })).to.equal(401);
    expect(await pass(post, { 'webhook-timestamp': 'now' })).to.equal(401);
    expect(await pass(post, { 'webhook-timestamp': String(Math.floor(Date.now() / 1000) - 3600) })).to.equal(401);
    expect(await said()).to.deep.equal(['You said: Hello']);
  });

  it('hands over when the customer asks for a person', async () => {
    const { hear, said, record } = await converse();
    await hear('I want a human');
    await app.eventually(async () => (await record()).status === 'open');
    await delivered();
    expect(await record()).to.include({ handoff_reason: 'plugin' });
    expect(await said()).to.deep.equal(['Handed off by Echo\n\nLast question: I want a human']);
    expect(statuses).to.deep.equal([204]);
  });

  it('is content when a person was quicker', async () => {
    const { at, hear, said } = await converse();
    https.receiver.answerWith((post, response) => {
      void app
        .post(`${at}/messages`, { content: 'I am here', message_type: 'outgoing' })
        .then(() => pass(post))
        .then((status) => response.writeHead(status).end());
    });
    await hear('Hello');
    await delivered();
    expect(await said()).to.deep.equal(['I am here']);
    expect(statuses).to.deep.equal([204]);
  });
});
