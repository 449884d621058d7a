import { expect } from 'chai';
import * as fc from 'fast-check';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TestApp } from '../support/app.ts';
import { Customers } from '../support/conversing.ts';
import { writePackage } from '../support/packages.ts';

// Conversations, changed in any order while three automations act on what happens: one notes each message and each change of the
// status, two answer each other's changes. How often each acts follows from the commands alone.
interface Model {
  status: 'open' | 'resolved';
  priority: string | null;
  labels: string;
  /** Messages and changes of the status. */
  noted: number;
  /** Changes of other fields, each of which begins two chains. */
  updates: number;
}

type Command =
  | { kind: 'create' | 'customer' | 'agent' | 'note'; at: number }
  | { kind: 'toggle'; at: number; status: Model['status'] }
  | { kind: 'priority'; at: number; priority: string | null }
  | { kind: 'labels'; at: number; labels: string[] };

// The service acts on events up to the fifth in a row; the changes of the last are heard, and refused.
const deepest = 5;
const runs = 8;
// The suite says the same each time; another seed looks elsewhere.
const seed = Number(process.env.FUZZ_SEED ?? 20_261_129);
const titles = ['model-a', 'model-b'];

const at = fc.nat({ max: 3 });
const commands: fc.Arbitrary<Command> = fc.oneof(
  fc.record({ kind: fc.constantFrom('create' as const, 'customer' as const, 'agent' as const, 'note' as const), at }),
  fc.record({
    kind: fc.constant('toggle' as const),
    at,
    status: fc.constantFrom('open' as const, 'resolved' as const),
  }),
  fc.record({ kind: fc.constant('priority' as const), at, priority: fc.constantFrom(null, 'high', 'low') }),
  fc.record({ kind: fc.constant('labels' as const), at, labels: fc.subarray(titles) }),
);

const scribe = `import { defineAutomation } from 'switchboard/bot';
  const write = (ctx) => ctx.note(ctx.event.event + ' ' + ctx.event.sequence);
  export default defineAutomation({ on: { message_created: write, conversation_status_changed: write } });`;
const echo = (name: string) => `import { defineAutomation } from 'switchboard/bot';
  export default defineAutomation({ on: { conversation_updated(ctx) { ctx.attributes({ ${name}: ctx.event.sequence }); } } });`;

