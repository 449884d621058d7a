import { expect } from 'chai';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openConversation } from '../faults/plugins.ts';
import { callScheduled } from '../../src/domain/bots/schedules.ts';
import { TestApp } from '../support/app.ts';
import { writePackage } from '../support/packages.ts';

interface RunRow extends Record<string, unknown> {
  conversation_id: number | null;
  outcome: string;
  error: string | null;
  actions: { type: string; content?: string }[];
  logs: { level: string; message: string }[];
}

const code = `import { defineBot } from 'switchboard/bot';
  const told = async (ctx) => { await (new Function('ctx', 'return (async () => {' + ctx.config.code + '})()'))(ctx); };
  export default defineBot({ on: { contact_created: told, message_created: told, conversation_updated: told, schedule: told } });`;
const manifest = {
  id: 'listener',
  kind: 'automation',
  events: ['contact_created', 'message_created', 'conversation_updated', 'schedule'],
  permissions: {
    conversation: ['reply', 'note', 'label', 'priority', 'attributes', 'handoff', 'mute', 'sla', 'bot', 'resolve'],
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
  afterEach(async () => {
    const { status, body } = await app.get('automations');
    expect(status, JSON.stringify(body)).to.equal(200);
    for (const { id } of body.payload as { id: number }[]) await app.delete(`automations/${id}`);
  });

  /** An automation of the plugin that acts on events of the name as the code says. */
  async function automation(event: string, does: string, more: object = {}): Promise<number> {
    const gated = `if (ctx.event.event === '${event}' || ctx.event.event === 'schedule') { ${does} }`;
    const body = { name: 'Listener', plugin_id: 'listener', config: { code: gated }, ...more };
    const made = await app.post('automations', body);
    if (made.status !== 201) throw new Error(JSON.stringify(made.body));
    return made.body.id as number;
  }

  const say = (at: number, content: string | number) =>
    app.post(`conversations/${at}/messages`, { content: String(content), message_type: 'incoming' });

  async function runsOf(id: number, count: number): Promise<RunRow[]> {
    let runs: RunRow[] = [];
    await app.eventually(async () => {
      runs = await app.query<RunRow>(
        `SELECT * FROM bot_runs WHERE agent_bot_id = $1 AND (actions::text <> '[]' OR logs::text <> '[]' OR outcome <> 'ok')
         ORDER BY id`,
        [id],
      );
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
    expect(run!.logs).to.deep.equal([{ level: 'info', message: 'ada@shop.example false null' }]);
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
    await say(conversation, 'Hello');
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
    const id = await automation(
      'message_created',
      `if (!ctx.message.private) ctx.note('x', { conversation_id: Number(ctx.message.content) });`,
      { inbox_ids: [inbox] },
    );
    await say(there, here);
    const beside = await openConversation(app, inbox);
    await say(here, beside);
    await say(here, there);
    const runs = await runsOf(id, 2);
    expect(runs.map(({ outcome }) => outcome)).to.deep.equal(['ok', 'forbidden']);
    const messages = await app.get(`conversations/${beside}/messages`);
    expect(messages.body.payload.map(({ content }: { content: string }) => content)).to.include('x');
  });

  it('do not hear their own changes, and those of others up to the fifth', async () => {
    const one = await automation('conversation_updated', `ctx.attributes({ one: ctx.event.sequence });`);
    const other = await automation('conversation_updated', `ctx.attributes({ other: ctx.event.sequence });`);
    const conversation = await openConversation(app, inbox);
    await app.patch(`conversations/${conversation}`, { priority: 'medium' });
    const refused = async () =>
      app.query<RunRow & { depth: number }>(
        `SELECT r.outcome, e.depth FROM bot_runs r JOIN events e ON e.id = r.event_id
         WHERE r.conversation_id = $1 ORDER BY e.depth`,
        [conversation],
      );
    await app.eventually(
      async () => (await refused()).filter(({ outcome }) => outcome === 'causation_depth').length >= 2,
    );
    const waiting = () => app.query(`SELECT FROM deliveries WHERE endpoint_kind = 'automation' AND state = 'pending'`);
    await app.eventually(async () => (await waiting()).length === 0);
    const runs = await refused();
    expect(Math.max(...runs.map(({ depth }) => depth))).to.equal(6);
    for (const { outcome, depth } of runs) expect(outcome).to.equal(depth > 5 ? 'causation_depth' : 'ok');
    const own = await app.query(
      `SELECT FROM events e WHERE conversation_id = $1 AND name = 'conversation_updated' AND e.depth > 0
         AND e.automation_ids @> ARRAY[$2::bigint, $3::bigint]`,
      [conversation, one, other],
    );
    expect(own, 'each is heard by the other alone').to.deep.equal([]);
    const deliveries = await app.get(`deliveries?state=cancelled&conversation_id=${conversation}`);
    expect(deliveries.body.payload[0]).to.include({ endpoint_kind: 'automation', last_error: 'causation_depth' });
    expect(deliveries.body.payload[0].automation_id).to.be.oneOf([one, other]);
  });

  it('hear the events of a conversation in order, each once', async () => {
    const id = await automation('message_created', `ctx.log.info(ctx.message.content);`);
    const conversation = await openConversation(app, inbox);
    const words = Array.from({ length: 12 }, (_, at) => `message ${at}`);
    for (const word of words) await say(conversation, word);
    const runs = await runsOf(id, words.length);
    expect(runs.map(({ logs }) => (logs as { message: string }[])[0]?.message)).to.deep.equal(words);
  });

  it('write nothing public where a person has the conversation', async () => {
    const id = await automation('message_created', `if (ctx.message.message_type === 'incoming') ctx.reply('Auto');`);
    const conversation = await openConversation(app, inbox);
    await say(conversation, 'one');
    await runsOf(id, 1);
    await app.post(`conversations/${conversation}/messages`, { content: 'I am here', message_type: 'outgoing' });
    await say(conversation, 'two');
    const runs = await runsOf(id, 2);
    expect(runs.map(({ outcome }) => outcome)).to.deep.equal(['ok', 'superseded']);
    const { body } = await app.get(`conversations/${conversation}/messages`);
    const said = (body.payload as { content: string; private: boolean }[]).map(({ content }) => content);
    expect(said).to.deep.equal(['one', 'Auto', 'I am here', 'two']);
  });

  it('take every action of conversations', async () => {
    const policy = (await app.post('sla_policies', { name: 'Fast', first_response_seconds: 60 })).body.id as number;
    const bot = (await app.post('agent_bots', { name: 'B', kind: 'webhook', outgoing_url: null })).body.id as number;
    const id = await automation(
      'message_created',
      `if (ctx.message.private) return;
       ctx.label.add('vip'); ctx.priority('urgent'); ctx.note('n'); ctx.sla(${policy}); ctx.bot(${bot}); ctx.mute(); ctx.resolve();`,
    );
    await app.post('labels', { title: 'vip' });
    const conversation = await openConversation(app, inbox);
    await say(conversation, 'Hello');
    const [run] = await runsOf(id, 1);
    expect(run).to.include({ outcome: 'ok', error: null });
    const { body } = await app.get(`conversations/${conversation}`);
    expect(body).to.deep.include({ labels: ['vip'], priority: 'urgent', sla_policy_id: policy, status: 'resolved' });
    expect(body.meta.agent_bot.id).to.equal(bot);
    expect((await app.get(`contacts/${body.contact.id}`)).body.blocked).to.equal(true);
  });

  it('are called again when they have asked for it', async () => {
    const id = await automation(
      'message_created',
      `if (ctx.event.event === 'schedule') return ctx.log.info('called for ' + ctx.event.data);
       ctx.schedule({ inSeconds: 60 }, 'later', ctx.message.content);`,
    );
    const conversation = await openConversation(app, inbox);
    await say(conversation, 'Hello');
    await runsOf(id, 1);
    await app.query(`UPDATE bot_schedules SET at = now() - interval '1 minute' WHERE agent_bot_id = $1`, [id]);
    await callScheduled(app.app.database);
    const runs = await runsOf(id, 2);
    expect(runs[1]!.logs).to.deep.equal([{ level: 'info', message: 'called for Hello' }]);
  });

  it('come into quarantine after repeated failures, and hear nothing then; a person switches them on again', async () => {
    const id = await automation('contact_created', `throw new Error('broken');`);
    for (let failures = 1; failures <= 5; failures += 1) {
      await app.post('contacts', { name: `Ada ${failures}` });
      await runsOf(id, failures);
    }
    await app.eventually(async () => (await app.get(`automations/${id}`)).body.health.state === 'failing');
    await app.post('contacts', { name: 'Unheard' });
    expect((await app.patch(`automations/${id}`, { active: true })).body.health.state).to.equal('ok');
    await app.post('contacts', { name: 'Heard' });
    const runs = await runsOf(id, 6);
    expect(runs).to.have.length(6);
    const heard = await app.query(`SELECT FROM deliveries WHERE endpoint_kind = 'automation' AND endpoint_id = $1`, [
      id,
    ]);
    expect(heard).to.have.length(6);
  });
});
