import { expect } from 'chai';
import { request } from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { layout, playPath } from '../../src/site/layout.ts';
import { TestApp } from '../support/app.ts';

/** What `fetch` would hide: the bytes as they were sent. */
interface Raw {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  bytes: Buffer;
}

function read(url: string, { method = 'GET', ...headers }: Record<string, string> = {}): Promise<Raw> {
  const { promise, resolve, reject } = Promise.withResolvers<Raw>();
  request(url, { method, headers, agent: false }, (response) => {
    const chunks: Buffer[] = [];
    response.on('data', (chunk: Buffer) => chunks.push(chunk));
    response.on('end', () =>
      resolve({ status: response.statusCode ?? 0, headers: response.headers, bytes: Buffer.concat(chunks) }),
    );
  })
    .on('error', reject)
    .end();
  return promise;
}

const consoleBytes = 300 * 1024;
const widgetBytes = 15 * 1024;
const asset = /(?:src|href)="(\/assets\/[^"]+)"/g;

describe('the pages of the service', function () {
  this.timeout(60_000);
  let app: TestApp;

  before(async () => {
    app = await TestApp.start({ engine: false });
  });

  after(() => app.stop());

  const get = (path: string, headers?: Record<string, string>) => read(app.url + path, headers);

  async function assetsOf(path: string): Promise<string[]> {
    const { bytes } = await get(path);
    return Array.from(bytes.toString().matchAll(asset), ([, found]) => found!);
  }

  it('answer every address of a page with the page, and nothing else', async () => {
    for (const { paths } of layout.pages) {
      if (paths.includes(playPath)) continue;
      for (const path of paths) {
        const { status, headers, bytes } = await get(path.replace('*', 'some/where/12'));
        expect(status, path).to.equal(200);
        expect(headers['content-type']).to.match(/^text\/html/);
        expect(bytes.toString()).to.match(/^<!doctype html>/);
      }
    }
    expect((await get('/consoles')).status).to.equal(404);
    // The receiver's page is there with the demonstration's data only.
    expect((await get(playPath)).status).to.equal(404);
    expect((await get('/assets/none.js')).status).to.equal(404);
    expect((await get('/console', { method: 'POST' })).status).to.equal(405);
    expect(await get('/console', { method: 'HEAD' })).to.deep.include({ status: 200, bytes: Buffer.alloc(0) });
  });

  it('let nothing be inline, framed, or loaded from elsewhere', async () => {
    const { headers, bytes } = await get('/console');
    const policy = String(headers['content-security-policy']);
    expect(policy).to.include("default-src 'none'; script-src 'self'; style-src 'self';");
    expect(policy).to.include("frame-ancestors 'none'").and.include("base-uri 'none'");
    expect(policy).to.not.include('unsafe');
    expect(policy).to.not.include('http');
    expect(headers).to.include({ 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer' });
    const html = bytes.toString();
    expect(html).to.not.match(/<style|\sstyle=|\son\w+=|<script(?![^>]*\ssrc=)|https?:/);
  });

  it('load files with a hash in their name, which browsers keep', async () => {
    const paths = await assetsOf('/console');
    expect(paths.map((path) => path.split('.').at(-1))).to.have.members(['js', 'css']);
    for (const path of paths) {
      expect(path).to.match(/-[0-9A-Z]{8}\.\w+$/);
      const { status, headers } = await get(path);
      expect(status, path).to.equal(200);
      expect(headers['cache-control']).to.equal('public, max-age=31536000, immutable');
      expect(headers['content-type']).to.match(path.endsWith('.js') ? /^text\/javascript/ : /^text\/css/);
    }
  });

  it('are revalidated by their entity tag', async () => {
    const { headers } = await get('/console');
    expect(headers['cache-control']).to.equal('no-cache');
    const again = await get('/console', { 'if-none-match': String(headers['etag']) });
    expect(again).to.deep.include({ status: 304, bytes: Buffer.alloc(0) });
  });

  it('are sent compressed to who takes it', async () => {
    const path = (await assetsOf('/console')).find((one) => one.endsWith('.js')) ?? '';
    const plain = await get(path);
    expect(plain.headers['content-encoding']).to.equal(undefined);
    const unpack = { br: brotliDecompressSync, gzip: gunzipSync };
    for (const encoding of ['br', 'gzip'] as const) {
      const { headers, bytes } = await get(path, { 'accept-encoding': encoding });
      expect(headers['content-encoding']).to.equal(encoding);
      expect(headers['vary']).to.match(/Accept-Encoding/i);
      expect(headers['content-length']).to.equal(String(bytes.length));
      expect(bytes.length).to.be.below(plain.bytes.length);
      expect(unpack[encoding](bytes).equals(plain.bytes)).to.equal(true);
    }
  });

  it(`take ${consoleBytes} bytes at most, compressed, all parts of the console together`, async () => {
    const known = new Set(await assetsOf('/console'));
    let sum = 0;
    for (const path of known) {
      sum += (await get(path, { 'accept-encoding': 'gzip' })).bytes.length;
      const text = (await get(path)).bytes.toString();
      for (const [, part] of text.matchAll(/["'](?:\.\/|\/assets\/)([\w-]+-[0-9A-Z]{8}\.\w+)["']/g))
        known.add(`/assets/${part}`);
    }
    expect(sum).to.be.within(1, consoleBytes);
  });

  it(`send the widget as ${widgetBytes} bytes at most, compressed, to the pages of any origin`, async () => {
    const { status, headers, bytes } = await get('/widget.js', {
      'accept-encoding': 'gzip',
      origin: 'https://shop.test',
    });
    expect([status, headers['content-encoding']]).to.deep.equal([200, 'gzip']);
    expect(bytes.length).to.be.lessThan(widgetBytes);
    expect(headers['access-control-allow-origin']).to.equal('*');
    expect(headers['cross-origin-resource-policy']).to.equal('cross-origin');
    expect(headers['content-type']).to.match(/javascript/);
  });
});