describe('automations against a model of them', function () {
  this.timeout(300_000);
  let app: TestApp;
  let root: string;
  let inbox: number;
  let contact: number;
  const automations = new Map<string, number>();
  const models = new Map<number, Model>();

  before(async () => {
    root = mkdtempSync(join(tmpdir(), 'switchboard-automation-model-'));
    const plugins = [
      ['scribe', ['message_created', 'conversation_status_changed'], ['note'], scribe],
      ['ping', ['conversation_updated'], ['attributes'], echo('ping')],
      ['pong', ['conversation_updated'], ['attributes'], echo('pong')],
    ] as const;
    for (const [id, events, conversation, code] of plugins)
      writePackage(join(root, 'bots', id), { id, kind: 'automation', events, permissions: { conversation } }, code);
    app = await TestApp.start({ pluginRoot: root });
    inbox = await new Customers(app).inbox('Model');
    contact = (await app.post('contacts', { name: 'Model' })).body.id;
    for (const title of titles) await app.post('labels', { title });
    for (const [id] of plugins) {
      const made = await app.post('automations', { name: id, plugin_id: id });
      expect(made.status, JSON.stringify(made.body)).to.equal(201);
      automations.set(id, made.body.id);
    }
  });
  after(async () => {
    await app.stop();
    rmSync(root, { recursive: true });
  });

  async function create(): Promise<void> {
    const { status, body } = await app.post('conversations', { inbox_id: inbox, contact_id: contact });
    expect(status).to.equal(201);
    models.set(body.id, { status: 'open', priority: null, labels: '', noted: 0, updates: 0 });
  }

  async function send(id: number, model: Model, command: Command): Promise<void> {
    const path = `conversations/${id}`;
    const say = (message: object) => app.post(`${path}/messages`, { content: 'Model', ...message });
    const before = structuredClone(model);
    if (command.kind === 'customer') {
      await say({ message_type: 'incoming' });
      Object.assign(model, { status: 'open', noted: model.noted + 1 });
    } else if (command.kind === 'agent' || command.kind === 'note') {
      await say({ message_type: 'outgoing', private: command.kind === 'note' });
      // Automations hear no private notes without a permission.
      if (command.kind === 'agent') model.noted += 1;
    } else if (command.kind === 'toggle') {
      await app.post(`${path}/toggle_status`, { status: command.status });
      model.status = command.status;
    } else if (command.kind === 'priority') {
      await app.patch(path, { priority: command.priority });
      model.priority = command.priority;
    } else if (command.kind === 'labels') {
      await app.post(`${path}/labels`, { labels: command.labels });
      model.labels = command.labels.join();
    }
    if (model.status !== before.status) model.noted += 1;
    if (model.priority !== before.priority || model.labels !== before.labels) model.updates += 1;
  }

  async function settled(): Promise<void> {
    await app.eventually(
      async () =>
        (await app.query(`SELECT FROM deliveries WHERE endpoint_kind = 'automation' AND state = 'pending' LIMIT 1`))
          .length === 0,
    );
  }

  const countRuns = async (conversation: number, automation: string): Promise<Record<string, number>> => {
    const rows = await app.query<{ outcome: string; count: number }>(
      `SELECT outcome, count(*)::int AS count FROM bot_runs WHERE conversation_id = $1 AND agent_bot_id = $2
         AND (actions::text <> '[]' OR outcome <> 'ok') GROUP BY outcome`,
      [conversation, automations.get(automation)],
    );
    return Object.fromEntries(rows.map(({ outcome, count }) => [outcome, count]));
  };

  async function check(id: number, { status, priority, noted, updates }: Model): Promise<void> {
    const record = (await app.get(`conversations/${id}`)).body;
    expect(record).to.deep.include({ status, priority });
    const notes = await app.query<{ content: string }>(
      `SELECT content FROM messages WHERE conversation_id = $1 AND sender_kind = 'automation'`,
      [id],
    );
    const heard = await app.query<{ content: string }>(
      `SELECT name || ' ' || sequence AS content FROM events WHERE conversation_id = $1 AND depth = 0
         AND name IN ('message_created', 'conversation_status_changed') AND (facts ->> 'private') IS DISTINCT FROM 'true'`,
      [id],
    );
    const contents = (rows: { content: string }[]) => rows.map(({ content }) => content).toSorted();
    expect(contents(notes), 'each event is noted once').to.deep.equal(contents(heard));
    expect(notes).to.have.lengthOf(noted);
    const chains = updates === 0 ? {} : { ok: updates * (deepest + 1), causation_depth: updates };
    for (const automation of ['ping', 'pong'])
      expect(await countRuns(id, automation), automation).to.deep.equal(chains);
    const depths = await app.query<{ depth: number; count: number }>(
      `SELECT depth, count(*)::int AS count FROM events WHERE conversation_id = $1 AND name = 'conversation_updated'
       GROUP BY depth ORDER BY depth`,
      [id],
    );
    const wanted = Array.from({ length: deepest + 2 }, (_, depth) => ({
      depth,
      count: depth === 0 ? updates : 2 * updates,
    }));
    expect(depths).to.deep.equal(updates === 0 ? [] : wanted);
  }

  it('act on each event once, in any order of commands, and end their chains', async () => {
    const play = async (script: readonly Command[]): Promise<void> => {
      for (const command of script) {
        const ids = [...models.keys()];
        const id = ids[ids.length - 1 - (command.at % ids.length)];
        const model = id === undefined ? undefined : models.get(id);
        if (command.kind === 'create' || id === undefined || !model) await create();
        else await send(id, model, command);
      }
      await settled();
      for (const [id, model] of models) await check(id, model);
    };
    const script = fc.array(commands, { minLength: 6, maxLength: 14 });
    await fc.assert(
      fc.asyncProperty(script, (chosen) => play(chosen)),
      { seed, numRuns: runs, endOnFailure: true },
    );
  });

  it('leave every conversation with events numbered without a gap, and nothing that waits', async () => {
    const gaps = await app.query(
      `SELECT conversation_id FROM events WHERE conversation_id IS NOT NULL
       GROUP BY conversation_id HAVING count(*) <> max(sequence) OR min(sequence) <> 1`,
    );
    expect(gaps).to.deep.equal([]);
    const updates = [...models.values()].reduce((sum, model) => sum + model.updates, 0);
    expect(updates, 'the commands have begun chains').to.be.above(3);
  });
});
