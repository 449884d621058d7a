import { expect } from 'chai';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TestApp } from '../../support/app.ts';
import { pluginArchive, upload } from '../../support/archives.ts';
import { writePackage } from '../../support/packages.ts';

const replying = (text: string) => `export default { on: { message_created(ctx) { ctx.reply('${text}') } } };`;

describe('old versions of plugins', function () {
  this.timeout(180_000);
  let app: TestApp;
  let root: string;
  const writeShelved = (version: string, conversation: readonly string[]) =>
    writePackage(
      join(root, 'bots/shelved'),
      { id: 'shelved', version, permissions: { conversation } },
      replying(version),
    );
  const versions = (id: string, condition: string) =>
    app.query(
      `SELECT version FROM plugin_bundles WHERE plugin_id = $1 AND released_at IS ${condition} ORDER BY version`,
      [id],
    );

  before(async () => {
    root = mkdtempSync(join(tmpdir(), 'switchboard-releases-'));
    writeShelved('1.0.0', ['reply']);
    app = await TestApp.start({ pluginRoot: root, engine: false });
  });
  after(async () => {
    await app.stop();
    rmSync(root, { recursive: true });
  });

  it('that were released can be installed again, with the same content and with other', async () => {
    const versionOf = (number: number, text = 'one of many') =>
      pluginArchive({ id: 'aged', version: `1.0.${number}` }, replying(text));
    for (let number = 0; number < 22; number += 1)
      expect((await upload(app, versionOf(number))).status, String(number)).to.equal(201);
    expect(await versions('aged', 'NOT NULL')).to.deep.include.members([{ version: '1.0.0' }, { version: '1.0.1' }]);
    const same = await upload(app, versionOf(0));
    expect([same.status, same.body.version]).to.deep.equal([201, '1.0.0']);
    const other = await upload(app, versionOf(1, 'another'));
    expect([other.status, other.body.version]).to.deep.equal([201, '1.0.1']);
  });

  it('of a folder are released, but not the one that runs and the one that waits for approval', async () => {
    for (const [version, conversation] of [
      ['1.1.0', ['reply']],
      ['1.2.0', ['reply', 'note']],
    ] as const) {
      writeShelved(version, conversation);
      const next = await TestApp.start({ pluginRoot: root, engine: false, databaseUrl: app.databaseUrl });
      await next.app.stop();
    }
    expect(await versions('shelved', 'NOT NULL')).to.deep.equal([{ version: '1.0.0' }]);
    expect(await versions('shelved', 'NULL')).to.deep.equal([{ version: '1.1.0' }, { version: '1.2.0' }]);
    const { body } = await app.get('/platform/api/v1/plugins/shelved');
    expect([body.version, body.pending?.version]).to.deep.equal(['1.1.0', '1.2.0']);
  });

  it('keep the kind of a plugin: another one is refused, from an archive and from a folder', async () => {
    const automation = 'export default { on: { contact_created() {} } };';
    const other = { kind: 'automation', events: ['contact_created'] };
    expect((await upload(app, pluginArchive({ id: 'kinds', version: '1.0.0' }, replying('one')))).status).to.equal(201);
    const refused = await upload(app, pluginArchive({ id: 'kinds', version: '2.0.0', ...other }, automation));
    expect([refused.status, refused.body.error]).to.deep.equal([
      422,
      'The kind of the plugin `kinds` cannot change from bot to automation: give this package another id',
    ]);
    expect((await app.get('/platform/api/v1/plugins/kinds')).body.version).to.equal('1.0.0');
    writePackage(join(root, 'bots/shelved'), { id: 'shelved', version: '9.0.0', ...other }, automation);
    const next = await TestApp.start({ pluginRoot: root, engine: false, databaseUrl: app.databaseUrl });
    const { version, pending } = (await next.get('/platform/api/v1/plugins/shelved')).body;
    await next.app.stop();
    expect([version, pending.version], 'as before').to.deep.equal(['1.1.0', '1.2.0']);
  });
});
