import { expect } from 'chai';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openConversation } from '../faults/plugins.ts';
import { TestApp } from '../support/app.ts';
import { send } from '../support/hook-senders.ts';
import { writePackage } from '../support/packages.ts';
import { PluginCommands } from '../support/plugin-commands.ts';

const marker = {
  id: 'marker',
  kind: 'automation',
  events: ['message_created'],
  hooks: { orders: { verify: 'none' } },
  permissions: { conversation: ['note'], hooks: true },
};
const pager = {
  id: 'pager',
  kind: 'channel',
  events: [],
  hooks: { updates: { verify: 'none' } },
  permissions: { hooks: true },
};
const markerCode = (mark: string) => `export default { on: {
  message_created(ctx) { ctx.log.info('heard'); if (ctx.message.content) ctx.note('${mark}: ' + ctx.message.content); },
  hook_received(ctx) { ctx.log.info('order ' + ctx.hook.json.id); },
} };`;
const pagerCode = (mark: string) => `import { defineChannel } from 'switchboard/bot'; export default defineChannel({
  received(ctx, request) { ctx.log.info('came'); ctx.channel.incoming({ source_id: 'c-1', external_id: request.json.id, content: '${mark}' + request.json.text }); },
  send(ctx, message) { ctx.log.info('went'); return { external_id: '${mark}' + message.id }; },
});`;

describe('the commands that show and repeat runs of automations and channels', function () {
  this.timeout(120_000);
  let app: TestApp;
  let commands: PluginCommands;
  let root: string;

  before(async () => {
    root = mkdtempSync(join(tmpdir(), 'switchboard-kinds-'));
    writePackage(join(root, 'bots/marker'), marker, markerCode('Seen'));
    writePackage(join(root, 'bots/pager'), pager, pagerCode(''));
    app = await TestApp.start({ pluginRoot: root });
    commands = await PluginCommands.beside(app);
    const shop = (await app.post('inboxes', { name: 'Shop', channel: { type: 'api' } })).body.id as number;
    const automation = await app.post('automations', { name: 'Marker', plugin_id: 'marker' });
    expect(automation.status, JSON.stringify(automation.body)).to.equal(201);
    const hook = await app.post('hooks', { name: 'Orders', automation_id: automation.body.id, handler: 'orders' });
    expect(hook.status, JSON.stringify(hook.body)).to.equal(201);
    const channel = { type: 'plugin', plugin_id: 'pager', config: {}, secrets: {} };
    const inbox = await app.post('inboxes', { name: 'Pager', channel });
    expect(inbox.status, JSON.stringify(inbox.body)).to.equal(201);
    await send(hook.body.url, '{"id":"o-1"}', { 'content-type': 'application/json' });
    const at = await openConversation(app, shop);
    await app.post(`conversations/${at}/messages`, { content: 'Hello', message_type: 'incoming' });
    await app.eventually(async () => (await countOf('marker')) >= 2);
    await send(inbox.body.hook_url, '{"id":"m-1","text":"Help"}', { 'content-type': 'application/json' });
    const [conversation] = await app.eventually(async () => {
      const rows = await app.query<{ id: number }>('SELECT id FROM conversations WHERE inbox_id = $1', [inbox.body.id]);
      return rows.length > 0 && rows;
    });
    await app.post(`conversations/${conversation!.id}/messages`, { content: 'Yes', message_type: 'outgoing' });
    await app.eventually(async () => (await countOf('pager')) >= 2);
  });
  after(async () => {
    await app.stop();
    commands.close();
    rmSync(root, { recursive: true });
  });

  async function countOf(plugin: string): Promise<number> {
    return (await app.query('SELECT id FROM bot_runs WHERE plugin_id = $1', [plugin])).length;
  }

  /** Writes a version of a package outside the service. */
  function write(manifest: { id: string }, code: string): string {
    const path = join(commands.folder, manifest.id);
    writePackage(path, { ...manifest, version: '2.0.0' }, code);
    return path;
  }

  const told = (...args: string[]) => commands.told(...args);

  it('list runs and logs of an automation', async () => {
    expect(await told('runs', 'marker'))
      .to.match(/ - +hook_received /)
      .and.match(/ message_created .* ok +\d+ +note/);
    expect(await told('logs', 'marker')).to.match(/INFO order o-1\n[^]*INFO heard\n/);
    expect(await told('runs', 'marker', '--since', '2099-01-01')).to.equal('The plugin marker has no such runs.\n');
  });

  it('list runs and logs of a channel, and of no other plugin', async () => {
    const { payload } = JSON.parse(await told('runs', 'pager', '--json')) as { payload: { plugin: { id: string } }[] };
    expect(payload.map(({ plugin }) => plugin.id)).to.deep.equal(['pager', 'pager']);
    expect(await told('logs', 'pager')).to.match(/INFO came\n.*INFO went\n/);
  });

  it('repeat the runs of an automation with another version, hooks too', async () => {
    const same = JSON.parse(await told('backtest', write(marker, markerCode('Seen')), '--json'));
    expect(same).to.include({ different: 0, erased: 0 });
    expect(same.runs).to.be.at.least(2);
    const output = await told('backtest', write(marker, markerCode('Read')));
    expect(output).to.contain('content: "Seen: Hello"').and.contain('content: "Read: Hello"');
  });

  it('repeat what a channel received and sent with another version', async () => {
    const same = JSON.parse(await told('backtest', write(pager, pagerCode('')), '--json'));
    expect(same).to.include({ runs: 2, different: 0, erased: 0 });
    const found = JSON.parse(await told('backtest', write(pager, pagerCode('New ')), '--json'));
    expect(found).to.include({ runs: 2, different: 2 });
  });

  it('refuse to ask the model anew, which only bots can', async () => {
    const refusal = await commands.refused('backtest', write(marker, markerCode('Seen')), '--live-model');
    expect(refusal).to.contain('--live-model is for agent bots');
  });

  it('leave out runs whose request is deleted', async () => {
    await app.query('DELETE FROM hook_requests');
    const found = JSON.parse(await told('backtest', write(pager, pagerCode('')), '--json'));
    expect(found).to.include({ runs: 1, different: 0, erased: 1 });
  });
});
