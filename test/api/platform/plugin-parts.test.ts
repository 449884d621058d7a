import { expect } from 'chai';
import { TestApp, type Answer } from '../../support/app.ts';
import { pluginArchive, upload } from '../../support/archives.ts';

const base = '/platform/api/v1/plugins';
const text = { type: 'string' };
const config = (properties: object) => ({ type: 'object', properties, additionalProperties: false });

const bot = {
  kind: 'bot',
  main: 'bot.ts',
  events: ['message_created'],
  permissions: { conversation: ['reply'] },
  config: config({ greeting: { ...text, default: 'Hello' } }),
};
const automation = {
  kind: 'automation',
  main: 'automation.ts',
  events: ['conversation_created'],
  permissions: { conversation: ['label'] },
  config: config({ label: { ...text, default: 'shop' } }),
};
const channel = {
  kind: 'channel',
  main: 'channel.ts',
  events: [],
  permissions: { hooks: true },
  hooks: { in: { verify: 'none', id: '/id', key: '/from' } },
};

const files = {
  'shared.ts': `export const loaded: string[] = []; export const shout = (said: string) => said.toUpperCase();`,
  'bot.ts': `import { defineBot } from 'switchboard/bot'; import { loaded, shout } from './shared.ts'; loaded.push('bot');
    export default defineBot({ on: { message_created(ctx) { ctx.reply(shout(ctx.config.greeting + ' by ' + loaded.join())); } } });`,
  'automation.ts': `import { defineAutomation } from 'switchboard/bot'; import { loaded, shout } from './shared.ts'; loaded.push('automation');
    export default defineAutomation({ on: { conversation_created(ctx) { ctx.label.add(shout(String(ctx.config.label)).toLowerCase() + '-' + loaded.join()); } } });`,
  'channel.ts': `import { defineChannel } from 'switchboard/bot'; import { loaded } from './shared.ts'; loaded.push('channel');
    export default defineChannel({
      received(ctx, { json }) { ctx.channel.incoming({ source_id: json.from, external_id: json.id, content: json.text }); },
      send(ctx, message) { return { external_id: loaded.join() + message.id }; },
    });`,
};

const archive = (version: string, parts: readonly object[], id = 'shop') =>
  pluginArchive({ id, version, parts, main: undefined, events: undefined, permissions: undefined }, '', files);

interface ListedPart {
  kind: string;
  config_schema: { properties: object };
}

