import { expect } from 'chai';
import { FakeModelServer, call, replies } from '../support/model-server.ts';
import { BotHouse } from './house.ts';

// The bot asks what the message says, and notes the answer or the error.
const asks = `const note = (value) => ctx.note(JSON.stringify(value));
  try { note(await ctx.llm.chat(JSON.parse(ctx.message.content))); } catch ({ code, message }) { note({ code, message }); }`;
const permissions = { conversation: ['note'], llm: true };
const user = { role: 'user', content: 'Where is A-17?' };
const tools = [{ name: 'order', description: 'Finds an order', parameters: { type: 'object' } }];
const asked = { id: 'call_1', name: 'order', arguments: { number: 'A-17' } };
const assistant = { role: 'assistant', content: '', tool_calls: [asked] };
const tool = { role: 'tool', tool_call_id: 'call_1', content: '{"state":"on its way"}' };
const schema = { type: 'object', properties: { state: { type: 'string' } }, required: ['state'] };
const format = { type: 'json_schema', json_schema: { name: 'state', strict: true, schema } };

describe('tools of language models', function () {
  this.timeout(60_000);
  let house: BotHouse;
  let server: FakeModelServer;

  before(async () => {
    server = await FakeModelServer.start();
    house = await BotHouse.open(
      { asks: { on: { message_created: asks }, permissions } },
      { config: { llmMaxTokens: 500, llmBaseUrl: server.baseUrl, llmModel: 'small' } },
    );
  });
  // Each run is replayed there.
  after(async () => {
    await house.close();
    await server.close();
  });

  interface Noted {
    content: string;
    tool_calls: { id: string; name: string; arguments: unknown }[];
    finish_reason: string;
    code?: string;
    message: string;
  }

  async function noted(question: object): Promise<Noted> {
    const { run } = await house.askAnew('asks', JSON.stringify(question));
    expect(run.error).to.equal(null);
    return JSON.parse(String(run.actions[0]?.content)) as Noted;
  }

  it('are sent in the words of chat completions: calls, answers, the choice and the form of the answer', async () => {
    server.expect([replies.text('{"state":"on its way"}')]);
    const broken = { id: 'call_2', name: 'order', arguments: '{"number": ' };
    const question = {
      messages: [
        user,
        { ...assistant, content: null, tool_calls: [asked, broken] },
        { role: 'tool', tool_call_id: 'call_2', content: 'no JSON' },
        tool,
      ],
      tools,
      tool_choice: { name: 'order' },
      response_format: format,
    };
    expect((await noted(question)).content).to.equal('{"state":"on its way"}');
    const wire = (id: string, given: string) => ({
      id,
      type: 'function',
      function: { name: 'order', arguments: given },
    });
    expect(server.questions[0]?.body).to.deep.equal({
      model: 'small',
      stream: false,
      max_tokens: 500,
      temperature: 0.2,
      messages: [
        user,
        {
          role: 'assistant',
          content: null,
          // Servers that parse it get JSON.
          tool_calls: [wire('call_1', '{"number":"A-17"}'), wire('call_2', '{"invalid":"{\\"number\\": "}')],
        },
        { role: 'tool', tool_call_id: 'call_2', content: 'no JSON' },
        tool,
      ],
      tools: [{ type: 'function', function: tools[0] }],
      tool_choice: { type: 'function', function: { name: 'order' } },
      response_format: format,
    });
  });

  it('are left out where there are none, since servers refuse empty lists', async () => {
    server.expect([replies.text('Yes')]);
    const spoke = { role: 'assistant', content: 'Hello', tool_calls: [] };
    await noted({ messages: [spoke, user], tools: [], tool_choice: 'none' });
    expect(server.questions[0]?.body.messages).to.deep.equal([{ role: 'assistant', content: 'Hello' }, user]);
    expect(server.questions[0]?.body).not.to.have.any.keys('tools', 'tool_choice', 'response_format');
  });

  it('are asked for with arguments that are objects; what is no JSON object stays text', async () => {
    const given = ['{"number":"A-17"}', '{"number": ', '[1]', '', { number: 5 }, null];
    const calls = given.map((one, index) => ({ id: `c${index}`, function: { name: 'order', arguments: one } }));
    server.expect([replies.calls(...calls)]);
    const answer = await noted({ messages: [user], tools });
    expect(answer.tool_calls.map((one) => one.arguments)).to.deep.equal([
      { number: 'A-17' },
      '{"number": ',
      '[1]',
      {},
      { number: 5 },
      {},
    ]);
    expect(answer.finish_reason).to.equal('tool_calls');
  });

  it('get ids of their own where the server gives none, or gives one twice, also in the messages before', async () => {
    const calls = [undefined, 'x', 'x', 'call_1', '', 7].map((id) => ({
      id,
      function: { name: 'order', arguments: '{}' },
    }));
    server.expect([replies.calls(...calls)]);
    const { tool_calls: answered } = await noted({ messages: [user, assistant, tool], tools });
    const ids = answered.map(({ id }) => id);
    expect(new Set([...ids, 'call_1']).size).to.equal(7);
    expect(ids[1]).to.equal('x');
    // As the strictest server demands.
    for (const id of ids.filter((one) => one !== 'x')) expect(id).to.match(/^[a-z0-9]{9}$/);
  });

  it('are asked for twenty times in one answer at most', async () => {
    server.expect([replies.calls(...Array.from({ length: 1000 }, () => call('order', { number: 'A-17' })))]);
    const { tool_calls: answered } = await noted({ messages: [user], tools });
    expect(answered).to.have.lengthOf(20);
    expect(new Set(answered.map(({ id }) => id)).size).to.equal(20);
  });

  it('keep arguments that are nested too deep as text, and texts that cannot be stored readable', async () => {
    const deep = `{"a":${'['.repeat(4_000)}${']'.repeat(4_000)}}`;
    server.expect([replies.calls(call('order', deep), call('order', '{"a":"\\u0000"}'), call('order', 'a\0b'))]);
    const { tool_calls: answered } = await noted({ messages: [user], tools });
    expect(answered.map((one) => one.arguments)).to.deep.equal([deep, '{"a":"\\u0000"}', 'a\ufffdb']);
    const nested = JSON.parse(`{"a":${'['.repeat(500)}${']'.repeat(500)}}`) as object;
    server.expect([replies.calls({ id: 'x', function: { name: 'order', arguments: nested } })]);
    expect(await noted({ messages: [user], tools })).to.include({ code: 'bad_answer' });
  });

  it('are beside answers in parts, and refusals', async () => {
    const parts = [
      { type: 'thinking', thinking: [{}] },
      { type: 'text', text: 'On its ' },
      { type: 'text', text: 'way' },
    ];
    server.expect([replies.message({ content: parts }), replies.message({ content: null, refusal: 'I cannot' })]);
    expect((await noted({ messages: [user] })).content).to.equal('On its way');
    expect(await noted({ messages: [user] })).to.include({ content: 'I cannot', finish_reason: 'refusal' });
  });

  it('and a form of answers that a server does not know: it is asked without the form, each time anew', async () => {
    const unknown = replies.refuse(400, 'This response_format type is unavailable now');
    for (const _ of [1, 2]) {
      server.expect([unknown, replies.text('{}')]);
      expect((await noted({ messages: [user], response_format: format })).content).to.equal('{}');
      expect(server.questions.map(({ body }) => 'response_format' in body)).to.deep.equal([true, false]);
    }
    const invalid = `Invalid schema for response_format 'state': 'allOf' is not permitted.`;
    server.expect([replies.refuse(400, invalid, { param: 'response_format' })]);
    const refused = await noted({ messages: [user], response_format: format });
    expect(refused.code).to.equal('refused');
    expect(refused.message).to.include('not permitted');
    expect(server.questions).to.have.lengthOf(1);
  });

  for (const [what, question, sentence] of [
    ['a call without an answer', { messages: [user, assistant] }, 'the call "call_1"'],
    ['an answer that comes later', { messages: [user, assistant, user, tool] }, '`messages[2]`: the call "call_1"'],
    ['an answer to no call', { messages: [user, tool] }, '`messages[1]`: its `tool_call_id`'],
    ['two answers to one call', { messages: [assistant, tool, tool] }, '`messages[2]`: its `tool_call_id`'],
    ['an answer without an id', { messages: [assistant, { role: 'tool', content: 'x' }] }, '`tool_call_id` is missing'],
    ['two calls with one id', { messages: [{ ...assistant, tool_calls: [asked, asked] }, tool] }, 'the same id twice'],
    ['calls of a customer', { messages: [{ ...user, tool_calls: [asked] }, tool] }, 'only an assistant'],
    ['an id of a customer', { messages: [{ ...user, tool_call_id: 'x' }] }, 'only the role `tool`'],
    ['a message without content', { messages: [{ role: 'user' }] }, '`content` is missing'],
    ['a tool that is not there', { messages: [user], tools, tool_choice: { name: 'x' } }, '`tools` does not have'],
    [
      'a form without a schema',
      { messages: [user], response_format: { type: 'json_schema' } },
      'json_schema` is missing',
    ],
    [
      '1,000 calls',
      {
        messages: [
          { ...assistant, tool_calls: Array.from({ length: 1000 }, () => ({ id: 'a', name: 'b', arguments: {} })) },
        ],
      },
      'at most 20 items',
    ],
  ] as const) {
    it(`are not sent with ${what}`, async () => {
      server.expect([]);
      const { code, message } = await noted(question);
      expect(code).to.equal('bad_request');
      expect(message).to.include(sentence);
      expect(server.questions).to.deep.equal([]);
    });
  }
});
