import { expect } from 'chai';
import { execSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Client } from 'pg';
import { defaultDataDir } from '../../src/config.ts';
import { newToken } from '../../src/lib/secrets/tokens.ts';
import { systemRandom } from '../../src/lib/ports.ts';
import { migrate } from '../../src/postgres/migrate.ts';
import { commandFor } from '../../src/app/start/welcome.ts';
import { createDatabase, dropDatabase } from '../support/postgres.ts';
import { killServices, ServiceProcess } from '../support/service.ts';
import { newFolder, query, removeFolders, until } from './helpers.ts';

const launcher = fileURLToPath(new URL('../../bin/switchboard.js', import.meta.url));
const children = new Set<ChildProcess>();

function launch(args: string[], env: Record<string, string>): { child: ChildProcess; output: () => string } {
  const child = spawn(process.execPath, [launcher, ...args], {
    env: { PATH: process.env['PATH'] ?? '', ...env },
    cwd: newFolder(),
  });
  children.add(child);
  child.once('exit', () => children.delete(child));
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk: Buffer) => (output += chunk.toString()));
  return { child, output: () => output };
}

async function run(
  args: string[],
  env: Record<string, string>,
): Promise<{ code: number; output: string; errors: string }> {
  const { child } = launch(args, env);
  const [output, errors] = [text(child.stdout!), text(child.stderr!)];
  const [code] = (await once(child, 'exit')) as [number];
  return { code, output: await output, errors: await errors };
}

async function startService(dataDir: string): Promise<{ child: ChildProcess; output: () => string; url: string }> {
  const service = launch(['start'], { PORT: '0', DATA_DIR: dataDir });
  const listens = /Switchboard listens on (http:\/\/127\.0\.0\.1:\d+)/;
  for (let look = 0; look < 4_000 && !listens.test(service.output()); look += 1) await sleep(50);
  return { ...service, url: listens.exec(service.output())?.[1] ?? '' };
}

/** The token in what a command printed. */
function tokenIn(output: string): string {
  return /^ {2}(\S+)$/m.exec(output)?.[1] ?? '';
}

/** Keeps every change of labels waiting. */
async function holdLabels(url: string): Promise<() => Promise<void>> {
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query('BEGIN; LOCK TABLE labels IN ACCESS EXCLUSIVE MODE');
  return () => client.end();
}

async function waitsForLock(url: string): Promise<boolean> {
  return (await query(url, `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock'`)).length > 0;
}

async function statusOf(url: string, token: string): Promise<number> {
  const response = await fetch(`${url}/api/v1/profile`, { headers: { api_access_token: token } });
  await response.body?.cancel();
  return response.status;
}

