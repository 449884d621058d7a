import { expect } from 'chai';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TestApp } from '../../support/app.ts';
import { send } from '../../support/hook-senders.ts';
import { writePackage } from '../../support/packages.ts';

const pager = {
  id: 'pager',
  kind: 'channel',
  events: [],
  hooks: { updates: { verify: 'none' } },
  permissions: { hooks: true },
};
const pagerCode = `import { defineChannel } from 'switchboard/bot'; export default defineChannel({
  received(ctx, request) { ctx.channel.incoming({ source_id: 'c-1', external_id: request.json.id, content: request.json.text }); },
  send(ctx, message) { return { external_id: 's-' + message.id }; },
});`;
const marker = {
  id: 'marker',
  kind: 'automation',
  events: ['message_created'],
  permissions: { conversation: ['note'] },
};
const markerCode = `export default { on: { message_created(ctx) { ctx.log.info('heard'); } } };`;

interface Run {
  id: number;
  agent_bot_id: number | null;
  automation_id: number | null;
  inbox_id: number | null;
  plugin: { id: string };
  event: { name: string };
}

describe('runs of an account', function () {
  this.timeout(60_000);
  let app: TestApp;
  let root: string;
  let automation: number;
  const inboxes: number[] = [];

  before(async () => {
    root = mkdtempSync(join(tmpdir(), 'switchboard-runs-'));
    writePackage(join(root, 'bots/pager'), pager, pagerCode);
    writePackage(join(root, 'bots/marker'), marker, markerCode);
    app = await TestApp.start({ pluginRoot: root });
    automation = (await app.post('automations', { name: 'Marker', plugin_id: 'marker' })).body.id;
    for (const name of ['North', 'South']) {
      const channel = { type: 'plugin', plugin_id: 'pager', config: {}, secrets: {} };
      const { body } = await app.post('inboxes', { name, channel });
      inboxes.push(body.id);
      await send(body.hook_url, `{"id":"${name}","text":"Help"}`, { 'content-type': 'application/json' });
    }
    await app.eventually(async () => (await app.query('SELECT FROM bot_runs')).length >= 4);
  });
  after(async () => {
    await app.stop();
    rmSync(root, { recursive: true });
  });

  const listed = async (query: string) => (await app.get(`runs?${query}`)).body.payload as Run[];

  it('name the inbox of a channel, and no bot or automation', async () => {
    for (const inbox of inboxes) {
      const runs = await listed(`inbox_id=${inbox}`);
      expect(runs.map((run) => [run.plugin.id, run.event.name])).to.deep.equal([['pager', 'hook_received']]);
      const owner = { agent_bot_id: null, automation_id: null, inbox_id: inbox };
      expect(runs[0]).to.include(owner);
      expect((await app.get(`runs/${runs[0]!.id}`)).body).to.include(owner);
    }
    for (const run of await listed(`automation_id=${automation}`))
      expect(run).to.include({ agent_bot_id: null, automation_id: automation, inbox_id: null });
    const all = await listed('');
    expect(all.map(({ inbox_id: id }) => id)).to.include.members([...inboxes, null]);
    expect(await listed(`inbox_id=${inboxes[0]}&outcome=threw`)).to.deep.equal([]);
  });

  it('refuse an inbox that is not there or has no channel, and two owners at once', async () => {
    const shop = (await app.post('inboxes', { name: 'Shop', channel: { type: 'api' } })).body.id as number;
    const problem = async (query: string) => {
      const { status, body } = await app.get(`runs?${query}`);
      return [status, body.details?.[0]?.path ?? null, body.details?.[0]?.message ?? body.error];
    };
    expect((await problem('inbox_id=999999'))[0]).to.equal(404);
    expect(await problem(`inbox_id=${shop}`)).to.deep.equal([
      422,
      '/inbox_id',
      'Only inboxes with a channel have runs of their own: this inbox has none',
    ]);
    expect(await problem(`inbox_id=${inboxes[0]}&automation_id=${automation}`)).to.deep.equal([
      422,
      '/automation_id',
      'Only one of agent_bot_id, automation_id and inbox_id can be given',
    ]);
  });
});
