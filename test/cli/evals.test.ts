import { expect } from 'chai';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeServicePass } from '../../src/lib/service-pass.ts';
import { BotHouse } from '../runs/house.ts';
import { adminToken } from '../support/app.ts';
import { runCommand } from '../support/command.ts';
import { changedTables, readDigest } from '../support/digest.ts';
import { FakeModelServer, replies } from '../support/model-server.ts';
import { addPerson } from '../support/people.ts';

const url = 'https://help.acme.example/returns';
const returns = { title: 'Returns', content: 'You may return goods within 30 days. Send them to Dock 9.', url };

interface Report {
  ok: boolean;
  share: number;
  last_run_at: number | null;
  changes: { kind: string; question: string; before: string | null; now: string | null }[];
  results: { question: string; passed: boolean; got: string; replies: string[] }[];
}

// Replies in each of the ways that are told apart, by the words of the customer.
const talk = `const { content } = ctx.message; const [found] = await ctx.kb.search(content);
  const asked = await ctx.storage.incr('asked');
  if (/^hi/.test(content)) ctx.reply('Hello! ' + ctx.history.length + ' ' + asked);
  if (/offer/.test(content)) ctx.reply('Das könnte helfen: ' + found.title + ' ' + found.url);
  if (/cite/.test(content)) ctx.reply('Within 30 days [1].\\n\\n[1] ' + found.title + ': ' + found.url);
  if (/human/.test(content)) ctx.handoff({ reason: 'asked', message: 'One moment.' });
  if (/break/.test(content)) throw new Error('broken by the test');`;

