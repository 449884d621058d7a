import { expect } from 'chai';
import { openConversation, pluginRootOf, roundsFor, serveInboxes, think } from '../faults/plugins.ts';
import { sandboxPids } from '../sandbox/helpers.ts';
import { TestApp } from '../support/app.ts';
import { Maker } from '../support/maker.ts';
import { addAccount, addPerson } from '../support/people.ts';

/** What the bot does, by the first word of the customer's message. */
const plays = {
  parrot: `ctx.log.info('heard', { content: ctx.message.content });
    ctx.reply(ctx.message.content + ' ' + Math.random() + ' ' + new Date().toISOString())`,
  thrower: `ctx.log.warn('soon'); throw new TypeError('broken')`,
  looper: `ctx.log.info('before the loop'); for (;;);`,
  waiter: `ctx.log.info('before waiting'); await new Promise(() => {})`,
  meddler: `ctx.reply('Hello'); ctx.label.add('vip')`,
  chatter: `for (let i = 0; i < 6; i += 1) ctx.reply('word ' + i)`,
  thinker: `${think.toString()} if (think(${roundsFor(100)}) >= 0) ctx.reply('Well')`,
  caller: `try { await ctx.call('nothing', { a: 1 }) } catch (error) { ctx.note(error.code ?? String(error)) }`,
};
type Play = keyof typeof plays;
const cases = Object.entries(plays).map(([name, code]) => `case '${name}': { ${code}; break; }`);

