import { expect } from 'chai';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Sink } from '../faults/sink.ts';
import { rowsInBackup } from '../support/backup-files.ts';
import { runCommand, type Ended } from '../support/command.ts';
import { createDatabase, dropDatabase } from '../support/postgres.ts';
import { killServices, ServiceProcess } from '../support/service.ts';
import { newFolder, removeFolders, until } from './helpers.ts';

const isCopy = { status: 'ready', sending: false, reason: 'copy' };

describe('switchboard move', function () {
  // Each start takes long beside others.
  this.timeout(600_000);
  let folder: string;
  let dataDir: string;
  let target: string;
  let sink: Sink;

  const run = (args: string[], env: Record<string, string> = {}): Promise<Ended> =>
    runCommand(args, { env: { PATH: process.env['PATH'] ?? '', LOG_LEVEL: 'error', ...env }, cwd: folder });

  before(async () => {
    folder = newFolder();
    dataDir = join(folder, 'data');
    sink = await Sink.start();
    target = await createDatabase();
    const service = await ServiceProcess.start({ dataDir });
    await service.post('webhooks', { url: sink.url, subscriptions: ['contact_created'] });
    const busy = await run(['move', '--to', target], { DATA_DIR: dataDir });
    expect([busy.code, /is in use by another running service/.test(busy.errors)]).to.deep.equal([1, true]);
    await service.stop();
  });

  after(async () => {
    await killServices();
    await sink.close();
    await dropDatabase(target);
    removeFolders();
  });

  it('copies every row, and makes the other database the home: that one sends, the embedded one is a copy', async () => {
    expect((await run(['backup', 'before'], { DATA_DIR: dataDir })).code).to.equal(0);
    const { code, output, errors } = await run(['move', '--to', target], { DATA_DIR: dataDir });
    expect([code, errors]).to.deep.equal([0, '']);
    expect(output).to.match(/^Moved \d+ tables with [\d,]+ rows to 127\.0\.0\.1:\d+\/\w+\.\n/);
    expect(output).to.not.include(new URL(target).password || 'no password');
    expect(existsSync(join(dataDir, 'moving.backup'))).to.equal(false);
    const key = readFileSync(join(dataDir, 'secret-key'), 'utf8').trim();
    const there = { DATABASE_URL: target, SECRET_KEY: key };
    expect((await run(['backup', 'after'], there)).code).to.equal(0);
    const [{ installation, ...rows }, { installation: moved, ...others }] = [
      rowsInBackup(join(folder, 'before')),
      rowsInBackup(join(folder, 'after')),
    ] as [Record<string, string>, Record<string, string>];
    expect(moved).to.be.a('string').and.not.equal(installation);
    expect(Object.keys(others)).to.deep.equal(Object.keys(rows));
    for (const [name, text] of Object.entries(rows)) expect(others[name] === text, name).to.equal(true);
    expect((await run(['verify'], there)).code).to.equal(0);

    const left = await ServiceProcess.start({ dataDir });
    expect((await left.get('/readyz')).body).to.deep.equal(isCopy);
    await left.stop();
    const service = await ServiceProcess.start({ databaseUrl: target, dataDir, env: { SECRET_KEY: key } });
    expect((await service.get('/readyz')).body).to.deep.equal({ status: 'ready' });
    await service.post('contacts', { name: 'After the move' });
    await until(() => sink.log.length === 1);
  });

  it('refuses a database that is not empty, one that cannot be reached, and an installation that has one of its own', async () => {
    const refusals: [string, Record<string, string>, RegExp][] = [
      [target, { DATA_DIR: dataDir }, /^The database at .+ is not empty: move into one that is\.$/m],
      [
        'postgresql://u:secret@127.0.0.1:9/none',
        { DATA_DIR: dataDir },
        /^The move did not complete: .+ Check the database at 127\.0\.0\.1:9\/none\.$/m,
      ],
      ['postgresql://u:a/b@127.0.0.1/none', { DATA_DIR: dataDir }, /^--to cannot be read as a URL/],
      [
        target,
        { DATABASE_URL: target, SECRET_KEY: 'x'.repeat(40) },
        /^`move` moves the embedded database of DATA_DIR/m,
      ],
    ];
    for (const [to, env, refusal] of refusals) {
      const { code, output, errors } = await run(['move', '--to', to], env);
      expect([code, output], to).to.deep.equal([1, '']);
      expect(errors).to.match(refusal).and.not.include('secret');
    }
  });
});
