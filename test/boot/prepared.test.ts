import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { readRegistry } from '../../src/packages/registry.ts';
import { makeTemplate } from '../../src/postgres/embedded/template.ts';
import { startEmbeddedPostgres } from '../../src/postgres/embedded/start.ts';
import { migrate } from '../../src/postgres/migrate.ts';
import { createDatabase, dropDatabase } from '../support/postgres.ts';
import { ServiceProcess } from '../support/service.ts';
import { childrenOf, until } from './helpers.ts';
import { canEnter } from '../../src/postgres/embedded/system-user.ts';
import { collectingLog, isRoot, killOwners, newFolder, nobody, query, removeFolders, startOwner } from './helpers.ts';

const launcher = fileURLToPath(new URL('../../bin/switchboard.js', import.meta.url));
const manifest = {
  id: 'echo',
  name: 'Echo',
  version: '1.0.0',
  apiVersion: '1',
  main: 'bot.ts',
  events: ['message_created'],
  permissions: { conversation: ['reply'] },
};

/** A folder of packages with one package, whose answer is in a file of its own. */
function packagesWith(answer: string): string {
  const root = newFolder();
  const folder = join(root, 'bots/echo');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'plugin.json'), JSON.stringify(manifest));
  writeFileSync(join(folder, 'answer.ts'), `export const answer = '${answer}';\n`);
  const handler = 'message_created(ctx) { ctx.reply(answer); }';
  const code = `import { defineBot } from 'switchboard/bot';\nimport { answer } from './answer.ts';\nexport default defineBot({ on: { ${handler} } });\n`;
  writeFileSync(join(folder, 'bot.ts'), code);
  return root;
}

async function codeOf(root: string, keptIn: string[]): Promise<string> {
  const registry = await readRegistry(root, { keptIn });
  return registry.get('echo')?.bundle.code ?? registry.broken.flatMap(({ problems }) => problems).join();
}

/** Replaces a text in what is kept: only a reader that trusts it, and does not bundle, answers with the new one. */
function plant(folder: string, from: string, to: string): void {
  const [name = ''] = readdirSync(folder);
  const file = join(folder, name);
  writeFileSync(file, readFileSync(file, 'utf8').replaceAll(from, to));
}

