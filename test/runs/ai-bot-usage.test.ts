import { expect } from 'chai';
import { deleteOldRuns } from '../../src/domain/upkeep/retention.ts';
import { TestApp } from '../support/app.ts';
import { addAccount } from '../support/people.ts';
import { FakeModelServer, replies } from '../support/model-server.ts';
import { messagesOf, openConversation } from '../faults/plugins.ts';

const question = 'When is your shop open?';

const dayMs = 86_400_000;

describe('what AI bots use, and how they are', function () {
  this.timeout(60_000);
  let app: TestApp;
  let server: FakeModelServer;
  let inbox: number;

  async function start(config: object): Promise<void> {
    app = await TestApp.start({ config: { llmTimeoutMs: 3_000, ...config } });
    const content = 'Our shop is open on weekdays from 9 to 18.';
    await app.post('articles', { title: 'Opening hours', content, url: 'https://help.acme.example/hours' });
    inbox = (await app.post('inboxes', { name: 'Shop', channel: { type: 'api' } })).body.id;
  }

  before(async () => {
    server = await FakeModelServer.start();
  });
  after(() => server.close());
  beforeEach(async () => {
    server.expect([], replies.answer('From 9 to 18 [1].'));
    await useModel({ base_url: server.baseUrl, model: 'small', api_key: 'sk-4711' });
  });

  const useModel = (llm: object | null) => app.patch('/api/v1/accounts/1', { llm });

  async function newBot(fields: object = {}): Promise<number> {
    const { status, body } = await app.post('agent_bots', {
      kind: 'ai',
      name: 'Ada',
      handoff_message: '',
      outage_message: '',
      ...fields,
    });
    expect(status).to.equal(201);
    await app.post(`inboxes/${inbox}/set_agent_bot`, { agent_bot: body.id });
    return body.id;
  }

  const runsIn = (id: number) =>
    app.query<{ id: number; outcome: string; actions: { type: string }[] }>(
      'SELECT id, outcome, actions FROM bot_runs WHERE conversation_id = $1 ORDER BY id',
      [id],
    );

  const say = (id: number, content: string) =>
    app.post(`conversations/${id}/messages`, { content, message_type: 'incoming' });

  /** The customer writes; the conversation once the bot has been called as often as the customer has written. */
  async function ask(contents: string[], { id, pauseMs = 0 }: { id?: number; pauseMs?: number } = {}) {
    const at = id ?? (await openConversation(app, inbox));
    const before = (await runsIn(at)).length;
    for (const content of contents) {
      await say(at, content);
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
    await app.eventually(async () => {
      const isSilent = (await app.get(`conversations/${at}`)).body.handoff_reason !== null;
      return isSilent || (await runsIn(at)).length === before + contents.length;
    });
    const { body } = await app.get(`conversations/${at}`);
    const said = (await messagesOf(app, at)).filter((one) => one.message_type === 'outgoing' && !one.private);
    return { id: at, reason: body.handoff_reason as string | null, replies: said.map(({ content }) => content) };
  }

  describe('bursts', () => {
    before(() => start({ burstQuietMs: 2_500, burstMaxMs: 5_000 }));
    after(() => app.stop());

    it('are answered once, with all that the customer wrote', async () => {
      await newBot();
      const { id, replies: said } = await ask(['Hello', 'a question:', question]);
      expect(said).to.have.lengthOf(1);
      expect(server.questions).to.have.lengthOf(1);
      expect(server.questions[0]?.body.messages.at(-1)).to.deep.equal({
        role: 'user',
        content: `Hello\na question:\n${question}`,
      });
      const runs = await runsIn(id);
      expect(runs.map(({ outcome, actions }) => [outcome, actions.length])).to.deep.equal([
        ['ok', 1],
        ['ok', 0],
        ['ok', 0],
      ]);
      // However many conversations there are, what it remembers of them does not add up.
      const [kept] = await app.query<{ hours: number }>(
        `SELECT (extract(epoch FROM expires_at - now()) / 3600)::float8 AS hours FROM bot_storage WHERE conversation_id = $1`,
        [id],
      );
      expect(kept!.hours).to.be.within(1, 25);
    });

    it('end when the customer pauses, or has gone on for too long', async () => {
      await newBot();
      expect((await ask([question, question], { pauseMs: 6_000 })).replies).to.have.lengthOf(2);
      const id = await openConversation(app, inbox);
      const isAnswered = async () => (await messagesOf(app, id)).some((one) => one.message_type === 'outgoing');
      let count = 0;
      for (; !(await isAnswered()); count++) {
        expect(count, 'the customer goes on and on').to.be.below(300);
        await say(id, question);
        await new Promise((resolve) => setTimeout(resolve, 200));
      }
      expect(count).to.be.above(1);
      // What was said last is asked about after the answer.
      await app.eventually(async () => (await runsIn(id)).length === count);
    });

    it('are handed over at a keyword in any of their messages, and answered by nobody else', async () => {
      await newBot({ handoff_keywords: ['human'] });
      const { reason, replies: said } = await ask([question, 'No, a human!']);
      expect([reason, said]).to.deep.equal(['keyword', []]);
      expect(server.questions).to.deep.equal([]);
    });

    it('count as one exchange, and can be replayed', async () => {
      await newBot({ max_exchanges: 1 });
      const { id } = await ask(['Hello', question]);
      const [first] = await runsIn(id);
      // A busy machine may end a repetition by its time; so it is asked for again.
      await app.eventually(async () => (await app.post(`runs/${first!.id}/replay`)).body.identical === true);
      expect((await ask([question], { id })).reason).to.equal('max_exchanges');
    });
  });

  describe('their', () => {
    before(() => start({ burstQuietMs: 0 }));
    after(() => app.stop());

    // They are counted by days: no test begins so late that it would end tomorrow.
    beforeEach(async () => {
      const leftMs = dayMs - (Date.now() % dayMs);
      if (leftMs < 30_000) await new Promise((resolve) => setTimeout(resolve, leftMs));
    });

    describe('tokens of a day', () => {
      it('are a number, or null for any, on bots inside the service', async () => {
        const id = await newBot({ tokens_per_day: 1000 });
        expect((await app.get(`agent_bots/${id}`)).body.tokens_per_day).to.equal(1000);
        expect((await app.patch(`agent_bots/${id}`, { tokens_per_day: null })).body.tokens_per_day).to.equal(null);
        for (const wrong of [-1, 1.5, '7']) {
          const { status, body } = await app.patch(`agent_bots/${id}`, { tokens_per_day: wrong });
          expect([status, body.details[0].path]).to.deep.equal([422, '/tokens_per_day']);
        }
        const webhook = { name: 'Hook', outgoing_url: 'https://127.0.0.1:9/' };
        expect((await app.post('agent_bots', { ...webhook, tokens_per_day: 7 })).status).to.equal(422);
      });

      it('once used up, hand conversations over before anything is looked for or asked, until the bound is raised', async () => {
        const id = await newBot({ tokens_per_day: 200 });
        expect((await ask([question])).replies).to.have.lengthOf(1);
        // 120 are used: there are some left, and the next question uses 120 again.
        expect((await ask([question])).replies).to.have.lengthOf(1);
        const over = await ask(['Do you repair submarines?']);
        expect([over.reason, over.replies, server.questions.length]).to.deep.equal(['budget', [], 2]);
        await app.patch(`agent_bots/${id}`, { tokens_per_day: 1000 });
        expect((await ask([question])).reason).to.equal(null);
      });

      it('are those of this bot, of this day, also when runs are deleted', async () => {
        const id = await newBot({ tokens_per_day: 100 });
        const { id: asked } = await ask([question]);
        await app.query(`UPDATE bot_runs SET created_at = created_at - interval '1 day' WHERE agent_bot_id = $1`, [id]);
        expect((await ask([question])).reason).to.equal(null);
        expect((await ask([question])).reason).to.equal('budget');
        await app.delete(`conversations/${asked}`);
        await app.query('DELETE FROM bot_runs WHERE agent_bot_id = $1', [id]);
        expect((await ask([question])).reason).to.equal('budget');
        await newBot({ tokens_per_day: 100 });
        expect((await ask([question])).reason).to.equal(null);
      });
    });

    describe('usage', () => {
      const usage = async (bot: number, query = '') => (await app.get(`agent_bots/${bot}/usage${query}`)).body.payload;

      it('is in the record of each run', async () => {
        await newBot();
        const { id } = await ask([question]);
        const [run] = (await app.get(`conversations/${id}/runs`)).body.payload;
        expect(run.usage).to.deep.include({
          model: 'small',
          prompt_tokens: 100,
          completion_tokens: 20,
          finish_reason: 'tool_calls',
          handoff_reason: null,
        });
        expect(run.usage.passages[0]).to.include({ title: 'Opening hours', url: 'https://help.acme.example/hours' });
        expect(run.usage.passages[0].score).to.be.within(0.5, 1);
        server.expect([replies.refuse(401, 'Wrong')]);
        const failed = await ask([question]);
        const [second] = (await app.get(`conversations/${failed.id}/runs`)).body.payload;
        expect(second.usage).to.deep.include({
          model: null,
          finish_reason: 'unauthorized',
          handoff_reason: 'model_failed',
        });
      });

      it('is summed up by bot and day, and stays when runs are deleted', async () => {
        const bot = await newBot({ handoff_keywords: ['human'] });
        await ask([question]);
        await ask(['A human, please']);
        const { id } = await ask([question]);
        const today = new Date().toISOString().slice(0, 10);
        const expected = [{ date: today, runs: 3, prompt_tokens: 200, completion_tokens: 40, handoffs: 1 }];
        expect(await usage(bot)).to.deep.equal(expected);
        await app.delete(`conversations/${id}`);
        expect(await usage(bot)).to.deep.equal(expected);
        await app.query(`UPDATE bot_runs SET created_at = created_at - interval '40 days' WHERE agent_bot_id = $1`, [
          bot,
        ]);
        const before = await usage(bot, `?since=${Math.floor(Date.now() / 1000) - 50 * 86_400}`);
        expect(before.map(({ runs }: { runs: number }) => runs)).to.deep.equal([2, 1]);
        await deleteOldRuns(app.app.database, 30);
        expect(await app.query('SELECT FROM bot_runs WHERE agent_bot_id = $1', [bot])).to.deep.equal([]);
        expect(await usage(bot, `?since=${Math.floor(Date.now() / 1000) - 50 * 86_400}`)).to.deep.equal(before);
        const [, last] = before;
        expect(await usage(bot)).to.deep.equal([last]);
        expect(await usage(bot, `?until=${Math.floor(Date.now() / 86_400_000) * 86_400}`)).to.deep.equal([]);
        expect((await app.get(`agent_bots/${bot}/usage?since=0`)).status).to.equal(400);
        expect((await app.get(`agent_bots/${bot}/usage?since=yesterday`)).status).to.equal(400);
        await app.delete(`agent_bots/${bot}`);
        expect(await app.query('SELECT FROM bot_usage WHERE agent_bot_id = $1', [bot])).to.deep.equal([]);
      });

      it('of another account’s bot is not there', async () => {
        const bot = await newBot();
        const { id, administrator } = await addAccount(app, 'Other');
        expect(
          (await app.get(`/api/v1/accounts/${id}/agent_bots/${bot}/usage`, administrator.headers)).status,
        ).to.equal(404);
      });
    });

    describe('health', () => {
      const health = async (bot: number) => (await app.get(`agent_bots/${bot}`)).body.health;

      it('is ok from the beginning, and tells why the model does not answer until it does', async () => {
        const bot = await newBot();
        expect(await health(bot)).to.deep.equal({ state: 'ok', last_error: null, since: null });
        server.expect([replies.refuse(401, 'Incorrect API key sk-4711')]);
        await ask([question]);
        const failing = await health(bot);
        expect(failing.state).to.equal('failing');
        expect(failing.last_error).to.include('refuses the API key').and.include('401').and.not.include('sk-4711');
        expect(failing.since).to.be.a('number');
        server.expect([replies.refuse(404, 'The model small does not exist')]);
        await ask([question]);
        expect(await health(bot)).to.deep.include({ state: 'failing', since: failing.since });
        expect((await health(bot)).last_error).to.include('The model small does not exist');
        server.expect([], replies.answer('From 9 to 18 [1].'));
        await ask([question]);
        expect(await health(bot)).to.deep.include({ state: 'ok', last_error: null });
      });

      it('tells of a server that cannot be reached', async () => {
        const bot = await newBot();
        await useModel({ base_url: 'http://127.0.0.1:1/v1', model: 'small' });
        const { replies: said } = await ask([question]);
        expect(said).to.deep.equal([]);
        expect((await health(bot)).last_error).to.include('does not accept connections');
      });

      it('tells of an empty knowledge base, and not of a question without an answer', async () => {
        const bot = await newBot({ knowledge: { tags: ['nothing-has-this'] } });
        await ask([question]);
        expect((await health(bot)).last_error).to.include('no published article');
        await app.patch(`agent_bots/${bot}`, { knowledge: null });
        await ask(['Do you repair submarines?']);
        expect((await health(bot)).state).to.equal('ok');
      });

      it('tells at once, where the bot is set up, that it has nothing to answer from, until it has', async () => {
        const { id: account, administrator } = await addAccount(app, 'Empty');
        const at = `/api/v1/accounts/${account}`;
        const { headers } = administrator;
        const empty = {
          state: 'failing',
          last_error: 'The knowledge base has no published article that the bot may use',
        };
        const { body: bot2 } = await app.post(`${at}/agent_bots`, { kind: 'ai', name: 'New' }, headers);
        expect(bot2.health).to.deep.equal({ ...empty, since: null });
        const listed = async () => (await app.get(`${at}/agent_bots`, headers)).body.payload;
        const inList = async () => (await listed()).find(({ id }: { id: number }) => id === bot2.id).health;
        expect(await inList()).to.deep.include(empty);
        const { body: place } = await app.post(`${at}/inboxes`, { name: 'Empty' }, headers);
        const setOn = await app.post(`${at}/inboxes/${place.id}/set_agent_bot`, { agent_bot: bot2.id }, headers);
        expect(setOn.body.agent_bot.health).to.deep.include(empty);
        expect((await app.get(`${at}/inboxes/${place.id}/agent_bot`, headers)).body.agent_bot.health).to.deep.include(
          empty,
        );
        const article = { title: 'Hours', content: 'From nine.', language: 'pt-BR', tags: ['a'] };
        const { body: made } = await app.post(`${at}/articles`, { ...article, published: false }, headers);
        expect((await app.get(`${at}/agent_bots/${bot2.id}`, headers)).body.health).to.deep.include(empty);
        await app.patch(`${at}/articles/${made.id}`, { published: true }, headers);
        expect((await app.get(`${at}/agent_bots/${bot2.id}`, headers)).body.health.state).to.equal('ok');
        expect((await inList()).state).to.equal('ok');
        const knows = async (knowledge: object | boolean | null) =>
          (await app.patch(`${at}/agent_bots/${bot2.id}`, { knowledge }, headers)).body.health;
        expect(await knows({ tags: ['b'], languages: [] })).to.deep.include(empty);
        expect((await knows({ tags: ['a', 'b'], languages: ['pt'] })).state).to.equal('ok');
        expect((await knows({ tags: [], languages: ['de'] })).state).to.equal('failing');
        expect((await knows(false)).last_error).to.include('neither a model nor a knowledge base');
        await app.patch(at, { llm: { base_url: server.baseUrl, model: 'small' } }, headers);
        expect((await knows(false)).state).to.equal('ok');
      });

      it('forgets what a run said of an empty knowledge base when it is filled', async () => {
        const bot = await newBot({ knowledge: { tags: ['later'] } });
        await ask([question]);
        expect((await health(bot)).state).to.equal('failing');
        const { body } = await app.post('articles', { title: 'Later', content: 'Later.', tags: ['later'] });
        expect((await health(bot)).state).to.equal('ok');
        await app.delete(`articles/${body.id}`);
        expect((await health(bot)).state).to.equal('failing');
      });

      it('tells of a quarantine, and of a plugin that is disabled', async () => {
        const bot = await newBot();
        await app.query(`UPDATE agent_bots SET quarantined_at = now(), quarantine_reason = 'threw' WHERE id = $1`, [
          bot,
        ]);
        expect(await health(bot)).to.deep.include({ state: 'failing' });
        expect((await health(bot)).last_error).to.include('threw');
        await app.post(`agent_bots/${bot}/release`);
        await app.query('UPDATE agent_bots SET quarantined_at = NULL WHERE id = $1', [bot]);
        await app.post('/platform/api/v1/plugins/ai-bot/disable');
        expect((await health(bot)).last_error).to.include('disabled');
        await app.post('/platform/api/v1/plugins/ai-bot/enable');
        expect((await health(bot)).state).to.equal('ok');
      });
    });
  });
});
