import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbeddedPostgres, type EmbeddedPostgres } from '../../src/postgres/embedded/start.ts';
import { childrenOf, collectingLog, copyNativeWithoutLinks, kill, killOwners } from './helpers.ts';
import { newFolder, query, removeFolders, startOwner, until } from './helpers.ts';

const { log } = collectingLog();
const running = new Set<EmbeddedPostgres>();

async function start(dataDir: string, more: { nativeFolder?: string } = {}): Promise<EmbeddedPostgres> {
  const embedded = await startEmbeddedPostgres({ dataDir, log, ...more });
  running.add(embedded);
  return embedded;
}

async function messageOf(promise: Promise<unknown>): Promise<string> {
  return promise.then(
    () => 'no error',
    (error: Error) => error.message,
  );
}

function modeOf(path: string): string {
  return (statSync(path).mode & 0o777).toString(8);
}

describe('embedded Postgres', function () {
  this.timeout(90_000);

  afterEach(async () => {
    await Promise.all([...running].map((embedded) => embedded.stop()));
    running.clear();
    killOwners();
    removeFolders();
  });

  it('makes a database at the first start and finds it again at the next', async () => {
    const dataDir = join(newFolder(), 'deep', 'data');
    const first = await start(dataDir);
    await query(first.url, 'CREATE TABLE kept AS SELECT 7 AS seven');
    await first.stop();
    await first.stop();
    const second = await start(dataDir);
    expect(await query(second.url, 'SELECT seven FROM kept')).to.deep.equal([{ seven: 7 }]);
  });

  it('lets in one role with a password, over loopback, without special rights, and syncs to disk', async () => {
    const dataDir = newFolder();
    const { url } = await start(dataDir);
    const [role] = await query(
      url,
      'SELECT rolsuper, rolcreatedb, rolcreaterole FROM pg_roles WHERE rolname = current_user',
    );
    expect(role).to.deep.equal({ rolsuper: false, rolcreatedb: false, rolcreaterole: false });
    const [settings] = await query(
      url,
      `SELECT current_setting('listen_addresses') AS listen, current_setting('fsync') AS fsync`,
    );
    expect(settings).to.deep.equal({ listen: '127.0.0.1', fsync: 'on' });
    const password = readFileSync(join(dataDir, 'postgres-password'), 'utf8').trim();
    expect(password).to.have.lengthOf(43);
    expect(modeOf(join(dataDir, 'postgres-password'))).to.equal('600');
    expect(modeOf(join(dataDir, 'postgres', 'cluster'))).to.equal('700');
    expect(await messageOf(query(url.replace(password, 'wrong'), 'SELECT 1'))).to.match(
      /password authentication failed/,
    );
    const superuser = url.replace('//switchboard:', '//postgres:');
    expect(await messageOf(query(superuser, 'SELECT 1'))).to.match(/no pg_hba.conf entry/);
  });

  it('starts from an installation without its symbolic links, and makes them', async () => {
    const nativeFolder = copyNativeWithoutLinks(newFolder());
    const { url } = await start(newFolder(), { nativeFolder });
    expect(await query(url, 'SELECT 1 AS one')).to.deep.equal([{ one: 1 }]);
  });

  it('refuses a second start on the same data, and leaves the first alone', async () => {
    const dataDir = newFolder();
    const owner = await startOwner({ dataDir });
    expect(await messageOf(start(dataDir)))
      .to.include(`in use by another running service`)
      .and.include(dataDir);
    expect(await query(owner.url, 'SELECT 1 AS one')).to.deep.equal([{ one: 1 }]);
    await kill(owner);
    const { url } = await start(dataDir);
    expect(await query(url, 'SELECT 1 AS one')).to.deep.equal([{ one: 1 }]);
  });

  it('starts at once after its owner was killed, with everything that was committed', async () => {
    const dataDir = newFolder();
    const owner = await startOwner({ dataDir });
    await query(owner.url, 'CREATE TABLE kept AS SELECT 7 AS seven');
    await kill(owner);
    const { url } = await start(dataDir);
    expect(await query(url, 'SELECT seven FROM kept')).to.deep.equal([{ seven: 7 }]);
  });

  it('ends the server of an owner that was killed together with the guardian', async function () {
    if (process.platform !== 'linux') this.skip();
    const dataDir = newFolder();
    const owner = await startOwner({ dataDir });
    await query(owner.url, 'CREATE TABLE kept AS SELECT 7 AS seven');
    const guardians = childrenOf(owner.child.pid ?? 0).filter((pid) => pid !== owner.pid);
    expect(guardians).to.have.lengthOf(1);
    // Stopped first, the owner cannot post another one.
    owner.child.kill('SIGSTOP');
    for (const pid of guardians) process.kill(pid, 'SIGKILL');
    await kill(owner);
    expect(await query(owner.url, 'SELECT 1 AS one')).to.deep.equal([{ one: 1 }]);
    const second = await start(dataDir);
    expect(second.pid()).not.to.equal(owner.pid);
    expect(await query(second.url, 'SELECT seven FROM kept')).to.deep.equal([{ seven: 7 }]);
  });

  it('is not held up by a lock file whose process number belongs to another program', async () => {
    const dataDir = newFolder();
    await (await start(dataDir)).stop();
    const cluster = join(dataDir, 'postgres', 'cluster');
    const other = spawn('sleep', ['60'], { stdio: 'ignore' });
    try {
      writeFileSync(
        join(cluster, 'postmaster.pid'),
        [other.pid, cluster, 1700000000, 1, '', '', '1 1', 'ready', ''].join('\n'),
      );
      const { url } = await start(dataDir);
      expect(await query(url, 'SELECT 1 AS one')).to.deep.equal([{ one: 1 }]);
      expect(other.exitCode ?? other.signalCode).to.equal(null);
    } finally {
      other.kill('SIGKILL');
    }
  });

  it('keeps its URL when it restarts, is crashed, or dies', async () => {
    const embedded = await start(newFolder());
    await embedded.restart('fast');
    await embedded.restart('immediate', 100);
    const before = embedded.pid();
    expect(await query(embedded.url, 'SELECT 1 AS one')).to.deep.equal([{ one: 1 }]);
    process.kill(before, 'SIGKILL');
    await until(() => embedded.pid() !== before);
    expect(await query(embedded.url, 'SELECT 1 AS one')).to.deep.equal([{ one: 1 }]);
  });

  it('makes a new password when the file is gone', async () => {
    const dataDir = newFolder();
    const first = await start(dataDir);
    await first.stop();
    rmSync(join(dataDir, 'postgres-password'));
    const second = await start(dataDir);
    expect(new URL(second.url).password).not.to.equal(new URL(first.url).password);
    expect(await query(second.url, 'SELECT 1 AS one')).to.deep.equal([{ one: 1 }]);
  });

  it('leaves data of another major version alone', async () => {
    const dataDir = newFolder();
    await (await start(dataDir)).stop();
    writeFileSync(join(dataDir, 'postgres', 'cluster', 'PG_VERSION'), '17\n');
    expect(await messageOf(start(dataDir)))
      .to.include('made by PostgreSQL 17')
      .and.include('brings PostgreSQL 18');
  });

  it('begins anew where making the cluster was cut short', async () => {
    const dataDir = newFolder();
    await (await start(dataDir)).stop();
    const home = join(dataDir, 'postgres');
    rmSync(join(home, 'cluster', 'pg_wal'), { recursive: true });
    renameSync(join(home, 'cluster'), join(home, 'cluster.new'));
    const { url } = await start(dataDir);
    expect(await query(url, 'SELECT 1 AS one')).to.deep.equal([{ one: 1 }]);
  });

  it('says what is wrong with a folder that cannot be used', async () => {
    const file = join(newFolder(), 'file');
    writeFileSync(file, '');
    expect(await messageOf(start(join(file, 'data')))).to.match(/^The data folder .* cannot be used: ENOTDIR/);
  });

  it('removes an ephemeral database with its owner, however that ends', async () => {
    const ephemeral = (): string[] => readdirSync(tmpdir()).filter((name) => name.startsWith('switchboard-postgres-'));
    const before = new Set(ephemeral());
    const owner = await startOwner({ ephemeral: true });
    const made = ephemeral().filter((name) => !before.has(name));
    expect(made).not.to.have.lengthOf(0);
    expect(await query(owner.url, `SELECT current_setting('fsync') AS fsync`)).to.deep.equal([{ fsync: 'off' }]);
    await kill(owner);
    await until(() => made.some((name) => !existsSync(join(tmpdir(), name))));
    await until(async () => /ECONNREFUSED/.test(await messageOf(query(owner.url, 'SELECT 1'))));
  });
});
