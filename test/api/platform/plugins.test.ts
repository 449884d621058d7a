import { expect } from 'chai';
import { gzipSync } from 'node:zlib';
import { messagesOf, openConversation, pluginRootOf } from '../../faults/plugins.ts';
import { adminToken, TestApp, type Answer } from '../../support/app.ts';
import { archiveOf, formOf, pluginArchive, pluginFiles, upload } from '../../support/archives.ts';

const base = '/platform/api/v1/plugins';
const replying = (text: string) => `export default { on: { message_created(ctx) { ctx.reply('${text}') } } };`;
const narrow = { conversation: ['reply'] };
const wide = { conversation: ['reply', 'note'], contact: ['email'] };

describe('plugins of the platform', function () {
  this.timeout(60_000);
  let app: TestApp;
  let root: { path: string; remove: () => void };

  before(async () => {
    root = pluginRootOf({ shelved: `ctx.reply('from a folder');` });
    app = await TestApp.start({ pluginRoot: root.path });
  });
  after(async () => {
    await app.stop();
    root.remove();
  });

  const get = (id: string) => app.get(`${base}/${id}`);
  const approve = (id: string, body: unknown) => app.post(`${base}/${id}/approve`, body);

  /** Makes a bot of the plugin in an inbox of its own; answers the inbox. */
  async function serve(plugin: string): Promise<number> {
    const bot = await app.post('agent_bots', { name: `Bot of ${plugin}`, kind: 'plugin', plugin_id: plugin });
    expect(bot.status, JSON.stringify(bot.body)).to.equal(201);
    const inbox = await app.post('inboxes', { name: plugin, channel: { type: 'api' } });
    await app.post(`inboxes/${inbox.body.id}/set_agent_bot`, { agent_bot: bot.body.id });
    return inbox.body.id;
  }

  async function ask(inbox: number): Promise<string> {
    const conversation = await openConversation(app, inbox);
    await app.post(`conversations/${conversation}/messages`, { content: 'Hello?', message_type: 'incoming' });
    const answer = await app.eventually(async () =>
      (await messagesOf(app, conversation)).find(({ sender_kind }) => sender_kind !== 'contact'),
    );
    return answer.content;
  }

  function expectRefused({ status, body }: Answer, expected: number, word: string): void {
    expect([status, body.error], body.error).to.deep.equal([expected, body.error]);
    expect(JSON.stringify(body)).to.contain(word);
  }

  it('is installed by an archive, and its bots answer at once', async () => {
    await app.events();
    const made = await upload(app, pluginArchive({ id: 'greeter', description: 'Greets.' }, replying('one')));
    expect(made.status, JSON.stringify(made.body)).to.equal(201);
    expect(made.body).to.include({ id: 'greeter', name: 'greeter', version: '1.0.0', enabled: true, pending: null });
    expect(made.body.permissions).to.deep.equal(['Write to customers (conversation.reply)']);
    expect((await get('greeter')).body).to.deep.equal(made.body);
    const list = await app.get(base);
    expect(list.body.payload.map(({ id }: { id: string }) => id)).to.deep.equal(['greeter', 'shelved']);
    expect(list.body.meta).to.deep.equal({ count: 2, current_page: 1, total_pages: 1 });
    expect(await app.eventNames()).to.deep.equal([]);
    expect(await ask(await serve('greeter'))).to.equal('one');
  });

  it('is shown to accounts with its permissions in words and the schema of its settings', async () => {
    const { status, body } = await app.get('plugins');
    expect(status).to.equal(200);
    expect(body.payload[0]).to.deep.equal({
      id: 'greeter',
      name: 'greeter',
      version: '1.0.0',
      kind: 'bot',
      description: 'Greets.',
      permissions: ['Write to customers (conversation.reply)'],
      config_schema: { type: 'object', properties: {}, additionalProperties: false },
      secrets: [],
      forwards: false,
      asks_models: false,
    });
  });

  it('the same version again does nothing, with other content it is refused', async () => {
    const { body: before } = await get('greeter');
    const same = archiveOf(pluginFiles({ id: 'greeter', description: 'Greets.' }, replying('one')).toReversed());
    const again = await upload(app, same);
    expect([again.status, again.body]).to.deep.equal([200, before]);
    const other = await upload(app, pluginArchive({ id: 'greeter', description: 'Greets.' }, replying('other')));
    expectRefused(other, 409, 'version_taken');
    expect((await get('greeter')).body).to.deep.equal(before);
  });

  it('a new version is used by a running process within a second, without a restart', async () => {
    const inbox = await serve('greeter');
    const made = await upload(app, pluginArchive({ id: 'greeter', version: '1.1.0' }, replying('two')));
    expect([made.status, made.body.version]).to.deep.equal([201, '1.1.0']);
    await new Promise((resolve) => void setTimeout(resolve, 1000));
    expect(await ask(inbox)).to.equal('two');
  });

  it('one that may do more waits for approval of exactly it, while the old one runs', async () => {
    const inbox = await serve('greeter');
    const second = { id: 'greeter', version: '2.0.0', permissions: wide };
    const { status, body: waiting } = await upload(app, pluginArchive(second, replying('three')));
    expect([status, waiting.version, waiting.pending.version]).to.deep.equal([201, '1.1.0', '2.0.0']);
    expect(waiting.pending.widens).to.deep.equal([
      'Write private notes for agents (conversation.note)',
      "Read the customer's e-mail address (contact.email)",
    ]);
    expect(waiting.pending.hash).to.match(/^[0-9a-f]{64}$/);
    expect(await ask(inbox)).to.equal('two');
    const { version, hash } = waiting.pending;
    expectRefused(await approve('greeter', { version: '1.1.0', hash }), 409, 'not_pending');
    expectRefused(await approve('greeter', { version, hash: waiting.hash }), 409, 'not_pending');
    expectRefused(await approve('greeter', { version }), 422, 'hash');
    // A later one takes its place: what an administrator looked at is approved, or nothing.
    const third = await upload(app, pluginArchive({ ...second, version: '2.0.1' }, replying('four')));
    expect(third.body.pending.version).to.equal('2.0.1');
    expectRefused(await approve('greeter', { version, hash }), 409, 'not_pending');
    const approved = await approve('greeter', { version: '2.0.1', hash: third.body.pending.hash });
    expect([approved.status, approved.body.version, approved.body.pending]).to.deep.equal([200, '2.0.1', null]);
    expectRefused(await approve('greeter', { version: '2.0.1', hash: third.body.pending.hash }), 409, 'not_pending');
    await app.eventually(async () => (await ask(inbox)) === 'four');
    const { body } = await app.get(`${base}/greeter/versions`);
    expect(
      body.payload.map((row: Record<string, unknown>) => [row['version'], row['active'], row['pending']]),
    ).to.deep.equal([
      ['2.0.1', true, false],
      ['2.0.0', false, false],
      ['1.1.0', false, false],
      ['1.0.0', false, false],
    ]);
  });

  it('one that may do less needs no approval, and ends the waiting of another', async () => {
    const wider = { ...wide, notes_read: true };
    const waiting = await upload(app, pluginArchive({ id: 'greeter', version: '3.0.0', permissions: wider }));
    expect(waiting.body.pending.version).to.equal('3.0.0');
    const less = await upload(app, pluginArchive({ id: 'greeter', version: '3.1.0', permissions: narrow }));
    expect([less.body.version, less.body.pending]).to.deep.equal(['3.1.0', null]);
    const { version, hash } = waiting.body.pending;
    expectRefused(await approve('greeter', { version, hash }), 409, 'not_pending');
  });

  it('an installed version can be chosen again, and waits like a new one if it may do more', async () => {
    const back = await app.patch(`${base}/greeter`, { version: '1.1.0' });
    expect([back.status, back.body.version, back.body.pending]).to.deep.equal([200, '1.1.0', null]);
    const more = await app.patch(`${base}/greeter`, { version: '2.0.1' });
    expect([more.body.version, more.body.pending.version]).to.deep.equal(['1.1.0', '2.0.1']);
    const withdrawn = await app.patch(`${base}/greeter`, { version: '1.1.0' });
    expect(withdrawn.body.pending).to.equal(null);
    expectRefused(await app.patch(`${base}/greeter`, { version: '9.9.9' }), 422, 'is not installed');
    expect((await app.patch(`${base}/greeter`, {})).body.version).to.equal('1.1.0');
  });

  it('is in the audit log: who installed, approved and chose which version', async () => {
    const { payload } = (await app.get('/platform/api/v1/audit_log?target=plugin:greeter')).body;
    const told = payload.map((entry: Answer['body']) => `${entry.action} ${entry.changes.version?.[1]}`);
    expect(told.slice(0, 3)).to.deep.equal(
      ['1.1.0', '2.0.1', '1.1.0'].map((version) => `plugin.rolled_back ${version}`),
    );
    expect(told).to.include.members(['plugin.installed 1.0.0', 'plugin.approved 2.0.1']);
  });

  it('a disabled one lets people answer, until it is enabled again', async () => {
    const inbox = await serve('greeter');
    const off = await app.post(`${base}/greeter/disable`);
    expect([off.status, off.body.enabled]).to.deep.equal([200, false]);
    expect((await app.get('plugins')).body.payload.map(({ id }: { id: string }) => id)).to.deep.equal(['shelved']);
    const conversation = await openConversation(app, inbox);
    expect((await app.get(`conversations/${conversation}`)).body.status).to.equal('open');
    const refusal = await app.post('agent_bots', { name: 'Late', kind: 'plugin', plugin_id: 'greeter' });
    expectRefused(refusal, 422, 'is disabled');
    const updated = await upload(app, pluginArchive({ id: 'greeter', version: '4.0.0' }, replying('five')));
    expect([updated.body.version, updated.body.enabled]).to.deep.equal(['4.0.0', false]);
    expect((await app.post(`${base}/greeter/disable`)).status).to.equal(200);
    expect((await app.post(`${base}/greeter/enable`)).body.enabled).to.equal(true);
    expect((await app.patch(`${base}/greeter`, { enabled: true })).body.enabled).to.equal(true);
    expect(await ask(inbox)).to.equal('five');
  });

  it('the bots of a disabled one say that it is disabled, and are called again when it is not', async () => {
    await upload(app, pluginArchive({ id: 'resting' }, replying('awake')));
    const inbox = await serve('resting');
    const bot = (await app.get(`inboxes/${inbox}/agent_bot`)).body.agent_bot.id;
    const pending = await openConversation(app, inbox);
    await app.post(`${base}/resting/disable`);
    const reasons = async (conversation: number) => {
      const [record, served] = [
        await app.get(`agent_bots/${bot}`),
        await app.get(`conversations/${conversation}/agent_bot`),
      ];
      return [record.body.disabled_reason, served.body.answers, served.body.reason];
    };
    expect(await reasons(pending)).to.deep.equal(['plugin_disabled', false, 'plugin_disabled']);
    await app.events();
    await app.post(`conversations/${pending}/messages`, { content: 'Hello?', message_type: 'incoming' });
    expect((await app.events()).map(({ name, bot_silence: silence }) => [name, silence])).to.deep.equal([
      ['conversation_status_changed', null],
      ['message_created', 'plugin_disabled'],
    ]);
    const [decided] = (await app.get(`conversations/${pending}/agent_bot`)).body.history;
    expect(decided).to.deep.include({ called: false, reason: 'plugin_disabled' });
    await app.post(`${base}/resting/enable`);
    expect(await reasons(pending)).to.deep.equal([null, true, null]);
    expect(await ask(inbox)).to.equal('awake');
  });

  describe('a version that refuses the settings of bots', () => {
    const settings = (properties: object, required: string[] = []) => ({ type: 'object', properties, required });
    const first = settings({ greeting: { type: 'string' } });
    const second = settings({ greeting: { type: 'string', maxLength: 4 }, team: { type: 'string' } }, ['team']);
    const says = `export default { on: { message_created(ctx) { ctx.reply(ctx.config.greeting + ' ' + (ctx.config.team ?? '')) } } };`;
    let inbox: number;
    let bot: number;

    before(async () => {
      await upload(app, pluginArchive({ id: 'strict', config: first }, says));
      const body = { kind: 'plugin', plugin_id: 'strict' };
      bot = (await app.post('agent_bots', { ...body, name: 'Polite', config: { greeting: 'Welcome' } })).body.id;
      inbox = (await app.post('inboxes', { name: 'strict', channel: { type: 'api' } })).body.id;
      await app.post(`inboxes/${inbox}/set_agent_bot`, { agent_bot: bot });
    });

    it('waits, and tells which bots and every problem, while the old one answers', async () => {
      const { status, body } = await upload(
        app,
        pluginArchive({ id: 'strict', version: '2.0.0', config: second }, says),
      );
      expect([status, body.version, body.pending.version]).to.deep.equal([201, '1.0.0', '2.0.0']);
      expect(body.pending.widens).to.deep.equal([]);
      const { count, bots } = body.pending.refuses;
      expect([count, bots.length]).to.deep.equal([1, 1]);
      expect(bots[0]).to.deep.include({ agent_bot_id: bot, account_id: 1, name: 'Polite' });
      const problems = bots[0].problems.map(({ path, rule }: Record<string, string>) => [path, rule]);
      expect(problems).to.have.deep.members([
        ['/config/team', 'required'],
        ['/config/greeting', 'maxLength'],
      ]);
      expect((await get('strict')).body.pending).to.deep.equal(body.pending);
      expect(await ask(inbox)).to.equal('Welcome ');
    });

    it('can be approved all the same: then people get the conversations of these bots until their settings fit', async () => {
      const waiting = await openConversation(app, inbox);
      const { version, hash } = (await get('strict')).body.pending;
      expect((await approve('strict', { version, hash })).body).to.include({ version: '2.0.0', pending: null });
      expect((await app.get(`agent_bots/${bot}`)).body.disabled_reason).to.equal('config_invalid');
      expect((await app.get(`conversations/${waiting}/agent_bot`)).body).to.include({
        answers: false,
        reason: 'config_invalid',
      });
      const open = await openConversation(app, inbox);
      expect((await app.get(`conversations/${open}`)).body.status).to.equal('open');
      await app.post(`${base}/strict/disable`);
      expect((await app.get(`agent_bots/${bot}`)).body.disabled_reason).to.equal('plugin_disabled');
      await app.post(`${base}/strict/enable`);
      expect((await app.get(`agent_bots/${bot}`)).body.disabled_reason).to.equal('config_invalid');
      expectRefused(await app.patch(`agent_bots/${bot}`, { config: { greeting: 'Welcome' } }), 422, 'team');
      const mended = await app.patch(`agent_bots/${bot}`, { config: { greeting: 'Hi', team: 'us' } });
      expect(mended.body.disabled_reason).to.equal(null);
      expect(await ask(inbox)).to.equal('Hi us');
    });

    it('waits when it is chosen again too, and runs at once where all settings fit', async () => {
      expect((await app.patch(`${base}/strict`, { version: '1.0.0' })).body.pending).to.equal(null);
      await app.patch(`agent_bots/${bot}`, { config: { greeting: 'Hi' } });
      const forth = await app.patch(`${base}/strict`, { version: '2.0.0' });
      expect([forth.body.version, forth.body.pending.version]).to.deep.equal(['1.0.0', '2.0.0']);
      expect(forth.body.pending.refuses.bots[0].problems[0].path).to.equal('/config/team');
      const third = settings({
        greeting: { type: 'string' },
        team: { type: 'string' },
        tone: { type: 'string', default: 'kind' },
      });
      const made = await upload(app, pluginArchive({ id: 'strict', version: '3.0.0', config: third }, says));
      expect([made.body.version, made.body.pending]).to.deep.equal(['3.0.0', null]);
    });
  });

  it('one that waits can be withdrawn, exactly it, and the one that runs goes on', async () => {
    await upload(app, pluginArchive({ id: 'modest', permissions: narrow }, replying('modest')));
    const inbox = await serve('modest');
    const reject = (body: unknown) => app.post(`${base}/modest/reject`, body);
    expectRefused(await reject({ version: '2.0.0', hash: 'x' }), 409, 'not_pending');
    const { body } = await upload(app, pluginArchive({ id: 'modest', version: '2.0.0', permissions: wide }));
    const { version, hash } = body.pending;
    expectRefused(await reject({ version, hash: body.hash }), 409, 'not_pending');
    const rejected = await reject({ version, hash });
    expect([rejected.status, rejected.body.version, rejected.body.pending]).to.deep.equal([200, '1.0.0', null]);
    expectRefused(await approve('modest', { version, hash }), 409, 'not_pending');
    expect(await ask(inbox)).to.equal('modest');
    const { payload } = (await app.get(`${base}/modest/versions`)).body;
    const told = payload.map((row: Record<string, unknown>) => [row['version'], row['activated_at'] !== null]);
    expect(told).to.deep.equal([
      ['2.0.0', false],
      ['1.0.0', true],
    ]);
    expectRefused(await app.post(`${base}/nobody/reject`, { version, hash }), 404, 'not_found');
  });

  it('is not uninstalled while bots use it, and is gone afterwards', async () => {
    await upload(app, pluginArchive({ id: 'leaver' }));
    const bot = await app.post('agent_bots', { name: 'Leaver bot', kind: 'plugin', plugin_id: 'leaver' });
    const refusal = await app.delete(`${base}/leaver`);
    expectRefused(refusal, 409, `Leaver bot (bot ${bot.body.id}, account 1)`);
    await app.delete(`agent_bots/${bot.body.id}`);
    expect((await app.delete(`${base}/leaver`)).status).to.equal(200);
    expect((await app.delete(`${base}/leaver`)).status).to.equal(404);
    for (const answer of [
      await get('leaver'),
      await app.get(`${base}/leaver/versions`),
      await approve('leaver', { version: '1', hash: 'x' }),
    ])
      expect(answer.status).to.equal(404);
    const other = await upload(app, pluginArchive({ id: 'leaver' }, replying('another content')));
    expect(other.status, 'an id that nobody has').to.equal(201);
  });

  it('an id that a folder has is taken, and a folder changes in its place', async () => {
    expectRefused(await upload(app, pluginArchive({ id: 'shelved' })), 409, 'bots/shelved');
    expectRefused(await app.delete(`${base}/shelved`), 409, 'bots/shelved');
    expectRefused(await app.patch(`${base}/shelved`, { version: '1.0.0' }), 409, 'bots/shelved');
    expect((await app.post(`${base}/shelved/disable`)).body.enabled).to.equal(false);
    expect((await app.post(`${base}/shelved/enable`)).body).to.include({ enabled: true, source: 'folder' });
  });

  it('what cannot be used is refused with every problem, and changes nothing', async () => {
    const { body: before } = await app.get(base);
    const broken: [string, Buffer, string[]][] = [
      ['no archive', Buffer.from('x'), ['not gzipped']],
      ['a manifest', pluginArchive({ id: 'greeter', version: 'x', main: 'bot.sh' }), ['`version`', '`main`']],
      ['code', pluginArchive({ id: 'greeter', version: '5.0.0' }, `import 'fs'; import 'net'`), ['"fs"', '"net"']],
      ['code that throws', pluginArchive({ id: 'greeter', version: '5.0.0' }, 'throw 1'), ['does not load']],
      ['an endless loop', pluginArchive({ id: 'greeter', version: '5.0.0' }, 'for (;;);'), ['does not load']],
      ['links', archiveOf([{ name: 'package/a', type: '2' }, { name: '/b' }]), ['symbolic link', 'plain relative']],
      ['a bomb', gzipSync(Buffer.alloc(30_000_000)), ['8388608 bytes']],
    ];
    for (const [title, archive, words] of broken) {
      const answer = await upload(app, archive);
      expect([answer.status, answer.body.code], title).to.deep.equal([422, 'validation_failed']);
      const told = answer.body.details.map(({ message }: { message: string }) => message).join('\n');
      for (const word of words) expect(told, title).to.contain(word);
    }
    expect((await app.get(base)).body).to.deep.equal(before);
  });

  it('takes one form with one file, of at most 2 MB', async () => {
    const send = (init: { body: string | FormData; headers?: Record<string, string> }) =>
      fetch(app.url + base, { method: 'POST', ...init, headers: { api_access_token: adminToken, ...init.headers } });
    const twice = formOf(pluginArchive({ id: 'twice' }));
    twice.append('file', new Blob(['x']), 'b.tgz');
    const named = new FormData();
    named.set('archive', new Blob(['x']), 'a.tgz');
    const large = formOf(Buffer.alloc(2_200_000));
    const answers = [
      await send({ body: JSON.stringify({ file: 'x' }), headers: { 'content-type': 'application/json' } }),
      await send({ body: twice }),
      await send({ body: named }),
      await send({ body: new FormData() }),
      await send({ body: large }),
    ];
    expect(answers.map(({ status }) => status)).to.deep.equal([415, 422, 422, 400, 413]);
  });

  it('under an Idempotency-Key it is installed once', async () => {
    const headers = { api_access_token: adminToken, 'idempotency-key': 'install-once' };
    const archive = pluginArchive({ id: 'keyed' });
    const [first, second] = [await upload(app, archive, headers), await upload(app, archive, headers)];
    expect([first.status, second.status]).to.deep.equal([201, 201]);
    expect(second.headers.get('idempotency-replayed')).to.equal('true');
  });

  it('two at once of one version: one content wins', async () => {
    const [one, other] = ['a', 'b'].map((text) => pluginArchive({ id: 'raced' }, replying(text)));
    const answers = await Promise.all([upload(app, one!), upload(app, other!)]);
    expect(answers.map(({ status }) => status)).to.have.members([201, 409]);
  });

  it('keeps what it has over a restart, and the code of a run after its plugin', async () => {
    await upload(app, pluginArchive({ id: 'brief' }, replying('brief')));
    const inbox = await serve('brief');
    expect(await ask(inbox)).to.equal('brief');
    const [run] = await app.query<{ bundle_hash: string; agent_bot_id: number }>(
      `SELECT bundle_hash, agent_bot_id FROM bot_runs WHERE plugin_id = 'brief'`,
    );
    expect(run!.bundle_hash).to.equal((await get('brief')).body.hash);
    const { databaseUrl } = app;
    const beside = await TestApp.start({ databaseUrl, pluginRoot: root.path });
    try {
      expect((await beside.get(`${base}/brief`)).body.version).to.equal('1.0.0');
      expect((await beside.app.plugins.find('brief', 'bot'))?.bundle.code).to.contain('brief');
    } finally {
      await beside.app.stop();
    }
  });
});
