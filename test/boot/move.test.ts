import { expect } from 'chai';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { runningPostgresUrl } from '../../src/postgres/embedded/running.ts';
import { migrate } from '../../src/postgres/migrate.ts';
import { Sink } from '../faults/sink.ts';
import { rowsInBackup } from '../support/backup-files.ts';
import { runCommand, type Ended } from '../support/command.ts';
import { createDatabase, dropDatabase } from '../support/postgres.ts';
import { killServices, ServiceProcess } from '../support/service.ts';
import { newFolder, query, removeFolders, until } from './helpers.ts';

// Longer than each limit of time that the target has.
const [limitMs, heldMs] = [2_000, 3_000];
const limits = ['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout', 'transaction_timeout'];
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
    const listed = `INSERT INTO attachments (account_id, object_key) VALUES (1, 'files/a')`;
    await query(runningPostgresUrl(dataDir) ?? '', listed);
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

  it('refuses a database that is not empty, one that cannot be reached, and an installation that has one of its own', async () => {
    const used = await createDatabase(migrate);
    await query(used, `INSERT INTO discarded_objects (object_key) VALUES ('files/a')`);
    const refusals: [string, Record<string, string>, RegExp][] = [
      [
        used,
        { DATA_DIR: dataDir },
        /^The database at .+ is not empty: drop it, or start it with --adopt if a move was cut short\.$/m,
      ],
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
    await dropDatabase(used);
  });

  it('refuses a database with tables of somebody else, and leaves them', async () => {
    for (const shared of [await createDatabase(), await createDatabase(migrate)]) {
      await query(shared, `CREATE TABLE notes AS SELECT 'kept' AS text`);
      const { code, output, errors } = await run(['move', '--to', shared], { DATA_DIR: dataDir });
      expect([code, output]).to.deep.equal([1, '']);
      expect(errors).to.match(
        /^The database at .+ has tables that are not of Switchboard, such as notes: move into an empty/m,
      );
      expect(await query(shared, 'SELECT text FROM notes')).to.deep.equal([{ text: 'kept' }]);
      await dropDatabase(shared);
    }
  });

  it('refuses a database that fills while the move begins, and leaves its rows', async () => {
    const filling = await createDatabase(migrate);
    const writer = await connected(filling);
    await writer.query(`BEGIN; INSERT INTO discarded_objects (object_key) VALUES ('files/a')`);
    const moving = run(['move', '--to', filling], { DATA_DIR: dataDir });
    await untilLoadWaits(filling);
    await writer.query('COMMIT');
    await writer.end();
    const { code, output, errors } = await moving;
    expect([code, output]).to.deep.equal([1, '']);
    expect(errors).to.match(/^The database at .+ is not empty: drop it, or start it with --adopt/m);
    expect(await query(filling, 'SELECT object_key FROM discarded_objects')).to.deep.equal([{ object_key: 'files/a' }]);
    await dropDatabase(filling);
  });

  it('copies every row, and makes the other database the home: that one sends, the embedded one is a copy', async () => {
    expect((await run(['backup', 'before'], { DATA_DIR: dataDir })).code).to.equal(0);
    const { code, output, errors } = await moveBesideReader();
    expect([code, errors]).to.deep.equal([0, '']);
    expect(output).to.match(/^Moved \d+ tables with [\d,]+ rows to 127\.0\.0\.1:\d+\/\w+\.\n/);
    expect(output).to.not.include(new URL(target).password || 'no password');
    for (const left of ['', '.objects', '.partial', '.objects.partial'])
      expect(existsSync(join(dataDir, `moving.backup${left}`)), left).to.equal(false);
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

  it('refuses to move a copy that was never adopted', async () => {
    const another = await createDatabase();
    const { code, output, errors } = await run(['move', '--to', another], { DATA_DIR: dataDir });
    expect([code, output]).to.deep.equal([1, '']);
    expect(errors).to.match(/^This database is a copy: start it with --adopt first\.$/m);
    expect(await query(another, `SELECT FROM pg_tables WHERE schemaname = 'public'`)).to.deep.equal([]);
    await dropDatabase(another);
  });

  // The target gets limits of time that are made for requests, and somebody who reads in it for longer than them.
  async function moveBesideReader(): Promise<Ended> {
    await migrate(target);
    const name = new URL(target).pathname.slice(1);
    for (const limit of limits) await query(target, `ALTER DATABASE ${name} SET ${limit} = ${limitMs}`);
    const reader = await connected(target);
    await reader.query('SET transaction_timeout = 0; SET idle_in_transaction_session_timeout = 0');
    await reader.query('BEGIN; SELECT FROM accounts');
    const moving = run(['move'], { DATA_DIR: dataDir, MOVE_TO_DATABASE_URL: target });
    await Promise.race([untilLoadWaits(target), moving]);
    await sleep(heldMs);
    await reader.query('COMMIT');
    await reader.end();
    const moved = await moving;
    await query(target, `ALTER DATABASE ${name} RESET ALL`);
    return moved;
  }

  async function untilLoadWaits(url: string): Promise<void> {
    const waiting = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
      AND application_name = 'switchboard restore'`;
    await until(async () => (await query(url, waiting)).length > 0);
  }

  async function connected(url: string): Promise<Client> {
    const client = new Client({ connectionString: url });
    await client.connect();
    return client;
  }
});
