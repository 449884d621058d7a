import { expect } from 'chai';
import { Client } from 'pg';
import { messagesOf, openConversation } from '../../faults/plugins.ts';
import { TestApp, type Answer } from '../../support/app.ts';
import { pluginArchive, upload } from '../../support/archives.ts';
import { isHeldUp, validating } from '../../support/validations.ts';

const base = '/platform/api/v1/plugins';
const text = { type: 'string' };
const settings = (properties: object, required: string[] = []) => ({ type: 'object', properties, required });
const tells = `export default { on: { message_created(ctx) { ctx.reply(JSON.stringify(ctx.config)); } } };`;

describe('settings of bots and the versions of their plugins', function () {
  this.timeout(60_000);
  let app: TestApp;

  before(async () => {
    app = await TestApp.start();
  });
  after(() => app.stop());

  const install = (id: string, version: string, config: object) =>
    upload(app, pluginArchive({ id, version, config, permissions: { conversation: ['reply'] } }, tells));

  async function serve(plugin: string, config: object): Promise<{ bot: number; inbox: number }> {
    const bot = await app.post('agent_bots', { name: plugin, kind: 'plugin', plugin_id: plugin, config });
    expect(bot.status, JSON.stringify(bot.body)).to.equal(201);
    const inbox = await app.post('inboxes', { name: plugin, channel: { type: 'api' } });
    await app.post(`inboxes/${inbox.body.id}/set_agent_bot`, { agent_bot: bot.body.id });
    return { bot: bot.body.id, inbox: inbox.body.id };
  }

  /** What the bot gets as its settings. */
  async function ask(inbox: number): Promise<{ conversation: number; got: unknown }> {
    const conversation = await openConversation(app, inbox);
    await app.post(`conversations/${conversation}/messages`, { content: 'Hello?', message_type: 'incoming' });
    const answer = await app.eventually(async () =>
      (await messagesOf(app, conversation)).find(({ sender_kind }) => sender_kind !== 'contact'),
    );
    return { conversation, got: JSON.parse(answer.content) };
  }

  it('name the secrets that a bot lacks at its creation, in lists and in its health, until they have a value', async () => {
    const hosts = ['api.shop.example'];
    const secrets = ['SHOP_KEY', 'CARRIER_KEY'].map((name) => ({ name, hosts }));
    const permissions = { network: { hosts }, secrets };
    await upload(app, pluginArchive({ id: 'keyed', permissions }));
    for (const bots of ['agent_bots', '/platform/api/v1/agent_bots']) {
      const made = await app.post(bots, { name: 'Keyed', kind: 'plugin', plugin_id: 'keyed' });
      expect(made.status).to.equal(201);
      const listed = (await app.get(bots)).body.payload.find(({ id }: { id: number }) => id === made.body.id);
      for (const record of [made.body, listed, (await app.get(`${bots}/${made.body.id}`)).body]) {
        expect(record.missing_secrets).to.deep.equal(['CARRIER_KEY', 'SHOP_KEY']);
        expect(record.health).to.deep.include({
          state: 'failing',
          last_error: 'Missing secrets: CARRIER_KEY, SHOP_KEY',
        });
      }
      const path = `${bots}/${made.body.id}`;
      const half = (await app.patch(path, { secrets: { CARRIER_KEY: 'four' } })).body;
      expect([half.missing_secrets, half.health.last_error]).to.deep.equal([['SHOP_KEY'], 'Missing secrets: SHOP_KEY']);
      const whole = (await app.patch(path, { secrets: { SHOP_KEY: 'four' } })).body;
      expect([whole.missing_secrets, whole.health.state]).to.deep.equal([[], 'ok']);
    }
    const needy = await app.post('/platform/api/v1/agent_bots', { name: 'All', kind: 'plugin', plugin_id: 'keyed' });
    const seen = (await app.get(`agent_bots/${needy.body.id}`)).body;
    expect([seen.missing_secrets, seen.health]).to.deep.equal([
      [],
      { state: 'failing', last_error: null, since: null },
    ]);
  });

  describe('one that a new version marks as secret', () => {
    let bot: number;
    let inbox: number;
    let before: number;
    let system: number;

    it('is sealed when that version begins to run, in the bots of accounts and of the system', async () => {
      await install('opens', '1.0.0', settings({ key: text, pin: { type: 'integer' }, tone: text }));
      ({ bot, inbox } = await serve('opens', { key: 'sk-plain-4711', pin: 8150, tone: 'kind' }));
      const { body: made } = await app.post('/platform/api/v1/agent_bots', {
        name: 'Everybody',
        kind: 'plugin',
        plugin_id: 'opens',
        config: { key: 'sk-system-4711' },
      });
      system = made.id;
      const first = await ask(inbox);
      expect(first.got).to.deep.equal({ key: 'sk-plain-4711', pin: 8150, tone: 'kind' });
      before = (await app.get(`conversations/${first.conversation}/runs`)).body.payload[0].id;
      const secret = { ...text, 'x-secret': true };
      const { body } = await install('opens', '2.0.0', settings({ key: secret, pin: secret, tone: text }, ['key']));
      expect([body.version, body.pending]).to.deep.equal(['2.0.0', null]);
      const record = (await app.get(`agent_bots/${bot}`)).body;
      expect(record).to.deep.include({
        config: { tone: 'kind' },
        secret_names: ['key', 'pin'],
        disabled_reason: null,
      });
      expect((await app.get(`/platform/api/v1/agent_bots/${system}`)).body).to.deep.include({
        config: {},
        secret_names: ['key'],
      });
      const [stored] = await app.query<{ all: string }>(
        'SELECT string_agg(b::text, chr(10)) AS all FROM agent_bots b WHERE id = ANY ($1)',
        [[bot, system]],
      );
      expect(stored!.all).not.to.match(/sk-plain|sk-system|8150/);
      expect((await ask(inbox)).got).to.deep.equal({ tone: 'kind' });
    });

    it('is not told of runs before either, and these can be repeated', async () => {
      const { body } = await app.get(`runs/${before}`);
      expect(body.config).to.deep.equal({ tone: 'kind' });
      expect((await app.get(`agent_bots/${bot}/runs`)).body.payload.at(-1).config).to.deep.equal({ tone: 'kind' });
      expect((await app.post(`runs/${before}/replay`)).body).to.include({ identical: true, outcome: 'ok' });
    });

    it('is judged as it was given: the others can be changed without it', async () => {
      const changed = await app.patch(`agent_bots/${bot}`, { config: { tone: 'brief' } });
      expect([changed.status, changed.body.config, changed.body.secret_names]).to.deep.equal([
        200,
        { tone: 'brief' },
        ['key', 'pin'],
      ]);
    });

    it('stays sealed in a version that makes it no secret, until it is given again', async () => {
      const { body } = await install('opens', '3.0.0', settings({ key: text, tone: text }, ['key']));
      expect([body.version, body.pending.version]).to.deep.equal(['2.0.0', '3.0.0']);
      expect(body.pending.refuses.bots.map((one: Record<string, unknown>) => one['agent_bot_id'])).to.deep.equal([
        bot,
        system,
      ]);
      const { version, hash } = body.pending;
      await app.post(`${base}/opens/approve`, { version, hash });
      const record = (await app.get(`agent_bots/${bot}`)).body;
      expect(record).to.deep.include({ disabled_reason: 'config_invalid', config: { tone: 'brief' } });
      const given = await app.patch(`agent_bots/${bot}`, { config: { key: 'no-secret', tone: 'brief' } });
      expect(given.body).to.deep.include({
        disabled_reason: null,
        config: { key: 'no-secret', tone: 'brief' },
        secret_names: ['pin'],
      });
      expect((await ask(inbox)).got).to.deep.equal({ key: 'no-secret', tone: 'brief' });
      // Nothing asks for it any more: it can still be removed, and not be given.
      expect((await app.patch(`agent_bots/${bot}`, { secrets: { pin: 'another' } })).status).to.equal(422);
      expect((await app.patch(`agent_bots/${bot}`, { secrets: { pin: null } })).body.secret_names).to.deep.equal([]);
    });

    it('is sealed again when the version is chosen again', async () => {
      await app.patch(`${base}/opens`, { version: '2.0.0' });
      expect((await app.get(`agent_bots/${bot}`)).body).to.deep.include({
        config: { tone: 'brief' },
        secret_names: ['key'],
      });
    });
  });

  it('are judged by the version that runs when they are stored, though it began to run meanwhile', async () => {
    const loose = await install('races', '1.0.0', settings({ greeting: text }));
    const strict = await install('races', '2.0.0', settings({ greeting: { ...text, maxLength: 4 } }));
    await app.patch(`${base}/races`, { version: '1.0.0' });
    const { bot } = await serve('races', { greeting: 'Hi' });
    const beside = new Client({ connectionString: app.databaseUrl });
    await beside.connect();
    try {
      for (const change of [
        () => app.patch(`agent_bots/${bot}`, { config: { greeting: 'Welcome' } }),
        () =>
          app.post('agent_bots', { name: 'r', kind: 'plugin', plugin_id: 'races', config: { greeting: 'Welcome' } }),
      ]) {
        await beside.query(`UPDATE plugins SET active_hash = $1 WHERE id = 'races'`, [loose.body.hash]);
        await beside.query('BEGIN');
        // As an activation does it, which is under way.
        await beside.query(`UPDATE plugins SET active_hash = $1 WHERE id = 'races'`, [strict.body.hash]);
        const answer = change();
        await new Promise((resolve) => void setTimeout(resolve, 300));
        await beside.query('COMMIT');
        const { status, body } = await answer;
        expect([status, body.details?.[0].path], JSON.stringify(body)).to.deep.equal([422, '/config/greeting']);
      }
    } finally {
      await beside.end();
    }
  });

  async function makeBots(plugin: string, count: number): Promise<number[]> {
    const bots: number[] = [];
    for (let made = 0; made < count; made += 1) {
      const body = { name: `b${made}`, kind: 'plugin', plugin_id: plugin, config: { greeting: 'Welcome' } };
      bots.push((await app.post('agent_bots', body)).body.id);
    }
    return bots;
  }

  it('are validated before the transaction of an upload, and in it only where they changed since', async () => {
    await install('many', '1.0.0', settings({ greeting: text }));
    const bots = await makeBots('many', 150);
    await validating(app, async ({ beside, validations }) => {
      const uploaded = install('many', '2.0.0', settings({ greeting: { ...text, maxLength: 4 } }));
      await isHeldUp(app);
      expect(validations).to.deep.equal(bots.map(() => ({ greeting: 'Welcome' })));
      const change = `UPDATE agent_bots SET config = '{"greeting":"Hi"}' WHERE id = $1`;
      await beside.query(change, [bots[7]]);
      await beside.query('COMMIT');
      const { status, body } = await uploaded;
      expect(validations.slice(bots.length)).to.deep.equal([{ greeting: 'Hi' }]);
      expect([status, body.version, body.pending.version]).to.deep.equal([201, '1.0.0', '2.0.0']);
      const { count, bots: refused } = body.pending.refuses;
      expect(count).to.equal(149);
      const misfits = bots.filter((id) => id !== bots[7]).slice(0, 100);
      expect(refused.map((one: Record<string, unknown>) => one['agent_bot_id'])).to.deep.equal(misfits);
    });
  });

  it('are validated before the transaction of an approval, a choice and a switch, too', async () => {
    const loose = settings({ greeting: text });
    await install('chosen', '1.0.0', loose);
    const bots = await makeBots('chosen', 3);
    const { pending } = (await install('chosen', '2.0.0', settings({ greeting: { ...text, maxLength: 4 } }))).body;
    const { version, hash } = pending;
    const acts: [what: string, act: () => Promise<Answer>, result: object][] = [
      ['a switch', () => app.post(`${base}/chosen/disable`), { version: '1.0.0', enabled: false }],
      ['another', () => app.patch(`${base}/chosen`, { enabled: true }), { version: '1.0.0', enabled: true }],
      ['an approval', () => app.post(`${base}/chosen/approve`, { version, hash }), { version: '2.0.0', pending: null }],
      ['a choice', () => app.patch(`${base}/chosen`, { version: '1.0.0' }), { version: '1.0.0', pending: null }],
    ];
    for (const [what, act, result] of acts) {
      await validating(app, async ({ beside, validations }) => {
        const answer = act();
        await isHeldUp(app);
        expect(validations, what).to.deep.equal(bots.map(() => ({ greeting: 'Welcome' })));
        await beside.query('COMMIT');
        const { status, body } = await answer;
        expect([what, status]).to.deep.equal([what, 200]);
        expect(body, what).to.deep.include(result);
        expect(validations, what).to.have.lengthOf(bots.length);
      });
    }
  });

  it('tells accounts which secrets its bots take, whether they forward, and whether they ask models', async () => {
    const hosts = ['shop.example', 'other.example:8443'];
    const permissions = { network: { hosts }, secrets: [{ name: 'SHOP_KEY', hosts }], forward: true, llm: true };
    await upload(app, pluginArchive({ id: 'asks', permissions }, tells));
    const { payload } = (await app.get('plugins')).body;
    expect(payload.find(({ id }: { id: string }) => id === 'asks')).to.deep.include({
      secrets: [{ name: 'SHOP_KEY', hosts: ['shop.example', 'other.example:8443'] }],
      forwards: true,
      asks_models: true,
    });
  });

  it('an update whose limits are larger waits for approval, and says which', async () => {
    const version = (number: string, limits: object) =>
      upload(app, pluginArchive({ id: 'grows', version: number, limits }, tells));
    await version('1.0.0', { heapMb: 48 });
    const { body } = await version('1.1.0', { heapMb: 64, sliceMs: 600 });
    expect([body.version, body.pending.widens]).to.deep.equal([
      '1.0.0',
      ['Compute for up to 600 ms at a time (limits.sliceMs)', 'Use up to 64 MiB of memory (limits.heapMb)'],
    ]);
    expect((await version('1.2.0', { heapMb: 16 })).body).to.include({ version: '1.2.0', pending: null });
  });
});
