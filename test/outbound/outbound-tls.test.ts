import { createServer } from 'node:https';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import type { TLSSocket } from 'node:tls';
import { expect } from 'chai';
import { selfSigned } from './certificate.ts';
import type { Certificate } from './certificate.ts';
import { listen, listenHttp, listenRaw, outbound, scriptedResolver } from './listeners.ts';
import type { Listener } from './listeners.ts';

const message = { headers: {}, body: '{}' };

describe('outbound HTTP over TLS', () => {
  const trustedBefore = getCACertificates('default');
  const good = selfSigned('hooks.test');
  const expired = selfSigned('hooks.test', 2021);
  const stranger = selfSigned('hooks.test');
  const listeners: Listener[] = [];
  const names: unknown[] = [];

  async function secureServer({ cert, key }: Certificate): Promise<number> {
    const server = createServer({ cert, key }, (request, response) => {
      names.push((request.socket as TLSSocket).servername);
      response.end('secure');
    });
    const listener = await listen(server);
    listeners.push(listener);
    return listener.port;
  }

  async function call(host: string, port: number) {
    const http = outbound({ resolver: scriptedResolver(['127.0.0.1']) });
    const result = await http.post(`https://${host}:${port}/`, message);
    await http.close();
    return result;
  }

  before(() => setDefaultCACertificates([...trustedBefore, good.cert, expired.cert]));

  after(async () => {
    setDefaultCACertificates(trustedBefore);
    await Promise.all(listeners.map((listener) => listener.close()));
  });

  it('connects to the judged address and checks the certificate against the name', async () => {
    const result = await call('hooks.test', await secureServer(good));
    expect(result).to.include({ ok: true, status: 200, body: 'secure', remoteAddress: '127.0.0.1' });
    expect(names).to.deep.equal(['hooks.test']);
  });

  it('refuses a certificate for another name', async () => {
    const result = await call('other.test', await secureServer(good));
    expect(result).to.include({ status: null, errorCode: 'tls', errorDetail: 'ERR_TLS_CERT_ALTNAME_INVALID' });
  });

  it('refuses an expired certificate', async () => {
    const result = await call('hooks.test', await secureServer(expired));
    expect(result).to.include({ errorCode: 'tls', errorDetail: 'CERT_HAS_EXPIRED' });
  });

  it('refuses a certificate that nobody vouches for', async () => {
    const result = await call('hooks.test', await secureServer(stranger));
    expect(result).to.include({ errorCode: 'tls', errorDetail: 'DEPTH_ZERO_SELF_SIGNED_CERT' });
  });

  it('refuses a certificate when the URL names an address that it does not name', async () => {
    const result = await call('127.0.0.1', await secureServer(good));
    expect(result).to.include({ errorCode: 'tls', errorDetail: 'ERR_TLS_CERT_ALTNAME_INVALID' });
  });

  it('says tls when the server speaks plain HTTP', async () => {
    const plain = await listenHttp((_request, response) => response.end());
    listeners.push(plain);
    expect(await call('hooks.test', plain.port)).to.include({ errorCode: 'tls' });
  });

  it('cuts a handshake that never ends at the deadline', async () => {
    const silent = await listenRaw(() => {});
    listeners.push(silent);
    const http = outbound({ timeoutMs: 300 });
    const result = await http.post(`https://127.0.0.1:${silent.port}/`, message);
    expect(result).to.include({ errorCode: 'timeout', remoteAddress: null });
    expect(result.durationMs).to.be.at.least(290);
    await http.close();
  });

  it('judges names before any TLS is spoken', async () => {
    const port = await secureServer(good);
    const http = outbound({ allowCidrs: [], resolver: scriptedResolver(['127.0.0.1']) });
    expect(await http.post(`https://hooks.test:${port}/`, message)).to.include({ errorCode: 'blocked_address' });
    expect(listeners.at(-1)?.connections()).to.equal(0);
    await http.close();
  });
});
