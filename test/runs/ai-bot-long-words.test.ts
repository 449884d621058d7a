import { expect } from 'chai';
import { openConversation } from '../faults/plugins.ts';
import { TestApp } from '../support/app.ts';
import { FakeModelServer, replies } from '../support/model-server.ts';

const question = 'When is your shop open? ';
/** Nearly as much as a message may have. */
const most = 140_000;
/** Becomes eighteen characters when it is made compatible. */
const expanding = '\uFDFA';
/** Is six characters as JSON. */
const escaped = '\u0001';

const filled = (text: string): string => text.repeat(Math.floor(most / text.length));

describe('a customer who writes very much to an AI bot', function () {
  this.timeout(120_000);
  let app: TestApp;
  let server: FakeModelServer;
  let bot: number;
  let inbox: number;

  before(async () => {
    server = await FakeModelServer.start();
    app = await TestApp.start({ config: { burstQuietMs: 700, burstMaxMs: 3000 } });
    await app.post('articles', {
      title: 'Opening hours',
      content: 'Our shop is open on weekdays from 9 to 18. '.repeat(30),
    });
    const words = { system_prompt: '"'.repeat(8000), handoff_keywords: ['human', 'real person'] };
    bot = (await app.post('agent_bots', { kind: 'ai', name: 'Ada', ...words })).body.id;
    inbox = (await app.post('inboxes', { name: 'Shop', channel: { type: 'api' } })).body.id;
    await app.post(`inboxes/${inbox}/set_agent_bot`, { agent_bot: bot });
    await app.patch('/api/v1/accounts/1', { llm: { base_url: server.baseUrl, model: 'small' } });
  });
  after(async () => {
    await app.stop();
    await server.close();
  });
  beforeEach(() => server.expect([], replies.answer('From 9 to 18 [1].')));
  // Five failures running, in whatever conversations, would have taken the bot from all customers.
  afterEach(async () => {
    expect((await app.get(`agent_bots/${bot}`)).body.quarantine).to.equal(null);
    const failed = await app.query(`SELECT outcome, error FROM bot_runs WHERE outcome <> 'ok'`);
    expect(failed).to.deep.equal([]);
  });

  async function say(id: number, content: string): Promise<void> {
    const { status } = await app.post(`conversations/${id}/messages`, { content, message_type: 'incoming' });
    expect(status).to.equal(201);
  }
  async function actionsAfter(id: number, count: number): Promise<string[]> {
    const read = () =>
      app.query<{ actions: { type: string }[] }>(
        'SELECT actions FROM bot_runs WHERE conversation_id = $1 ORDER BY id',
        [id],
      );
    await app.eventually(async () => (await read()).length === count);
    return (await read()).map(({ actions }) => actions.map(({ type }) => type).join());
  }

  for (const [what, content] of [
    ['the same question over and over', filled(question)],
    ['a question and one endless word', question.repeat(100) + filled('a')],
    ['a question and characters that grow', question.repeat(100) + filled(expanding)],
    ['a question and characters that are long as JSON', question + filled(escaped)],
  ] as const)
    it(`is answered: ${what}`, async () => {
      const id = await openConversation(app, inbox);
      await say(id, content);
      expect(await actionsAfter(id, 1)).to.deep.equal(['reply']);
      expect(server.questions[0]?.body.messages.at(-1)?.content).to.match(/^When is your shop open\?/);
    });

  it('gets a person for a word of nothing at all', async () => {
    const id = await openConversation(app, inbox);
    await say(id, filled(expanding));
    expect(await actionsAfter(id, 1)).to.deep.equal(['handoff']);
    expect((await app.get(`conversations/${id}`)).body).to.include({ status: 'open', handoff_reason: 'no_answer' });
  });

  it('is answered what a short question means behind a long one', async () => {
    const id = await openConversation(app, inbox);
    await say(id, filled(question));
    expect(await actionsAfter(id, 1)).to.deep.equal(['reply']);
    await say(id, 'And on Saturday?');
    expect(await actionsAfter(id, 2)).to.deep.equal(['reply', 'reply']);
  });

  for (const [where, content] of [
    ['the end', `${filled('more words ')} I want a human`],
    ['the beginning', `a real  PERSON please ${filled('more words ')}`],
  ] as const)
    it(`gets a person by a keyword at ${where}`, async () => {
      const id = await openConversation(app, inbox);
      await say(id, content);
      expect(await actionsAfter(id, 1)).to.deep.equal(['handoff']);
      expect((await app.get(`conversations/${id}`)).body).to.include({ status: 'open', handoff_reason: 'keyword' });
    });

  it('is answered each message of a burst that is too much to be told at once', async () => {
    const id = await openConversation(app, inbox);
    for (let sent = 0; sent < 3; sent += 1) await say(id, filled(question));
    const done = await actionsAfter(id, 3);
    expect(done[0]).to.equal('reply');
    expect(done.filter((types) => types !== 'reply' && types !== '')).to.deep.equal([]);
  });
});
