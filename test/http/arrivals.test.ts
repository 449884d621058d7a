import { expect } from 'chai';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Arrivals } from '../../src/http/server/limits/arrivals.ts';
import { answerClientErrors } from '../../src/http/server/refusals/client-errors.ts';
import { systemRandom } from '../../src/lib/ports.ts';

const bounds = { requestMs: 1_000, uploadMs: 4_000, bytesPerSecond: 200 };

/** The status of the answer that comes, and after how long. */
async function answerOn(socket: Socket): Promise<{ status: number; ms: number }> {
  const from = performance.now();
  const [bytes] = (await once(socket, 'data')) as [Buffer];
  return { status: Number(bytes.toString().split(' ')[1]), ms: performance.now() - from };
}

describe('requests that arrive slowly', () => {
  let server: Server;
  const open: Socket[] = [];

  before((done) => {
    const arrivals = new Arrivals(bounds);
    server = createServer({ requestTimeout: 0 }, (request, response) => {
      if (request.url === '/upload') arrivals.allowUpload(request);
      request.on('end', () => response.end('x')).resume();
    });
    answerClientErrors(server, systemRandom);
    arrivals.watch(server, 50);
    server.listen(0, '127.0.0.1', done);
  });

  afterEach(() => open.splice(0).forEach((socket) => socket.destroy()));
  after((done) => void server.close(done));

  /** Sends a body piece by piece, at 100 ms each; without an end where `pieces` is Infinity. */
  async function drip(path: string, { bytes, pieces }: { bytes: number; pieces: number }) {
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => undefined);
    open.push(socket);
    await once(socket, 'connect');
    const length = pieces === Infinity ? 1_000_000 : bytes * pieces;
    socket.write(`POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-length: ${length}\r\n\r\n`);
    const answer = answerOn(socket);
    for (let sent = 0; sent < pieces && socket.writable; sent += 1) {
      socket.write('x'.repeat(bytes));
      if ((await Promise.race([answer, sleep(100)])) !== undefined) break;
    }
    return answer;
  }

  it('have their time, and no more', async () => {
    expect((await drip('/other', { bytes: 100, pieces: 2 })).status).to.equal(200);
    const { status, ms } = await drip('/other', { bytes: 100, pieces: Infinity });
    expect(status).to.equal(408);
    expect(ms).to.be.above(bounds.requestMs - 50);
  });

  it('have more of it with an upload that goes on, but not without end', async () => {
    const { status, ms } = await drip('/upload', { bytes: 500, pieces: 25 });
    expect(status).to.equal(200);
    expect(ms).to.be.above(2 * bounds.requestMs);
    const endless = await drip('/upload', { bytes: 500, pieces: Infinity });
    expect(endless.status).to.equal(408);
    expect(endless.ms).to.be.above(bounds.uploadMs - 100);
  });

  it('are cut when their upload stops, or trickles', async () => {
    for (const bytes of [0, 5]) {
      const { status, ms } = await drip('/upload', { bytes, pieces: Infinity });
      expect(status, `${bytes} bytes at a time`).to.equal(408);
      expect(ms).to.be.within(bounds.requestMs - 50, bounds.uploadMs);
    }
  });
});
