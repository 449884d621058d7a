import { promisify } from 'node:util';
import { expect } from 'chai';
import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { Socket, type AddressInfo } from 'node:net';
import { Connections } from '../../src/http/server/limits/connections.ts';
import { TestApp } from '../support/app.ts';
import { rawRequest } from '../support/raw-http.ts';

const request = 'GET / HTTP/1.1\r\nhost: x\r\n\r\n';

async function connect(port: number, from = '127.0.0.1'): Promise<Socket> {
  const socket = new Socket().on('error', () => undefined).resume();
  socket.connect({ port, host: '127.0.0.1', localAddress: from });
  await once(socket, 'connect');
  return socket;
}

/** Whether the connection answers a request, or is closed. */
async function answers(socket: Socket): Promise<boolean> {
  if (socket.destroyed) return false;
  const answer = Promise.race([once(socket, 'data').then(() => true), once(socket, 'close').then(() => false)]);
  socket.write(request);
  return answer;
}

describe('connections', () => {
  let server: Server;
  let connections: Connections;
  let port: number;
  const held: ServerResponse[] = [];
  const sockets: Socket[] = [];

  async function open(from?: string): Promise<Socket> {
    const socket = await connect(port, from);
    sockets.push(socket);
    return socket;
  }

  /** One that has a request which is answered only when the test says so. */
  async function openBusy(from?: string): Promise<Socket> {
    const count = held.length;
    const socket = await open(from);
    socket.write(request.replace('GET /', 'GET /held'));
    while (held.length === count) await new Promise((resolve) => setTimeout(resolve, 5));
    return socket;
  }

  beforeEach(async () => {
    server = createServer(({ url }, response) => {
      if (url === '/held') held.push(response);
      else response.end('x');
    });
    connections = new Connections(server, { total: 4, perAddress: 3 });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    ({ port } = server.address() as AddressInfo);
  });

  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy();
    held.splice(0);
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });

  it('of one address beyond its share cost that address its longest idle one', async () => {
    const other = await open('127.0.0.2');
    const [first, second, third] = [await open(), await open(), await open()];
    // What was used last is idle for the shortest time.
    expect(await answers(first)).to.equal(true);
    const fourth = await open();
    expect(await answers(fourth)).to.equal(true);
    expect(await Promise.all([first, second, third, other].map(answers))).to.deep.equal([true, false, true, true]);
  });

  it('beyond the bound for all cost whoever has been idle for longest', async () => {
    const oldest = await open('127.0.0.2');
    const others = [await open('127.0.0.3'), await open('127.0.0.4'), await open('127.0.0.5')];
    const newcomer = await open('127.0.0.6');
    expect(await answers(newcomer)).to.equal(true);
    expect(await answers(oldest)).to.equal(false);
    expect(await Promise.all(others.map(answers))).to.deep.equal([true, true, true]);
  });

  it('that are all busy are left alone: the newcomer is turned away, and let in once one has its answer', async () => {
    const busy = [await openBusy('127.0.0.2'), await openBusy('127.0.0.3'), await openBusy(), await openBusy()];
    expect(connections.busy).to.equal(4);
    expect(await answers(await open('127.0.0.6'))).to.equal(false);
    held[0]?.end('x');
    await once(busy[0]!, 'data');
    expect(await answers(await open('127.0.0.6'))).to.equal(true);
    expect(busy.slice(1).every((socket) => !socket.destroyed)).to.equal(true);
  });

  it('are counted to their end: a thousand that came and went take no room', async () => {
    for (let count = 0; count < 1000; count += 1) (await connect(port)).destroy();
    const left = () => promisify(server.getConnections.bind(server))();
    while ((await left()) > 0) await new Promise((resolve) => setTimeout(resolve, 5));
    const three = [await open(), await open(), await open()];
    expect(await Promise.all(three.map(answers))).to.deep.equal([true, true, true]);
    expect(connections.busy).to.equal(0);
  });
});

describe('a crowd of idle connections from one address', () => {
  it('locks nobody out of the service', async () => {
    const app = await TestApp.start({ engine: false, config: { connections: 50, connectionsPerAddress: 20 } });
    const port = Number(new URL(app.url).port);
    const crowd: Socket[] = [];
    for (let count = 0; count < 200; count += 1) crowd.push(await connect(port, '127.0.0.9'));
    expect((await app.get('labels')).status).to.equal(200);
    const open = crowd.filter((socket) => !socket.destroyed);
    expect(open).to.have.lengthOf(20);
    for (const socket of crowd) socket.destroy();
    await app.stop();
  });
});

describe('requests that arrive together on one connection', () => {
  let app: TestApp;

  before(async () => {
    app = await TestApp.start({ engine: false });
  });
  after(() => app.stop());

  async function send(requests: number): Promise<Socket> {
    const body = '{"name":"Crowd"}';
    const headers = ['content-type: application/json', `content-length: ${body.length}`];
    const socket = await connect(Number(new URL(app.url).port));
    socket.write(rawRequest('POST /api/v1/accounts/1/contacts HTTP/1.1', headers, body).repeat(requests));
    return socket;
  }

  const created = () => app.query('SELECT FROM contacts');

  it('are answered one after the other', async () => {
    const socket = await send(100);
    await app.eventually(async () => (await created()).length === 100);
    expect(socket.destroyed).to.equal(false);
    socket.destroy();
  });

  it('close it when more wait for answers than may, and none beyond is begun', async () => {
    await once(await send(300), 'close');
    expect((await app.get('labels')).status).to.equal(200);
    expect(await created()).to.have.lengthOf.below(100 + 102);
  });
});
