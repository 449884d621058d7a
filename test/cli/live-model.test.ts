import { expect } from 'chai';
import { join } from 'node:path';
import { BotHouse } from '../runs/house.ts';
import { FakeModelServer, replies, type Reply } from '../support/model-server.ts';
import { writePackage } from '../support/packages.ts';
import { PluginCommands } from '../support/plugin-commands.ts';

const permissions = { conversation: ['reply'], llm: true, kb: true };
const asks = `const messages = [{ role: 'user', content: ctx.message.content }];
  const { content } = await ctx.llm.chat({ messages });
  const found = content.startsWith('search ') ? await ctx.kb.search(content.slice(7)) : [];
  ctx.reply([content, ...found.map(({ title }) => title)].join(': '));`;

/** Answers by the words of the customer. */
function byWords(answers: Readonly<Record<string, string>>): Reply {
  return (response, question) => {
    const asked = question.body.messages.at(-1)?.content ?? '';
    replies.text(answers[asked] ?? 'unknown')(response, question);
  };
}

interface Report {
  runs: number;
  different: number;
  conversations: { runs: { difference: string[] }[] }[];
  live_model: {
    questions: number;
    prompt_tokens: number;
    models: string[];
    failed: { reason: string }[];
    stopped: string | null;
  } | null;
}

describe('plugin backtest --live-model', function () {
  this.timeout(120_000);
  let house: BotHouse;
  let server: FakeModelServer;
  let commands: PluginCommands;
  let path: string;

  before(async () => {
    house = await BotHouse.open({ asker: { on: { message_created: asks }, permissions } });
    server = await FakeModelServer.start();
    commands = await PluginCommands.beside(house.app);
    await house.app.post('articles', { title: 'Returns', content: 'You may return goods within 30 days.' });
    await useModel(server.baseUrl);
    server.expect([replies.text('A'), replies.text('B'), replies.text('C')]);
    const conversation = await house.conversation('asker');
    for (const content of ['one', 'two', 'three']) await house.ask(conversation, content);
    path = join(commands.folder, 'asker');
    const code = `export default { on: { async message_created(ctx) { ${asks} } } };`;
    writePackage(path, { id: 'asker', version: '2.0.0', permissions }, code);
  });
  after(async () => {
    await house.close();
    commands.close();
    await server.close();
  });

  const useModel = (url: string | null) =>
    house.app.patch('/api/v1/accounts/1', { llm: url === null ? null : { base_url: url, model: 'small' } });
  const told = (...args: string[]) => commands.told('backtest', path, '--since', '1h', ...args);
  const report = async (...args: string[]) => JSON.parse(await told('--json', ...args)) as Report;
  const tokens = async (): Promise<number> => {
    const { payload } = (await house.app.get(`agent_bots/${house.botOf('asker')}/usage`)).body;
    return payload[0].prompt_tokens as number;
  };

  /** Answers all questions of a command; returns how many there were. */
  async function answering<Result>(reply: Reply, work: () => Promise<Result>): Promise<[Result, number]> {
    server.expect(Array.from({ length: 10 }, () => reply));
    const result = await work();
    return [result, server.questions.length];
  }

  it('is not asked for by default: the recorded answers count', async () => {
    const [found, asked] = await answering(byWords({}), () => report());
    expect([found.runs, found.different, found.live_model, asked]).to.deep.equal([3, 0, null, 0]);
  });

  it('asks the model anew, and shows changed answers beside the old ones', async () => {
    const before = await tokens();
    const [output, asked] = await answering(byWords({ one: 'A', two: 'B2', three: 'C' }), () => told('--live-model'));
    expect(output).to.contain('"two"\n    - reply content: "B"\n    + reply content: "B2"\n');
    expect(output).not.to.contain('"one"');
    expect(output).to.contain('with asker 2.0.0: 1 would end otherwise, in 1 conversations.');
    expect(output).to.contain(
      'The model was asked anew: 3 answers by small, 300 prompt tokens and 60 completion tokens.',
    );
    expect(output).to.contain('The tokens count in the usage and the `tokens_per_day` of the bots.');
    expect([asked, (await tokens()) - before]).to.deep.equal([3, 300]);
  });

  it('searches where the model words the search', async () => {
    const words = { one: 'A', two: 'search return goods', three: 'C' };
    const [found] = await answering(byWords(words), () => report('--live-model'));
    expect(found.different).to.equal(1);
    expect(found.conversations[0]!.runs[0]!.difference).to.deep.equal([
      '- reply content: "B"',
      '+ reply content: "search return goods: Returns"',
    ]);
  });

  it('stops at --max-tokens, and says so', async () => {
    const same = byWords({ one: 'A', two: 'B', three: 'C' });
    const [found, asked] = await answering(same, () => report('--live-model', '--max-tokens', '1'));
    expect(asked).to.be.within(1, 2);
    expect(found.live_model).to.include({ questions: asked, stopped: 'max_tokens' });
    expect(found).to.include({ runs: asked, different: 0 });
    const [output] = await answering(same, () => told('--live-model', '--max-tokens', '1'));
    expect(output).to.contain('Stopped at --max-tokens');
  });

  it('stops where the tokens of the bot for today are used up', async () => {
    const bot = `agent_bots/${house.botOf('asker')}`;
    await house.app.patch(bot, { tokens_per_day: 1 });
    const [found, asked] = await answering(byWords({}), () => report('--live-model'));
    expect([asked, found.runs, found.different, found.live_model!.stopped]).to.deep.equal([0, 0, 0, 'budget']);
    await house.app.patch(bot, { tokens_per_day: null });
  });

  it('leaves out runs for which the model gives no answer, and stops where there is none', async () => {
    const refusing = replies.refuse(401, 'wrong key');
    const [found] = await answering(refusing, () => report('--live-model'));
    expect([found.runs, found.different, found.live_model!.failed.length]).to.deep.equal([0, 0, 3]);
    expect(found.live_model!.failed[0]!.reason).to.contain('refuses the API key');
    const [output] = await answering(refusing, () => told('--live-model'));
    expect(output).to.contain('3 runs were not compared: the model gave no answer (run ');
    await useModel(null);
    expect(await told('--live-model')).to.contain('Stopped: a bot has no model server.');
    await useModel(server.baseUrl);
  });

  it('calls as a bot that the service answers, and no others', async () => {
    const calls = `agent_bots/${house.botOf('asker')}/calls`;
    const search = await house.app.post(calls, { name: 'kb.search', input: { query: 'return goods' } });
    expect(search.body).to.include({ error: null }).and.have.nested.property('output[0].title', 'Returns');
    const wrong = await house.app.post(calls, { name: 'llm.chat', input: { messages: [] } });
    expect([wrong.status, wrong.body.output, wrong.body.error.code]).to.deep.equal([200, null, 'bad_request']);
    expect((await house.app.post(calls, { name: 'fetch', input: {} })).status).to.equal(422);
    const webhook = await house.app.post('agent_bots', { name: 'Elsewhere', outgoing_url: 'https://127.0.0.1:9/' });
    const refused = await house.app.post(`agent_bots/${webhook.body.id}/calls`, { name: 'kb.search', input: {} });
    expect([refused.status, refused.body.error]).to.deep.equal([422, 'Only bots inside the service make calls']);
  });
});
