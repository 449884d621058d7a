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
      description: 'Greets.',
      permissions: ['Write to customers (conversation.reply)'],
      config_schema: { type: 'object', properties: {}, additionalProperties: false },
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
      expect((await beside.app.plugins.load(run!.bundle_hash))?.bundle.code).to.contain('brief');
    } finally {
      await beside.app.stop();
    }
  });
});