describe('evals of bots', function () {
  this.timeout(120_000);
  let house: BotHouse;
  let server: FakeModelServer;
  let folder: string;

  before(async () => {
    const storage = { scopes: ['conversation'] };
    const permissions = { conversation: ['reply', 'handoff'], history: 20, kb: true, storage };
    const talker = { on: { message_created: talk }, permissions };
    house = await BotHouse.open({ talker }, { shipped: ['ai-bot'], config: { burstQuietMs: 0 } });
    server = await FakeModelServer.start();
    folder = mkdtempSync(join(tmpdir(), 'switchboard-evals-'));
    await writeServicePass(folder, { url: house.app.url, token: adminToken });
    await house.app.post('articles', returns);
  });
  after(async () => {
    await house.close();
    await server.close();
    rmSync(folder, { recursive: true });
  });

  const command = (...args: string[]) => {
    const env = { PATH: process.env['PATH'] ?? '', DATA_DIR: folder };
    return runCommand(['evals', ...args], { env, cwd: folder });
  };

  function write(cases: readonly (object | string)[]): string {
    const lines = cases.map((one) => (typeof one === 'string' ? one : JSON.stringify(one)));
    writeFileSync(join(folder, 'cases.jsonl'), `${lines.join('\n')}\n`);
    return 'cases.jsonl';
  }

  async function evaluate(bot: string, cases: readonly object[], ...args: string[]) {
    const { code, output, errors } = await command(bot, write(cases), '--json', ...args);
    expect(errors).to.equal('');
    return { code, report: JSON.parse(output) as Report };
  }

  it('judge answers, offers, small talk, handoffs and silence, and write nothing to conversations', async () => {
    const before = await readDigest(house.app);
    const cases = [
      { question: 'cite the days of returns', expect: { article: 'returns' } },
      { question: 'cite the days of returns', expect: { article: url } },
      { question: 'offer me returns', expect: { article: 'Returns' } },
      { question: 'cite returns', expect: { contains: ['30 DAYS', 'within'] } },
      { question: 'human, about returns', expect: { handoff: true } },
      { question: 'offer me returns', expect: { answered: false } },
      { question: 'say nothing', expect: { answered: false } },
      { question: 'hi there', expect: { small_talk: true } },
    ];
    const wrong = [
      { question: 'cite the days of returns', expect: { article: 'Shipping' } },
      { question: 'cite returns', expect: { contains: ['30 days', '40 days'] } },
      { question: 'hi there', expect: { handoff: true } },
      { question: 'human, about returns', expect: { answered: false } },
      { question: 'cite returns', expect: { answered: false } },
      { question: 'cite returns', expect: { small_talk: true } },
      { question: 'say nothing', expect: { small_talk: true } },
      { question: 'break', expect: { handoff: true } },
    ];
    const { code, report } = await evaluate('talker', [...cases, ...wrong], '--min', '0.5');
    const passed = report.results.map((result) => result.passed);
    expect(passed, JSON.stringify(report.results, null, 1)).to.deep.equal([
      ...cases.map(() => true),
      ...wrong.map(() => false),
    ]);
    expect([code, report.ok, report.share, report.last_run_at]).to.deep.equal([0, true, 0.5, null]);
    expect(report.results.map(({ got }) => got)).to.include.members([
      'offered: Returns',
      'handed off: plugin',
      'no reply',
      'failed: threw, Error: broken by the test',
    ]);
    const changed = changedTables(before, await readDigest(house.app));
    expect(changed.filter((table) => table !== 'access_tokens')).to.deep.equal(['bot_evals']);
    expect((await command('talker', 'cases.jsonl', '--min', '0.51')).code).to.equal(1);
    expect((await command('talker', 'cases.jsonl')).code).to.equal(1);
  });

  it('begin each question anew, behind its history', async () => {
    const history = Array.from({ length: 20 }, (_, index) => ({
      role: index % 2 === 0 ? 'user' : 'assistant',
      content: `message ${index}`,
    }));
    const cases = [
      { question: 'hi', expect: { contains: ['hello! 1 1'] } },
      { question: 'hi', history, expect: { contains: ['hello! 20 1'] } },
      { question: 'hi', expect: { contains: ['hello! 1 1'] } },
    ];
    const { code, report } = await evaluate('talker', cases);
    expect([code, report.results.map(({ replies: said }) => said)]).to.deep.equal([
      0,
      [['Hello! 1 1'], ['Hello! 20 1'], ['Hello! 1 1']],
    ]);
  });

  it('show what has changed since the last run, which the usage of the bot keeps', async () => {
    const cite = { question: 'cite returns', expect: { article: 'Returns' } };
    const hi = { question: 'hi', expect: { small_talk: true } };
    await evaluate('talker', [cite, hi, { question: 'say nothing', expect: { answered: false } }]);
    const path = `agent_bots/${house.botOf('talker')}/usage`;
    const { last_evals: kept } = (await house.app.get(path)).body;
    expect(kept.results.map((one: { question: string; passed: boolean }) => [one.question, one.passed])).to.deep.equal([
      ['cite returns', true],
      ['hi', true],
      ['say nothing', true],
    ]);
    const again = { ...hi, expect: { handoff: true } };
    const { report } = await evaluate('talker', [cite, again, { question: 'human', expect: { handoff: true } }]);
    expect(report.last_run_at).to.equal(kept.ran_at);
    expect(report.changes.map(({ kind, question }) => [kind, question])).to.deep.equal([
      ['broken', 'hi'],
      ['new', 'human'],
      ['gone', 'say nothing'],
    ]);
    const { output } = await command('talker', write([cite, hi, { question: 'human', expect: { handoff: true } }]));
    expect(output).to.match(
      /^# +RESULT +EXPECTED +GOT +QUESTION\n1 +passed +\{"article":"Returns"\} +answered from Returns: /,
    );
    expect(output)
      .to.contain('Since the last run')
      .and.match(/ {2}\+ fixed: hi: replied: "Hello! 1 1" -> replied:/);
    expect(output).to.match(/talker: 3 of 3 passed \(100 %\); 100 % are needed\.\n$/);
    expect((await command('talker', 'cases.jsonl')).output).to.contain('Nothing has changed since the last run');
  });

  it('ask the model of an AI bot with its prompt, its articles and the history, and count its tokens', async () => {
    const { app } = house;
    await app.patch('/api/v1/accounts/1', { llm: { base_url: server.baseUrl, model: 'small', api_key: 'sk-4711' } });
    const fields = { kind: 'ai', name: 'Ada', system_prompt: 'Speak like a pirate.' };
    const bot = (await app.post('agent_bots', fields)).body.id as number;
    server.expect([replies.answer('Within 30 days [1].'), replies.handoff('wants a person')]);
    const history = [
      { role: 'user', content: 'Hello from Utrecht' },
      { role: 'assistant', content: 'Hello! How can I help?' },
    ];
    const first = { question: 'Within how many days may I return goods?', history, expect: { article: 'Returns' } };
    expect((await evaluate('Ada', [first])).code).to.equal(0);
    const { report } = await evaluate(String(bot), [
      { question: 'May I return goods in person?', expect: { handoff: true } },
    ]);
    expect(report.results[0]).to.deep.include({ passed: true, got: 'handed off: requested_by_model' });
    const [asked] = server.questions;
    const prompt = JSON.stringify(asked!.body.messages);
    for (const words of ['Speak like a pirate.', 'Send them to Dock 9.', 'Hello from Utrecht', 'How can I help?'])
      expect(prompt).to.include(words);
    const { payload } = (await app.get(`agent_bots/${bot}/usage`)).body;
    expect(payload).to.have.length(1);
    expect(payload[0]).to.deep.include({ runs: 0, prompt_tokens: 200, completion_tokens: 40, handoffs: 0 });
  });

  it('tell greetings, offers and handoffs of an AI bot without a model apart', async () => {
    const { app } = house;
    await app.patch('/api/v1/accounts/1', { llm: null });
    await app.post('articles', { title: 'Dock 9', content: 'Lorries park behind the hall.', url: null });
    await app.post('agent_bots', { kind: 'ai', name: 'Offline', handoff_keywords: ['human'] });
    const { report } = await evaluate('Offline', [
      { question: 'Within how many days may I return goods?', expect: { article: 'Returns' } },
      { question: 'Hello!', expect: { small_talk: true } },
      { question: 'Where do lorries wait?', expect: { answered: false } },
      { question: 'a human, please', expect: { handoff: true } },
    ]);
    expect(report.results.map(({ passed, got }) => [passed, got.split(': ', 1)[0]])).to.deep.equal([
      [true, 'answered from Returns'],
      [true, 'replied'],
      [true, 'offered'],
      [true, 'handed off'],
    ]);
    expect(report.results[2]!.got).to.equal('offered: Dock 9');
  });

  it('hear nothing of real conversations, whatever their ids', async () => {
    const { app } = house;
    // Conversations of trials have an id, too, which a real one has as well.
    for (const content of ['Do penguins like glaciers?', 'Are walruses friendly?', 'Do you sell lamps?'])
      await house.askAnew('talker', content);
    expect(await app.query('SELECT id FROM conversations')).to.deep.equal([{ id: 1 }, { id: 2 }, { id: 3 }]);
    const { report } = await evaluate('Offline', [{ question: 'Hello!', expect: { small_talk: true } }]);
    expect(report.results.map(({ passed, got }) => [passed, got])).to.deep.equal([
      [true, 'replied: "Hello! How can I help you?"'],
    ]);
  });

  it('end with 2, and a sentence, where questions cannot be asked', async () => {
    const fine = { question: 'hi', expect: { small_talk: true } };
    const webhook = await house.app.post('agent_bots', { name: 'Elsewhere', outgoing_url: 'https://127.0.0.1:9/' });
    const { headers } = await addPerson(house.app, { name: 'Mere agent', role: 'agent' });
    for (const [cases, args, sentence] of [
      [[fine], ['nobody'], 'There is no bot nobody'],
      [[fine], [String(webhook.body.id)], 'Elsewhere runs on a server of its own'],
      [[fine], ['talker', '--account', '99'], 'The service refused (404)'],
      [[fine], ['talker', '--token', headers['api_access_token']], 'The service refused (403)'],
      [[], ['talker'], 'There are no questions in cases.jsonl'],
      [[fine, '{'], ['talker'], 'cases.jsonl:2: this is not a JSON object'],
      [[fine, { ...fine, question: ' ' }], ['talker'], 'cases.jsonl:2: `question` must not be blank'],
      [[{ question: 'hi' }], ['talker'], 'cases.jsonl:1: `expect` must be an object with one of article, contains,'],
      [[{ ...fine, expect: { handoff: 'yes' } }], ['talker'], '`expect.handoff` has a value that cannot be expected'],
      [[{ ...fine, history: [{ role: 'system', content: 'x' }] }], ['talker'], 'cases.jsonl:1: `history[0].role` must'],
    ] as const) {
      const [bot = '', ...rest] = args;
      const { code, output, errors } = await command(bot, write(cases), ...rest);
      expect([code, output], errors).to.deep.equal([2, '']);
      expect(errors).to.contain(sentence).and.not.contain('    at ');
    }
    expect(await command('talker', 'nowhere.jsonl')).to.include({
      code: 2,
      errors: 'nowhere.jsonl cannot be read: ENOENT\n',
    });
    const tried = await house.app.post(`agent_bots/${webhook.body.id}/try`, { question: 'hi' });
    expect([tried.status, tried.body.error]).to.deep.equal([422, 'Only bots inside the service can be tried']);
  });
});