describe('records of runs', function () {
  this.timeout(60_000);
  let app: TestApp;
  let root: { path: string; remove: () => void };
  let inbox: number | undefined;
  let player: number;

  before(async () => {
    root = pluginRootOf(
      { player: `switch (ctx.message.content.split(' ')[0]) { ${cases.join('\n')} }` },
      { sliceMs: 600 },
    );
    app = await TestApp.start({
      pluginRoot: root.path,
      config: { sandboxRunners: 2, retentionDays: 3650, runRetentionDays: 3650 },
    });
    inbox = (await serveInboxes(app, ['player'])).get('player');
    const [bot] = await app.query<{ id: number }>(`SELECT id FROM agent_bots WHERE plugin_id = 'player'`);
    player = bot!.id;
  });

  after(async () => {
    await app.stop();
    root.remove();
  });

  // It fails more often than a bot may.
  beforeEach(() => app.post(`agent_bots/${player}/release`));

  // oxlint-disable-next-line typescript/no-explicit-any
  type Run = any;

  async function say(what: Play, more = ''): Promise<number> {
    const conversation = await openConversation(app, inbox);
    await app.post(`conversations/${conversation}/messages`, { content: what + more, message_type: 'incoming' });
    return conversation;
  }

  /** Lets a customer say something to the bot, and returns the record of its run. */
  async function play(what: Play, more = ''): Promise<{ conversation: number; run: Run }> {
    const conversation = await say(what, more);
    const [run] = await runsIn(conversation, 1);
    return { conversation, run };
  }

  function runsIn(conversation: number, count: number): Promise<Run[]> {
    return app.eventually(async () => {
      const { status, body } = await app.get(`conversations/${conversation}/runs`);
      expect(status, JSON.stringify(body)).to.equal(200);
      return body.payload.length >= count && body.payload;
    });
  }

  it('tell everything: what the bot got, asked for, did and wrote', async () => {
    const { conversation, run } = await play('parrot', ' Polly');
    const [event] = await app.query<{ id: number; bot_payload: object }>(
      `SELECT id, bot_payload FROM events WHERE conversation_id = $1 AND name = 'message_created' ORDER BY id LIMIT 1`,
      [conversation],
    );
    const [bundle] = await app.query<{ hash: string }>(`SELECT active_hash AS hash FROM plugins WHERE id = 'player'`);
    expect(run).to.deep.include({
      agent_bot_id: player,
      plugin: { id: 'player', version: '1.0.0', hash: bundle!.hash },
      conversation_id: conversation,
      event: { id: event!.id, name: 'message_created', body: event!.bot_payload },
      attempt: 1,
      config: {},
      calls: [],
      logs: [{ level: 'info', message: 'heard', fields: { content: 'parrot Polly' } }],
      outcome: 'ok',
      error: null,
    });
    expect(run.actions[0].content)
      .to.match(/^parrot Polly 0\.\d+ /)
      .and.contain(new Date(run.now).toISOString());
    expect(run.created_at).to.be.closeTo(Date.now() / 1000, 60);
    expect(run.wall_ms)
      .to.be.a('number')
      .that.is.at.least(run.cpu_ms > 0 ? 1 : 0);
    expect((await app.get(`runs/${run.id}`)).body).to.deep.equal(run);
    expect((await app.get(`agent_bots/${player}/runs`)).body.payload).to.deep.include(run);
  });

  for (const [what, outcome, expected] of [
    ['thrower', 'threw', { error: /^TypeError: broken$/, logs: ['soon'] }],
    ['looper', 'timeout', { error: /./, logs: ['before the loop'] }],
    ['waiter', 'never_settled', { error: /cannot happen/, logs: ['before waiting'] }],
    ['meddler', 'forbidden_action', { error: /"label"/, logs: [] }],
    ['chatter', 'too_many_actions', { error: /5 times/, logs: [] }],
  ] as const) {
    it(`tell of a run that ended as ${outcome}, with its log`, async () => {
      const { run } = await play(what);
      expect(run.outcome, JSON.stringify(run.error)).to.equal(outcome);
      expect(run.actions).to.deep.equal([]);
      expect(run.error.message).to.match(expected.error);
      expect(run.logs.map(({ message }: Run) => message)).to.deep.equal(expected.logs);
      if (what === 'thrower') expect(run.error.stack).to.contain('TypeError: broken\n    at ');
    });
  }

  it('tell of calls with their errors', async () => {
    const { run } = await play('caller');
    expect(run.calls).to.have.length(1);
    expect(run.calls[0]).to.deep.include({ name: 'nothing', input: { a: 1 } });
    expect(run.calls[0].error.code).to.equal('unknown_call');
    expect(run.actions).to.deep.equal([{ type: 'note', content: 'unknown_call' }]);
  });

  it('tell of a run whose process was killed, with the lines that it had written', async () => {
    // Whoever kills too early or too late tries again.
    const [run] = await app.eventually(async () => {
      await app.post(`agent_bots/${player}/release`);
      const conversation = await say('looper');
      await new Promise((resolve) => setTimeout(resolve, 200));
      // Whichever process runs the bot: the others are started again.
      for (const pid of sandboxPids()) process.kill(pid, 'SIGKILL');
      const runs = await runsIn(conversation, 1);
      const killed = runs.filter(({ outcome, logs }: Run) => outcome === 'crashed' && logs.length > 0);
      return killed.length > 0 && killed;
    });
    expect(run.error.message).to.contain('SIGKILL');
    expect(run.logs).to.deep.equal([{ level: 'info', message: 'before the loop' }]);
  });

  it('tell when people took the conversation meanwhile: what the bot wanted to do is there, and was not done', async () => {
    const superseded = `agent_bots/${player}/runs?outcome=superseded`;
    // The bot thinks for a while; whoever is too late or too early tries again.
    let pauseMs = 20;
    const [run] = await app.eventually(async () => {
      pauseMs = 20 + (pauseMs % 200);
      const conversation = await say('thinker');
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
      await app.post(`conversations/${conversation}/assignments`, { assignee_id: 1 });
      await new Promise((resolve) => setTimeout(resolve, 300));
      const { payload } = (await app.get(superseded)).body;
      return payload.length > 0 && payload;
    });
    expect(run).to.deep.include({ actions: [{ type: 'reply', content: 'Well' }], error: null });
    const messages = (await app.get(`conversations/${run.conversation_id}/messages`)).body.payload;
    expect(messages.map(({ content }: { content: string }) => content)).to.deep.equal(['thinker']);
  });

  it('are where one sees why a bot was silent', async () => {
    const explain = async (id: number) => (await app.get(`conversations/${id}/agent_bot`)).body.history;
    const { conversation, run } = await play('parrot');
    const [answered, ...earlier] = (await explain(conversation)).filter(({ reason }: Run) => reason !== 'own_message');
    expect(answered).to.deep.include({
      event: { id: run.event.id, name: 'message_created' },
      agent_bot: { id: player, name: 'player' },
      chosen_by: 'inbox',
      called: true,
      reason: null,
      run_id: run.id,
    });
    expect(earlier.map(({ reason }: Run) => reason)).to.deep.equal(['event_not_wanted']);
    await app.post(`conversations/${conversation}/messages`, { content: 'Mine', message_type: 'outgoing' });
    await app.post(`conversations/${conversation}/messages`, { content: 'parrot', message_type: 'incoming' });
    const [unheard] = await explain(conversation);
    expect(unheard).to.deep.include({ called: false, reason: 'human_replied', run_id: null });
    const failed = await play('thrower');
    const [gaveUp] = (await explain(failed.conversation)).filter(({ called }: Run) => called);
    expect(gaveUp).to.deep.include({ reason: 'threw', run_id: failed.run.id });
    const overtaken = (await app.get(`agent_bots/${player}/runs?outcome=superseded`)).body.payload[0];
    const [dropped] = (await explain(overtaken.conversation_id)).filter(({ called }: Run) => called);
    expect(dropped).to.deep.include({ reason: 'superseded', run_id: overtaken.id });
  });

  it('name the bot of that time, also after it was replaced or deleted', async () => {
    const id = await say('waiter');
    await runsIn(id, 1);
    const { body: other } = await app.post('agent_bots', { name: 'Other', kind: 'plugin', plugin_id: 'player' });
    const set = await app.post(`conversations/${id}/agent_bot`, { agent_bot_id: other.id });
    expect(set.body.agent_bot).to.deep.equal({ id: other.id, name: 'Other' });
    await app.post(`conversations/${id}/messages`, { content: 'parrot', message_type: 'incoming' });
    const [run] = await runsIn(id, 2);
    expect(run.agent_bot_id).to.equal(other.id);
    const decisions = async () =>
      (await app.get(`conversations/${id}/agent_bot`)).body.history
        .filter(({ called }: Run) => called)
        .map(({ agent_bot: bot, chosen_by: by, reason }: Run) => [bot?.name ?? null, by, reason]);
    expect(await decisions()).to.deep.equal([
      ['Other', 'conversation', null],
      ['player', 'inbox', 'never_settled'],
    ]);
    await app.delete(`agent_bots/${other.id}`);
    const history = (await app.get(`conversations/${id}/agent_bot`)).body.history;
    const [latest] = history.filter(({ agent_bot: bot }: Run) => bot === null);
    expect(latest.chosen_by).to.equal('conversation');
  });

  describe('in lists', () => {
    let bot: number;
    let conversation: number;
    const count = 60;
    const begin = Date.UTC(2025, 0, 1) / 1000;

    before(async () => {
      const played = await play('parrot');
      conversation = played.conversation;
      bot = (await app.post('agent_bots', { name: 'Listed', kind: 'plugin', plugin_id: 'player' })).body.id;
      await app.query(
        `INSERT INTO bot_runs (account_id, conversation_id, agent_bot_id, event_id, attempt, plugin_id, plugin_version, bundle_hash,
           config, seed, clock, outcome, actions, logs, wall_ms, created_at)
         SELECT account_id, conversation_id, $2, event_id, n, plugin_id, plugin_version, bundle_hash, config, seed, clock,
           CASE WHEN n % 3 = 0 THEN 'threw' ELSE 'ok' END, actions, logs, wall_ms, to_timestamp($3 + n / 2)
         FROM bot_runs, generate_series(1, ${count}) n WHERE id = $1`,
        [played.run.id, bot, begin],
      );
    });

    /** The runs of a whole list. */
    async function readWhole(path: string): Promise<Run[]> {
      const { payload, meta } = (await app.get(path)).body;
      if (meta.next_cursor === null) return payload;
      const rest = await readWhole(`${path.split('?')[0]}?cursor=${encodeURIComponent(meta.next_cursor)}`);
      return [...payload, ...rest];
    }

    /** The attempts' numbers of a whole list, and how long its pages are. */
    async function readAll(query: string, path = `agent_bots/${bot}/runs`) {
      const attempts: number[] = [];
      const pages: number[] = [];
      let cursor: string | null = '';
      while (cursor !== null) {
        const more: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
        const { status, body }: Awaited<ReturnType<TestApp['get']>> = await app.get(`${path}?${query}${more}`);
        expect(status).to.equal(200);
        attempts.push(...body.payload.map(({ attempt }: Run) => attempt));
        pages.push(body.payload.length);
        cursor = body.meta.next_cursor;
      }
      return { attempts, pages };
    }
    const down = (from: number, to: number) => Array.from({ length: from - to + 1 }, (_, at) => from - at);

    it('come newest first, by pages that neither repeat nor miss one', async () => {
      expect(await readAll('')).to.deep.equal({ attempts: down(count, 1), pages: [25, 25, 10] });
      expect((await readAll('', `conversations/${conversation}/runs`)).attempts).to.deep.equal([1, ...down(count, 1)]);
    });

    it('are filtered by outcome and time, since inclusive, until exclusive', async () => {
      expect((await readAll('outcome=threw')).attempts).to.deep.equal(down(count, 1).filter((n) => n % 3 === 0));
      expect((await readAll(`since=${begin + 20}`)).attempts).to.deep.equal(down(count, 40));
      expect((await readAll(`until=${begin + 20}`)).attempts).to.deep.equal(down(39, 1));
      expect((await readAll(`since=${begin + 2}&until=${begin + 4}&outcome=ok`)).attempts).to.deep.equal([7, 5, 4]);
      expect((await readAll('outcome=timeout')).attempts).to.deep.equal([]);
      for (const query of ['outcome=a%20b', 'since=yesterday', 'until=-1', `cursor=${'x'.repeat(600)}`])
        expect((await app.get(`agent_bots/${bot}/runs?${query}`)).status, query).to.equal(400);
    });

    it('go on by the cursors that they gave, and by no other', async () => {
      const { next_cursor: cursor } = (await app.get(`agent_bots/${bot}/runs`)).body.meta;
      const other = await openConversation(app, inbox);
      const { body: elsewhere } = await app.get(`conversations/${conversation}/runs`);
      const forged = cursor.slice(0, -4) + (cursor.endsWith('AAAA') ? 'BBBB' : 'AAAA');
      for (const wrong of ['', 'x', 'v1.', forged, elsewhere.meta.next_cursor]) {
        const answer = await app.get(`agent_bots/${bot}/runs?cursor=${encodeURIComponent(wrong)}`);
        expect(answer.status, wrong).to.equal(400);
        expect(answer.body.details[0]).to.include({ path: '/cursor' });
      }
      expect((await app.get(`conversations/${other}/runs?cursor=${encodeURIComponent(cursor)}`)).status).to.equal(400);
      const sealed = await sealedWord();
      expect((await app.get(`agent_bots/${bot}/runs?cursor=${encodeURIComponent(sealed)}`)).status).to.equal(400);
    });

    /** Another text that the service sealed with the same key. */
    async function sealedWord(): Promise<string> {
      const [row] = await app.query<{ sealed: string }>('SELECT sealed_word AS sealed FROM installation');
      return row!.sealed;
    }

    it('are short where the runs are long', async () => {
      const text = JSON.stringify([{ level: 'info', message: 'x'.repeat(1_500_000) }]);
      await app.query('UPDATE bot_runs SET logs = $2::json WHERE agent_bot_id = $1 AND attempt > 57', [bot, text]);
      const { attempts, pages } = await readAll('');
      expect(attempts).to.deep.equal(down(count, 1));
      expect(pages.slice(0, 2)).to.deep.equal([2, 25]);
    });

    it('of all bots are one list, which goes on by its cursors, for one bot and one conversation too', async () => {
      const pair = (run: Run) => `${run.agent_bot_id} ${run.attempt}`;
      const whole = (await readWhole('runs')).map(pair);
      expect(whole.filter((one) => one.startsWith(`${bot} `))).to.deep.equal(down(count, 1).map((n) => `${bot} ${n}`));
      // What was recorded today comes before what is told to be of last year.
      expect(whole[0]).to.match(new RegExp(`^${player} `));
      expect(new Set(whole.slice(-count).map((one) => one.split(' ')[0]))).to.deep.equal(new Set([String(bot)]));
      expect((await readAll(`agent_bot_id=${bot}&outcome=threw`, 'runs')).attempts).to.deep.equal(
        down(count, 1).filter((n) => n % 3 === 0),
      );
      const both = `agent_bot_id=${bot}&conversation_id=${conversation}`;
      expect((await readAll(both, 'runs')).attempts).to.deep.equal(down(count, 1));
      expect((await readAll(`agent_bot_id=${player}&conversation_id=${conversation}`, 'runs')).attempts).to.deep.equal([
        1,
      ]);
      const other = await openConversation(app, inbox);
      expect((await readAll(`agent_bot_id=${bot}&conversation_id=${other}`, 'runs')).attempts).to.deep.equal([]);
      for (const query of ['agent_bot_id=999999', 'conversation_id=999999'])
        expect((await app.get(`runs?${query}`)).status, query).to.equal(404);
      const { next_cursor: cursor } = (await app.get(`agent_bots/${bot}/runs`)).body.meta;
      expect((await app.get(`runs?cursor=${encodeURIComponent(cursor)}`)).status).to.equal(400);
    });

    it('show agents what they may see, bots nothing, and nobody another account', async () => {
      const agent = await addPerson(app, { name: 'Agent', role: 'agent' });
      const listed = async () => (await app.get(`agent_bots/${bot}/runs`, agent.headers)).body.payload.length;
      const ofConversation = () => app.get(`conversations/${conversation}/runs`, agent.headers);
      const all = async () => (await app.get('runs', agent.headers)).body.payload.length;
      expect([await listed(), await all()]).to.deep.equal([0, 0]);
      expect((await ofConversation()).status).to.equal(403);
      expect((await app.get(`runs?conversation_id=${conversation}`, agent.headers)).status).to.equal(403);
      await app.post(`inboxes/${inbox}/members`, { user_ids: [agent.id] });
      expect(await listed()).to.be.above(0);
      expect(await all()).to.be.above(0);
      const [run] = (await ofConversation()).body.payload;
      expect((await app.get(`runs/${run.id}`, agent.headers)).status).to.equal(200);
      const { id, administrator } = await addAccount(app, 'Elsewhere');
      const elsewhere = `/api/v1/accounts/${id}`;
      for (const path of [`runs/${run.id}`, `agent_bots/${bot}/runs`, `conversations/${conversation}/runs`])
        expect((await app.get(`${elsewhere}/${path}`, administrator.headers)).status, path).to.equal(404);
      expect((await app.get(`${elsewhere}/runs`, administrator.headers)).body.payload).to.deep.equal([]);
    });

    it('hide the settings of bots, and what they ask, from agents who are no administrators', async () => {
      const agent = await addPerson(app, { name: 'Curious', role: 'agent' });
      await app.post(`inboxes/${inbox}/members`, { user_ids: [agent.id] });
      const { conversation: place, run } = await play('caller');
      await app.query(`UPDATE bot_runs SET config = '{"endpoint":"inner"}' WHERE id = $1`, [run.id]);
      const seenBy = async (headers?: Record<string, string>) => {
        const one = (await app.get(`runs/${run.id}`, headers)).body;
        const lists = ['runs', `agent_bots/${player}/runs`, `conversations/${place}/runs`];
        const listed = await Promise.all(lists.map(async (path) => (await app.get(path, headers)).body.payload[0]));
        for (const each of listed) expect(each).to.deep.equal(one);
        return { config: one.config, input: one.calls[0].input, name: one.calls[0].name };
      };
      expect(await seenBy()).to.deep.equal({ config: { endpoint: 'inner' }, input: { a: 1 }, name: 'nothing' });
      expect(await seenBy(agent.headers)).to.deep.equal({ config: {}, input: null, name: 'nothing' });
      expect((await app.post(`runs/${run.id}/replay`, {}, agent.headers)).status).to.equal(200);
    });

    it('hide the settings of system bots from accounts, and what they ask, which may hold them', async () => {
      const { id, administrator } = await addAccount(app, 'Renter');
      const maker = new Maker(app, id, { mark: 'Renter', administrator });
      const made = await app.post('/platform/api/v1/agent_bots', {
        name: 'System',
        kind: 'plugin',
        plugin_id: 'player',
      });
      await app.query(`UPDATE agent_bots SET config = '{"endpoint":"inner"}' WHERE id = $1`, [made.body.id]);
      const caller = async (): Promise<Run> => {
        const place = await maker.conversation(await maker.inbox());
        await maker.call('POST', `conversations/${place}/agent_bot`, { agent_bot_id: made.body.id });
        await maker.call('POST', `conversations/${place}/messages`, { content: 'caller', message_type: 'incoming' });
        return app.eventually(async () => (await maker.call('GET', `conversations/${place}/runs`)).payload[0]);
      };
      expect((await caller()).config).to.deep.equal({});
      await app.query(`UPDATE agent_bots SET config = '{}' WHERE id = $1`, [made.body.id]);
      const run = await caller();
      expect(run.calls[0]).to.deep.include({ name: 'nothing', input: null });
      expect(run.calls[0].error.code).to.equal('unknown_call');
      // The administrator of the platform sees all of it, in an account of their own.
      const own = await openConversation(app, inbox);
      await app.post(`conversations/${own}/agent_bot`, { agent_bot_id: made.body.id });
      await app.post(`conversations/${own}/messages`, { content: 'caller', message_type: 'incoming' });
      const [whole] = await runsIn(own, 1);
      expect(whole.calls[0].input).to.deep.equal({ a: 1 });
      expect((await app.get('runs')).body.payload[0]).to.deep.equal(whole);
      expect((await maker.call('GET', 'runs')).payload[0].calls[0].input).to.equal(null);
    });
  });
});