describe('what a start has prepared', function () {
  this.timeout(120_000);

  afterEach(() => {
    killOwners();
    removeFolders();
  });

  it('is the code of plugins, which is bundled again only when a source changes', async () => {
    const root = packagesWith('first');
    const kept = join(newFolder(), 'plugins');
    expect(await codeOf(root, [kept])).to.include('first');
    plant(kept, 'first', 'planted');
    expect(await codeOf(root, [kept])).to.include('planted');
    writeFileSync(join(root, 'bots/echo/answer.ts'), `export const answer = 'second';\n`);
    expect(await codeOf(root, [kept]))
      .to.include('second')
      .and.not.include('planted');
    writeFileSync(join(root, 'bots/echo/plugin.json'), JSON.stringify({ ...manifest, version: '1.0.1' }));
    plant(kept, 'second', 'planted');
    expect(await codeOf(root, [kept]))
      .to.include('second')
      .and.not.include('planted');
    writeFileSync(join(root, 'bots/echo/answer.ts'), 'export const answer = ;\n');
    expect(await codeOf(root, [kept])).to.match(/answer\.ts:1/);
  });

  it('is kept in the next folder where the first cannot be written, and nowhere where none can', async () => {
    const root = packagesWith('first');
    const file = join(newFolder(), 'file');
    writeFileSync(file, '');
    const kept = join(newFolder(), 'plugins');
    expect(await codeOf(root, [join(file, 'plugins')])).to.include('first');
    expect(await codeOf(root, [join(file, 'plugins'), kept])).to.include('first');
    plant(kept, 'first', 'planted');
    expect(await codeOf(root, [join(file, 'plugins'), kept])).to.include('planted');
  });

  it('is not kept of a package with links, and nothing is taken from a damaged file', async () => {
    const linked = packagesWith('first');
    symlinkSync('answer.ts', join(linked, 'bots/echo/other.ts'));
    const none = join(newFolder(), 'plugins');
    expect(await codeOf(linked, [none])).to.include('first');
    expect(() => readdirSync(none)).to.throw('ENOENT');
    const kept = join(newFolder(), 'plugins');
    const root = packagesWith('first');
    await codeOf(root, [kept]);
    for (const damaged of ['', '{', '{"hash":', 'null']) {
      writeFileSync(join(kept, 'bots-echo.json'), damaged);
      expect(await codeOf(root, [kept])).to.include('first');
    }
  });

  it('is the database: a copy of a template with the migrations, which only the new password opens', async () => {
    const { log } = collectingLog();
    const templates = join(newFolder(), 'database');
    await makeTemplate(templates, { fill: (url) => query(url, 'CREATE TABLE filled AS SELECT 7 AS seven'), log });
    const [made = ''] = readdirSync(templates);
    await makeTemplate(templates, { fill: () => expect.fail('It is there already'), log });
    const [one, other] = [newFolder(), newFolder()];
    const first = await startEmbeddedPostgres({ dataDir: one, templates, log });
    const second = await startEmbeddedPostgres({ dataDir: other, templates, log });
    try {
      expect(await query(first.url, 'SELECT seven FROM filled')).to.deep.equal([{ seven: 7 }]);
      expect((statSync(join(one, 'postgres/cluster')).mode & 0o777).toString(8)).to.equal('700');
      const { password } = new URL(first.url);
      const mixed = second.url.replace(new URL(second.url).password, password);
      for (const url of [
        mixed,
        first.url.replace(`:${password}@`, ':@'),
        first.url.replace('//switchboard:', '//postgres:'),
      ])
        expect(await query(url, 'SELECT 1').then(() => 'let in', String)).to.match(/password|pg_hba/);
      await query(first.url, 'DROP TABLE filled');
      expect(await query(second.url, 'SELECT seven FROM filled')).to.deep.equal([{ seven: 7 }]);
    } finally {
      await Promise.all([first.stop(), second.stop()]);
    }
    expect(readdirSync(templates)).to.deep.equal([made]);
    const again = await startEmbeddedPostgres({ dataDir: one, templates, log });
    expect(await query(again.url, `SELECT to_regclass('filled') AS gone`)).to.deep.equal([{ gone: null }]);
    await again.stop();
  });

  it('serves an ordinary user too, who may read it or not', async function () {
    if (!isRoot || !canEnter(dirname(process.execPath), { uid: nobody, gid: nobody })) this.skip();
    const folder = newFolder();
    const templates = join(folder, 'database');
    const { log } = collectingLog();
    await makeTemplate(templates, { fill: (url) => query(url, 'CREATE TABLE filled AS SELECT 7 AS seven'), log });
    const found = async (): Promise<unknown> => {
      const dataDir = join(newFolder(0o777), 'data');
      const owner = await startOwner({ dataDir, templates }, nobody);
      const [row] = await query(owner.url, `SELECT to_regclass('filled')::text AS name`);
      expect(statSync(join(dataDir, 'postgres/cluster')).uid).to.equal(nobody);
      return row?.['name'];
    };
    expect(await found()).to.equal('filled');
    chmodSync(folder, 0o700);
    expect(await found()).to.equal(null);
  });
});

describe('a start', function () {
  this.timeout(120_000);

  it('says in its first line that it starts, before it reads its settings', async () => {
    const child = spawn(process.execPath, [launcher, 'start'], { env: { PORT: 'none' }, cwd: newFolder() });
    const errors = text(child.stderr);
    await once(child, 'close');
    const [first, second] = (await errors).split('\n');
    expect(first).to.equal('Switchboard is starting …');
    expect(second).to.include('The configuration is not valid');
    removeFolders();
  });

  it('prints its phases with --timing, with what each waited for', async () => {
    const databaseUrl = await createDatabase(migrate);
    const service = await ServiceProcess.start({ databaseUrl, args: ['--timing'] });
    await service.stop();
    expect(service.output).to.match(/^phase +begin +duration +waited for$/m);
    for (const phase of ['settings', 'plugins', 'code', 'migrations', 'installing plugins', 'first account', 'welcome'])
      expect(service.output).to.match(new RegExp(`^${phase} +\\d+ ms +\\d+ ms`, 'm'));
    expect(service.output).to.match(/^composition .* (?:plugins|code)$/m);
    await dropDatabase(databaseUrl);
  });

  it('keeps one sandbox process warm', async function () {
    if (process.platform !== 'linux') this.skip();
    const databaseUrl = await createDatabase(migrate);
    const service = await ServiceProcess.start({ databaseUrl });
    const commands = () => childrenOf(service.pid).map((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8'));
    await until(() => commands().filter((command) => command.includes('child/serve-runs.js')).length === 1);
    await service.stop();
    await dropDatabase(databaseUrl);
  });
});
