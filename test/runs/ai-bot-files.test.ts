import { expect } from 'chai';
import { messagesOf, openConversation } from '../faults/plugins.ts';
import { TestApp } from '../support/app.ts';
import { png, sendFiles } from '../support/files.ts';
import { FakeModelServer, replies } from '../support/model-server.ts';

const question = 'When is your shop open?';

describe('a customer who sends an AI bot a picture', function () {
  this.timeout(60_000);
  let app: TestApp;
  let server: FakeModelServer;
  let bot: number;
  let inbox: number;

  before(async () => {
    server = await FakeModelServer.start();
    app = await TestApp.start({ config: { burstQuietMs: 0 } });
    await app.post('articles', { title: 'Opening hours', content: 'Our shop is open on weekdays from 9 to 18.' });
    bot = (await app.post('agent_bots', { kind: 'ai', name: 'Ada' })).body.id;
    inbox = (await app.post('inboxes', { name: 'Shop', channel: { type: 'api' } })).body.id;
    await app.post(`inboxes/${inbox}/set_agent_bot`, { agent_bot: bot });
    await app.patch('/api/v1/accounts/1', { llm: { base_url: server.baseUrl, model: 'small' } });
  });
  after(async () => {
    await app.stop();
    await server.close();
  });
  beforeEach(() => server.expect([], replies.answer('From 9 to 18 [1].')));

  const runsIn = (id: number) =>
    app.query<{ outcome: string; actions: { type: string }[]; erased: boolean }>(
      'SELECT outcome, actions, erased_at IS NOT NULL AS erased FROM bot_runs WHERE conversation_id = $1 ORDER BY id',
      [id],
    );
  async function runsAfter(id: number, count: number) {
    await app.eventually(async () => (await runsIn(id)).length === count);
    return (await runsIn(id)).map(({ outcome, actions, erased }) => [outcome, actions.map(({ type }) => type), erased]);
  }
  async function send(id: number, content?: string): Promise<void> {
    const fields = { message_type: 'incoming', ...(content === undefined ? {} : { content }) };
    const files = [{ name: 'photo.png', bytes: png(), type: 'image/png' }];
    const { status, body } = await sendFiles(app, `conversations/${id}/messages`, fields, { files, headers: {} });
    expect(status, JSON.stringify(body)).to.equal(201);
  }

  for (const knowledge of [null, false]) {
    it(`without a word gets a person, whatever was asked before (knowledge: ${knowledge})`, async () => {
      await app.patch(`agent_bots/${bot}`, { knowledge });
      const id = await openConversation(app, inbox);
      await app.post(`conversations/${id}/messages`, { content: question, message_type: 'incoming' });
      expect(await runsAfter(id, 1)).to.deep.equal([['ok', ['reply'], false]]);
      await send(id);
      expect((await runsAfter(id, 2))[1]).to.deep.equal(['ok', ['handoff'], false]);
      expect((await app.get(`conversations/${id}`)).body).to.include({ status: 'open', handoff_reason: 'no_answer' });
      const notes = (await messagesOf(app, id)).filter((one) => one.private);
      expect(notes.map(({ content }) => content)).to.deep.equal([
        `Handed off: The customer wrote no words\n\nLast question: ${question}`,
      ]);
      expect(server.questions).to.have.lengthOf(1);
    });
  }

  it('with a question is answered', async () => {
    await app.patch(`agent_bots/${bot}`, { knowledge: null });
    const id = await openConversation(app, inbox);
    await send(id, question);
    expect(await runsAfter(id, 1)).to.deep.equal([['ok', ['reply'], false]]);
    expect(server.questions[0]?.body.messages.at(-1)).to.deep.equal({ role: 'user', content: question });
  });
});
