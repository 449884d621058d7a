import { expect } from 'chai';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openConversation } from '../faults/plugins.ts';
import { TestApp } from '../support/app.ts';
import { writePackage } from '../support/packages.ts';

interface RunRow extends Record<string, unknown> {
  conversation_id: number | null;
  outcome: string;
  error: string | null;
  actions: { type: string; content?: string }[];
}

const code = `import { defineBot } from 'switchboard/bot';
  const told = async (ctx) => { await (new Function('ctx', 'return (async () => {' + ctx.config.code + '})()'))(ctx); };
  export default defineBot({ on: { contact_created: told, message_created: told, conversation_updated: told, schedule: told } });`;
const manifest = {
  id: 'listener',
  kind: 'automation',
  events: ['contact_created', 'message_created', 'conversation_updated', 'schedule'],
  permissions: {
    conversation: ['reply', 'note', 'label', 'priority', 'handoff', 'mute', 'sla', 'bot', 'resolve'],
    contact: ['email'],
    schedule: true,
    storage: { scopes: ['conversation', 'contact', 'installation'] },
  },
  config: { type: 'object', properties: { code: { type: 'string' } }, required: ['code'] },
};

describe('runs of automations', function () {
  this.timeout(60_000);
  let app: TestApp;
  let root: string;
  let inbox: number;

  before(async () => {
    root = mkdtempSync(join(tmpdir(), 'switchboard-automations-'));
    writePackage(join(root, 'bots/listener'), manifest, code);
    app = await TestApp.start({ pluginRoot: root });
    inbox = (await app.post('inboxes', { name: 'Shop', channel: { type: 'api' } })).body.id as number;
  });
  after(async () => {
    await app.stop();
    rmSync(root, { recursive: true });
  });
  afterEach(() => app.query(`DELETE FROM agent_bots WHERE kind = 'automation'`));

  async function automation(event: string, does: string, inboxIds: number[] | null = null): Promise<number> {
    const [row] = await app.query<{ id: number }>(
      `INSERT INTO agent_bots (account_id, name, kind, plugin_id, config, events, hears_notes, inbox_ids)
       VALUES (1, 'Listener', 'automation', 'listener', $1, $2, false, $3) RETURNING id`,
      [JSON.stringify({ code: does }), [event, 'schedule'], inboxIds],
    );
    return row!.id;
  }

  async function runsOf(id: number, count: number): Promise<RunRow[]> {
    let runs: RunRow[] = [];
    await app.eventually(async () => {
      runs = await app.query<RunRow>('SELECT * FROM bot_runs WHERE agent_bot_id = $1 ORDER BY id', [id]);
      return runs.length >= count;
    });
    return runs;
  }

  it('are made for events without a conversation, with what the manifest lets them see', async () => {
    const id = await automation(
      'contact_created',
      `ctx.log.info(ctx.contact.email + ' ' + ('name' in ctx.event) + ' ' + ctx.conversation);
       await ctx.storage.contact.set('seen', true);`,
    );
    const contact = await app.post('contacts', { name: 'Ada', email: 'ada@shop.example' });
    const [run] = await runsOf(id, 1);
    expect(run).to.include({ outcome: 'ok', conversation_id: null, error: null });
    expect(run!['logs']).to.deep.equal([{ level: 'info', message: 'ada@shop.example false null' }]);
    const stored = await app.query('SELECT contact_id FROM bot_storage WHERE agent_bot_id = $1', [id]);
    expect(stored).to.deep.equal([{ contact_id: contact.body.id }]);
    const shown = await app.get('runs');
    expect(shown.body.payload[0]).to.include({ automation_id: id, agent_bot_id: null, conversation_id: null });
    const replay = await app.post(`runs/${String(shown.body.payload[0].id)}/replay`);
    expect(replay.body).to.include({ identical: true });
  });

  it('act in the conversation of the event, whoever serves it', async () => {
    const id = await automation('message_created', `ctx.priority('high'); ctx.note('Seen: ' + ctx.message.content);`);
    const conversation = await openConversation(app, inbox);
    await app.post(`conversations/${conversation}/messages`, { content: 'Hello', message_type: 'incoming' });
    const [run] = await runsOf(id, 1);
    expect(run).to.include({ outcome: 'ok', conversation_id: conversation });
    const messages = await app.get(`conversations/${conversation}/messages`);
    expect(messages.body.payload.at(-1)).to.deep.include({
      content: 'Seen: Hello',
      private: true,
      sender: { id, name: 'Listener', type: 'Automation' },
    });
    expect((await app.get(`conversations/${conversation}`)).body.priority).to.equal('high');
  });

  it('fail where an action needs a conversation and there is none', async () => {
    const id = await automation('contact_created', `ctx.note('x');`);
    await app.post('contacts', { name: 'Ada' });
    const [run] = await runsOf(id, 1);
    expect(run).to.include({ outcome: 'no_conversation' });
  });

  it('may name the conversation of a note or a reply, in their inboxes only', async () => {
    const other = (await app.post('inboxes', { name: 'Other', channel: { type: 'api' } })).body.id as number;
    const [here, there] = [await openConversation(app, inbox), await openConversation(app, other)];
    const id = await automation('message_created', `ctx.note('x', { conversation_id: Number(ctx.message.content) });`, [
      inbox,
    ]);
    const say = (at: number, content: number) =>
      app.post(`conversations/${at}/messages`, { content: String(content), message_type: 'incoming' });
    await say(there, here);
    const beside = await openConversation(app, inbox);
    await say(here, beside);
    await say(here, there);
    const runs = await runsOf(id, 2);
    expect(runs.map(({ outcome }) => outcome)).to.deep.equal(['ok', 'forbidden']);
    const messages = await app.get(`conversations/${beside}/messages`);
    expect(messages.body.payload.map(({ content }: { content: string }) => content)).to.include('x');
  });
});
