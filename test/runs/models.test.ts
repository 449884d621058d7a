import { expect } from 'chai';
import { openConversation } from '../faults/plugins.ts';
import { FakeModelServer, call, replies } from '../support/model-server.ts';
import { BotHouse } from './house.ts';

// The bot asks what the message says, and notes the answer or the error.
const asks = `const question = JSON.parse(ctx.message.content);
  const note = (value) => ctx.note(JSON.stringify(value));
  try { note(await ctx.llm.chat(question)); } catch ({ code, message }) { note({ code, message }); }`;
const permissions = { conversation: ['note'], llm: true };
const question = { messages: [{ role: 'user', content: 'Hello' }] };
const key = 'sk-account-4711';
// Together the answers are too long, so that the bot gets none.
const wastes = `const chats = Array.from({ length: 5 }, () => ctx.llm.chat(${JSON.stringify(question)}));
  const ends = await Promise.allSettled(chats);
  ctx.note(ends.map(({ reason }) => reason?.code).join());`;

// One question after the other in the same run.
const twice = `const ends = [];
  for (let count = 0; count < 2; count += 1)
    ends.push(await ctx.llm.chat(${JSON.stringify(question)}).then(() => 'answered', ({ code }) => code));
  ctx.note(JSON.stringify(ends));`;

