import { expect } from 'chai';
import { execFileSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { defaultArchiveBounds } from '../../src/config.ts';
import { unpack } from '../../src/packages/archive/unpack.ts';
import { readPackage } from '../../src/packages/read/read.ts';
import { pluginRootOf } from '../faults/plugins.ts';
import { TestApp } from '../support/app.ts';
import { pluginArchive, upload } from '../support/archives.ts';
import { writePackage } from '../support/packages.ts';
import { addPerson } from '../support/people.ts';
import { Receiver } from '../support/receiver.ts';
import { PluginCommands } from '../support/plugin-commands.ts';

describe('the commands that install plugins', function () {
  this.timeout(120_000);
  let app: TestApp;
  let commands: PluginCommands;
  let folder: string;
  let root: { path: string; remove: () => void };

  before(async () => {
    root = pluginRootOf({ shelved: '' });
    app = await TestApp.start({ pluginRoot: root.path });
    commands = await PluginCommands.beside(app);
    ({ folder } = commands);
  });
  after(async () => {
    await app.stop();
    root.remove();
    commands.close();
  });

  const told = (...args: string[]) => commands.told(...args);
  const refused = (...args: string[]) => commands.refused(...args);

  /** Writes the folder of a plugin. */
  function write(id: string, manifest: object = {}, { isPackage = true, code = '' } = {}): string {
    const path = join(folder, id);
    const whole = { id, version: '1.0.0', ...manifest };
    writePackage(path, whole, `${code}export default { on: { message_created(ctx) {} } };`);
    const script = `touch ${join(folder, 'script-was-run')}`;
    const names = ['preinstall', 'install', 'prepare', 'prepack', 'postpack'];
    const scripts = Object.fromEntries(names.map((name) => [name, script]));
    if (isPackage)
      writeFileSync(join(path, 'package.json'), JSON.stringify({ name: id, version: whole.version, scripts }));
    return path;
  }

  const pendingOf = async (id: string): Promise<{ hash: string }> =>
    (await app.get(`/platform/api/v1/plugins/${id}`)).body.pending;

  it('install a folder, list it, and uninstall it', async () => {
    expect(await told('install', write('first', { permissions: { conversation: ['reply'] } }))).to.equal(
      'first 1.0.0 is installed.\nIt may:\n  - Write to customers (conversation.reply)\n',
    );
    const { payload, meta } = JSON.parse(await told('list', '--json')) as { payload: { id: string }[]; meta: object };
    expect(payload.map(({ id }) => id)).to.deep.equal(['first', 'shelved']);
    expect(meta).to.deep.equal({ count: 2, current_page: 1, total_pages: 1 });
    const table =
      /^ID +VERSION +STATE +FROM +NAME\nfirst +1\.0\.0 +enabled +archive +first\nshelved .* bots\/shelved .*\n$/;
    expect(await told('list')).to.match(table);
    expect(await refused('uninstall', 'first')).to.contain('add --yes');
    expect(await told('uninstall', 'first', '--yes')).to.equal('first is uninstalled.\n');
    expect(await refused('uninstall', 'first', '--yes')).to.contain('404');
  });

  it('install an archive of npm pack, whose scripts are never run', async () => {
    const path = write('packed', {}, { code: `import './lib.js';` });
    writeFileSync(join(path, 'lib.js'), '');
    const args = ['pack', path, '--ignore-scripts', '--silent'];
    const archive = join(folder, execFileSync('npm', args, { cwd: folder, encoding: 'utf8' }).trim());
    const ofNpm = readFileSync(archive);
    const packed = JSON.parse(await told('pack', path, '--json')) as { file: string; hash: string; bytes: number };
    expect(readFileSync(join(folder, packed.file)).equals(ofNpm)).to.equal(true);
    const installed = JSON.parse(await told('install', archive, '--json')) as { hash: string };
    expect(installed.hash).to.equal(packed.hash);
    expect(await told('install', path)).to.contain('packed 1.0.0 is installed');
    expect(() => readFileSync(join(folder, 'script-was-run'))).to.throw('ENOENT');
  });

  it('pack by the version of plugin.json, fill in what package.json lacks, and show why npm refuses', async () => {
    const path = write('versions', { version: '2.1.0' });
    const describe = (fields: object) => writeFileSync(join(path, 'package.json'), JSON.stringify(fields));
    describe({ name: 'of-npm', version: '0.1.0' });
    expect(await told('pack', path)).to.match(/^versions-2\.1\.0\.tgz: versions 2\.1\.0, \d+ bytes\n$/);
    describe({ private: true });
    expect(await told('pack', path)).to.match(/^versions-2\.1\.0\.tgz: /);
    expect(await told('install', path)).to.contain('versions 2.1.0 is installed');
    writeFileSync(join(path, 'package.json'), '{');
    const refusal = await refused('install', path);
    expect(refusal).to.match(/^npm pack refused .*: .*Invalid package\.json: /);
    expect(refusal).to.not.match(/Command failed|A complete log/);
  });

  it('pack the npm packages that a plugin uses with their licences: the archive is what the folder is', async () => {
    const path = write('brings', {}, { code: `import hello from 'greetings/hello';hello();` });
    const own = { name: 'brings', version: '1.0.0', dependencies: { greetings: '^1' } };
    writeFileSync(join(path, 'package.json'), JSON.stringify(own));
    expect(await refused('pack', path))
      .to.contain('The npm package greetings is not installed')
      .and.contain('npm install');
    const foreign = join(path, 'node_modules/greetings');
    mkdirSync(foreign, { recursive: true });
    const exported = { './hello': './hello.js' };
    const fields = { name: 'greetings', version: '1.4.0', license: 'MIT', exports: exported };
    writeFileSync(join(foreign, 'package.json'), JSON.stringify(fields));
    writeFileSync(join(foreign, 'hello.js'), 'module.exports = () => {};');
    writeFileSync(join(foreign, 'unused.js'), 'module.exports = 1;');
    writeFileSync(join(foreign, 'LICENSE'), 'Copyright of Greta');
    const line =
      /^npm packages in it, with their licences in THIRD-PARTY-NOTICES\.txt:\n {2}- greetings 1\.4\.0 \(MIT\), \d+ bytes$/m;
    expect(await told('pack', path)).to.match(line);
    const unpacked = unpack(readFileSync(join(folder, 'brings-1.0.0.tgz')), defaultArchiveBounds);
    const files = 'files' in unpacked ? unpacked.files : new Map<string, Buffer>();
    expect([...files.keys()].sort()).to.deep.equal([
      'THIRD-PARTY-NOTICES.txt',
      'bot.js',
      'node_modules/greetings/hello.js',
      'node_modules/greetings/package.json',
      'package.json',
      'plugin.json',
    ]);
    expect(files.get('THIRD-PARTY-NOTICES.txt')?.toString()).to.contain('greetings 1.4.0 (MIT)\n\nCopyright of Greta');
    const { hash } = (await readPackage(path)).bundle;
    const installed = JSON.parse(await told('install', path, '--json')) as { hash: string; packages: object[] };
    expect(installed.hash).to.equal(hash);
    expect(installed.packages).to.have.length(1);
    expect(installed.packages[0]).to.include({ name: 'greetings', version: '1.4.0', license: 'MIT' });
    expect(await told('install', join(folder, 'brings-1.0.0.tgz'))).to.contain(
      'npm packages in it:\n  - greetings 1.4.0 (MIT)',
    );
    const { body } = await app.get('/platform/api/v1/plugins/brings/versions');
    expect(body.payload[0]).to.deep.include({ origin: null, packages: installed.packages });
  });

  it('print what strangers wrote, and nothing that a terminal would execute', async () => {
    const spoofs = write('spoofs', {}, { code: `throw new Error('\\u001b[2Jgone');` });
    const { code, errors } = await commands.run('install', spoofs);
    expect(code).to.equal(1);
    expect(errors).to.contain('\\u{1b}[2Jgone').and.not.contain('\u001b');
  });

  it('take no settings from the folder of a plugin', async () => {
    const files = ['.env', 'plugin.json'].map((name) => join(folder, name)) as [string, string];
    writeFileSync(files[0], 'SWITCHBOARD_URL=http://127.0.0.1:1\n');
    expect(await refused('list')).to.contain('give --token for http://127.0.0.1:1');
    writeFileSync(files[1], '{}');
    expect(await told('list')).to.contain('shelved');
    for (const file of files) rmSync(file);
  });

  it('say what waits for approval, and approve it', async () => {
    await told('install', write('grows', {}, { isPackage: false }));
    const wider = write('grows', { version: '2.0.0', permissions: { conversation: ['note'] } }, { isPackage: false });
    expect(await told('install', wider)).to.equal(
      [
        'grows 2.0.0 waits for approval; 1.0.0 runs until then.',
        'It would do more than the one that runs:',
        '  - Write private notes for agents (conversation.note)',
        `Approve it with: npx switchboard plugin approve grows --hash ${(await pendingOf('grows')).hash}\n`,
      ].join('\n'),
    );
    expect(await told('list')).to.contain('enabled, 2.0.0 waits for approval');
    expect(await refused('approve', 'grows', '--hash', 'f'.repeat(64))).to.contain('409');
    const { hash } = await pendingOf('grows');
    const unasked = await refused('approve', 'grows');
    for (const words of ['(conversation.note)', `--hash ${hash}`, 'Nobody can be asked here']) {
      expect(unasked).to.contain(words);
    }
    expect((await pendingOf('grows')).hash).to.equal(hash);
    expect(await told('approve', 'grows', '--hash', hash)).to.contain('grows 2.0.0 is approved and runs.');
    expect(await refused('approve', 'grows', '--yes')).to.contain('No version of grows waits');
  });

  it('give the token that the last start left to the address of that start alone', async () => {
    const stranger = await Receiver.start();
    try {
      const { url } = stranger;
      expect(await refused('list', '--url', new URL(url).origin)).to.contain(`is for ${app.url} alone: give --token`);
      expect(stranger.received).to.deep.equal([]);
      expect(await told('list', '--url', `${app.url}/`)).to.contain('shelved');
    } finally {
      await stranger.close();
    }
  });

  it('say of a version that was withdrawn, and is given again, that nothing is changed', async () => {
    await told('install', write('twice'));
    const wider = write('twice', { version: '2.0.0', permissions: { conversation: ['note'] } });
    await told('install', wider);
    await told('reject', 'twice');
    expect(await told('install', wider)).to.equal(
      [
        'twice 2.0.0 was installed before, with the same content: nothing is changed. It is not in use; 1.0.0 runs.',
        'Have it run with: npx switchboard plugin rollback twice 2.0.0\n',
      ].join('\n'),
    );
    expect(await told('install', write('twice'))).to.match(/^twice 1\.0\.0 is installed\./);
  });

  it('withdraw what waits, and go back to the version before', async () => {
    const version = (number: string, more: object = {}) =>
      upload(app, pluginArchive({ id: 'turns', version: number, ...more }));
    await version('1.0.0');
    expect(await refused('rollback', 'turns')).to.contain(
      'No other version of turns has run here. Installed are: 1.0.0.',
    );
    await version('1.1.0');
    await version('2.0.0', { permissions: { conversation: ['reply', 'note'] } });
    expect(await refused('reject', 'turns', '--hash', 'f'.repeat(64))).to.contain('409');
    expect(await told('reject', 'turns')).to.match(/^turns 2\.0\.0 is withdrawn; 1\.1\.0 goes on\./);
    // 2.0.0 has never run.
    expect(await told('rollback', 'turns')).to.equal('turns 1.0.0 runs.\n');
    expect((JSON.parse(await told('rollback', 'turns', '--json')) as { version: string }).version).to.equal('1.1.0');
    expect(await told('rollback', 'turns', '2.0.0')).to.match(/^turns 2\.0\.0 waits for approval; 1\.1\.0 runs until/);
    expect(await refused('rollback', 'turns', '9.0.0')).to.contain('Version 9.0.0 of `turns` is not installed');
    expect((JSON.parse(await told('reject', 'turns', '--json')) as { pending: unknown }).pending).to.equal(null);
    expect(await refused('reject', 'turns')).to.contain('No version of turns waits');
  });

  it('tell which bots a version would strand', async () => {
    const config = { type: 'object', properties: { team: { type: 'string' } } };
    await upload(app, pluginArchive({ id: 'needy', config }));
    const bot = await app.post('agent_bots', { name: 'Needy bot', kind: 'plugin', plugin_id: 'needy' });
    const stricter = {
      version: '2.0.0',
      config: { ...config, required: ['team'] },
      permissions: { conversation: ['reply'] },
    };
    expect(await told('install', write('needy', stricter, { isPackage: false }))).to.equal(
      [
        'needy 2.0.0 waits for approval; 1.0.0 runs until then.',
        'It refuses the settings of bots, which would not answer any more:',
        `  - Needy bot (bot ${bot.body.id}, account 1): \`team\` is missing`,
        `Approve it with: npx switchboard plugin approve needy --hash ${(await pendingOf('needy')).hash}\n`,
      ].join('\n'),
    );
    expect(await told('approve', 'needy', '--yes')).to.contain('get other settings:\n  - Needy bot');
  });

  it('disable a plugin and enable it again', async () => {
    await told('install', write('switched'));
    expect(await told('disable', 'switched')).to.contain('switched is disabled');
    expect(await told('install', write('switched', { version: '1.0.1' }))).to.contain('plugin enable switched');
    expect((JSON.parse(await told('enable', 'switched', '--json')) as { enabled: boolean }).enabled).to.equal(true);
  });

  it('name the fix: no service, no such token, no rights, no plugin, nothing that a service takes', async () => {
    const good = write('good');
    const free = 'http://127.0.0.1:9';
    expect(await refused('list', '--url', free, '--token', 'x')).to.contain(`No service answers at ${free}: start it`);
    expect(await refused('list', '--token', 'unknown-token')).to.contain('does not know this token');
    const { headers } = await addPerson(app, { name: 'Mere agent', role: 'agent' });
    expect(await refused('list', '--token', headers['api_access_token'])).to.match(/403.*--token/);
    expect(await refused('install', join(folder, 'nothing'))).to.contain('There is no folder or archive');
    expect(await refused('install', folder)).to.contain('There is no plugin.json');
    const broken = write('broken', { version: 'one', main: 'bot.sh' });
    const sentences = await refused('install', broken);
    for (const field of ['`version`', '`main`']) expect(sentences).to.contain(field);
    expect(await refused('pack', broken)).to.match(/^No service would take this plugin:\n {2}- .*`version`/);
    writeFileSync(join(good, 'bot.js'), 'export default {');
    expect(await refused('install', good)).to.contain('bot.js:1');
    for (const command of ['enable', 'disable', 'approve', 'reject', 'rollback']) {
      expect(await refused(command, 'nobody')).to.contain('Plugin not found: nobody');
    }
    expect(await refused('uninstall', 'nobody', '--yes')).to.contain('Plugin not found: nobody');
  });

  it('have an example each', async () => {
    for (const name of [
      'install',
      'list',
      'enable',
      'disable',
      'approve',
      'reject',
      'rollback',
      'uninstall',
      'pack',
      'outdated',
      'update',
    ])
      expect(await told(name, '--help')).to.match(new RegExp(`Example:\n  \\$ npx switchboard plugin ${name}`));
  });

  it('sign a plugin, which a service takes whose operator trusts the key, and no other', async () => {
    const { privateKey, publicKey } = generateKeyPairSync('ed25519');
    const keyFile = join(folder, 'key.pem');
    writeFileSync(keyFile, privateKey.export({ type: 'pkcs8', format: 'pem' }));
    const trusted = publicKey.export({ type: 'spki', format: 'der' }).toString('base64');
    const warnings: string[] = [];
    const log = pino({ level: 'warn' }, { write: (line: string) => void warnings.push(line) });
    const strict = await TestApp.start({ config: { pluginTrustedKeys: [trusted], pluginSignatures: 'require' }, log });
    const lenient = await TestApp.start({ config: { pluginTrustedKeys: [trusted], pluginSignatures: 'warn' }, log });
    try {
      const path = write('signed');
      const { file } = JSON.parse(await told('pack', path, '--json')) as { file: string };
      const unsigned = readFileSync(join(folder, file));
      await told('pack', path, '--sign', keyFile);
      const signed = readFileSync(join(folder, file));
      const refusal = await upload(strict, unsigned);
      expect([refusal.status, refusal.body.error]).to.deep.equal([422, 'plugin.sig: The package is not signed']);
      expect((await upload(strict, signed)).status).to.equal(201);
      const { body } = await strict.get('/platform/api/v1/plugins/signed/versions');
      expect(body.payload[0].signed_by).to.equal(trusted);
      writeFileSync(join(path, 'plugin.sig'), `${Buffer.alloc(64).toString('base64')}\n`);
      const { file: forged } = JSON.parse(await told('pack', path, '--json')) as { file: string };
      const forgery = await upload(strict, readFileSync(join(folder, forged)));
      expect(forgery.body.error).to.contain('No key of PLUGIN_TRUSTED_KEYS made the signature');
      expect((await upload(lenient, unsigned)).status).to.equal(201);
      expect(warnings.join('\n')).to.contain('without a trusted signature');
      expect(await refused('pack', path, '--sign', join(path, 'bot.js'))).to.contain('no private key of Ed25519');
    } finally {
      await strict.stop();
      await lenient.stop();
    }
  });
});