describe('what an operator stumbles over', function () {
  this.timeout(120_000);
  let databaseUrl: string;

  before(async () => {
    databaseUrl = await createDatabase(migrate);
  });

  after(() => dropDatabase(databaseUrl));

  afterEach(async () => {
    for (const child of children) child.kill('SIGKILL');
    await killServices();
    removeFolders();
  });

  it('is one sentence with the remedy: a port that is taken, forbidden, or an address of another machine', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as AddressInfo;
    const away = {
      DATABASE_URL: 'postgresql://u:p@127.0.0.1:9/none',
      SECRET_KEY: 'a key that only the tests use, long',
    };
    const wrong: [Record<string, string>, RegExp][] = [
      [{ PORT: String(port) }, /(?:^|\n)Port \d+ of 127\.0\.0\.1 is taken by another program: .*PORT/],
      [{ PORT: '0', HOST: '192.0.2.1' }, /(?:^|\n)HOST 192\.0\.2\.1 is no address of this machine: .*127\.0\.0\.1/],
      [{ PORT: '0', HOST: 'no-such-host.invalid' }, /(?:^|\n)HOST no-such-host\.invalid is no address of this machine/],
    ];
    for (const [env, sentence] of wrong) {
      const { code, errors } = await run(['start'], { ...away, ...env });
      expect(code).to.equal(1);
      expect(errors)
        .to.match(sentence)
        .and.not.match(/\n {4}at /);
    }
    taken.close();
  });

  it('has a remedy: a lost token is replaced beside the running service, and when it stands still', async () => {
    const dataDir = newFolder();
    const service = await startService(dataDir);
    const first = tokenIn(service.output());
    expect(await statusOf(service.url, first)).to.equal(200);
    const second = tokenIn((await run(['token'], { DATA_DIR: dataDir })).output);
    expect([await statusOf(service.url, first), await statusOf(service.url, second)]).to.deep.equal([200, 200]);
    const named = await run(['token', '--revoke', '--email', 'Administrator@Example.com'], { DATA_DIR: dataDir });
    const third = tokenIn(named.output);
    const stati = await Promise.all([first, second, third].map((token) => statusOf(service.url, token)));
    expect(stati).to.deep.equal([401, 401, 200]);
    const elsewhere = newFolder();
    const lost = await run(['token'], { DATA_DIR: elsewhere });
    expect(lost.errors)
      .to.match(/^There is no database in \S+: .*DATA_DIR/)
      .and.include(elsewhere);
    expect(existsSync(join(elsewhere, 'postgres'))).to.equal(false);
    const nobody = await run(['token', '--email', 'nobody@example.com'], { DATA_DIR: dataDir });
    expect(nobody).to.include({ code: 1, errors: 'Nobody here has the e-mail address nobody@example.com.\n' });
    service.child.kill('SIGTERM');
    await once(service.child, 'exit');
    const still = tokenIn((await run(['token'], { DATA_DIR: dataDir })).output);
    const again = await startService(dataDir);
    expect([await statusOf(again.url, third), await statusOf(again.url, still)]).to.deep.equal([200, 200]);
    expect(again.output()).to.include(`DATA_DIR=${dataDir} npx switchboard token`).and.not.include(third);
  });

  it('is told by the demo: a DATA_DIR that is not named, a service that is another one', async () => {
    const service = await ServiceProcess.start({ databaseUrl, env: { DEMO: 'true' } });
    expect(service.output).to.match(/^ {2}DATA_DIR=\/\S+ npm run demo$/m);
    const elsewhere = await run(['demo'], { DATA_DIR: newFolder() });
    expect(elsewhere.errors).to.match(/^No start has left its address in .*DATA_DIR/);
    const stranger = newToken('user', systemRandom);
    const unknown = await run(['demo', '--url', service.url, '--token', stranger], { DATA_DIR: newFolder() });
    expect(unknown.errors).to.match(/^The service at .* does not know this token: .*DATA_DIR/);
    expect(unknown.errors).not.to.include(stranger);
    await service.stop();
  });

  it('finds the demo in a folder of any name', () => {
    const folder = `/tmp/it's $HOME "here"`;
    const command = commandFor(folder, `${process.execPath} -p process.env.DATA_DIR`);
    expect(execSync(command, { encoding: 'utf8' }).trim()).to.equal(folder);
    expect(commandFor(defaultDataDir, 'npm run demo')).to.equal('npm run demo');
  });

  it('is told at Ctrl-C: what the end waits for, and that a second one ends at once', async () => {
    const service = await ServiceProcess.start({ databaseUrl, env: { LOG_LEVEL: 'info' } });
    const release = await holdLabels(databaseUrl);
    const waiting = service.post('labels', { title: 'waits' }).catch(() => null);
    await until(() => waitsForLock(databaseUrl));
    const ended = service.stop('SIGINT');
    await until(() =>
      service.output.includes('Stopping: waiting for 1 requests and 0 deliveries under way, 15 s at most.'),
    );
    expect(service.isRunning).to.equal(true);
    void service.stop('SIGINT');
    expect(await ended).to.deep.equal({ code: 1, signal: null });
    expect(service.output).to.include('ended at once by a second signal');
    await waiting;
    await release();
  });
});
