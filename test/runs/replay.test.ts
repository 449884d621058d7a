import { expect } from 'chai';
import { systemClock, systemRandom } from '../../src/lib/ports.ts';
import { BotRunner } from '../../src/runs/bot-runner.ts';
import { createSandbox } from '../../src/sandbox/parent/pool.ts';
import { ForbiddenCall, type HostCall, type Sandbox } from '../../src/sandbox/run.ts';
import type { SendRequest } from '../../src/runs/doors/fetch.ts';
import { findMessages } from '../../src/records/messages/message.ts';
import { openConversation, serveInboxes } from '../faults/plugins.ts';
import { directoryOf } from '../sandbox/helpers.ts';
import { TestApp, type Answer } from '../support/app.ts';
import { findOfEvent } from '../support/found.ts';
import { changedTables, readDigest } from '../support/digest.ts';
import { addAccount } from '../support/people.ts';

/** What the bot does, by the first word of the customer's message. */
const plays = {
  everything: `const seen = await ctx.storage.get('seen');
    const [one, two] = await Promise.all([ctx.fetch('https://shop.example/1'), ctx.fetch('https://shop.example/2')]);
    await ctx.storage.set('seen', { at: Date.now(), drawn: Math.random() });
    const failed = await ctx.fetch('https://shop.example/broken').catch((error) => error.code + ' ' + error.message);
    ctx.reply([ctx.config.greeting, JSON.stringify(seen), one.text, two.json().n, failed, Math.random(), new Date().toISOString(),
      ctx.history.map(({ content }) => content)].join(' | '));
    ctx.note({ content: String(await ctx.storage.incr('count')) });`,
  thrower: `ctx.log.warn('soon'); throw new TypeError('broken')`,
  looper: `for (;;);`,
  waiter: `await new Promise(() => {})`,
  meddler: `ctx.reply('Hello'); ctx.label.add('vip')`,
  chatter: `for (let i = 0; i < 6; i += 1) ctx.reply('word ' + i)`,
  eater: `const eaten = []; for (;;) eaten.push(new Array(100_000).fill(eaten.length))`,
  deadline: `await ctx.call('never', 1)`,
  afterCall: `await ctx.storage.get('a'); await ctx.call('never', 1)`,
  intruder: `await ctx.storage.get('a'); try { await ctx.call('forbidden', 1) } catch {} ctx.reply('no matter')`,
  asker: `for (let i = 0; i < 40; i += 1) await ctx.storage.get('key' + i)`,
  silent: ``,
};
type Play = keyof typeof plays;
const outcomes: Partial<Record<Play, string>> = {
  thrower: 'threw',
  looper: 'timeout',
  waiter: 'never_settled',
  meddler: 'forbidden_action',
  chatter: 'too_many_actions',
  eater: 'memory',
  deadline: 'deadline',
  afterCall: 'deadline',
  intruder: 'forbidden_action',
  asker: 'too_many_calls',
};
const cases = Object.entries(plays).map(([name, code]) => `case '${name}': { ${code}; break; }`);
const manifest = {
  id: 'player',
  name: 'Player',
  version: '1.0.0',
  apiVersion: '1',
  main: 'bot.js',
  events: ['message_created'],
  permissions: {
    conversation: ['reply', 'note', 'handoff'],
    history: 5,
    storage: { scopes: ['conversation'] },
    network: { hosts: ['shop.example'] },
  },
  config: { type: 'object', properties: { greeting: { type: 'string', default: 'Hello' } } },
  limits: { sliceMs: 500, wallMs: 1500, heapMb: 16 },
};

