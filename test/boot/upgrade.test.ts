import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { Migration } from '@mikro-orm/migrations';
import { Client } from 'pg';
import { OperatorError } from '../../src/lib/operator-error.ts';
import { migrate } from '../../src/postgres/migrate.ts';
import { migrations } from '../../src/postgres/migrations/index.ts';
import { eventually } from '../faults/helpers.ts';
import { TestApp } from '../support/app.ts';
import { hold } from '../support/lock.ts';
import { createDatabase, dropDatabase } from '../support/postgres.ts';
import { createDatabaseOf010 } from '../support/release.ts';
import { killServices, ServiceProcess } from '../support/service.ts';
import { query } from './helpers.ts';

const program = fileURLToPath(new URL('../../bin/switchboard.js', import.meta.url));
const waitingForLocks = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
const future = '20991231-from-the-future';

class Future extends Migration {
  override up(): void {
    this.addSql('ALTER TABLE contacts RENAME COLUMN name TO full_name');
  }

  override down(): void {
    // Migrations are not taken back.
  }
}

/** Migrates as a later release would. */
const migrateToFuture = (url: string) => migrate(url, [...migrations, { name: future, class: Future }]);

/** Runs `npx switchboard` on a database; resolves with its exit code and all that it printed. */
async function runOn(databaseUrl: string, command: string): Promise<{ code: number; printed: string }> {
  const env = { PATH: process.env['PATH'], DATABASE_URL: databaseUrl, SECRET_KEY: 'k'.repeat(32), PORT: '0' };
  const { promise, resolve } = Promise.withResolvers<{ code: number; printed: string }>();
  execFile(process.execPath, [program, command], { env, cwd: '/tmp' }, (error, out, errors) =>
    resolve({ code: error ? Number(error.code) : 0, printed: out + errors }),
  );
  return promise;
}

describe('a migration beside a busy process', function () {
  this.timeout(120_000);
  let url: string;

  beforeEach(async () => {
    url = await createDatabaseOf010();
  });

  afterEach(() => dropDatabase(url));

  for (const [first, second] of [
    ['access_tokens', 'agent_bots'],
    ['agent_bots', 'access_tokens'],
    ['messages', 'accounts'],
  ]) {
    it(`waits for a transaction that has read ${first}, and lets it read ${second}`, async () => {
      const busy = new Client({ connectionString: url });
      busy.on('error', () => undefined);
      await busy.connect();
      await busy.query('BEGIN');
      await busy.query(`SELECT FROM ${first}`);
      const migrating = migrate(url);
      migrating.catch(() => undefined);
      await eventually(async () => (await query(url, waitingForLocks)).length === 1);
      await busy.query(`SELECT FROM ${second}`);
      await busy.query('COMMIT');
      expect(await migrating).to.include(migrations.at(-1)!.name);
      await busy.end();
    });
  }

  it('succeeds as a command while clients join the same tables in every order', async () => {
    const over = new AbortController();
    const tables = ['users', 'access_tokens', 'agent_bots', 'accounts', 'conversations', 'messages', 'inboxes'];
    const work = async (turn: number): Promise<void> => {
      const client = new Client({ connectionString: url });
      await client.connect();
      for (let count = turn; !over.signal.aborted; count += 1) {
        await client.query('BEGIN');
        for (const at of tables.keys())
          await client.query(`SELECT FROM ${tables[(at + count) % tables.length]!} LIMIT 1`).catch(() => undefined);
        await client.query('ROLLBACK');
      }
      await client.end();
    };
    const working = Promise.all([0, 2, 4, 6].map(work));
    const { code, printed } = await runOn(url, 'migrate').finally(() => over.abort());
    await working;
    expect([code, printed.includes('Applied: ')], printed).to.deep.equal([0, true]);
  });

  it('ends in a sentence, with nothing changed, when the locks stay', async () => {
    const release = await hold(url, 'SELECT FROM messages');
    const error = await migrate(url, migrations, { timeoutMs: 1 }).then(
      () => null,
      (reason: unknown) => reason,
    );
    await release();
    expect(error).to.be.instanceOf(OperatorError);
    expect((error as Error).message).to.match(
      /could not be migrated within .*other processes hold locks.*DATABASE_START/,
    );
    expect(await query(url, 'SELECT name FROM migrations')).to.have.lengthOf(1);
  });
});