describe('language models of bots', function () {
  this.timeout(60_000);
  let house: BotHouse;
  let server: FakeModelServer;

  before(async () => {
    server = await FakeModelServer.start();
    house = await BotHouse.open(
      {
        asks: { on: { message_created: asks }, permissions },
        wastes: { on: { message_created: wastes }, permissions },
        twice: { on: { message_created: twice }, permissions },
        looks: { on: { message_created: `ctx.note(JSON.stringify(await ctx.llm.status()))` }, permissions },
      },
      { config: { llmTimeoutMs: 3_000, llmRunMs: 15_000, llmMaxBytes: 65_536, llmMaxTokens: 500 } },
    );
    await setServer({ base_url: server.baseUrl, model: 'small', api_key: key });
  });
  after(async () => {
    await house.close();
    await server.close();
  });

  async function setServer(llm: object | null): Promise<void> {
    const { status, body } = await house.app.patch('/api/v1/accounts/1', { llm });
    expect([status, body.error]).to.deep.equal([200, undefined]);
  }

  async function noted(bot: string, content: unknown): Promise<Record<string, unknown> | null> {
    const { run } = await house.askAnew(bot, JSON.stringify(content));
    expect(run.error).to.equal(null);
    return JSON.parse(String(run.actions[0]?.content)) as Record<string, unknown> | null;
  }

  it('answer over HTTP, are asked exactly what the bot asks, and get the key and nothing of this machine', async () => {
    server.expect([replies.text('Good day')]);
    expect(await noted('asks', question)).to.deep.equal({
      content: 'Good day',
      tool_calls: [],
      finish_reason: 'stop',
      model: 'small',
      usage: { prompt_tokens: 100, completion_tokens: 20 },
    });
    const [{ path, headers, body }] = server.questions as [FakeModelServer['questions'][number]];
    expect(path).to.equal('/v1/chat/completions');
    expect(body).to.deep.equal({ ...question, model: 'small', stream: false, max_tokens: 500, temperature: 0.2 });
    expect(headers.authorization).to.equal(`Bearer ${key}`);
    expect(Object.keys(headers).filter((name) => name.startsWith('x-') || name.startsWith('openai'))).to.deep.equal([]);
  });

  it('bring temperature and tokens within their bounds, and pass tools on', async () => {
    const tools = [{ name: 'answer', description: 'Answers', parameters: { type: 'object' } }];
    for (const [given, sent] of [
      [
        { temperature: 7, max_tokens: 90_000 },
        { temperature: 1, max_tokens: 500 },
      ],
      [
        { temperature: -3, max_tokens: 20 },
        { temperature: 0, max_tokens: 20 },
      ],
    ] as const) {
      server.expect([replies.calls(call('answer', { text: 'Yes' }))]);
      const answer = await noted('asks', { ...question, ...given, tools, tool_choice: 'required' });
      expect(answer?.tool_calls).to.deep.equal([{ id: 'call-answer', name: 'answer', arguments: { text: 'Yes' } }]);
      expect(server.questions[0]?.body).to.deep.include({ ...sent, tool_choice: 'required' });
      expect(server.questions[0]?.body.tools).to.deep.equal([{ type: 'function', function: tools[0] }]);
    }
  });

  for (const [what, script, code, requests] of [
    ['no choices', [replies.emptyChoices()], 'bad_answer', 1],
    ['HTML with status 200', [replies.html()], 'bad_answer', 1],
    ['half a document', [replies.brokenJson()], 'bad_answer', 1],
    ['a bare `null`', [replies.null()], 'bad_answer', 1],
    ['more bytes than it may', [replies.large(2_000_000)], 'bad_answer', 1],
    ['a wrong key', [replies.refuse(401, `Incorrect API key provided: ${key}`)], 'unauthorized', 1],
    ['a forbidden model', [replies.refuse(403, 'Not for you')], 'unauthorized', 1],
    ['an unknown model', [replies.refuse(404, 'The model small does not exist')], 'unknown_model', 1],
    ['a refused request', [replies.refuse(400, 'Too long')], 'refused', 1],
    ['too many requests twice', [replies.refuse(429, 'Slow'), replies.refuse(429, 'Slow')], 'rate_limited', 2],
    ['errors twice', [replies.refuse(500, 'Oops'), replies.refuse(503, 'Oops')], 'server_error', 2],
    ['nothing', [replies.hang()], 'timeout', 1],
    ['a byte now and then', [replies.trickle()], 'timeout', 1],
  ] as const) {
    it(`tell the bot \`${code}\` for ${what}, without the key`, async () => {
      server.expect(script);
      const answer = await noted('asks', question);
      expect(answer?.code).to.equal(code);
      expect(server.questions).to.have.lengthOf(requests);
      expect(JSON.stringify(await house.app.query('SELECT * FROM bot_runs'))).not.to.include(key);
    });
  }

  it('are asked once more after one failure, when the server says, and within the time of a run', async () => {
    server.expect([replies.refuse(500, 'Oops'), replies.text('Back')]);
    expect((await noted('asks', question))?.content).to.equal('Back');
    server.expect([replies.refuse(429, 'Slow', { headers: { 'retry-after': '1' } }), replies.text('Back')]);
    expect((await noted('asks', question))?.content).to.equal('Back');
    server.expect([replies.refuse(429, 'Slow', { headers: { 'retry-after': '30' } }), replies.text('Late')]);
    expect((await noted('asks', question))?.code).to.equal('timeout');
    expect(server.questions).to.have.lengthOf(1);
  });

  it('that refuse a parameter are asked without it, from then on at once', async () => {
    await setServer({ model: 'thinker' });
    const unsupported = (param: string) => replies.refuse(400, `Unsupported parameter: '${param}'`, { param });
    server.expect([unsupported('max_tokens'), unsupported('temperature'), replies.text('Hm')]);
    expect((await noted('asks', question))?.content).to.equal('Hm');
    server.expect([replies.text('Hm')]);
    expect((await noted('asks', question))?.content).to.equal('Hm');
    expect(server.questions[0]?.body).to.deep.include({ max_completion_tokens: 500 });
    expect(server.questions[0]?.body).not.to.have.any.keys('temperature', 'max_tokens');
    await setServer({ model: 'small' });
  });

  it('are asked for the tokens of a day alone, whether the bot looks at its status or not', async () => {
    await house.app.patch(`agent_bots/${house.botOf('asks')}`, { tokens_per_day: 150 });
    await house.app.query('UPDATE bot_runs SET prompt_tokens = 0, completion_tokens = 0');
    server.expect([], replies.text('Yes'));
    expect((await noted('asks', question))?.content).to.equal('Yes');
    expect((await noted('asks', question))?.content).to.equal('Yes');
    expect((await noted('asks', question))?.code).to.equal('budget');
    expect(server.questions).to.have.lengthOf(2);
    await house.app.patch(`agent_bots/${house.botOf('asks')}`, { tokens_per_day: null });
    await house.app.patch(`agent_bots/${house.botOf('looks')}`, { tokens_per_day: 70 });
    expect(await noted('looks', '')).to.deep.equal({ model: 'small', tokens_left: 70 });
    await house.app.patch(`agent_bots/${house.botOf('looks')}`, { tokens_per_day: null });
  });

  it('are not asked again in a run that has used up the tokens of the day itself', async () => {
    const path = `agent_bots/${house.botOf('twice')}`;
    await house.app.patch(path, { tokens_per_day: 100 });
    server.expect([], replies.text('Yes'));
    expect(await noted('twice', '')).to.deep.equal(['answered', 'budget']);
    expect(server.questions).to.have.lengthOf(1);
    await house.app.patch(path, { tokens_per_day: null });
  });

  it('are counted too where the bot did not get the answers', async () => {
    server.expect([], replies.text('x'.repeat(60_000)));
    const { conversation, run } = await house.askAnew('wastes');
    expect(run.actions[0]?.content).to.equal(Array(5).fill('answer_too_large').join());
    expect(
      await house.app.query('SELECT prompt_tokens, completion_tokens FROM bot_runs WHERE conversation_id = $1', [
        conversation,
      ]),
    ).to.deep.equal([{ prompt_tokens: 500, completion_tokens: 100 }]);
  });

  it('are not asked what is no question', async () => {
    server.expect([]);
    for (const wrong of [{}, { messages: [] }, { messages: [{ role: 'tool', content: 'a' }] }, { ...question, n: 5 }])
      expect((await noted('asks', wrong))?.code, JSON.stringify(wrong)).to.equal('bad_request');
    expect(server.questions).to.deep.equal([]);
  });

  it('are told by their name, and unavailable where there is none', async () => {
    expect(await noted('looks', '')).to.deep.equal({ model: 'small', tokens_left: null });
    await setServer(null);
    expect(await noted('looks', '')).to.equal(null);
    expect((await noted('asks', question))?.code).to.equal('unavailable');
    await setServer({ base_url: server.baseUrl, model: 'small', api_key: key });
  });

  it('of a server that cannot be reached are told so', async () => {
    await setServer({ base_url: 'http://127.0.0.1:1/v1', model: 'small' });
    expect((await noted('asks', question))?.code).to.equal('connect');
    await house.app.query(`UPDATE accounts SET llm_base_url = 'http://10.1.2.3/v1' WHERE id = 1`);
    expect((await noted('asks', question))?.code).to.equal('blocked_address');
    await setServer({ base_url: server.baseUrl, model: 'small', api_key: key });
  });
});

