import { expect } from 'chai';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { TestApp } from '../support/app.ts';
import { archiveOf, pluginArchive, pluginFiles } from '../support/archives.ts';
import { FakeNpm } from '../support/fake-npm.ts';
import { PluginCommands } from '../support/plugin-commands.ts';

// npm itself asks a registry on loopback.
describe('plugins from the npm registry', function () {
  this.timeout(300_000);
  let app: TestApp;
  let commands: PluginCommands;
  let registry: FakeNpm;

  before(async () => {
    registry = await FakeNpm.start();
    app = await TestApp.start();
    commands = await PluginCommands.beside(app, registry.env);
  });
  after(async () => {
    await app.stop();
    await registry.close();
    commands.close();
  });

  /** Publishes a version of a plugin, with scripts that no one may run. */
  function publish(
    name: string,
    manifest: { id: string; version: string } & Record<string, unknown>,
    integrity?: string,
  ) {
    const script = `touch ${join(commands.folder, 'script-was-run')}`;
    const names = ['preinstall', 'install', 'postinstall', 'prepare', 'prepack', 'postpack'];
    const scripts = Object.fromEntries(names.map((each) => [each, script]));
    const own = JSON.stringify({ name, version: manifest.version, scripts, dependencies: { absent: '^1' } });
    const entries = pluginFiles(manifest, undefined, { 'package.json': own });
    registry.publish(name, manifest.version, {
      archive: archiveOf(entries),
      ...(integrity === undefined ? {} : { integrity }),
    });
  }

  const recordOf = async (id: string) => (await app.get(`/platform/api/v1/plugins/${id}`)).body;
  const rowsOf = async (): Promise<Record<string, unknown>[]> =>
    (JSON.parse(await commands.told('outdated', '--json')) as { payload: Record<string, unknown>[] }).payload;

  it('are installed by name and range, remember where from, and are updated within the range', async () => {
    publish('@acme/faq', { id: 'faq-of-acme', version: '1.0.0' });
    expect(await commands.told('install', 'npm:@acme/faq')).to.match(/^faq-of-acme 1\.0\.0 is installed\./);
    expect((await recordOf('faq-of-acme')).origin).to.equal('npm:@acme/faq@^1.0.0');
    expect(await commands.told('list')).to.match(/^faq-of-acme +1\.0\.0 +enabled +npm:@acme\/faq@\^1\.0\.0/m);
    expect(await commands.told('update')).to.equal('faq-of-acme 1.0.0 is up to date.\n');
    publish('@acme/faq', { id: 'faq-of-acme', version: '1.1.0' });
    publish('@acme/faq', { id: 'faq-of-acme', version: '2.0.0' });
    const row = { id: 'faq-of-acme', pending: null, origin: 'npm:@acme/faq@^1.0.0', problem: null, latest: '2.0.0' };
    expect(await rowsOf()).to.deep.equal([{ ...row, installed: '1.0.0', wanted: '1.1.0' }]);
    expect(await commands.told('outdated')).to.match(
      /^ID +INSTALLED +WANTED +LATEST +FROM\nfaq-of-acme +1\.0\.0 +1\.1\.0 +2\.0\.0 /,
    );
    expect(await commands.told('update', 'faq-of-acme')).to.match(/^faq-of-acme 1\.1\.0 is installed\./);
    expect(await rowsOf()).to.deep.equal([{ ...row, installed: '1.1.0', wanted: '1.1.0' }]);
    expect(await commands.told('install', 'npm:@acme/faq@^2')).to.match(/^faq-of-acme 2\.0\.0 is installed\./);
    const { body } = await app.get('/platform/api/v1/plugins/faq-of-acme/versions');
    expect(body.payload.map(({ version, origin }: Record<string, string>) => [version, origin])).to.deep.equal([
      ['2.0.0', 'npm:@acme/faq@^2'],
      ['1.1.0', 'npm:@acme/faq@^1.0.0'],
      ['1.0.0', 'npm:@acme/faq@^1.0.0'],
    ]);
    expect(existsSync(join(commands.folder, 'script-was-run'))).to.equal(false);
    expect(registry.asked.filter((path) => path.includes('absent'))).to.deep.equal([]);
  });

  it('wait for approval as all others do, when an update may do more', async () => {
    publish('grown', { id: 'grown', version: '1.0.0', permissions: {} });
    await commands.told('install', 'npm:grown');
    publish('grown', { id: 'grown', version: '1.0.1', permissions: { conversation: ['resolve'] } });
    expect(await commands.told('update', 'grown')).to.match(
      /^grown 1\.0\.1 waits for approval; 1\.0\.0 runs until then\./,
    );
    expect(await commands.told('update', 'grown')).to.equal('grown 1.0.1 waits for approval.\n');
    const waiting = (await rowsOf()).find(({ id }) => id === 'grown');
    expect(waiting).to.include({ installed: '1.0.0', pending: '1.0.1', wanted: '1.0.1' });
    await commands.told('approve', 'grown', '--yes');
    expect(await recordOf('grown')).to.include({ version: '1.0.1', origin: 'npm:grown@^1.0.0' });
  });

  it('are refused by names that npm would take for something else, before npm is asked', async () => {
    const asked = registry.asked.length;
    for (const trick of [
      '--flag',
      '-g',
      '../x',
      './x',
      '/etc',
      '~/x',
      'a/b',
      '@a',
      '@a/b/c',
      'a@../x',
      'a@file:x',
      'a@npm:b',
      'a@.',
      'a@x.tgz',
      'a.tgz@1.0.0',
      'a.tar.gz',
      'a@git+ssh://x',
      'https://x/y.tgz',
      'a@b/c',
      'a@-g',
      'a@',
      '',
      'A',
      'a b',
      'a;b',
      'a@1;b',
      '@/b',
    ])
      expect(await commands.refused('install', `npm:${trick}`), trick).to.contain(
        'names no package of the npm registry',
      );
    expect(registry.asked.length).to.equal(asked);
  });

  it('are refused where the archive is not what was published, too large, no plugin, or of two versions', async () => {
    publish('forged', { id: 'forged', version: '1.0.0' }, `sha512-${Buffer.alloc(64).toString('base64')}`);
    expect(await commands.refused('install', 'npm:forged')).to.match(/npm did not fetch forged: .*integrity/i);
    registry.publish('bulky', '1.0.0', {
      archive: archiveOf([...pluginFiles({ id: 'bulky' }), { name: 'package/x', content: randomBytes(5_000_000) }]),
    });
    expect(await commands.refused('install', 'npm:bulky')).to.match(
      /The archive of bulky has \d+ bytes; plugins have at most 4194304\./,
    );
    registry.publish('library', '1.0.0', {
      archive: archiveOf([{ name: 'package/package.json', content: '{"name":"library","version":"1.0.0"}' }]),
    });
    expect(await commands.refused('install', 'npm:library')).to.contain(
      'library is no plugin of Switchboard: there is no plugin.json in it',
    );
    registry.publish('twofold', '3.0.0', {
      archive: pluginArchive({ id: 'twofold', version: '1.0.0' }, undefined, {
        'package.json': '{"name":"twofold","version":"3.0.0"}',
      }),
    });
    expect(await commands.refused('install', 'npm:twofold')).to.contain(
      'version 3.0.0 for npm and 1.0.0 in its plugin.json',
    );
    expect(await commands.refused('install', 'npm:nobody-has-this')).to.match(
      /npm did not fetch nobody-has-this: .*404/,
    );
    expect(await commands.refused('install', 'npm:library@^9')).to.match(
      /npm did not fetch library@\^9: .*No matching version/,
    );
    const own = { 'package.json': '{"name":"needy-one","version":"1.0.0","dependencies":{"dayjs":"^1"}}' };
    registry.publish('needy-one', '1.0.0', {
      archive: pluginArchive({ id: 'needy-one' }, `import 'dayjs'; export default { on: {} };`, own),
    });
    expect(await commands.refused('install', 'npm:needy-one')).to.contain(
      'an archive must hold it, as those of `plugin pack` do',
    );
    expect(await commands.refused('update', 'ai-bot')).to.contain('ai-bot did not come from npm');
  });

  it('are left as they are while the registry does not answer', async () => {
    publish('steady', { id: 'steady', version: '1.0.0' });
    await commands.told('install', 'npm:steady');
    const dead = await PluginCommands.beside(app, { ...registry.env, npm_config_registry: 'http://127.0.0.1:9/' });
    try {
      expect(await dead.refused('install', 'npm:steady')).to.match(/npm did not fetch steady: .*ECONNREFUSED/);
      const { code, output } = await dead.run('outdated');
      expect(code).to.equal(1);
      expect(output)
        .to.match(/^steady +1\.0\.0 +\? +\? /m)
        .and.match(/^steady: npm knows nothing about steady@latest: .*ECONNREFUSED/m);
      expect((await dead.run('update', 'steady')).code).to.equal(1);
      expect((await recordOf('steady')).version).to.equal('1.0.0');
    } finally {
      dead.close();
    }
  });
});
