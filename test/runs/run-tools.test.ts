import { expect } from 'chai';
import { simulate } from 'switchboard/testing';
import { FakeModelServer, call, replies } from '../support/model-server.ts';
import { makeBot, removeBots } from '../testing/helpers.ts';
import { BotHouse } from './house.ts';

const imports = `import { runTools } from 'switchboard/bot';`;
// Each tool fails, or answers, in a way of its own.
const tools = `const object = { type: 'object' };
const tools = {
  order: { description: 'Finds an order', parameters: object, run: ({ number }) => ({ number, state: 'on its way' }) },
  text: { parameters: object, run: () => 'as it is' },
  nothing: { parameters: object, run: () => undefined },
  remembered: { parameters: object, run: () => stored() },
  throws: { parameters: object, run: () => { throw new Error('no such order'); } },
  rejects: { parameters: object, run: async () => { throw Object.create(null); } },
  endless: { parameters: object, run: () => { const ring = {}; ring.ring = ring; return ring; } },
  deep: { parameters: object, run: () => { let nest = []; for (let n = 0; n < 10_000; n += 1) nest = [nest]; return nest; } },
  long: { parameters: object, run: () => 'x'.repeat(100_000) },
  large: { parameters: object, run: () => 'x'.repeat(2 * 1024 * 1024) },
};
let stored;`;
const answers = `stored = () => ctx.storage.incr('asked');
  const options = JSON.parse(ctx.message.content);
  const messages = [{ role: 'user', content: 'Where is A-17?' }];
  const note = (value) => ctx.note(JSON.stringify(value));
  try {
    const { messages: said, ...result } = await runTools(ctx, { messages, tools, ...options });
    note({ ...result, roles: said.map(({ role }) => role).join(), given: messages.length });
  } catch ({ code, message }) { note({ code, message }); }`;
const permissions = {
  conversation: ['note'],
  llm: true,
  storage: { scopes: ['conversation'], maxBytes: 1024 },
};