describe('the language model of the service', function () {
  this.timeout(60_000);
  let house: BotHouse;
  let server: FakeModelServer;

  before(async () => {
    server = await FakeModelServer.start();
    house = await BotHouse.open(
      { asks: { on: { message_created: asks }, permissions } },
      { config: { llmBaseUrl: server.baseUrl, llmModel: 'house', llmApiKey: 'sk-house', outboundAllowCidrs: [] } },
    );
  });
  after(async () => {
    await house.close();
    await server.close();
  });

  it('serves accounts without one of their own, at a private address too, and its key stays with it', async () => {
    server.expect([], replies.text('Hello'));
    const { run } = await house.askAnew('asks', JSON.stringify(question));
    expect(JSON.parse(String(run.actions[0]?.content))).to.include({ content: 'Hello', model: 'house' });
    expect(server.questions[0]?.headers.authorization).to.equal('Bearer sk-house');
    const own = await house.app.patch('/api/v1/accounts/1', { llm: { base_url: server.baseUrl, model: 'own' } });
    expect([own.status, own.body.details[0].path]).to.deep.equal([422, '/llm/base_url']);
    await house.app.query(`UPDATE accounts SET llm_base_url = $1, llm_model = 'own' WHERE id = 1`, [server.baseUrl]);
    server.expect([], replies.text('Hello'));
    const { run: blocked } = await house.askAnew('asks', JSON.stringify(question));
    expect(JSON.parse(String(blocked.actions[0]?.content)).code).to.equal('blocked_address');
    expect(server.questions).to.deep.equal([]);
    await house.app.query(`UPDATE accounts SET llm_base_url = NULL, llm_model = NULL`);
  });

  it('alone is asked by system bots, whose prompts are not for accounts to read', async () => {
    const { app } = house;
    try {
      const draft = { name: 'Everywhere', kind: 'plugin', plugin_id: 'asks' };
      const { id: bot } = (await app.post('/platform/api/v1/agent_bots', draft)).body;
      const inbox = (await app.post('inboxes', { name: 'Served by it' })).body.id;
      await app.post(`inboxes/${inbox}/set_agent_bot`, { agent_bot: bot });
      const set = `UPDATE accounts SET llm_base_url = $1, llm_model = 'own' WHERE id = 1`;
      await app.query(set, ['https://own.invalid/v1']);
      server.expect([], replies.text('Hello'));
      const run = await house.ask(await openConversation(app, inbox), JSON.stringify(question));
      expect(JSON.parse(String(run.actions[0]?.content))).to.include({ content: 'Hello', model: 'house' });
      expect(server.questions).to.have.lengthOf(1);
      // The account's own bots go on asking its own.
      const { run: own } = await house.askAnew('asks', JSON.stringify(question));
      expect(JSON.parse(String(own.actions[0]?.content)).code).to.be.a('string');
      expect(server.questions).to.have.lengthOf(1);
    } finally {
      await app.query(`UPDATE accounts SET llm_base_url = NULL, llm_model = NULL`);
    }
  });
});
