import { expect } from 'chai';
import { pino } from 'pino';
import { countFailedRun } from '../../src/domain/bots/quarantine.ts';
import { system, transact } from '../../src/events/transaction.ts';
import { TestApp } from '../support/app.ts';
import { Platform } from '../support/platform.ts';
import { eventually } from './helpers.ts';
import { stopClean } from './ledger.ts';
import { messagesOf, openConversation, pluginRootOf, serveInboxes } from './plugins.ts';

const crowd = ['looping-1', 'looping-2', 'looping-3'];
const moody = `if (ctx.message.content.includes('fail')) throw new Error('moody'); ctx.reply('Good')`;

interface Health {
  failures: number;
  quarantines: number;
  seconds: number | null;
}

describe('quarantine of bots that fail again and again', function () {
  this.timeout(60_000);
  let app: TestApp;
  let plugins: { path: string; remove: () => void };
  let inboxes: Map<string, number>;
  let botId: number;
  const warnings: Record<string, unknown>[] = [];

  before(async () => {
    const looping = Object.fromEntries(crowd.map((name) => [name, 'for (;;);']));
    plugins = pluginRootOf({ moody, shared: moody, ...looping }, { sliceMs: 50 });
    const log = pino({ level: 'warn' }, { write: (line: string) => void warnings.push(JSON.parse(line)) });
    app = await TestApp.start({ pluginRoot: plugins.path, log });
    inboxes = await serveInboxes(app, ['moody', 'shared', ...crowd]);
    const [bot] = await app.query<{ id: number }>(`SELECT id FROM agent_bots WHERE plugin_id = 'moody'`);
    botId = bot?.id ?? 0;
  });
  after(async () => {
    await stopClean(app);
    plugins.remove();
  });

  const say = (id: number, content: string) =>
    app.post(`conversations/${id}/messages`, { content, message_type: 'incoming' });
  const quarantine = async () => (await app.get(`agent_bots/${botId}`)).body.quarantine;
  const explain = async (id: number) => (await app.get(`conversations/${id}/agent_bot`)).body;
  const lapse = () => app.query('UPDATE agent_bots SET quarantined_until = now() WHERE id = $1', [botId]);

  async function runsOf(conversationId: number): Promise<string[]> {
    const rows = await app.query<{ outcome: string }>(
      'SELECT outcome FROM bot_runs WHERE conversation_id = $1 ORDER BY id',
      [conversationId],
    );
    return rows.map(({ outcome }) => outcome);
  }

  async function runIn(inboxId: number | undefined, content: string): Promise<number> {
    const id = await openConversation(app, inboxId);
    await say(id, content);
    await eventually(async () => (await runsOf(id)).length === 1);
    return id;
  }

  const run = (content: string) => runIn(inboxes.get('moody'), content);

  async function health(id = botId): Promise<Health> {
    const [row] = await app.query<Health>(
      `SELECT failed_runs AS failures, quarantines, round(extract(epoch FROM quarantined_until - quarantined_at))::int AS seconds
       FROM agent_bots WHERE id = $1`,
      [id],
    );
    return row ?? { failures: -1, quarantines: -1, seconds: -1 };
  }

  it('begins with the fifth failure running, in whatever conversations, and not before', async () => {
    for (let count = 0; count < 4; count += 1) await run('fail');
    await run('well');
    for (let count = 0; count < 4; count += 1) await run('fail');
    expect(await quarantine()).to.equal(null);
    const waiting = await openConversation(app, inboxes.get('moody'));
    expect(await explain(waiting)).to.include({ answers: true });
    await run('fail');
    const { reason, since, until } = await quarantine();
    expect({ reason, seconds: until - since }).to.deep.equal({ reason: 'threw', seconds: 300 });
    const told = warnings.filter(({ msg }) => String(msg).includes('not called'));
    expect(told).to.have.length(1);
    expect(told[0]).to.include({ account: 1, bot: botId, outcome: 'threw' });
    await expectPeopleCalled(waiting);
  });

  // A conversation that waits for the bot goes to people with the customer's next word.
  async function expectPeopleCalled(id: number): Promise<void> {
    await app.events();
    await say(id, 'Is anybody there?');
    expect((await app.get(`conversations/${id}`)).body.status).to.equal('open');
    const [, note] = await messagesOf(app, id);
    expect(note).to.include({ private: true, sender_kind: 'system' });
    expect(note?.content).to.include('moody');
    expect(await app.eventNames()).to.deep.equal(['conversation_status_changed', 'message_created', 'message_created']);
    expect(await explain(id)).to.include({ answers: false, reason: 'bot_failed' });
  }

  it('gives new conversations to people, and calls the bot for none', async () => {
    const id = await openConversation(app, inboxes.get('moody'));
    expect((await app.get(`conversations/${id}`)).body.status).to.equal('open');
    expect(await explain(id)).to.include({ answers: false, reason: 'bot_quarantined' });
    await app.events();
    await say(id, 'well');
    const [said] = await app.events();
    expect(said).to.include({ name: 'message_created', bot_silence: 'bot_quarantined' });
    const deliveries = await app.query(
      `SELECT FROM deliveries d JOIN events e ON e.id = d.event_id WHERE e.conversation_id = $1 AND d.endpoint_kind = 'bot'`,
      [id],
    );
    expect(deliveries).to.deep.equal([]);
  });

  it('lasts longer each time, and at last until the bot is released', async () => {
    for (const seconds of [1800, 14_400, null]) {
      await lapse();
      await run('fail');
      expect(await health()).to.include({ seconds });
    }
    const { since, ...rest } = await quarantine();
    expect(rest).to.deep.equal({ reason: 'threw', until: null });
    expect(since).to.be.a('number');
    const released = await app.post(`agent_bots/${botId}/release`);
    expect(released.status).to.equal(200);
    expect(released.body).to.include({ id: botId, quarantine: null });
    expect(await health()).to.deep.equal({ failures: 0, quarantines: 0, seconds: null });
    expect(await runsOf(await run('well'))).to.deep.equal(['ok']);
  });

  it('is not prolonged by runs that were under way when it began', async () => {
    const scope = { account: { id: 1, name: 'Account' }, actor: system };
    const begun: unknown[] = [];
    for (let count = 0; count < 12; count += 1) {
      begun.push(await transact(app.app.database, scope, (tx) => countFailedRun(tx, botId, 'threw')));
    }
    expect(begun.filter((one) => one !== null)).to.have.length(1);
    expect(begun[4]).not.to.equal(null);
    expect(await health()).to.deep.equal({ failures: 12, quarantines: 1, seconds: 300 });
    await app.post(`agent_bots/${botId}/release`);
  });

  it('ends with a good run once its time is over', async () => {
    for (let count = 0; count < 5; count += 1) await run('fail');
    expect(await health()).to.include({ quarantines: 1, seconds: 300 });
    await lapse();
    await run('well');
    expect(await quarantine()).to.equal(null);
    for (let count = 0; count < 4; count += 1) await run('fail');
    expect(await quarantine()).to.equal(null);
    await app.post(`agent_bots/${botId}/release`);
  });

  it('comes over a system bot only by failures in several accounts', async () => {
    const neighbour = (await new Platform(app).create('accounts', { name: 'Neighbour' })).id;
    const { id: me } = (await app.get('/api/v1/profile')).body;
    await new Platform(app).join(neighbour, me, 'administrator');
    const own = inboxes.get('shared');
    const [{ id } = { id: 0 }] = await app.query<{ id: number }>(
      `UPDATE agent_bots SET account_id = NULL WHERE plugin_id = 'shared' RETURNING id`,
    );
    const theirs = (
      await app.post(`/api/v1/accounts/${neighbour}/inboxes`, { name: 'N', channel_type: 'Channel::Api' })
    ).body.id;
    await app.post(`/api/v1/accounts/${neighbour}/inboxes/${theirs}/set_agent_bot`, { agent_bot: id });
    for (let count = 0; count < 6; count += 1) await runIn(own, 'fail');
    expect(await health(id)).to.deep.equal({ failures: 1, quarantines: 0, seconds: null });
    for (const accountId of [neighbour, 1, neighbour, 1]) {
      const conversation = await openConversation(app, accountId === 1 ? own : theirs, accountId);
      const message = { content: 'fail', message_type: 'incoming' };
      await app.post(`/api/v1/accounts/${accountId}/conversations/${conversation}/messages`, message);
      await eventually(async () => (await runsOf(conversation)).length === 1);
    }
    expect(await health(id)).to.deep.equal({ failures: 5, quarantines: 1, seconds: 300 });
    expect((await app.post(`agent_bots/${id}/release`)).status).to.equal(403);
    const released = await app.post(`/platform/api/v1/agent_bots/${id}/release`);
    expect(released.body).to.include({ id, quarantine: null });
  });

  it('leaves to people all conversations of a crowd of looping bots, after few runs of each', async () => {
    const conversations: number[] = [];
    for (let round = 0; round < 12; round += 1) {
      for (const name of crowd) conversations.push(await openConversation(app, inboxes.get(name)));
    }
    for (const id of conversations) await say(id, 'Hello');
    await eventually(async () => {
      const open = await app.query(`SELECT FROM conversations WHERE id = ANY ($1) AND status = 'open'`, [
        conversations,
      ]);
      return open.length === conversations.length;
    });
    const runs = await app.query<{ count: number }>(
      `SELECT count(*)::int AS count FROM bot_runs r JOIN agent_bots b ON b.id = r.agent_bot_id
       WHERE b.plugin_id = ANY ($1) GROUP BY b.id`,
      [crowd],
    );
    expect(runs).to.have.length(crowd.length);
    // What was under way as the fifth failed counts too.
    for (const { count } of runs) expect(count).to.be.within(5, 8);
  });
});

