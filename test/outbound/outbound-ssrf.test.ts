import { expect } from 'chai';
import type { OutboundHttp } from '../../src/outbound/http.ts';
import { listenHttp, outbound, scriptedResolver } from './listeners.ts';
import type { Listener } from './listeners.ts';
import { forbiddenHosts, forbiddenUrls, globalAddresses } from './ssrf-corpus.ts';

const message = { headers: { 'content-type': 'application/json' }, body: '{}' };

describe('outbound HTTP and forbidden addresses', () => {
  let canary: Listener;
  let guarded: OutboundHttp;

  before(async () => {
    canary = await listenHttp((_request, response) => response.end('caught'), '::');
    guarded = outbound({ allowCidrs: [], timeoutMs: 1_000 });
  });

  after(async () => {
    await guarded.close();
    await canary.close();
  });

  it('has a canary that would be reached by each disguise, were it not refused', async () => {
    const open = outbound({ allowCidrs: ['0.0.0.0/0', '::/0'] });
    const reachable = ['127.0.0.1', '0x7f.1', '2130706433', '0', 'localhost', '１２７.０.０.１'];
    for (const host of reachable) {
      expect(await open.post(`http://${host}:${canary.port}/`, message), host).to.include({
        status: 200,
        body: 'caught',
      });
    }
    await open.close();
  });

  for (const host of forbiddenHosts) {
    it(`refuses the host ${host}`, async () => {
      const before = canary.connections();
      const url = `http://${host}:${canary.port}/`;
      expect(await guarded.post(url, message)).to.include({
        ok: false,
        errorCode: 'blocked_address',
        remoteAddress: null,
      });
      expect(await guarded.checkUrl(url, { httpsOnly: false })).to.include({ rule: 'address' });
      expect(canary.connections()).to.equal(before);
    });
  }

  for (const form of forbiddenUrls) {
    it(`refuses the URL ${JSON.stringify(form)}`, async () => {
      const before = canary.connections();
      const url = form.replaceAll('PORT', String(canary.port));
      const result = await guarded.post(url, message);
      expect(result.errorCode).to.be.oneOf(['blocked_address', 'bad_url']);
      expect(await guarded.checkUrl(url, { httpsOnly: false })).not.to.equal(null);
      expect(canary.connections()).to.equal(before);
    });
  }

  it('refuses every forbidden address as the answer of DNS, alone and beside a global one', async () => {
    const before = canary.connections();
    const literals = forbiddenHosts.map(
      (host) => URL.parse(`http://${host}/`)?.hostname.replaceAll(/[[\]]/g, '') ?? '',
    );
    for (const address of literals.filter((text) => !text.includes('localhost'))) {
      for (const records of [[address], ['8.8.8.8', address], [address, '8.8.8.8'], ['2606:4700::1111', address]]) {
        const http = outbound({ allowCidrs: [], resolver: scriptedResolver(records) });
        const url = `http://name.test:${canary.port}/`;
        expect(await http.post(url, message), records.join()).to.include({
          errorCode: 'blocked_address',
          status: null,
        });
        expect(await http.checkUrl(url, { httpsOnly: false })).to.include({ rule: 'address' });
        await http.close();
      }
    }
    expect(canary.connections()).to.equal(before);
  });

  it('refuses a name that was public when registered and is private when called', async () => {
    const before = canary.connections();
    const resolver = scriptedResolver(['8.8.8.8'], ['127.0.0.1']);
    const http = outbound({ allowCidrs: [], resolver });
    const url = `http://rebind.test:${canary.port}/`;
    expect(await http.checkUrl(url, { httpsOnly: false })).to.equal(null);
    expect(await http.post(url, message)).to.include({ errorCode: 'blocked_address' });
    expect(canary.connections()).to.equal(before);
    await http.close();
  });

  it('connects to the address it judged, and asks no second time', async () => {
    const before = canary.connections();
    const allowed = await listenHttp((_request, response) => response.end('allowed'), '127.0.0.2');
    const resolver = scriptedResolver(['127.0.0.2'], ['127.0.0.1']);
    const http = outbound({ allowCidrs: ['127.0.0.2/32'], resolver });
    const result = await http.post(`http://rebind.test:${allowed.port}/`, message);
    expect(result).to.include({ status: 200, body: 'allowed', remoteAddress: '127.0.0.2' });
    expect(resolver.calls()).to.equal(1);
    expect(await http.post(`http://rebind.test:${canary.port}/`, message)).to.include({ errorCode: 'blocked_address' });
    expect(canary.connections()).to.equal(before);
    await http.close();
    await allowed.close();
  });

  it('follows no redirect', async () => {
    const before = canary.connections();
    for (const [status, location] of [
      [301, `http://[::1]:${canary.port}/`],
      [302, `http://127.0.0.1:${canary.port}/`],
      [303, '/elsewhere'],
      [307, `//127.0.0.1:${canary.port}/`],
      [308, `http://localhost:${canary.port}/`],
    ] as const) {
      const redirecting = await listenHttp((_request, response) => response.writeHead(status, { location }).end());
      const http = outbound();
      const result = await http.post(`http://127.0.0.1:${redirecting.port}/`, message);
      expect(result).to.include({ ok: false, status, errorCode: null });
      expect(result.headers.location).to.equal(location);
      expect(redirecting.connections()).to.equal(1);
      await http.close();
      await redirecting.close();
    }
    expect(canary.connections()).to.equal(before);
  });

  it("lets the operator's ranges through, the rest stays shut", async () => {
    const http = outbound({ allowCidrs: ['127.0.0.1/32'] });
    expect(await http.post(`http://127.0.0.1:${canary.port}/`, message)).to.include({ ok: true });
    expect(await http.post(`http://localhost:${canary.port}/`, message)).to.include({ ok: true });
    for (const host of ['127.0.0.2', '[::1]', '0.0.0.0', '10.0.0.1', '[::ffff:127.0.0.1]']) {
      expect(await http.post(`http://${host}:${canary.port}/`, message), host).to.include({
        errorCode: 'blocked_address',
      });
    }
    await http.close();
  });

  it('accepts public URLs at registration, unresolved names included', async () => {
    const http = outbound({ allowCidrs: [], resolver: scriptedResolver([]) });
    for (const url of [
      'https://example.com/hook?a=b#c',
      'http://example.com:8080/',
      'https://bücher.example/',
      'https://a.b:22/',
    ]) {
      expect(await http.checkUrl(url, { httpsOnly: false }), url).to.equal(null);
    }
    for (const address of globalAddresses) {
      const url = `https://${address.includes(':') ? `[${address}]` : address}/`;
      expect(await http.checkUrl(url, { httpsOnly: true }), url).to.equal(null);
    }
    await http.close();
  });

  it('names the broken rule at registration', async () => {
    const rules = { httpsOnly: true };
    expect(await guarded.checkUrl('http://example.com/', rules)).to.include({ rule: 'scheme' });
    expect(await guarded.checkUrl('ftp://example.com/', { httpsOnly: false })).to.include({ rule: 'scheme' });
    expect(await guarded.checkUrl('https://u:p@example.com/', rules)).to.include({ rule: 'credentials' });
    expect(await guarded.checkUrl('https://example.com:0/', rules)).to.include({ rule: 'port' });
    expect(await guarded.checkUrl('https://exam ple.com/', rules)).to.include({ rule: 'format' });
    expect(await guarded.checkUrl(`https://example.com/${'x'.repeat(2_030)}`, rules)).to.include({ rule: 'length' });
    expect(await guarded.checkUrl('https://10.0.0.1/', rules)).to.include({ rule: 'address' });
  });

  it('waits a second at most for DNS at registration', async () => {
    const http = outbound({ allowCidrs: [], resolver: { resolve: () => new Promise(() => {}) } });
    const started = performance.now();
    expect(await http.checkUrl('https://slow.test/', { httpsOnly: true })).to.equal(null);
    expect(performance.now() - started).to.be.at.least(900);
    await http.close();
  });
});
