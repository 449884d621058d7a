import { expect } from 'chai';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import Koa from 'koa';
import { SlowReaders, type SendBounds } from '../../src/http/server/limits/slow-readers.ts';
import { TestApp } from '../support/app.ts';
import { Widget } from '../support/widget.ts';

const megabyte = 1024 * 1024;
const shortBytes = 60_000;

/** Bytes that this process holds, without garbage. */
function heldBytes(): number {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  const { external, heapUsed } = process.memoryUsage();
  return external + heapUsed;
}

type Headers = Readonly<Record<string, string>>;

/** Sends so many equal GETs at once, and reads nothing. */
function ask(url: string, headers: Headers = {}, requests = 1): Socket {
  const { hostname, port, pathname, search } = new URL(url);
  const socket = connect(Number(port), hostname).on('error', () => undefined);
  const lines = Object.entries({ host: 'x', ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`GET ${pathname}${search} HTTP/1.1\r\n${lines.join('')}\r\n`.repeat(requests));
  return socket;
}

/** Sends a GET and reads the head of its answer, and nothing more. */
async function readHead(url: string, headers: Headers = {}): Promise<Socket> {
  const socket = ask(url, headers);
  await once(socket, 'readable');
  const head = (socket.read(12) as Buffer | null)?.toString();
  expect(head).to.equal('HTTP/1.1 200');
  return socket;
}

/** The bytes that come over a connection until its end; resolves also where it is cut. */
async function readOn(socket: Socket, pauseMs = 0): Promise<number> {
  let bytes = 0;
  const ended = new Promise((resolve) => socket.once('close', resolve));
  const reading = (async () => {
    for await (const piece of socket as AsyncIterable<Buffer>) {
      bytes += piece.length;
      if (pauseMs > 0) await sleep(pauseMs);
    }
  })().catch(() => undefined);
  await Promise.race([ended, reading]);
  return bytes;
}

describe('clients that do not read their answers', function () {
  this.timeout(120_000);
  const open: Socket[] = [];
  afterEach(() => open.splice(0).forEach((socket) => socket.destroy()));

  describe('of a server', () => {
    const answerBytes = 16 * megabyte;
    let server: Server;
    let url: string;

    before(() => listen({ stallMs: 2_000, totalBytes: Infinity, addressBytes: 4 * answerBytes }));
    after((done) => void server.close(done));

    async function listen(bounds: SendBounds): Promise<void> {
      const readers = new SlowReaders(bounds);
      const koa = new Koa();
      koa.silent = true;
      koa.use(readers.middleware);
      koa.use((ctx) => {
        if (ctx.path === '/short') {
          ctx.body = 'x'.repeat(shortBytes);
          return;
        }
        ctx.set('connection', 'close');
        ctx.body = ctx.path === '/file' ? Buffer.alloc(answerBytes) : 'x'.repeat(answerBytes);
      });
      const handle = koa.callback();
      server = createServer((request, response) => void handle(request, response));
      readers.watch(server);
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    }

    const connections = () => new Promise<number>((resolve) => server.getConnections((_, count) => resolve(count)));
    const untilConnections = async (most: number, least = 0) => {
      for (let count = await connections(); count > most || count < least; count = await connections()) await sleep(50);
    };

    for (const path of ['/text', '/file']) {
      it(`are cut when they take nothing for a while: ${path}`, async () => {
        open.push(await readHead(url + path), await readHead(url + path));
        await untilConnections(0);
      });

      it(`are not when they take a little again and again: ${path}`, async () => {
        const socket = await readHead(url + path);
        open.push(socket);
        expect(await readOn(socket, 15)).to.be.above(answerBytes);
      });
    }

    it('are cut when their address has too much to read, the slowest first, and nobody who reads', async () => {
      for (let count = 0; count < 4; count += 1) open.push(await readHead(url));
      const reader = await readHead(url);
      open.push(reader);
      const read = readOn(reader, 2);
      await untilConnections(4);
      expect(await read).to.be.above(answerBytes);
    });

    it('are cut when many short answers wait on one connection', async () => {
      await new Promise((resolve) => server.close(resolve));
      await listen({ stallMs: Infinity, totalBytes: Infinity, addressBytes: megabyte });
      const before = heldBytes();
      open.push(ask(`${url}/short`, {}, 300));
      await untilConnections(1, 1);
      await untilConnections(0);
      while (heldBytes() - before > megabyte) await sleep(50);
    });
  });

  describe('of a visitor', () => {
    let app: TestApp;
    let widget: Widget;

    before(async () => {
      app = await TestApp.start({ engine: false });
      widget = await Widget.create(app);
    });

    after(() => app.stop());

    it('take no memory from the service, and no answer from others', async () => {
      const { headers } = await widget.enter();
      expect((await widget.say('Hello', headers)).status).to.equal(201);
      await app.query(
        `INSERT INTO messages (account_id, conversation_id, message_type, content, content_type, content_attributes, private,
           status, sender_kind, created_at, updated_at)
         SELECT 1, (SELECT max(id) FROM conversations), 'incoming', repeat('字', 150000), 'text', '{}', false, 'sent', 'system',
           now() + n * interval '1 s', now() FROM generate_series(1, 100) n`,
      );
      const before = heldBytes();
      const url = `${app.url}/public/api/v1/inboxes/${widget.identifier}/messages?after=1`;
      for (let count = 0; count < 60; count += 1) open.push(await readHead(url, headers));
      expect((await app.get('labels')).status).to.equal(200);
      while (heldBytes() - before > 56 * megabyte) await sleep(100);
    });
  });
});