describe('runTools', function () {
  this.timeout(60_000);
  let house: BotHouse;
  let server: FakeModelServer;

  before(async () => {
    server = await FakeModelServer.start();
    house = await BotHouse.open(
      { answers: { on: { message_created: answers }, permissions, top: `${imports}\n${tools}` } },
      { config: { llmBaseUrl: server.baseUrl, llmModel: 'small' } },
    );
  });
  // Each run is replayed there.
  after(async () => {
    await house.close();
    await server.close();
    removeBots();
  });

  async function noted(options: object = {}): Promise<Record<string, unknown>> {
    const { run } = await house.askAnew('answers', JSON.stringify(options));
    expect(run.error).to.equal(null);
    return JSON.parse(String(run.actions[0]?.content)) as Record<string, unknown>;
  }

  /** What the tools answered in the question with this index. */
  function answersIn(index: number): string[] {
    const messages = server.questions[index]?.body.messages ?? [];
    return messages.filter(({ role }) => role === 'tool').map(({ content }) => content);
  }

  it('asks until the model answers with a text, and hands back the conversation', async () => {
    server.expect([
      replies.calls(call('order', { number: 'A-17' }), call('remembered', {})),
      replies.calls(call('text', {})),
      replies.text('It is on its way.'),
    ]);
    expect(await noted({ temperature: 0, max_tokens: 100 })).to.deep.equal({
      content: 'It is on its way.',
      rounds: 3,
      roles: 'user,assistant,tool,tool,assistant,tool,assistant',
      given: 1,
    });
    const [first, second, third] = server.questions.map(({ body }) => body);
    expect(first?.tools?.map(({ function: { name } }) => name)).to.include.members(['order', 'remembered', 'large']);
    expect(first).to.deep.include({ temperature: 0, max_tokens: 100, tool_choice: 'auto' });
    expect(second?.messages.slice(1).map(({ role, tool_call_id: id }) => [role, id])).to.deep.equal([
      ['assistant', undefined],
      ['tool', 'call-order'],
      ['tool', 'call-remembered'],
    ]);
    expect(answersIn(1)).to.deep.equal(['{"number":"A-17","state":"on its way"}', '1']);
    expect(third?.messages.at(-1)).to.deep.equal({ role: 'tool', tool_call_id: 'call-text', content: 'as it is' });
  });

  it('answers each call, even if a tool throws, is not there, or is asked for with what is no JSON', async () => {
    const calls = ['deep', 'throws', 'rejects', 'endless', 'nothing', '__proto__'].map((name) => call(name, {}));
    server.expect([replies.calls(...calls, call('order', '{"number": ')), replies.text('Sorry')]);
    expect(await noted()).to.include({ content: 'Sorry', rounds: 2 });
    const [deep = '', ...others] = answersIn(1);
    expect([deep.length, deep.slice(0, 3), deep.at(-1)]).to.deep.equal([16_000, '[[[', '…']);
    const told = others.map((text) => (JSON.parse(text) as { error: string } | null)?.error ?? null);
    expect(told).to.deep.equal([
      'no such order',
      'The tool failed',
      told[2],
      null,
      'There is no tool "__proto__"',
      'The arguments are no JSON object',
    ]);
    expect(told[2]).to.include('circular');
  });

  it('ends at the bound with a code, without the calls of the last round', async () => {
    server.expect([], replies.calls(call('remembered', {})));
    const { code, message } = await noted({ maxRounds: 3 });
    expect(code).to.equal('too_many_rounds');
    expect(message).to.equal('The model asked for tools in each of 3 rounds');
    expect(server.questions).to.have.lengthOf(3);
    expect(answersIn(2)).to.deep.equal(['1', '2']);
    server.expect([], replies.calls(call('text', {})));
    expect(await noted()).to.include({ code: 'too_many_rounds' });
    expect(server.questions).to.have.lengthOf(5);
  });

  it('has the model choose a tool in the first round only, and rejects as the model does', async () => {
    server.expect([replies.calls(call('text', {})), replies.text('Done')]);
    await noted({ tool_choice: 'required' });
    expect(server.questions.map(({ body }) => body.tool_choice)).to.deep.equal(['required', 'auto']);
    server.expect([replies.calls(call('text', {})), replies.refuse(401, 'Wrong key')]);
    expect(await noted()).to.include({ code: 'unauthorized' });
  });

  it('cuts results of 2 MB, and those of many calls to what one request may have', async () => {
    server.expect([replies.calls(call('large', {}), call('text', {})), replies.text('Done')]);
    expect(await noted()).to.include({ content: 'Done' });
    expect(answersIn(1).map(({ length }) => length)).to.deep.equal([16_000, 'as it is'.length]);
    const many = Array.from({ length: 1000 }, () => call('long', {}));
    server.expect([replies.calls(...many), replies.calls(...many), replies.text('Done')]);
    expect(await noted()).to.include({ content: 'Done', rounds: 3 });
    expect(answersIn(2)).to.have.lengthOf(40);
    expect(JSON.stringify(server.questions[2]?.body).length).to.be.below(65_536);
  });

  it('plays in a simulation with calls by script', async () => {
    const code = `async message_created(ctx) {
  const messages = [{ role: 'user' as const, content: ctx.message.content }];
  const run = ({ number }: { number?: unknown }) => \`Order \${String(number)} is on its way\`;
  const { content } = await runTools(ctx, { messages, tools: { order: { parameters: { type: 'object' }, run } } });
  ctx.reply(content);
},`;
    const bot = makeBot(code, { permissions: { conversation: ['reply'], llm: true } }, imports);
    const sim = await simulate(bot, {
      llm: ({ messages }) => {
        const last = (messages as { role: string; content: string }[]).at(-1);
        return last?.role === 'tool' ? last.content : { tool_calls: [{ name: 'order', arguments: { number: 17 } }] };
      },
    });
    await sim.customer('Where is it?');
    sim.expectReply('Order 17 is on its way');
  });
});