describe('plugins of several parts', function () {
  this.timeout(120_000);
  let app: TestApp;

  before(async () => {
    app = await TestApp.start();
  });
  after(() => app.stop());

  const shop = () => app.get(`${base}/shop`);
  const refusal = ({ status, body }: Answer) => [status, body.code, body.error];
  const inboxOf = async (more: object = {}): Promise<Answer> =>
    app.post('inboxes', { name: 'Shop', channel: { type: 'plugin', plugin_id: 'shop', config: {} }, ...more });

  it('are installed by one archive, and say what each part may do', async () => {
    const made = await upload(app, archive('1.0.0', [bot, automation]));
    expect(made.status, JSON.stringify(made.body)).to.equal(201);
    expect(made.body.permissions).to.deep.equal([
      'As bot: Write to customers (conversation.reply)',
      'As automation: Add and remove labels of conversations (conversation.label)',
    ]);
    const { payload, meta } = (await app.get('plugins')).body;
    const own = payload.filter(({ id }: { id: string }) => id === 'shop');
    const settings = ({ kind, config_schema: { properties } }: ListedPart) => [kind, Object.keys(properties)];
    expect(own.map(settings)).to.deep.equal([
      ['bot', ['greeting']],
      ['automation', ['label']],
    ]);
    expect(own[0].permissions).to.deep.equal(['Write to customers (conversation.reply)']);
    expect(meta.count).to.equal(new Set(payload.map(({ id }: { id: string }) => id)).size);
  });

  it('make what they have parts for, and nothing else', async () => {
    expect(refusal(await inboxOf())).to.deep.equal([
      422,
      'validation_failed',
      'The plugin `shop` makes bots: create one with POST …/agent_bots; and automations: create one with POST …/automations',
    ]);
    const wrong = await app.post('agent_bots', {
      name: 'B',
      kind: 'plugin',
      plugin_id: 'shop',
      config: { label: 'a' },
    });
    expect(refusal(wrong).slice(0, 2)).to.deep.equal([422, 'validation_failed']);
    const wide = await app.post('automations', { name: 'A', plugin_id: 'shop', config: { greeting: 'a' } });
    expect(refusal(wide).slice(0, 2)).to.deep.equal([422, 'validation_failed']);
  });

  it('wait for approval when a part is added, which says so', async () => {
    const made = await upload(app, archive('1.1.0', [bot, automation, channel]));
    expect(made.status).to.equal(201);
    const { version, hash, widens } = made.body.pending;
    expect(widens).to.deep.equal([
      'Connect inboxes with other systems, by a new part for channels',
      'As channel: Bring in messages of customers, and send them everything public that is written in its inboxes (channel)',
      'As channel: Take requests of other systems without checking who sends them: whoever knows the URL can send any (hooks.in)',
    ]);
    expect((await inboxOf()).status).to.equal(422);
    expect((await app.post(`${base}/shop/approve`, { version, hash })).status).to.equal(200);
  });

  it('run the code of one part each, with its settings and permissions, and repeat identically', async () => {
    const { body: made } = await inboxOf();
    const { body: served } = await app.post('agent_bots', {
      name: 'Bot',
      kind: 'plugin',
      plugin_id: 'shop',
      config: { greeting: 'Good day' },
    });
    await app.post(`inboxes/${made.id}/set_agent_bot`, { agent_bot: served.id });
    const labels = await app.post('automations', { name: 'Labels', plugin_id: 'shop', config: { label: 'web' } });
    expect(labels.status, JSON.stringify(labels.body)).to.equal(201);
    const request = { method: 'POST', headers: { 'content-type': 'application/json' } };
    const incoming = { id: 'm-1', from: 'ada', text: 'Do you ship?' };
    expect((await fetch(made.hook_url, { ...request, body: JSON.stringify(incoming) })).status).to.equal(202);
    const id = await app.eventually(async () => {
      const [row] = await app.query<{ id: number }>('SELECT id FROM conversations WHERE inbox_id = $1', [made.id]);
      return row?.id ?? null;
    });
    const answer = await app.eventually(async () => {
      const [, said] = (await app.get(`conversations/${id}/messages`)).body.payload;
      return said?.status === 'sent' ? said : null;
    });
    expect(answer.content).to.equal('GOOD DAY BY BOT');
    expect(answer.source_id).to.match(/^channel\d+$/);
    await app.eventually(async () => {
      const { body } = await app.get(`conversations/${id}/labels`);
      return JSON.stringify(body.payload) === '["web-automation"]';
    });
    const { payload: runs } = (await app.get('runs')).body;
    const ofShop = runs.filter(({ plugin }: { plugin: { id: string } }) => plugin.id === 'shop');
    expect(ofShop).to.have.lengthOf(4);
    for (const run of ofShop) {
      const replayed = await app.post(`runs/${run.id}/replay`);
      expect([run.outcome, replayed.body.identical], JSON.stringify(replayed.body)).to.deep.equal(['ok', true]);
    }
    const names = await app.query<{ name: string; sender: string | null }>(
      `SELECT name, account_payload #>> '{actor,type}' AS sender FROM events WHERE conversation_id = $1 AND name = 'conversation_updated'`,
      [id],
    );
    expect(names).to.deep.include({ name: 'conversation_updated', sender: 'automation' });
  });

  it('keep the parts that are in use, whatever version is chosen', async () => {
    const before = (await shop()).body;
    const lost = await upload(app, archive('1.2.0', [bot]));
    expect(refusal(lost)).to.deep.equal([
      409,
      'in_use',
      'This version of `shop` lacks a part that is in use by automations (1) and inboxes (1). Delete them first',
    ]);
    const back = await app.patch(`${base}/shop`, { version: '1.0.0' });
    expect(refusal(back).slice(0, 2)).to.deep.equal([409, 'in_use']);
    expect((await shop()).body).to.deep.equal(before);
    const { payload } = (await app.get('automations')).body;
    for (const { id } of payload) expect((await app.delete(`automations/${id}`)).status).to.equal(200);
    const inboxes = (await app.get('inboxes')).body.payload;
    for (const { id, plugin_id: plugin } of inboxes)
      if (plugin === 'shop') expect((await app.delete(`inboxes/${id}`)).status).to.equal(200);
    const narrower = await upload(app, archive('1.2.0', [bot]));
    expect([narrower.status, narrower.body.version, narrower.body.pending]).to.deep.equal([201, '1.2.0', null]);
    expect(refusal(await app.post('automations', { name: 'A', plugin_id: 'shop' }))[0]).to.equal(422);
  });

  it('may become of a plugin without parts, which widens by what is new alone', async () => {
    const { kind: _, ...alone } = { ...bot, id: 'grown' };
    await upload(app, pluginArchive(alone, '', files));
    const grown = await upload(app, archive('2.0.0', [bot, automation], 'grown'));
    expect(grown.body.pending.widens).to.deep.equal([
      'Hear what happens in accounts, by a new part for automations',
      'As automation: Add and remove labels of conversations (conversation.label)',
    ]);
    const other = await upload(app, archive('3.0.0', [channel], 'grown'));
    expect(refusal(other)).to.deep.equal([
      422,
      'validation_failed',
      'The kind of the plugin `grown` cannot change from bot to channel: give this package another id',
    ]);
  });

  it('are refused where they contradict themselves, with the part that is meant', async () => {
    const problems = async (manifest: Record<string, unknown>): Promise<string> => {
      const { status, body } = await upload(
        app,
        pluginArchive(
          { id: 'broken', main: undefined, events: undefined, permissions: undefined, ...manifest },
          '',
          files,
        ),
      );
      expect(status).to.equal(422);
      return JSON.stringify(body);
    };
    expect(await problems({ parts: [bot, bot] })).to.contain('`parts` has the kind bot twice');
    expect(await problems({ parts: [bot], main: 'bot.ts' })).to.contain('`main` stands beside `parts`');
    expect(await problems({ parts: [] })).to.contain('parts');
    expect(await problems({ parts: [{ ...bot, events: ['contact_created'] }] })).to.contain(
      'in the part bot: `events`: contact_created is for automations',
    );
    expect(await problems({ parts: [bot, { ...automation, main: 'gone.ts' }] })).to.contain(
      '"There is no file \\"gone.ts\\"',
    );
    expect(await problems({ parts: [{ main: 'bot.ts' }] })).to.contain('kind');
    expect(await problems({ parts: 'all' })).to.contain('parts');
    expect(await problems({})).to.contain('main');
    const throwing = { ...files, 'automation.ts': 'throw new Error("never loads");' };
    const parts = { parts: [bot, automation], main: undefined, events: undefined, permissions: undefined };
    const unloaded = await upload(app, pluginArchive({ id: 'broken', ...parts }, '', throwing));
    expect(JSON.stringify(unloaded.body)).to.contain('The code of the part automation does not load');
  });
});
