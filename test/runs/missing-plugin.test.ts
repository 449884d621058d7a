import { expect } from 'chai';
import { pino } from 'pino';
import { App } from '../../src/app/app.ts';
import { loadConfig } from '../../src/config.ts';
import { messagesOf, openConversation, pluginRootOf, serveInboxes } from '../faults/plugins.ts';
import { warnOfStrandedBots } from '../../src/app/start/stranded-bots.ts';
import { TestApp } from '../support/app.ts';

type Line = Record<string, unknown>;

const answer = `ctx.reply('Here I am');`;

describe('a bot whose plugin is not installed', function () {
  this.timeout(60_000);
  let app: TestApp;
  let both: { path: string; remove: () => void };
  let one: { path: string; remove: () => void };
  let inboxes: Map<string, number>;
  let waiting: number;
  let pending: number;
  let warned: Line[];

  // Another process of the same installation: what it finds out about plugins is known to all.
  async function startBeside(
    pluginRoot: string,
    while_: (engine: App) => Promise<void> = async () => undefined,
  ): Promise<Line[]> {
    const lines: Line[] = [];
    const log = pino({ level: 'warn' }, { write: (line: string) => void lines.push(JSON.parse(line) as Line) });
    const config = loadConfig({
      DATABASE_URL: app.databaseUrl,
      SECRET_KEY: 'a key that only the tests use, long enough',
      PORT: '0',
      ROLE: 'engine',
    });
    const beside = await App.create({ config, databaseUrl: app.databaseUrl, log, pluginRoot });
    await beside.start();
    try {
      await while_(beside);
    } finally {
      await beside.stop();
    }
    return lines.filter(({ plugin }) => plugin !== undefined);
  }

  before(async () => {
    both = pluginRootOf({ kept: answer, gone: answer });
    one = pluginRootOf({ kept: answer });
    app = await TestApp.start({ engine: false, pluginRoot: both.path });
    inboxes = await serveInboxes(app, ['kept', 'gone']);
    waiting = await openConversation(app, inboxes.get('gone'));
    await ask(waiting);
    pending = await openConversation(app, inboxes.get('gone'));
    expect(await stateOf(pending)).to.deep.equal(['pending', true, null]);
    warned = await startBeside(one.path, async () => {
      await app.eventually(async () => (await app.get(`conversations/${waiting}`)).body.status === 'open');
    });
  });

  after(async () => {
    await app.stop();
    for (const root of [both, one]) root.remove();
  });

  const ask = (id: number) => app.post(`conversations/${id}/messages`, { content: 'Hello?', message_type: 'incoming' });

  async function stateOf(id: number): Promise<unknown[]> {
    const { answers, reason } = (await app.get(`conversations/${id}/agent_bot`)).body;
    return [(await app.get(`conversations/${id}`)).body.status, answers, reason];
  }

  const botOf = async (id: number): Promise<number> =>
    (await app.get(`conversations/${id}/agent_bot`)).body.agent_bot.id;

  it('is warned of at the start, once, and gives people what it had to answer', async () => {
    expect(warned.map(({ level, account, bot, plugin }) => [level, account, bot, plugin])).to.deep.equal([
      [40, 1, await botOf(waiting), 'gone'],
    ]);
    const [, note] = await messagesOf(app, waiting);
    expect(note).to.include({ private: true, sender_kind: 'system' });
    expect(note!.content).to.match(/could not answer \(load_failed\)/);
    expect(await stateOf(waiting)).to.deep.equal(['open', false, 'bot_failed']);
  });

  it('does not answer: new conversations are open, and those that it had too with the next word of the customer', async () => {
    const fresh = await openConversation(app, inboxes.get('gone'));
    expect(await stateOf(fresh)).to.deep.equal(['open', false, 'plugin_missing']);
    expect(await stateOf(await openConversation(app, inboxes.get('kept')))).to.deep.equal(['pending', true, null]);
    await app.events();
    await ask(pending);
    const events = await app.events();
    expect(events.map(({ name, bot_silence: silence }) => [name, silence])).to.deep.equal([
      ['conversation_status_changed', null],
      ['message_created', 'plugin_missing'],
    ]);
    expect(await stateOf(pending)).to.deep.equal(['open', false, 'plugin_missing']);
  });

  it('does not answer one that is reopened: it is open, and no run is asked for', async () => {
    const id = await openConversation(app, inboxes.get('gone'));
    await app.post(`conversations/${id}/toggle_status`, { status: 'resolved' });
    expect(await stateOf(id)).to.deep.equal(['resolved', false, 'plugin_missing']);
    await ask(id);
    expect(await stateOf(id)).to.deep.equal(['open', false, 'plugin_missing']);
    const asked = await app.query(
      `SELECT FROM deliveries d JOIN events e ON e.account_id = d.account_id AND e.id = d.event_id
       WHERE e.conversation_id = $1 AND d.endpoint_kind = 'bot'`,
      [id],
    );
    expect(asked).to.deep.equal([]);
  });

  it('leaves its conversations to the members of an inbox that assigns them', async () => {
    const inboxId = inboxes.get('gone');
    await app.post(`inboxes/${inboxId}/members`, { user_ids: [1] });
    await app.patch(`inboxes/${inboxId}`, { enable_auto_assignment: true });
    const id = await openConversation(app, inboxId);
    expect((await app.get(`conversations/${id}`)).body.meta.assignee.id).to.equal(1);
    await app.patch(`inboxes/${inboxId}`, { enable_auto_assignment: false });
  });

  it('begins no conversation with a visitor of a web page, where one whose plugin is there does', async () => {
    for (const [plugin, begins] of [
      ['kept', true],
      ['gone', false],
    ] as const) {
      await app.query(`UPDATE agent_bots SET events = '{message_created,webwidget_triggered}' WHERE plugin_id = $1`, [
        plugin,
      ]);
      const { body: inbox } = await app.post('inboxes', { name: plugin, channel_type: 'Channel::WebWidget' });
      const [bot] = await app.query<{ id: number }>('SELECT id FROM agent_bots WHERE plugin_id = $1', [plugin]);
      await app.post(`inboxes/${inbox.id}/set_agent_bot`, { agent_bot: bot!.id });
      const opened = await app.post(`/public/api/v1/inboxes/${inbox.identifier}/sessions`, {});
      expect(opened.status).to.equal(201);
      const [begun] = await app.query<{ count: number }>(
        'SELECT count(*) AS count FROM conversations WHERE inbox_id = $1',
        [inbox.id],
      );
      expect(begun!.count, plugin).to.equal(begins ? 1 : 0);
    }
  });

  it('may be put in charge by a person all the same, who is told that it does not answer', async () => {
    const id = await openConversation(app, inboxes.get('kept'));
    const missing = await botOf(pending);
    const { status, body } = await app.post(`conversations/${id}/agent_bot`, { agent_bot_id: missing });
    expect([status, body.answers, body.reason]).to.deep.equal([200, false, 'plugin_missing']);
  });

  it('answers again once its plugin is back', async () => {
    expect(await startBeside(both.path)).to.deep.equal([]);
    expect(await stateOf(await openConversation(app, inboxes.get('gone')))).to.deep.equal(['pending', true, null]);
  });

  it('or is disabled gives people what it had to answer, with the reason, and is blamed for nothing', async () => {
    const id = await openConversation(app, inboxes.get('kept'));
    await ask(id);
    const bot = await botOf(id);
    expect((await app.post('/platform/api/v1/plugins/kept/disable')).status).to.equal(200);
    const told = await startBeside(both.path, async () => {
      await app.eventually(async () => (await app.get(`conversations/${id}`)).body.status === 'open');
    });
    expect(told.map(({ plugin, reason }) => [plugin, reason])).to.deep.equal([['kept', 'plugin_disabled']]);
    const [, note] = await messagesOf(app, id);
    expect(note).to.include({ private: true, sender_kind: 'system' });
    expect(note!.content).to.match(/kept is not called, since its plugin is disabled/);
    const [decided] = (await app.get(`conversations/${id}/agent_bot`)).body.history;
    expect(decided).to.deep.include({ called: false, reason: 'plugin_disabled', run_id: null });
    const [row] = await app.query('SELECT failed_runs, quarantined_at FROM agent_bots WHERE id = $1', [bot]);
    expect(row).to.deep.equal({ failed_runs: 0, quarantined_at: null });
    await app.post('/platform/api/v1/plugins/kept/enable');
    expect(await stateOf(await openConversation(app, inboxes.get('kept')))).to.deep.equal(['pending', true, null]);
  });

  it('of which there are very many is not warned of line by line', async () => {
    await app.query(
      `INSERT INTO agent_bots (account_id, name, kind, plugin_id, events, hears_own, hears_notes)
       SELECT 1, 'Many', 'plugin', 'never-there', '{message_created}', false, false FROM generate_series(1, 130)`,
    );
    const lines: Line[] = [];
    const log = pino({ level: 'warn' }, { write: (line: string) => void lines.push(JSON.parse(line) as Line) });
    await warnOfStrandedBots(app.app.database, log);
    expect(lines.filter(({ plugin }) => plugin === 'never-there')).to.have.lengthOf(100);
    expect(lines.slice(100).map(({ level, bots }) => [level, bots])).to.deep.equal([[40, 30]]);
  });
});
