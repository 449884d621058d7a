import { expect } from 'chai';
import { join } from 'node:path';
import { parseSince } from '../../src/cli/plugin/runs/since.ts';
import { BotHouse } from '../runs/house.ts';
import { changedTables, readDigest } from '../support/digest.ts';
import { writePackage } from '../support/packages.ts';
import { PluginCommands } from '../support/plugin-commands.ts';

const permissions = { conversation: ['reply'], storage: { scopes: ['conversation'] } };
const answer = `if (ctx.message.content === 'loop') { ctx.log.warn('before the loop', { n: 1 }); for (;;); }
  const asked = await ctx.storage.incr('asked'); ctx.log.info('heard'); ctx.reply('Answer ' + asked + ': ' + ctx.config.text)`;

describe('the commands that show and repeat runs', function () {
  this.timeout(120_000);
  let house: BotHouse;
  let commands: PluginCommands;
  let folder: string;
  let conversations: number[];

  before(async () => {
    const config = { type: 'object', properties: { text: { type: 'string', default: 'yes' } } };
    house = await BotHouse.open({ teller: { on: { message_created: answer }, permissions, config } });
    commands = await PluginCommands.beside(house.app);
    ({ folder } = commands);
    conversations = [await house.conversation('teller'), await house.conversation('teller')];
    for (const content of ['one', 'two']) await house.ask(conversations[0]!, content);
    await house.ask(conversations[1]!, 'loop');
  });
  after(async () => {
    await house.close();
    commands.close();
  });

  const plugin = (...args: string[]) => commands.run(...args);
  const told = (...args: string[]) => commands.told(...args);

  /** Writes a version of the plugin, with another handler. */
  function write(code: string, changes: object = {}): string {
    const path = join(folder, 'teller');
    const config = { type: 'object', properties: { text: { type: 'string' } } };
    const manifest = { id: 'teller', version: '2.0.0', permissions, config, ...changes };
    writePackage(path, manifest, `export default { on: { async message_created(ctx) { ${code} } } };`);
    return path;
  }

  /** Whether the sweep has added all changes to the sums, which it would do beside a command otherwise. */
  async function areSumsUpToDate(): Promise<boolean> {
    const [row] = await house.app.query<{ done: boolean }>(
      `SELECT NOT EXISTS (SELECT FROM bot_storage_changes) AND NOT EXISTS (SELECT FROM conversation_count_changes) AS done`,
    );
    return row!.done;
  }

  it('list runs, newest first', async () => {
    const lines = (await told('runs', 'teller')).trimEnd().split('\n');
    expect(lines[0]).to.match(/^RUN +TIME \(UTC\) +CONVERSATION +EVENT +VERSION +OUTCOME +MS +ACTIONS$/);
    expect(lines).to.have.length(4);
    expect(lines[1]).to.match(new RegExp(` ${conversations[1]} +message_created +1\\.0\\.0 +timeout `));
    expect(lines[2]).to.match(/ ok +\d+ +reply$/);
    const { payload } = JSON.parse(
      await told('runs', 'teller', '--json', '--outcome', 'ok', '--limit', '1', '--since', '1h'),
    );
    expect(payload).to.have.length(1);
    expect(payload[0]).to.deep.include({ account_id: 1, conversation_id: conversations[0], outcome: 'ok' });
    expect(await told('runs', 'teller', '--since', '2099-01-01')).to.contain('no such runs');
  });

  it('print logs, oldest first, also of runs that were stopped', async () => {
    const output = await told('logs', 'teller');
    expect(output).to.match(/INFO heard\n.*INFO heard\n.*WARN before the loop \{"n":1\}\n.*FAILED timeout: /);
    const { payload } = JSON.parse(await told('logs', 'teller', '--outcome', 'timeout', '--json'));
    expect(payload.map(({ level }: { level: string }) => level)).to.deep.equal(['warn', 'failed']);
  });

  it('replay a run', async () => {
    const [latest] = JSON.parse(await told('runs', 'teller', '--json', '--outcome', 'ok')).payload as { id: number }[];
    expect(await told('replay', String(latest!.id))).to.equal(
      `Run ${latest!.id} ended as recorded: ok, with the same 1 action.\n`,
    );
    await house.app.query(`UPDATE bot_runs SET config = '{"text":"no"}' WHERE id = $1`, [latest!.id]);
    const changed = await plugin('replay', String(latest!.id));
    expect(changed.code).to.equal(1);
    expect(changed.output)
      .to.contain('- reply content: "Answer 2: yes"')
      .and.contain('+ reply content: "Answer 2: no"');
    expect(JSON.parse((await plugin('replay', String(latest!.id), '--json')).output)).to.include({ identical: false });
    await house.app.query(`UPDATE bot_runs SET config = '{"text":"yes"}' WHERE id = $1`, [latest!.id]);
  });

  it('repeat runs with another version, conversation by conversation, and change nothing', async () => {
    await house.app.eventually(areSumsUpToDate);
    const digest = await readDigest(house.app);
    const path = write(answer.replace("'Answer '", "(asked > 1 ? 'Again ' : 'Answer ')"));
    const output = await told('backtest', path, '--since', '1h');
    expect(output).to.contain(`Conversation ${conversations[0]} of account 1\n  run `);
    expect(output).to.contain(': "two"\n    - reply content: "Answer 2: yes"\n    + reply content: "Again 2: yes"\n');
    expect(output).not.to.contain('"one"').and.not.contain('"loop"');
    expect(output).to.contain('with teller 2.0.0: 1 would end otherwise, in 1 conversations.');
    const found = JSON.parse(await told('backtest', path, '--since', '1h', '--json'));
    expect(found).to.deep.include({ runs: 3, identical: 2, different: 1, skipped: false });
    expect(found.conversations[0]).to.include({ conversation_id: conversations[0], account_id: 1 });
    expect(found.conversations[0].runs[0]).to.deep.include({
      recorded: { outcome: 'ok', actions: [{ type: 'reply', content: 'Answer 2: yes' }] },
      now: { outcome: 'ok', actions: [{ type: 'reply', content: 'Again 2: yes' }] },
    });
    expect(changedTables(digest, await readDigest(house.app))).to.deep.equal([]);
  });

  it('say where the record has no answer, and where the new version fails', async () => {
    const asks = await told('backtest', write(`ctx.reply(String(await ctx.storage.get('other')))`));
    expect(asks)
      .to.contain('+ unanswered')
      .and.contain('It asks for storage.get {"scope":"conversation","key":"other"}');
    const fails = await told('backtest', write(`throw new Error('new fault')`), '--limit', '2');
    expect(fails).to.contain('+ threw').and.contain('new fault').and.contain('There are more runs');
    expect(await told('backtest', write(''), '--since', '2099-01-01T00:00:00Z')).to.contain(
      'There are no runs of teller',
    );
    const deaf = await told('backtest', write('', { events: ['conversation_opened'] }));
    expect(deaf).to.contain('- reply content: "Answer 1: yes"');
  });

  it('leave out what was deleted with a message', async () => {
    const { app } = house;
    const conversation = conversations[1]!;
    const [message] = (await app.get(`conversations/${conversation}/messages`)).body.payload;
    await app.delete(`conversations/${conversation}/messages/${message.id}`);
    const [run] = (await app.get(`conversations/${conversation}/runs`)).body.payload;
    expect(await commands.refused('replay', String(run.id))).to.contain('was deleted, together with a message');
    const found = JSON.parse(await told('backtest', write(answer), '--since', '1h', '--json'));
    expect(found).to.include({ runs: 2, different: 0, erased: 1 });
  });

  it('refuse what cannot be', async () => {
    const refused = (...args: string[]) => commands.refused(...args);
    expect(await refused('runs', 'nobody')).to.contain('Nothing in these accounts runs the plugin nobody');
    expect(await refused('replay', '999999999')).to.contain('There is no run 999999999');
    expect(await refused('replay', 'x')).to.contain('a number from 1');
    expect(await refused('runs', 'teller', '--since', 'yesterday')).to.contain('1h or 7d');
    expect(await refused('runs', 'teller', '--account', '99')).to.contain('404');
    expect(await refused('backtest', join(folder, 'nothing'))).to.contain('This plugin cannot be used');
    for (const command of ['runs', 'logs', 'replay', 'backtest']) {
      const { output } = await plugin(command, '--help');
      expect(output).to.contain(`Example:\n  $ npx switchboard plugin ${command} `);
    }
  });

  it('read times', () => {
    const now = Date.UTC(2026, 0, 8);
    const seconds = now / 1000;
    expect(parseSince('1h', now)).to.equal(seconds - 3600);
    expect(parseSince('7d', now)).to.equal(seconds - 604_800);
    expect(parseSince('2026-01-08T00:00:00Z', now)).to.equal(seconds);
    expect(parseSince('2026-01-08T01:00:00+01:00', now)).to.equal(seconds);
    for (const wrong of ['', '1', 'h', '-1h', '1y', '2026', 'now', '2026-13-01'])
      expect(() => parseSince(wrong, now), wrong).to.throw();
  });
});