describe('replays of runs', () => {
  let app: TestApp;
  let root: { path: string; remove: () => void };
  let sandbox: Sandbox;
  let inbox: number | undefined;
  let player: number;
  let fetched = 0;

  const send: SendRequest = async ({ url }) => {
    fetched += 1;
    if (url.endsWith('broken')) return { problem: { code: 'timeout', message: 'no answer' } };
    // Long enough for the run to leave its process.
    await new Promise((resolve) => setTimeout(resolve, 20));
    return { status: 200, headers: {}, text: JSON.stringify({ n: fetched, odd: ' "é\u2028' }) };
  };
  const hostCalls: Record<string, HostCall> = {
    never: () => new Promise(() => undefined),
    forbidden: () => Promise.reject(new ForbiddenCall('not for you')),
  };

  before(async () => {
    const bot = `export default { on: { async message_created(ctx) { switch (ctx.message.content.split(' ')[0]) { ${cases.join('\n')} } } } };`;
    root = directoryOf({ 'bots/player/plugin.json': JSON.stringify(manifest), 'bots/player/bot.js': bot });
    app = await TestApp.start({ engine: false, pluginRoot: root.path, config: { replayQueue: 2 } });
    sandbox = createSandbox({ size: 1, queueLimit: 10, maxRssMb: 256, hostCalls });
    inbox = (await serveInboxes(app, ['player'])).get('player');
    const [row] = await app.query<{ id: number }>(`SELECT id FROM agent_bots WHERE plugin_id = 'player'`);
    player = row!.id;
  });
  beforeEach(() => app.post(`agent_bots/${player}/release`));
  after(async () => {
    await sandbox.close();
    await app.stop();
    root.remove();
  });

  // oxlint-disable-next-line typescript/no-explicit-any
  type Run = any;

  /** Lets a customer say something to the bot, runs it in a sandbox with these host calls, and answers the record. */
  async function play(what: Play): Promise<Run> {
    const id = await openConversation(app, inbox);
    await app.post(`conversations/${id}/messages`, { content: what, message_type: 'incoming' });
    const [event] = await app.query<{ id: number; bot_payload: unknown }>(
      `SELECT id, bot_payload FROM events WHERE conversation_id = $1 AND name = 'message_created'`,
      [id],
    );
    const bots = new BotRunner({
      storageBytes: 1e6,
      database: app.app.database,
      plugins: app.app.plugins,
      clock: systemClock,
      random: systemRandom,
      readMessages: ({ accountId, conversationId }, window) =>
        findMessages(app.app.database.sql, accountId, conversationId, window),
      doors: { send },
      log: { warn: () => undefined },
      sandbox,
    });
    await bots.handle(
      {
        account: { id: 1, name: 'Demo account' },
        botId: player,
        event: { id: event!.id, name: 'message_created', conversationId: id, depth: 0 },
        found: await findOfEvent(app, event!.id),
        body: JSON.stringify(event!.bot_payload),
        attempt: 1,
        failures: 2,
      },
      () => undefined,
    );
    return (await app.get(`conversations/${id}/runs`)).body.payload[0];
  }

  const replay = ({ id }: Run): Promise<Answer> => app.post(`runs/${id}/replay`);

  async function expectIdentical(run: Run): Promise<void> {
    const { status, body } = await replay(run);
    expect(status, JSON.stringify(body)).to.equal(200);
    expect(body).to.deep.equal({ identical: true, outcome: run.outcome, actions: run.actions });
  }

  it('give what was given: storage, fetched pages, errors, random numbers, the clock, the history', async () => {
    const run = await play('everything');
    expect(run.error).to.equal(null);
    expect(run.calls.map(({ name }: Run) => name)).to.deep.equal([
      'history',
      'storage.get',
      'fetch',
      'fetch',
      'storage.set',
      'fetch',
      'storage.incr',
    ]);
    expect(run.actions[0].content).to.contain('Hello | null | ').and.contain('timeout no answer');
    await expectIdentical(run);
  });

  it('do not depend on the present, and change nothing but the audit log', async () => {
    const run = await play('everything');
    const before = fetched;
    await app.query(`UPDATE bot_storage SET value = '"changed"' WHERE conversation_id = $1`, [run.conversation_id]);
    await app.patch(`agent_bots/${player}`, { config: { greeting: 'Changed' } });
    await app.post(`conversations/${run.conversation_id}/messages`, { content: 'Later', message_type: 'incoming' });
    const [bundle] = await app.query<{ code: string; manifest: string }>(
      'SELECT code, manifest FROM plugin_bundles WHERE hash = $1',
      [run.plugin.hash],
    );
    const next = 'f'.repeat(64);
    await app.query(
      `INSERT INTO plugin_bundles (hash, plugin_id, version, manifest, code) VALUES ($1, 'player', '2.0.0', $2, $3)`,
      [
        next,
        bundle!.manifest.replace('"conversation":["reply",', '"conversation":['),
        bundle!.code.replaceAll('ctx.reply(', 'ctx.note('),
      ],
    );
    await app.query(`UPDATE plugins SET active_hash = $1 WHERE id = 'player'`, [next]);
    await app.query('UPDATE plugin_registry SET revision = revision + 1');
    const digest = await readDigest(app);
    await expectIdentical(run);
    expect(changedTables(digest, await readDigest(app))).to.deep.equal(['audit_log']);
    expect(fetched).to.equal(before);
    await app.query(`UPDATE plugins SET active_hash = $1 WHERE id = 'player'`, [run.plugin.hash]);
    await app.query('UPDATE plugin_registry SET revision = revision + 1');
    await app.patch(`agent_bots/${player}`, { config: {} });
  });

  for (const [what, outcome] of Object.entries(outcomes) as [Play, string][]) {
    it(`end as recorded: ${what}, ${outcome}`, async () => {
      const run = await play(what);
      expect(run.outcome, JSON.stringify(run.error)).to.equal(outcome);
      await expectIdentical(run);
    });
  }

  it('tell the outcome that the service gave a run afterwards', async () => {
    const run = await play('everything');
    for (const outcome of ['superseded', 'loop_suspected', 'bot_suppressed']) {
      await app.query('UPDATE bot_runs SET outcome = $2 WHERE id = $1', [run.id, outcome]);
      await expectIdentical({ ...run, outcome });
    }
  });

  it('say so when a run that its process did not survive ends well now', async () => {
    const run = await play('everything');
    await app.query(`UPDATE bot_runs SET outcome = 'crashed', actions = '[]' WHERE id = $1`, [run.id]);
    expect((await replay(run)).body).to.deep.equal({ identical: false, outcome: 'ok', actions: run.actions });
    await app.query('UPDATE bot_runs SET calls = $2::json WHERE id = $1', [
      run.id,
      JSON.stringify(run.calls.slice(0, 4)),
    ]);
    expect((await replay(run)).body).to.deep.equal({ identical: true, outcome: 'crashed', actions: [] });
  });

  it('say so when the settings were not valid', async () => {
    const run = await play('silent');
    await app.query(`UPDATE bot_runs SET config = '{"greeting":5}', outcome = 'load_failed' WHERE id = $1`, [run.id]);
    expect((await replay(run)).body).to.deep.equal({ identical: true, outcome: 'load_failed', actions: [] });
  });

  it('notice a record that was changed', async () => {
    const run = await play('everything');
    const calls = structuredClone(run.calls);
    calls[2].output.text = '{"n":77}';
    const asked = structuredClone(run.calls);
    asked[2].input.url = 'https://shop.example/7';
    const answers: Record<string, [text: string, outcome: string]> = {
      [`calls = '${JSON.stringify(calls)}'`]: ['{"n":77}', 'ok'],
      [`seed = seed + 1`]: ['[]', 'diverged'],
      [`clock = clock + interval '1 second'`]: ['[]', 'diverged'],
      [`config = '{"greeting":"Forged"}'`]: ['Forged', 'ok'],
      [`actions = '[]'`]: ['Hello', 'ok'],
      [`outcome = 'threw'`]: ['Hello', 'ok'],
      [`calls = '${JSON.stringify(asked)}'`]: ['[]', 'diverged'],
      [`calls = '[]'`]: ['[]', 'threw'],
    };
    for (const [change, [text, outcome]] of Object.entries(answers)) {
      await app.query('CREATE TABLE kept AS SELECT * FROM bot_runs WHERE id = $1', [run.id]);
      await app.query(`UPDATE bot_runs SET ${change} WHERE id = $1`, [run.id]);
      const { status, body } = await replay(run);
      expect(status, change).to.equal(200);
      expect(body, change).to.include({ identical: false });
      if (outcome !== 'threw') expect(body.outcome, change).to.equal(outcome);
      if (outcome === 'ok') expect(JSON.stringify(body.actions).replaceAll('\\', ''), change).to.contain(text);
      await app.query(
        `UPDATE bot_runs r SET calls = k.calls, seed = k.seed, clock = k.clock, config = k.config, actions = k.actions, outcome = k.outcome
         FROM kept k WHERE k.id = r.id`,
      );
      await app.query('DROP TABLE kept');
    }
    await expectIdentical(run);
  });

  it('are refused where the record cannot be read', async () => {
    for (const change of [
      `calls = '5'`,
      `calls = '[null]'`,
      `config = '[]'`,
      `permissions = '{}'`,
      `permissions = '"all"'`,
      `limits = '{"sliceMs":1e9,"wallMs":100,"heapMb":16}'`,
      `limits = '[]'`,
      `bundle_hash = ''`,
    ]) {
      const run = await play('silent');
      await app.query(`UPDATE bot_runs SET ${change} WHERE id = $1`, [run.id]);
      const { status, body } = await replay(run);
      expect([status, body.code], change).to.deep.equal([409, 'not_replayable']);
    }
  });

  it('go on while the plugin is not installed any more, and end when its code is gone or changed', async () => {
    const run = await play('everything');
    const { hash } = run.plugin;
    await app.query('CREATE TABLE kept_plugins AS SELECT * FROM plugins');
    await app.query(`DELETE FROM plugins WHERE id = 'player'`);
    await expectIdentical(run);
    await app.query('INSERT INTO plugins SELECT * FROM kept_plugins');
    await app.query(`UPDATE plugin_bundles SET code = code || ' ' WHERE hash = $1`, [hash]);
    const changed = await replay(run);
    expect(changed.status).to.equal(409);
    expect(changed.body.error).to.contain('was changed');
    await app.query(`UPDATE plugin_bundles SET code = left(code, -1) WHERE hash = $1`, [hash]);
    await app.query('UPDATE bot_runs SET bundle_hash = $2 WHERE id = $1', [run.id, 'e'.repeat(64)]);
    const gone = await replay(run);
    expect(gone.status).to.equal(409);
    expect(gone.body.error).to.contain('not stored');
  });

  it('are of no other account', async () => {
    const run = await play('silent');
    const { id, administrator } = await addAccount(app, 'Elsewhere');
    const answer = await app.post(`/api/v1/accounts/${id}/runs/${run.id}/replay`, {}, administrator.headers);
    expect(answer.status).to.equal(404);
  });

  it('are as many at a time as the configuration says', async () => {
    const run = await play('looper');
    const answers = await Promise.all(Array.from({ length: 8 }, () => replay(run)));
    const statuses = answers.map(({ status }) => status);
    expect(statuses).to.include(200).and.include(503);
    expect(statuses.filter((status) => status === 200)).to.have.length.of.at.most(4);
    await expectIdentical(run);
  });
});
