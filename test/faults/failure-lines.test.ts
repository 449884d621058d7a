import { expect } from 'chai';
import { pino } from 'pino';
import { TestApp } from '../support/app.ts';
import { Receiver } from '../support/receiver.ts';
import { stopClean } from './ledger.ts';
import { openConversation, pluginRootOf, serveInboxes } from './plugins.ts';

type Line = Record<string, unknown>;

describe('the log', () => {
  let app: TestApp;
  let root: { path: string; remove: () => void };
  let inboxId: number | undefined;
  const lines: Line[] = [];
  const failures = () => lines.filter(({ msg }) => msg === 'delivery failed');

  before(async () => {
    root = pluginRootOf({
      moody: `if (ctx.event.content === 'throw') throw new Error('no \\u001b[31mmood\\n{"level":50}'); ctx.reply('Fine');`,
    });
    const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line) as Line) });
    app = await TestApp.start({ pluginRoot: root.path, log });
    inboxId = (await serveInboxes(app, ['moody'])).get('moody');
  });

  beforeEach(() => void (lines.length = 0));

  after(async () => {
    await stopClean(app);
    root.remove();
  });

  async function say(content: string): Promise<number> {
    const id = await openConversation(app, inboxId);
    await app.post(`conversations/${id}/messages`, { content, message_type: 'incoming' });
    return id;
  }

  const pending = () => app.query(`SELECT FROM deliveries WHERE state = 'pending' AND endpoint_kind = 'bot'`);

  it('has one line for a run that failed: whose, where, how it ended, and in one line what the bot said of it', async () => {
    const id = await say('throw');
    await app.eventually(async () => failures().length > 0);
    const [{ bot, delivery, error, ...line } = {}, ...more] = failures();
    expect(more).to.deep.equal([]);
    expect(line).to.deep.include({
      level: 40,
      account: 1,
      conversation: id,
      attempt: 1,
      outcome: 'threw',
      state: 'exhausted',
    });
    expect([bot, delivery]).to.satisfy((ids: unknown[]) => ids.every((one) => typeof one === 'number'));
    expect(error).to.match(/^Error: no \[31mmood \{"level":50\}/);
  });

  it('has one line for each attempt on a webhook that failed, and none for one that succeeded', async () => {
    const receiver = await Receiver.start();
    const { body: webhook } = await app.post('webhooks', { url: receiver.url, subscriptions: ['message_created'] });
    const later = { 'retry-after': '3600' };
    receiver.answerWith(({ body }, response) =>
      response.writeHead(body['content'] === 'fail' ? 500 : 200, later).end(),
    );
    const fine = await say('fine');
    const failing = await say('fail');
    // What the bot answers to the failing one waits behind it.
    await receiver.waitFor(3);
    await app.eventually(async () => failures().length > 0);
    expect(failures()).to.have.lengthOf(1);
    expect(failures()[0]).to.deep.include({
      level: 40,
      account: 1,
      webhook: webhook.id,
      conversation: failing,
      attempt: 1,
      outcome: 'bad_status',
      error: 'HTTP status 500',
      state: 'pending',
    });
    expect(failures().filter(({ conversation }) => conversation === fine)).to.deep.equal([]);
    await app.delete(`webhooks/${webhook.id}`);
    await receiver.close();
  });

  it('has no line for a run that a person overtook, or that was not made', async () => {
    const id = await openConversation(app, inboxId);
    await app.post(`conversations/${id}/assignments`, { assignee_id: 1 });
    await app.post(`conversations/${id}/messages`, { content: 'throw', message_type: 'incoming' });
    await say('fine');
    await app.eventually(async () => (await pending()).length === 0);
    expect(failures()).to.deep.equal([]);
  });
});
