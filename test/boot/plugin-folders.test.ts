import { cpSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { loadConfig } from '../../src/config.ts';
import { deleteReleasedBundles } from '../../src/domain/upkeep/bundles.ts';
import { migrate } from '../../src/postgres/migrate.ts';
import { messagesOf, openConversation, pluginRootOf, serveInboxes } from '../faults/plugins.ts';
import { TestApp } from '../support/app.ts';
import { pluginArchive, upload } from '../support/archives.ts';
import { createDatabase, dropDatabase } from '../support/postgres.ts';
import { isHeldUp, validating } from '../support/validations.ts';

const plugins = '/platform/api/v1/plugins';

describe('plugins in folders', function () {
  this.timeout(120_000);
  let databaseUrl: string;
  let root: { path: string; remove: () => void };
  let inbox: number | undefined;

  beforeEach(async () => {
    databaseUrl = await createDatabase(migrate);
    root = pluginRootOf({ greeter: `ctx.reply('one')` });
    inbox = undefined;
  });
  afterEach(async () => {
    root.remove();
    await dropDatabase(databaseUrl);
  });

  async function ask(app: TestApp): Promise<string> {
    inbox ??= (await serveInboxes(app, ['greeter'])).get('greeter');
    const conversation = await openConversation(app, inbox);
    await app.post(`conversations/${conversation}/messages`, { content: 'Hello', message_type: 'incoming' });
    const answer = await app.eventually(async () =>
      (await messagesOf(app, conversation)).find(({ sender_kind }) => sender_kind !== 'contact'),
    );
    return answer.content;
  }

  /** Starts a service on the folders for as long as `work` takes. */
  async function withService<Result>(work: (app: TestApp) => Promise<Result>, options: object = {}): Promise<Result> {
    const app = await TestApp.start({ databaseUrl, pluginRoot: root.path, ...options });
    try {
      return await work(app);
    } finally {
      await app.app.stop();
    }
  }

  const told = () => withService(ask);
  const problems = (app: TestApp) => app.app.leftOut.flatMap(({ problems: all }) => all).join('\n');
  const file = (name: string) => join(root.path, 'bots/greeter', name);

  function change(changes: {
    text?: string;
    actions?: string[];
    version?: string;
    code?: string;
    config?: object;
  }): void {
    const manifest = JSON.parse(readFileSync(file('plugin.json'), 'utf8')) as Record<string, unknown>;
    const { text, actions, version, code, config } = changes;
    if (config) manifest['config'] = config;
    if (actions) manifest['permissions'] = { conversation: actions };
    if (version) manifest['version'] = version;
    writeFileSync(file('plugin.json'), JSON.stringify(manifest));
    const handler = text && `export default { on: { message_created(ctx) { ctx.reply('${text}'); } } };`;
    if (handler ?? code) writeFileSync(file('bot.js'), handler ?? code ?? '');
  }

  it('one that may do more after a restart waits for approval, while the old one runs', async () => {
    expect(await told()).to.equal('one');
    change({ text: 'two', version: '2.0.0', actions: ['reply', 'note', 'handoff', 'label'] });
    await withService(async (app) => {
      expect(await ask(app)).to.equal('one');
      const { pending } = (await app.get(`${plugins}/greeter`)).body;
      expect(pending.widens).to.deep.equal(['Add and remove labels of conversations (conversation.label)']);
      const { version, hash } = pending;
      expect((await app.post(`${plugins}/greeter/approve`, { version, hash })).status).to.equal(200);
    });
    expect(await told()).to.equal('two');
    change({ text: 'three', actions: ['reply'] });
    expect(await told(), 'less needs no approval').to.equal('three');
  });

  it('one that breaks keeps running as it was', async () => {
    expect(await told()).to.equal('one');
    for (const [code, problem] of [
      ['export default {', 'bot.js:1'],
      ['throw new Error("at once")', 'does not load'],
    ]) {
      change({ code: code! });
      await withService(async (app) => {
        expect(problems(app)).to.contain(problem);
        expect(await ask(app)).to.equal('one');
      });
    }
    writeFileSync(file('plugin.json'), '{}');
    await withService(async (app) => {
      expect(problems(app)).to.contain('`id` is missing');
      expect(await ask(app)).to.equal('one');
    });
  });

  it('one that lacks a part that is in use keeps running as it was', async () => {
    expect(await told()).to.equal('one');
    const whole = JSON.parse(readFileSync(file('plugin.json'), 'utf8')) as Record<string, unknown>;
    const { main, events, permissions, limits, ...named } = whole;
    const parts = [{ kind: 'automation', main, events, permissions, limits }];
    writeFileSync(file('plugin.json'), JSON.stringify({ ...named, parts }));
    await withService(async (app) => {
      expect(problems(app)).to.contain('cannot change from bot to automation');
      expect(await ask(app)).to.equal('one');
    });
    writeFileSync(file('plugin.json'), JSON.stringify({ ...named, parts: [{ ...parts[0], kind: 'bot' }, ...parts] }));
    await withService(async (app) => {
      const { version, hash } = (await app.get(`${plugins}/greeter`)).body.pending;
      expect((await app.post(`${plugins}/greeter/approve`, { version, hash })).status).to.equal(200);
      expect((await app.post('automations', { name: 'A', plugin_id: 'greeter' })).status).to.equal(201);
    });
    writeFileSync(file('plugin.json'), JSON.stringify({ ...whole, version: '3.0.0' }));
    await withService(async (app) => {
      expect(problems(app)).to.contain('lacks a part that is in use by automations (1)');
      expect((await app.get(`${plugins}/greeter`)).body.version).to.equal('1.0.0');
    });
  });

  it('of two newcomers with an id whose folder is gone neither gets it', async () => {
    expect(await told()).to.equal('one');
    mkdirSync(join(root.path, 'plugins'));
    cpSync(join(root.path, 'bots/greeter'), join(root.path, 'plugins/greeter'), { recursive: true });
    mkdirSync(join(root.path, 'more'));
    renameSync(join(root.path, 'bots/greeter'), join(root.path, 'more/greeter'));
    const pluginDirs = ['plugins', 'bots', 'more'];
    const config = loadConfig({ DATABASE_URL: databaseUrl, SECRET_KEY: 'a key that only the tests use, long enough' });
    expect(config.pluginDirs).to.deep.equal(['plugins', 'bots']);
    await withService(
      async (app) => {
        expect(problems(app)).to.contain('plugins/greeter and more/greeter claim the id `greeter`');
        expect(await app.app.plugins.find('greeter', 'bot')).to.equal(null);
      },
      { config: { pluginDirs } },
    );
    rmSync(join(root.path, 'plugins/greeter'), { recursive: true });
    expect(await withService(ask, { config: { pluginDirs } })).to.equal('one');
  });

  it('one with the id of a plugin from an archive is left out, until that is uninstalled', async () => {
    renameSync(join(root.path, 'bots/greeter'), join(root.path, 'aside'));
    await withService(async (app) => {
      const code = `export default { on: { message_created(ctx) { ctx.reply('from an archive'); } } };`;
      expect((await upload(app, pluginArchive({ id: 'greeter' }, code))).status).to.equal(201);
    });
    renameSync(join(root.path, 'aside'), join(root.path, 'bots/greeter'));
    await withService(async (app) => {
      expect(problems(app)).to.contain('belongs to the plugin that was installed from an archive');
      expect(await ask(app)).to.equal('from an archive');
      await app.query('DELETE FROM conversations');
      await app.query('DELETE FROM inboxes');
      await app.query(`DELETE FROM agent_bots WHERE plugin_id = 'greeter'`);
      expect((await app.delete(`${plugins}/greeter`)).status).to.equal(200);
    });
    inbox = undefined;
    expect(await told()).to.equal('one');
  });

  it('a broken one holds its id, which an archive cannot take', async () => {
    writeFileSync(file('bot.js'), 'export default {');
    await withService(async (app) => {
      const answer = await upload(app, pluginArchive({ id: 'greeter' }));
      expect([answer.status, answer.body.code]).to.deep.equal([409, 'plugin_of_folder']);
      expect((await app.get(`${plugins}/greeter`)).status).to.equal(404);
    });
  });

  it('are installed again when a developer changes a file, and stay as they were while it is broken', async () => {
    await withService(
      async (app) => {
        expect(await ask(app)).to.equal('one');
        change({ text: 'changed', actions: ['reply', 'note', 'handoff', 'resolve'] });
        await app.eventually(async () => (await ask(app)) === 'changed');
        change({ code: 'export default {' });
        await app.eventually(async () => problems(app).includes('bot.js:1'));
        expect(await ask(app)).to.equal('changed');
        change({ text: 'mended' });
        await app.eventually(async () => (await ask(app)) === 'mended');
      },
      { watchFolders: true },
    );
  });

  it('validate the settings of bots before the transaction, and in it only where they changed since', async () => {
    const greeting = { type: 'string' };
    change({ config: { type: 'object', properties: { greeting } } });
    await withService(
      async (app) => {
        const bots: number[] = [];
        for (const name of ['a', 'b', 'c']) {
          const bot = { name, kind: 'plugin', plugin_id: 'greeter', config: { greeting: 'Welcome' } };
          bots.push((await app.post('agent_bots', bot)).body.id);
        }
        await validating(app, async ({ beside, validations }) => {
          change({ config: { type: 'object', properties: { greeting: { ...greeting, maxLength: 4 } } } });
          await isHeldUp(app);
          expect(validations).to.deep.equal(bots.map(() => ({ greeting: 'Welcome' })));
          await beside.query(`UPDATE agent_bots SET config = '{"greeting":"Hi"}' WHERE id = $1`, [bots[1]]);
          await beside.query('COMMIT');
          const reasonOf = async (id?: number) => (await app.get(`agent_bots/${id}`)).body.disabled_reason;
          await app.eventually(async () => (await reasonOf(bots[0])) !== null);
          expect(validations.slice(bots.length)).to.deep.equal([{ greeting: 'Hi' }]);
          expect([await reasonOf(bots[1]), await reasonOf(bots[2])]).to.deep.equal([null, await reasonOf(bots[0])]);
        });
      },
      { watchFolders: true },
    );
  });

  it('their code is kept while runs refer to it, and deleted then', async () => {
    await told();
    const [run] = await withService((app) => app.query<{ hash: string }>('SELECT bundle_hash AS hash FROM bot_runs'));
    change({ text: 'two' });
    await withService(async (app) => {
      const { database } = app.app;
      const isKept = async () => (await app.query('SELECT FROM plugin_bundles WHERE hash = $1', [run!.hash])).length;
      const old = `UPDATE plugin_bundles SET released_at = now() - interval '2 hours' WHERE released_at IS NOT NULL`;
      await app.query(old);
      expect([await deleteReleasedBundles(database), await isKept()], 'a run refers to it').to.deep.equal([0, 1]);
      await app.query('DELETE FROM bot_runs');
      await app.query(`UPDATE plugin_bundles SET released_at = now() WHERE released_at IS NOT NULL`);
      expect([await deleteReleasedBundles(database), await isKept()], 'one may be under way').to.deep.equal([0, 1]);
      await app.query(old);
      expect([await deleteReleasedBundles(database), await isKept()]).to.deep.equal([1, 0]);
      expect(await ask(app)).to.equal('two');
    });
  });
});
