import { expect } from 'chai';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { Client } from 'pg';
import { App } from '../../src/app/app.ts';
import { loadConfig } from '../../src/config.ts';
import { OperatorError } from '../../src/lib/operator-error.ts';
import { migrate } from '../../src/postgres/migrate.ts';
import { eventually } from '../faults/helpers.ts';
import { adminToken, TestApp } from '../support/app.ts';
import { hold } from '../support/lock.ts';
import { createDatabase, dropDatabase } from '../support/postgres.ts';
import { freePort } from '../support/service.ts';

const seedLock = 7237002;
const key = 'a key that only the tests use, long enough';

interface Line {
  level: number;
  msg: string;
}

/** A service that is put together and does not run yet; what it logs is kept. */
async function create(
  databaseUrl: string,
  env: Record<string, string> = {},
  pluginRoot?: string,
): Promise<{ app: App; lines: Line[] }> {
  const lines: Line[] = [];
  const log = pino(
    { level: env['LOG_LEVEL'] ?? 'warn' },
    { write: (line: string) => void lines.push(JSON.parse(line) as Line) },
  );
  const config = loadConfig({
    DATABASE_URL: databaseUrl,
    SECRET_KEY: key,
    PORT: '0',
    ROLE: 'web',
    BOOTSTRAP_ADMIN_TOKEN: adminToken,
    ...env,
  });
  return { app: await App.create({ config, databaseUrl, log, ...(pluginRoot ? { pluginRoot } : {}) }), lines };
}

const waits = (lines: readonly Line[]): number => lines.filter(({ msg }) => / waits for /.test(msg)).length;

async function refusal(app: App): Promise<Error> {
  const error = await app.start().then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(error).to.be.instanceOf(OperatorError);
  return error as Error;
}

