import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { listenRaw, outbound } from './listeners.ts';

const serverKeepsMs = 2_000;

describe('an unused connection', () => {
  it('is closed before a server that keeps it for two seconds, and says nothing of it, closes it', async () => {
    const { promise: outcome, resolve } = Promise.withResolvers<string>();
    const listener = await listenRaw((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n');
      socket.on('end', () => resolve('closed by the client'));
      // After a standstill both clocks ring at once: what has been sent until then is read first.
      setTimeout(() => void sleep(500).then(() => resolve('closed by the server')), serverKeepsMs);
    });
    const http = outbound();
    const message = { headers: { 'content-type': 'application/json' }, body: '{}' };
    expect(await http.post(`http://127.0.0.1:${listener.port}/`, message)).to.include({ ok: true });
    expect(await outcome).to.equal('closed by the client');
    await http.close();
    await listener.close();
  });
});