describe('a database that a newer release has migrated', function () {
  this.timeout(180_000);
  afterEach(killServices);

  it('is refused in a sentence by a start and by each command', async () => {
    const url = await createDatabase(migrate);
    await query(url, `INSERT INTO migrations (name, executed_at) VALUES ('${future}', now())`);
    for (const command of ['start', 'migrate', 'seed', 'token', 'verify']) {
      const { code, printed } = await runOn(url, command);
      expect(code, command).to.be.greaterThan(0);
      expect(printed, command).to.include(
        `migrated by a newer release: this one does not know the migration ${future}`,
      );
      expect(printed, command).not.to.match(/^ +at /m);
    }
    await dropDatabase(url);
  });

  it('is refused in another sentence when a development version between releases has migrated it', async () => {
    const url = await createDatabaseOf010();
    await query(url, `INSERT INTO migrations (name, executed_at) VALUES ('20261122-people', now())`);
    const { code, printed } = await runOn(url, 'start');
    expect(code, printed).to.be.greaterThan(0);
    expect(printed).to.include('a development version that was never released (migration 20261122-people)');
    expect(printed).to.include('Start with an empty database, or restore a backup of a release.');
    expect(printed).not.to.match(/^ +at /m);
    expect(await query(url, `SELECT to_regclass('seats') AS seats`)).to.deep.equal([{ seats: null }]);
    await dropDatabase(url);
  });

  it('is told by a process that runs: writes and readiness are 503, reads go on', async () => {
    const url = await createDatabase(migrate);
    const [web, engine] = await Promise.all(
      ['web', 'engine'].map((ROLE) => ServiceProcess.start({ databaseUrl: url, env: { ROLE, LOG_LEVEL: 'warn' } })),
    );
    expect((await web!.post('contacts', { name: 'Before' })).status).to.equal(201);
    expect(await migrateToFuture(url)).to.deep.equal([future]);
    for (const process of [web!, engine!]) {
      await eventually(() => process.output.includes('a newer release has migrated the database'));
      const { status, body } = await process.get('/readyz');
      expect([status, body.code]).to.deep.equal([503, 'upgrading']);
      expect((await process.get('/healthz')).status).to.equal(200);
    }
    const { status, headers, body } = await web!.post('labels', { title: 'after' });
    expect([status, body.code, headers.get('retry-after')]).to.deep.equal([503, 'upgrading', '5']);
    expect(body.error).to.be.a('string');
    expect((await web!.get('labels')).status).to.equal(200);
    const read = await web!.get('contacts');
    expect([read.status, read.body.code]).to.deep.equal([503, 'upgrading']);
    expect(web!.output + engine!.output).not.to.match(/request failed|engine failure/);
    expect(await web!.stop()).to.deep.equal({ code: 0, signal: null });
    expect(await engine!.stop()).to.deep.equal({ code: 0, signal: null });
    await dropDatabase(url);
  });

  it('is found by the first write that fails when nothing announced it; sweeps and deliveries end', async () => {
    const app = await TestApp.start();
    const alarms = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'switchboard-alarms'`;
    expect(await query(app.databaseUrl, alarms)).not.to.deep.equal([]);
    await app.query(`INSERT INTO migrations (name, executed_at) VALUES ('${future}', now())`);
    await app.query('ALTER TABLE contacts RENAME COLUMN name TO full_name');
    for (const path of ['contacts', 'labels']) {
      const { status, body } = await app.post(path, path === 'contacts' ? { name: 'After' } : { title: 'after' });
      expect([status, body.code]).to.deep.equal([503, 'upgrading']);
    }
    // The alarm clock is stopped last.
    await eventually(async () => (await query(app.databaseUrl, alarms)).length === 0);
    await app.stop();
  });
});