describe('a start', function () {
  this.timeout(60_000);
  let databaseUrl: string;

  beforeEach(async () => {
    databaseUrl = await createDatabase(migrate);
  });

  afterEach(() => dropDatabase(databaseUrl));

  it('is ready only when it is through, and a valid token is never answered 401', async () => {
    const holder = new Client({ connectionString: databaseUrl });
    await holder.connect();
    await holder.query('SELECT pg_advisory_lock($1)', [seedLock]);
    const { app } = await create(databaseUrl);
    const { port } = await app.listen();
    const ask = async (path: string) => {
      const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers: { api_access_token: adminToken } });
      return { status: response.status, code: ((await response.json()) as { code?: string }).code };
    };
    const starting = app.start();
    for (let look = 0; look < 5; look += 1) {
      expect((await ask('/healthz')).status).to.equal(200);
      expect(await ask('/readyz')).to.deep.equal({ status: 503, code: 'not_ready' });
      expect(await ask('/api/v1/profile')).to.deep.equal({ status: 503, code: 'not_ready' });
    }
    await holder.end();
    while ((await ask('/readyz')).status !== 200) expect((await ask('/api/v1/profile')).status).not.to.equal(401);
    expect((await ask('/api/v1/profile')).status).to.equal(200);
    await starting;
    await app.stop();
  });

  it('notices another SECRET_KEY on a database that holds no secret yet', async () => {
    const { app: first } = await create(databaseUrl);
    await first.start();
    const { app: second } = await create(databaseUrl, { SECRET_KEY: 'quite another key than the first one was' });
    expect((await refusal(second)).message).to.match(/SECRET_KEY/);
    const { app: third } = await create(databaseUrl);
    await third.start();
    await Promise.all([first.stop(), second.stop(), third.stop()]);
  });

  it('of two first ones at once with different SECRET_KEYs only one succeeds', async () => {
    const both = await Promise.all([create(databaseUrl), create(databaseUrl, { SECRET_KEY: `${key}, or another` })]);
    const ends = await Promise.allSettled(both.map(({ app }) => app.start()));
    expect(ends.map(({ status }) => status).sort()).to.deep.equal(['fulfilled', 'rejected']);
    await Promise.all(both.map(({ app }) => app.stop()));
  });

  it('of several first ones at once on an empty database all succeed', async () => {
    const empty = await createDatabase();
    const all = await Promise.all([1, 2, 3, 4].map(() => create(empty)));
    const seeded = await Promise.all(all.map(({ app }) => app.start()));
    expect(seeded.filter((one) => one !== null)).to.have.lengthOf(1);
    await Promise.all(all.map(({ app }) => app.stop()));
    await dropDatabase(empty);
  });

  for (const [held, lock] of [
    ['migration', 7237001],
    ['seed', 7237002],
  ] as const) {
    it(`of three first ones at once all succeed while a ${held} takes longer than requests wait for a lock`, async () => {
      const empty = await createDatabase();
      const patient = { LOCK_TIMEOUT_MS: '100', DATABASE_START_TIMEOUT_MS: '300000' };
      const letGo = await hold(empty, `SELECT pg_advisory_xact_lock(${lock})`);
      const bare = mkdtempSync(join(tmpdir(), 'switchboard-bare-'));
      const all = await Promise.all([1, 2, 3].map(() => create(empty, { ...patient, LOG_LEVEL: 'info' }, bare)));
      const starting = Promise.all(all.map(({ app }) => app.start()));
      starting.catch(() => undefined);
      // Each has given up waiting several times.
      await eventually(() => all.every(({ lines }) => waits(lines) > 2));
      await letGo();
      expect((await starting).filter((one) => one !== null)).to.have.lengthOf(1);
      expect(all.flatMap(({ lines }) => lines).filter(({ level }) => level > 40)).to.deep.equal([]);
      await Promise.all(all.map(({ app }) => app.stop()));
      await dropDatabase(empty);
      rmSync(bare, { recursive: true });
    });
  }

  it('ends in a sentence when another process holds the seed for longer than DATABASE_START_TIMEOUT_MS', async () => {
    const letGo = await hold(databaseUrl, `SELECT pg_advisory_xact_lock(${seedLock})`);
    const bare = mkdtempSync(join(tmpdir(), 'switchboard-bare-'));
    const { app } = await create(databaseUrl, { LOCK_TIMEOUT_MS: '100', DATABASE_START_TIMEOUT_MS: '1000' }, bare);
    expect((await refusal(app)).message).to.match(/Other processes have held locks in the database at .* for 1 s/);
    await letGo();
    await app.stop();
    rmSync(bare, { recursive: true });
  });

  it('of two first ones at once one makes the account, also when it is held up', async () => {
    const letGo = await hold(databaseUrl, 'LOCK TABLE users IN SHARE ROW EXCLUSIVE MODE');
    const patient = { LOCK_TIMEOUT_MS: '10000' };
    // Packages would keep the two apart by themselves: each notes whose they are.
    const bare = mkdtempSync(join(tmpdir(), 'switchboard-bare-'));
    const both = await Promise.all([create(databaseUrl, patient, bare), create(databaseUrl, patient, bare)]);
    const starting = Promise.all(both.map(({ app }) => app.start()));
    const sql = both[0].app.database.sql;
    const waiting = `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`;
    await eventually(async () => (await sql(waiting)).length === 2);
    await letGo();
    expect((await starting).filter((one) => one !== null)).to.have.lengthOf(1);
    expect(await sql('SELECT count(*) FROM accounts')).to.deep.equal([{ count: 1 }]);
    await Promise.all(both.map(({ app }) => app.stop()));
    rmSync(bare, { recursive: true });
  });

  it('warns once of a BOOTSTRAP_ADMIN_TOKEN that is none of an existing database', async () => {
    const { app: first, lines: none } = await create(databaseUrl);
    await first.start();
    const { app: again, lines: known } = await create(databaseUrl);
    await again.start();
    const { app: other, lines: told } = await create(databaseUrl, { BOOTSTRAP_ADMIN_TOKEN: 'another-one-than-before' });
    await other.start();
    expect([none.length, known.length, told.length]).to.deep.equal([0, 0, 1]);
    expect(told[0]?.msg).to.match(/BOOTSTRAP_ADMIN_TOKEN .*npx switchboard token/);
    expect(JSON.stringify(told)).not.to.include('another-one-than-before');
    await Promise.all([first.stop(), again.stop(), other.stop()]);
  });

  it('gives a database that does not answer DATABASE_START_TIMEOUT_MS, and names it without its password', async () => {
    const away = `postgresql://switchboard:xyzzy@127.0.0.1:${await freePort()}/nowhere`;
    const { app } = await create(away, { DATABASE_START_TIMEOUT_MS: '1000' });
    const { message } = await refusal(app);
    expect(message).to.match(/127\.0\.0\.1:\d+\/nowhere did not answer within 1 s.*DATABASE_START_TIMEOUT_MS/);
    expect(message).not.to.include('xyzzy');
    await app.stop();
  });

  it('says in a sentence that the database lets it not in', async () => {
    const url = new URL(databaseUrl);
    url.password = 'xyzzy';
    const { app } = await create(url.href);
    const { message } = await refusal(app);
    expect(message).to.match(/refuses us: .*password.*Check DATABASE_URL/);
    expect(message).not.to.include('xyzzy');
    await app.stop();
  });
});

describe('a service that is told to stop', function () {
  this.timeout(60_000);
  it('is not ready any more while it answers what it has begun', async () => {
    const app = await TestApp.start({ engine: false });
    const { port } = new URL(app.url);
    const socket = connect(Number(port), '127.0.0.1');
    let heard = '';
    socket.setEncoding('utf8').on('data', (text: string) => (heard += text));
    // A connection in the midst of a request, which the end waits for.
    socket.write('GET /readyz HTTP/1.1\r\nhost: switchboard\r\n');
    await app.get('profile');
    const stopped = app.app.stop();
    socket.write('\r\n');
    await stopped;
    await dropDatabase(app.databaseUrl);
    expect(heard).to.match(/^HTTP\/1\.1 503 /);
    expect(heard).to.include('"not_ready"');
  });
});
