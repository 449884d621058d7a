import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { Webhook } from 'standardwebhooks';
import { deleteOldEvents } from '../../src/domain/upkeep/retention.ts';
import { writeServicePass } from '../../src/lib/service-pass.ts';
import { adminToken, TestApp } from '../support/app.ts';
import { Receiver } from '../support/receiver.ts';

const launcher = fileURLToPath(new URL('../../bin/switchboard.js', import.meta.url));

const nameOf = (line: string): string => (JSON.parse(line) as { payload: { name: string } }).payload.name;

/** A way to the service that can be cut. */
class Gate {
  readonly #to: URL;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #isOpen = true;

  constructor(url: string) {
    this.#to = new URL(url);
    this.#server = createServer((socket) => {
      if (!this.#isOpen) {
        socket.destroy();
        return;
      }
      const through = connect(Number(this.#to.port), this.#to.hostname);
      for (const one of [socket, through]) {
        this.#sockets.add(one);
        one.on('error', () => undefined).on('close', () => this.#sockets.delete(one));
      }
      socket.pipe(through).pipe(socket);
    });
  }

  async open(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Breaks what goes through, and lets nothing in. */
  shut(): void {
    this.#isOpen = false;
    for (const socket of this.#sockets) socket.destroy();
  }

  reopen(): void {
    this.#isOpen = true;
  }

  async close(): Promise<void> {
    this.shut();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

describe('switchboard listen', function () {
  this.timeout(120_000);
  let app: TestApp;
  let receiver: Receiver;
  let folder: string;
  let child: ChildProcess | null = null;

  before(async () => {
    app = await TestApp.start();
    receiver = await Receiver.start();
    folder = mkdtempSync(join(tmpdir(), 'switchboard-listen-'));
    await writeServicePass(folder, { url: app.url, token: adminToken });
  });

  afterEach(async () => {
    if (child?.exitCode === null && child.kill('SIGTERM')) await once(child, 'exit');
    child = null;
  });

  after(async () => {
    await receiver.close();
    await app.stop();
    rmSync(folder, { recursive: true });
  });

  function listen(...args: string[]) {
    const env = { PATH: process.env['PATH'] ?? '', DATA_DIR: folder };
    const process_ = spawn(process.execPath, [launcher, 'listen', ...args], { env, cwd: folder });
    const told = { output: '', errors: '' };
    process_.stdout.on('data', (text) => (told.output += String(text)));
    process_.stderr.on('data', (text) => (told.errors += String(text)));
    child = process_;
    return { told, process: process_ };
  }

  /** Commits contacts until the listener has told of one: it begins with what is committed while it listens. */
  async function until(isTold: () => boolean): Promise<void> {
    await app.eventually(async () => {
      if (!isTold()) await app.post('contacts', { name: 'Customer' });
      return isTold();
    });
  }

  it('prints events, and forwards them as webhooks come, signed with the secret that it prints', async () => {
    const kept = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
    const { told } = listen('--forward', `${receiver.url}/hook`, '--secret', kept, '--json');
    await until(() => told.output.includes('\n') && receiver.received.length > 0);
    const event = JSON.parse(told.output.split('\n')[0]!) as {
      event: string;
      forwarded: { status: number };
      payload: object;
    };
    expect([event.event, event.forwarded.status]).to.deep.equal(['contact_created', 200]);
    const secret = /whsec_\S+/.exec(told.errors)![0];
    expect(secret).to.equal(kept);
    const [arrived] = receiver.received;
    expect(new Webhook(secret).verify(arrived!.text, arrived!.headers as Record<string, string>)).to.deep.equal(
      event.payload,
    );
  });

  it('prints lines for people, of the events that are asked for, and says why nothing answers the forwarding', async () => {
    const { told } = listen('--types', 'contact_created', '--forward', 'http://127.0.0.1:9/');
    await until(() => told.output.includes('\n'));
    expect(told.output.split('\n')[0]).to.match(/^\d\d:\d\d:\d\d {2}contact_created {2}#\d+ {2}→ \S.* in \d+ ms$/);
  });

  it('comes back after a break, and misses nothing of it', async () => {
    const gate = new Gate(app.url);
    const { told, process: child_ } = listen('--url', await gate.open(), '--token', adminToken, '--json');
    const named = () => told.output.split('\n').flatMap((line) => (line === '' ? [] : [nameOf(line)]));
    await until(() => named().includes('Customer'));
    gate.shut();
    for (const name of ['First', 'Second']) await app.post('contacts', { name });
    await app.eventually(async () => told.errors.includes('coming back'));
    gate.reopen();
    await app.eventually(async () => named().includes('Second'));
    child_.kill('SIGTERM');
    expect(named().filter((name) => name !== 'Customer')).to.deep.equal(['First', 'Second']);
    await gate.close();
  });

  it('tells that events are missing after a break that was longer than they are kept, and goes on', async () => {
    const gate = new Gate(app.url);
    const { told } = listen('--url', await gate.open(), '--token', adminToken, '--json');
    const named = () => told.output.split('\n').flatMap((line) => (line === '' ? [] : [nameOf(line)]));
    await until(() => named().includes('Customer'));
    gate.shut();
    await app.post('contacts', { name: 'Not kept' });
    await app.eventually(async () => (await app.query('SELECT FROM unplaced_events LIMIT 1')).length === 0);
    await app.query(`UPDATE events SET created_at = now() - interval '40 days'`);
    expect(await deleteOldEvents(app.app.database, 30)).to.be.greaterThan(0);
    await app.eventually(async () => told.errors.includes('coming back'), 30_000);
    gate.reopen();
    await app.eventually(async () => told.errors.includes('are not kept any more'), 60_000);
    const before = named().length;
    await until(() => named().length > before);
    expect(named()).not.to.include('Not kept');
    await gate.close();
  });

  it('waits for no server that hangs longer than a delivery would, and goes on', async () => {
    const hanging = await Receiver.start();
    hanging.answerWith((_, response) => {
      if (hanging.received.length > 1) response.end();
    });
    const { told } = listen('--forward', hanging.url, '--json');
    await until(() => hanging.received.length > 0);
    await app.post('contacts', { name: 'Behind' });
    await app.eventually(async () => told.output.split('\n').length > 2, 60_000);
    const [first, second] = told.output.split('\n').map((line) => line && JSON.parse(line));
    expect(first.forwarded).to.include({ status: null, error: 'no answer within 10000 ms' });
    expect(second.forwarded.status).to.equal(200);
    await hanging.close();
  });

  it('ends with the sentence of the service when that refuses', async () => {
    const { told, process: ending } = listen('--types', 'nothing_like_it');
    const [code] = (await once(ending, 'exit')) as [number];
    expect([code, told.errors.includes('There is no event `nothing_like_it`')]).to.deep.equal([1, true]);
  });
});
