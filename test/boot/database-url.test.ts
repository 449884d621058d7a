import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { serverProblem } from '../../src/postgres/check-server.ts';
import { databaseUrlProblem } from '../../src/postgres/database-url.ts';
import { migrate } from '../../src/postgres/migrate.ts';
import { createDatabase, dropDatabase } from '../support/postgres.ts';
import { query } from './helpers.ts';

const program = fileURLToPath(new URL('../../bin/switchboard.js', import.meta.url));
const password = 'xyzzy-in-no-message';

/** Starts the service on a database that it cannot use; resolves with its exit code and what it printed as a person. */
async function startOn(databaseUrl: string): Promise<{ code: number; errors: string; printed: string }> {
  const env = {
    PATH: process.env['PATH'],
    DATABASE_URL: databaseUrl,
    SECRET_KEY: 'k'.repeat(32),
    PORT: '0',
    ROLE: 'web',
    DATABASE_START_TIMEOUT_MS: '1000',
  };
  const { promise, resolve } = Promise.withResolvers<{ code: number; errors: string; printed: string }>();
  execFile(process.execPath, [program, 'start'], { env, cwd: '/tmp' }, (error, out, errors) =>
    resolve({ code: error ? Number(error.code) : 0, errors, printed: out + errors }),
  );
  return promise;
}

async function expectSentence(databaseUrl: string, sentence: RegExp): Promise<void> {
  const { code, errors, printed } = await startOn(databaseUrl);
  expect([code, errors.trim()], printed).to.satisfy(() => code === 1 && sentence.test(errors));
  expect(printed).not.to.match(/^ +at |"stack"/m);
  expect(printed).not.to.include(password);
  if (!/did not answer/.test(sentence.source)) expect(errors).not.to.include('did not answer');
}

const servers: Server[] = [];

async function listen(serve: (socket: Socket) => void): Promise<string> {
  const server = createServer((socket) => serve(socket.on('error', () => undefined)));
  servers.push(server.listen(0, '127.0.0.1'));
  await once(server, 'listening');
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** What a PostgreSQL server sends when it ends a connection. */
function fatal(code: string, message: string): Buffer {
  const fields = Buffer.from(`SFATAL\0VFATAL\0C${code}\0M${message}\0\0`);
  const head = Buffer.alloc(5);
  head.write('E');
  head.writeInt32BE(fields.length + 4, 1);
  return Buffer.concat([head, fields]);
}

/** A pooler that refuses each connection as PgBouncer does. */
const refusing = (code: string, message: string) =>
  listen((socket) => socket.once('data', () => socket.end(fatal(code, message))));

/** A pooler in front of a real server that drops the startup parameters that it does not know. */
function dropping(url: URL): Promise<string> {
  return listen((socket) => {
    socket.once('data', (first: Buffer) => {
      const texts = first.subarray(8).toString().split('\0');
      const kept: string[] = [];
      for (let at = 0; texts[at]; at += 2) if (!texts[at]!.endsWith('timeout')) kept.push(texts[at]!, texts[at + 1]!);
      const body = Buffer.from(`${kept.join('\0')}\0\0`);
      const head = Buffer.alloc(8);
      head.writeInt32BE(body.length + 8, 0);
      first.copy(head, 4, 4, 8);
      const server = connect(Number(url.port), url.hostname).on('error', () => socket.destroy());
      server.write(Buffer.concat([head, body]));
      socket.pipe(server).pipe(socket);
    });
  });
}

describe('a database that the service cannot use', function () {
  this.timeout(120_000);
  let url: URL;

  before(async () => {
    url = new URL(await createDatabase(migrate));
  });

  afterEach(() => servers.splice(0).map((server) => server.close()));
  after(() => dropDatabase(url.href));

  it('is named in a sentence when its URL has two hosts or cannot be read', async () => {
    await expectSentence(
      `postgresql://u:${password}@a:5432,b:5432/db?target_session_attrs=read-write`,
      /DATABASE_URL names several hosts: name one/,
    );
    await expectSentence(`postgresql://u:${password}/%zz@a:5432/db`, /DATABASE_URL cannot be read as a URL: .*percent/);
  });

  it('is one whose pooler refuses what connections ask for', async () => {
    const place = await refusing('08P01', 'unsupported startup parameter: statement_timeout');
    await expectSentence(
      `postgresql://u:${password}@${place}/db`,
      /refuses a parameter of our connections, as poolers do: unsupported startup parameter: statement_timeout/,
    );
  });

  it('is one whose pooler drops the limits of time', async () => {
    const behind = new URL(url);
    behind.host = await dropping(url);
    await expectSentence(
      behind.href,
      /does not apply statement_timeout, lock_timeout, idle_in_transaction_session_timeout, so .*pooler.*ALTER ROLE/,
    );
  });

  it('is one that is not there, or lets nobody in for another reason', async () => {
    const place = await refusing('0A000', 'this proxy has no such feature');
    await expectSentence(`postgresql://u:${password}@${place}/db`, /refuses us: this proxy has no such feature/);
    const missing = new URL(url);
    missing.pathname = '/missing';
    await expectSentence(missing.href, /refuses us: database "missing" does not exist\. Check DATABASE_URL/);
    const down = await refusing('57P03', 'the database system is starting up');
    await expectSentence(`postgresql://u:${password}@${down}/db`, /did not answer within 1 s: .*starting up/);
  });

  it('is one that takes no writes', async () => {
    const name = url.pathname.slice(1);
    await query(url.href, `ALTER DATABASE "${name}" SET default_transaction_read_only = on`);
    await expectSentence(url.href, /is read-only: it is a standby, or .*DATABASE_URL must name the primary/);
  });

  it('is one that is too old', () => {
    const limits = { statementTimeoutMs: 5_000, lockTimeoutMs: 1_250, idleInTransactionTimeoutMs: 10_000 };
    const found = { statement_timeout: 5_000, lock_timeout: 1_250, idle_in_transaction_session_timeout: 10_000 };
    const facts = { version: 150_004, isReadOnly: false, limits: found };
    expect(serverProblem(facts, limits)).to.equal(null);
    expect(serverProblem({ ...facts, version: 140_011 }, limits)).to.match(/is PostgreSQL 14: .*15 or newer/);
    expect(serverProblem({ ...facts, limits: { ...found, lock_timeout: 1_000 } }, limits)).to.equal(null);
    expect(serverProblem({ ...facts, limits: { ...found, lock_timeout: 60_000 } }, limits)).to.match(
      /apply lock_timeout,/,
    );
  });
});

describe('the check of DATABASE_URL', () => {
  const usable = [
    '@h/db',
    '@h:5432/db?sslmode=require',
    ':p%2Fq,r@h/db',
    '@[::1]:5432/db',
    '@localhost/db?host=/var/run/postgresql',
  ];
  const several = ['@a,b/db', '@a:1,b:2/db', '/db?host=a,b', '/db?host=a&port=1,2', ':p@ss@a:1,b/db'];
  const unreadable = [':p/q@h/db', ':p#q@h/db', ':100%@h/db', '@h:port/db', '@h/%zz'];

  it('tells several hosts and unreadable texts from what can be used', () => {
    for (const rest of usable) expect(databaseUrlProblem(`postgresql://u${rest}`), rest).to.equal(null);
    for (const rest of several) expect(databaseUrlProblem(`postgresql://u${rest}`), rest).to.match(/several hosts/);
    for (const rest of unreadable) expect(databaseUrlProblem(`postgresql://u${rest}`), rest).to.match(/cannot be read/);
  });
});