describe('quarantine of a bot that has something waiting', () => {
  it('hands it over with a note, without calling the bot', async () => {
    const app = await TestApp.start({ engine: false });
    const inboxId = (await app.get('inboxes')).body.payload.find(
      ({ name }: { name: string }) => name === 'Demo inbox',
    ).id;
    const id = await openConversation(app, inboxId);
    await app.post(`conversations/${id}/messages`, { content: 'opening hours?', message_type: 'incoming' });
    await app.query(`UPDATE agent_bots SET quarantined_at = now(), failed_runs = 5 WHERE kind = 'plugin'`);
    await app.events();
    app.app.engine.start();
    const delivery = await eventually(async () => {
      const [row] = await app.query<{ state: string; last_error: string }>(
        `SELECT d.state, d.last_error FROM deliveries d JOIN events e ON e.id = d.event_id
         WHERE e.conversation_id = $1 AND d.endpoint_kind = 'bot' AND d.state <> 'pending'`,
        [id],
      );
      return row ?? false;
    });
    expect(delivery).to.deep.equal({ state: 'cancelled', last_error: 'bot_quarantined' });
    expect((await app.get(`conversations/${id}`)).body.status).to.equal('open');
    const [, note, ...more] = await messagesOf(app, id);
    expect(note).to.include({ private: true, sender_kind: 'system' });
    expect(more).to.deep.equal([]);
    expect(await app.eventNames()).to.deep.equal(['conversation_status_changed', 'message_created']);
    expect(await app.query('SELECT FROM bot_runs')).to.deep.equal([]);
    await stopClean(app);
  });
});
