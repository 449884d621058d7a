import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import type { Socket } from 'node:net';
import { expect } from 'chai';
import { createAddressPolicy } from '../../src/outbound/addresses.ts';
import { createConnections } from '../../src/outbound/connections.ts';
import { Exchange } from '../../src/outbound/exchange.ts';
import type { OutboundHttp, OutboundHttpOptions } from '../../src/outbound/http.ts';
import { listenHttp, listenRaw, outbound, scriptedResolver } from './listeners.ts';
import type { Listener } from './listeners.ts';

const message = { headers: { 'content-type': 'application/json' }, body: '{"text":"é😀"}' };
const bodyLimit = 16_384;

describe('outbound HTTP', () => {
  const opened: { close: () => Promise<void> }[] = [];

  function way(options: Partial<OutboundHttpOptions> = {}): OutboundHttp {
    const http = outbound(options);
    opened.push(http);
    return http;
  }

  async function raw(answer: (socket: Socket) => void): Promise<Listener> {
    const listener = await listenRaw(answer);
    opened.unshift(listener);
    return listener;
  }

  async function server(handler: Parameters<typeof listenHttp>[0]): Promise<Listener> {
    const listener = await listenHttp(handler);
    opened.push(listener);
    return listener;
  }

  afterEach(async () => {
    for (const closable of opened.splice(0)) await closable.close();
  });

  it('posts the exact bytes and reports the answer', async () => {
    const seen: { method?: string; url?: string; body: string; headers: NodeJS.Dict<string | string[]> }[] = [];
    const listener = await server((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const { method, url, headers } = request;
        seen.push({ method: method!, url: url!, headers, body: Buffer.concat(chunks).toString() });
        response.writeHead(201, { 'x-request-id': 'r1', 'set-cookie': 'a=b', 'retry-after': '7' }).end('grüße\0');
      });
    });
    const result = await way().post(`http://127.0.0.1:${listener.port}/hook?a=b#c`, message);
    expect(result).to.deep.include({
      ok: true,
      status: 201,
      body: 'grüße\uFFFD',
      bodyCut: false,
      errorCode: null,
      errorDetail: null,
      remoteAddress: '127.0.0.1',
    });
    expect(result.headers).to.include({ 'retry-after': '7', 'x-request-id': 'r1' }).and.not.have.property('set-cookie');
    expect(seen[0]).to.include({ method: 'POST', url: '/hook?a=b', body: message.body });
    expect(seen[0]?.headers).to.include({
      'content-type': 'application/json',
      'accept-encoding': 'identity',
      host: `127.0.0.1:${listener.port}`,
    });
  });

  it('measures the phases of a call: those of a connection only where it is new', async () => {
    const listener = await server((_, response) => void setTimeout(() => response.end(), 30));
    const http = way();
    const first = await http.post(`http://localhost:${listener.port}/`, message);
    await sleep(30);
    const second = await http.post(`http://localhost:${listener.port}/`, message);
    expect(first.times).to.include({ tls: null });
    expect(first.times.dns).to.be.a('number');
    expect(first.times.connect).to.be.a('number');
    expect(first.times.firstByte).to.be.within(29, first.durationMs);
    expect(second.times).to.include({ dns: null, connect: null, tls: null });
    expect(second.times.firstByte).to.be.within(29, second.durationMs);
    const refused = await http.post('http://127.0.0.1:9/', message);
    expect(refused.times).to.deep.equal({ dns: null, connect: null, tls: null, firstByte: null });
  });

  it('calls with other methods, and reuses the connection', async () => {
    const listener = await server((request, response) => response.end(request.method));
    const http = way();
    for (const method of ['GET', 'PUT', 'DELETE', 'GET', 'PATCH', 'GET']) {
      const result = await http.request(`http://127.0.0.1:${listener.port}/`, { method, headers: {} });
      expect(result).to.include({ ok: true, body: method, remoteAddress: '127.0.0.1' });
    }
    // Two, not one: undici lets a socket rest for a turn of the event loop.
    expect(listener.connections()).to.be.at.most(2);
  });

  it('counts 2xx as success and nothing else', async () => {
    const listener = await server((request, response) => response.writeHead(Number(request.url?.slice(1))).end());
    const http = way();
    for (const status of [200, 201, 202, 204, 299]) {
      expect(await http.post(`http://127.0.0.1:${listener.port}/${status}`, message)).to.include({ ok: true, status });
    }
    for (const status of [300, 304, 400, 404, 410, 429, 500, 503, 599]) {
      expect(await http.post(`http://127.0.0.1:${listener.port}/${status}`, message)).to.include({ ok: false, status });
    }
  });

  it('cuts an endpoint that never answers at the deadline, and leaves no socket', async () => {
    const listener = await server(() => {});
    const http = way({ timeoutMs: 1_000 });
    const result = await http.post(`http://127.0.0.1:${listener.port}/`, message);
    expect(result).to.include({ ok: false, status: null, errorCode: 'timeout', remoteAddress: '127.0.0.1' });
    expect(result.durationMs).to.be.at.least(990);
    await settled(() => listener.open() === 0);
  });

  it('cuts headers that drip, at the deadline', async () => {
    const listener = await raw((socket) => drip(socket, `HTTP/1.1 200 OK\r\nx-slow: ${'s'.repeat(900)}\r\n\r\n`));
    const result = await way({ timeoutMs: 1_000 }).post(`http://127.0.0.1:${listener.port}/`, message);
    expect(result).to.include({ status: null, errorCode: 'timeout' });
    expect(result.durationMs).to.be.at.least(990);
  });

  it('keeps the status of a body that drips, and what came of it', async () => {
    const listener = await raw((socket) => {
      socket.write('HTTP/1.1 202 Accepted\r\ncontent-length: 5000\r\n\r\n');
      drip(socket, 'x'.repeat(5_000));
    });
    const result = await way({ timeoutMs: 1_000 }).post(`http://127.0.0.1:${listener.port}/`, message);
    expect(result).to.include({ ok: true, status: 202, errorCode: null, bodyCut: true });
    expect(result.body).to.match(/^x+$/);
    expect(result.durationMs).to.be.at.least(990);
    await settled(() => listener.open() === 0);
  });

  it('ignores any number of announcements before the answer', async () => {
    const listener = await raw((socket) => {
      socket.write('HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n'.repeat(50));
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok');
    });
    expect(await way().post(`http://127.0.0.1:${listener.port}/`, message)).to.include({ status: 200, body: 'ok' });
  });

  it('does not take an announcement for the answer', async () => {
    const listener = await raw((socket) => socket.write('HTTP/1.1 103 Early Hints\r\nretry-after: 9\r\n\r\n'));
    const result = await way({ timeoutMs: 300 }).post(`http://127.0.0.1:${listener.port}/`, message);
    expect(result).to.deep.include({ ok: false, status: null, errorCode: 'timeout', headers: {} });
  });

  it('refuses 30 KB of headers', async () => {
    const listener = await raw((socket) => socket.end(`HTTP/1.1 200 OK\r\nx-big: ${'b'.repeat(30_000)}\r\n\r\n`));
    const result = await way().post(`http://127.0.0.1:${listener.port}/`, message);
    expect(result).to.include({ status: null, errorCode: 'headers_overflow' });
  });

  it('reads 16 KB of a 100 MB answer and destroys the socket', async () => {
    let sent = 0;
    const listener = await server((_request, response) => {
      const more = (): void => {
        while (sent < 100_000_000 && !response.destroyed) {
          sent += 65_536;
          if (!response.write(Buffer.alloc(65_536, 'a'))) return void response.once('drain', more);
        }
      };
      more();
    });
    const before = process.memoryUsage().rss;
    const result = await way().post(`http://127.0.0.1:${listener.port}/`, message);
    expect(result).to.include({ ok: true, status: 200, bodyCut: true, errorCode: null });
    expect(result.body).to.equal('a'.repeat(bodyLimit));
    await settled(() => listener.open() === 0);
    expect(sent).to.be.below(20_000_000);
    expect(process.memoryUsage().rss - before).to.be.below(40_000_000);
  });

  it('takes an answer of exactly the limit whole, and one byte more cut', async () => {
    const listener = await server((request, response) => response.end('a'.repeat(Number(request.url?.slice(1)))));
    const http = way();
    const [whole, cut] = [
      await http.post(`http://127.0.0.1:${listener.port}/${bodyLimit}`, message),
      await http.post(`http://127.0.0.1:${listener.port}/${bodyLimit + 1}`, message),
    ];
    expect([whole.body.length, whole.bodyCut, cut.body.length, cut.bodyCut]).to.deep.equal([
      bodyLimit,
      false,
      bodyLimit,
      true,
    ]);
  });

  it('cuts between characters and stores no NUL', async () => {
    const listener = await server((_request, response) => response.end(`\0${'é'.repeat(bodyLimit)}`));
    const { body } = await way().post(`http://127.0.0.1:${listener.port}/`, message);
    expect(body).to.equal(`\uFFFD${'é'.repeat((bodyLimit - 2) / 2)}`);
  });

  it('never inflates a gzip bomb', async () => {
    const bomb = gzipSync(Buffer.alloc(50_000_000));
    const listener = await server((_request, response) =>
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb),
    );
    const before = process.memoryUsage().rss;
    const result = await way().post(`http://127.0.0.1:${listener.port}/`, message);
    expect(result).to.include({ ok: true, status: 200, body: '', bodyCut: true });
    expect(process.memoryUsage().rss - before).to.be.below(40_000_000);
  });

  it('tells refused, reset and garbage apart', async () => {
    const listener = await server(() => {});
    await listener.close();
    opened.splice(opened.indexOf(listener), 1);
    const reset = await raw((socket) => socket.resetAndDestroy());
    const closing = await raw((socket) => socket.end());
    const garbage = await raw((socket) => socket.end('220 smtp.example ESMTP\r\n'));
    const upgrade = await raw((socket) =>
      socket.end('HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'),
    );
    const chunked = await raw((socket) => socket.end('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n'));
    const http = way();
    const call = (port: number) => http.post(`http://127.0.0.1:${port}/`, message);
    expect(await call(listener.port)).to.include({
      errorCode: 'connect',
      errorDetail: 'ECONNREFUSED',
      remoteAddress: null,
    });
    expect(await call(reset.port)).to.include({ errorCode: 'reset' });
    expect(await call(closing.port)).to.include({ errorCode: 'reset' });
    expect((await call(garbage.port)).errorCode).to.equal('bad_response');
    expect((await call(upgrade.port)).errorCode).to.be.oneOf(['reset', 'bad_response']);
    expect(await call(chunked.port)).to.include({ ok: true, status: 200, bodyCut: true });
  });

  it('names what DNS said', async () => {
    const http = way({ resolver: scriptedResolver([]) });
    expect(await http.post('http://missing.test/', message)).to.include({ errorCode: 'dns', errorDetail: 'ENOTFOUND' });
  });

  it('cuts a name that does not resolve at the deadline', async () => {
    const http = way({ timeoutMs: 300, resolver: { resolve: () => new Promise(() => {}) } });
    const result = await http.post('http://slow.test/', message);
    expect(result).to.include({ errorCode: 'timeout', remoteAddress: null });
    expect(result.durationMs).to.be.at.least(290);
  });

  it('tries the next address when the first refuses', async () => {
    const listener = await server((_request, response) => response.end('second'));
    const http = way({ allowCidrs: ['127.0.0.0/8'], resolver: scriptedResolver(['127.0.0.9', '127.0.0.1']) });
    const result = await http.post(`http://two.test:${listener.port}/`, message);
    expect(result).to.include({ ok: true, body: 'second', remoteAddress: '127.0.0.1' });
  });

  it('refuses headers that would change the request itself', async () => {
    const listener = await server((_request, response) => response.end());
    const http = way();
    const refused: Record<string, string>[] = [
      { Host: 'other.test' },
      { 'transfer-encoding': 'chunked' },
      { 'x-a': 'b\r\nx-c: d' },
      { 'x a': 'b' },
    ];
    for (const headers of refused) {
      const result = await http.post(`http://127.0.0.1:${listener.port}/`, {
        headers,
        body: '',
      });
      expect(result).to.include({ ok: false, errorCode: 'bad_request' });
    }
    expect(listener.connections()).to.equal(0);
  });

  it('is called off by a signal, before and during the call', async () => {
    const listener = await server(() => {});
    const url = `http://127.0.0.1:${listener.port}/`;
    const http = way();
    expect(await http.post(url, { ...message, signal: AbortSignal.abort() })).to.include({ errorCode: 'aborted' });
    expect(listener.connections()).to.equal(0);
    const result = await http.post(url, { ...message, signal: AbortSignal.timeout(100) });
    expect(result).to.include({ errorCode: 'aborted' });
  });

  it('never sends a request that waited for a connection beyond its deadline', async () => {
    const bodies: string[] = [];
    const listener = await server((request) => {
      request.on('data', (chunk: Buffer) => bodies.push(chunk.toString()));
    });
    const connections = createConnections({
      policy: createAddressPolicy(['127.0.0.1/32']),
      resolver: scriptedResolver([]),
      timeoutMs: 2_000,
      connectionsPerOrigin: 2,
    });
    const url = new URL(`http://127.0.0.1:${listener.port}/`);
    const post = (body: string, timeoutMs: number) => {
      const exchange = new Exchange({ timeoutMs, maxResponseBytes: 10 });
      connections.send(url, { method: 'POST', headers: {}, body }, exchange);
      return exchange.result;
    };
    const [long, short] = [2_000, 1_000];
    const held = ['a', 'b'].map((body) => post(body, long));
    const results = await Promise.all([...held, ...['c', 'd', 'e'].map((body) => post(body, short))]);
    expect(results.map((result) => result.errorCode)).to.deep.equal(Array(5).fill('timeout'));
    expect(results.filter((result) => result.remoteAddress === null)).to.have.length(3);
    await pause(200);
    expect(bodies.toSorted()).to.deep.equal(['a', 'b']);
    expect(listener.open()).to.equal(0);
    await connections.close();
  });

  it('keeps at most the given connections to one origin', async () => {
    const listener = await server((_request, response) => void setTimeout(() => response.end(), 5));
    const http = way({ connectionsPerOrigin: 3 });
    const calls = Array.from({ length: 60 }, () => http.post(`http://127.0.0.1:${listener.port}/`, message));
    expect((await Promise.all(calls)).every((result) => result.ok)).to.equal(true);
    expect(listener.connections()).to.be.at.most(3);
  });

  it('waits for calls under way when closed, then refuses', async () => {
    const listener = await server((_request, response) => void setTimeout(() => response.end('late'), 200));
    const http = outbound();
    const call = http.post(`http://127.0.0.1:${listener.port}/`, message);
    await http.close();
    expect(await call).to.include({ ok: true, body: 'late' });
    expect(await http.post(`http://127.0.0.1:${listener.port}/`, message)).to.include({ errorCode: 'aborted' });
    await settled(() => listener.open() === 0);
  });

  it('forgets an origin some time after its last call, however that ended', async () => {
    const hanging = await server(() => {});
    const healthy = await server((_request, response) => response.end());
    const connections = createConnections({
      policy: createAddressPolicy(['127.0.0.0/8']),
      resolver: scriptedResolver(['127.0.0.1']),
      timeoutMs: 3_000,
      connectionsPerOrigin: 2,
      idleMs: 50,
    });
    const hosts = Array.from(
      { length: 20 },
      (_, index) => `name-${index}.test:${index % 2 === 0 ? hanging.port : healthy.port}`,
    );
    const results = hosts.map((host) => {
      const exchange = new Exchange({ timeoutMs: 3_000, maxResponseBytes: 10 });
      connections.send(new URL(`http://${host}/`), { method: 'POST', headers: {}, body: 'x' }, exchange);
      return exchange.result;
    });
    expect(connections.origins()).to.equal(20);
    expect((await Promise.all(results)).filter((result) => result.ok)).to.have.length(10);
    await settled(() => connections.origins() === 0 && hanging.open() + healthy.open() === 0);
    await connections.close();
  });

  it('lets a call end well that takes longer than connections are kept idle', async () => {
    const idleMs = 20;
    const listener = await server((request, response) => {
      request.resume().on('end', () => void pause(idleMs * 10).then(() => response.end('late')));
    });
    const connections = createConnections({
      policy: createAddressPolicy(['127.0.0.1/32']),
      resolver: scriptedResolver([]),
      timeoutMs: 20_000,
      connectionsPerOrigin: 2,
      idleMs,
    });
    const exchange = new Exchange({ timeoutMs: 20_000, maxResponseBytes: 10 });
    const url = new URL(`http://127.0.0.1:${listener.port}/`);
    connections.send(url, { method: 'POST', headers: {}, body: 'x' }, exchange);
    expect(await exchange.result).to.include({ ok: true, body: 'late' });
    await settled(() => connections.origins() === 0);
    expect(connections.origins()).to.equal(0);
    await connections.close();
  });
});

function drip(socket: Socket, text: string): void {
  let index = 0;
  const timer = setInterval(() => socket.write(text.charAt(index++)), 20);
  socket.on('close', () => clearInterval(timer));
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}

async function settled(condition: () => boolean): Promise<void> {
  for (let round = 0; round < 3_000 && !condition(); round += 1) await pause(10);
  expect(condition()).to.equal(true);
}
