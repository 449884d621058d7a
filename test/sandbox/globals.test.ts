import { expect } from 'chai';
import { createSandbox } from '../../src/sandbox/parent/pool.ts';
import type { RunRequest, Sandbox } from '../../src/sandbox/run.ts';
import { botOf, requestOf } from './helpers.ts';

const addresses = [
  'https://api.shop.example/orders?number=A-17&q=a%20b+c#top',
  'HTTPS://User:p%40ss@Shop.Example:443/a/../b/./c',
  'http://bücher.example/straße?ü=ß',
  'http://XN--BCHER-KVA.example/',
  'http://faß.example',
  'http://1.2.3/',
  'http://0x7f.1/',
  'http://[2001:DB8::0:1]:8080/',
  'http://[::ffff:10.0.0.1]',
  'mailto:kim@example.com',
  'data:text/plain,a b',
  'file:///C|/a',
  'javascript:alert(1)',
  'https://a.example\\b',
  'https://a_b.example',
  'https://exa%41mple.com',
  '//b.example/x',
  '?only=query',
  '../up',
  '',
  // No addresses.
  'https://',
  'https://a b.example',
  'https://a.example:99999',
  'http://[::1',
];
const base = 'https://base.example/one/two?x#y';
const parts = 'hash host hostname href origin password pathname port protocol search username'.split(' ');

describe('globals of the sandbox', function () {
  this.timeout(60_000);
  let sandbox: Sandbox;
  before(() => {
    sandbox = createSandbox({ size: 1, queueLimit: 10, maxRssMb: 256 });
  });
  after(() => sandbox.close());

  /** The value of an expression in a bot, which may use `given`. */
  async function valueOf(
    expression: string,
    given: unknown = null,
    changes: Partial<RunRequest> = {},
  ): Promise<unknown> {
    const bundle = botOf(
      `const given = ${JSON.stringify(given)}; ctx.note(JSON.stringify(${expression}) ?? 'undefined')`,
    );
    const { outcome, error, actions } = await sandbox.run(requestOf(bundle, changes));
    expect([outcome, error]).to.deep.equal(['ok', undefined]);
    const [{ content }] = actions as unknown as [{ content: string }];
    return content === 'undefined' ? undefined : JSON.parse(content);
  }

  it('read addresses as Node does', async () => {
    const read = (address: string): unknown => {
      const url = URL.parse(address, base) as unknown as Record<string, string> | null;
      return url && [...parts.map((part) => url[part]), [...new URL(address, base).searchParams]];
    };
    const expression = `given.addresses.map((address) => {
      const url = URL.parse(address, given.base);
      return url && [...given.parts.map((part) => url[part]), [...new URL(address, given.base).searchParams]];
    })`;
    const seen = (await valueOf(expression, { addresses, base, parts })) as unknown[];
    for (const [index, address] of addresses.entries()) expect(seen[index], address).to.deep.equal(read(address));
    expect(seen.filter((one) => one === null)).to.have.lengthOf(4);
  });

  it('change addresses, and take lists of parameters', async () => {
    const expression = `(() => {
      const url = new URL('https://shop.example/orders');
      url.searchParams.append('q', 'ä b');
      url.searchParams.set('page', '2');
      url.port = '8443';
      const list = new URLSearchParams({ b: '2', a: '1' });
      list.sort();
      return [url.href, String(list), list.size, String(new URLSearchParams([['x', 'y&z']])), JSON.stringify({ url })];
    })()`;
    expect(await valueOf(expression)).to.deep.equal([
      'https://shop.example:8443/orders?q=%C3%A4+b&page=2',
      'a=1&b=2',
      2,
      'x=y%26z',
      '{"url":"https://shop.example:8443/orders?q=%C3%A4+b&page=2"}',
    ]);
    expect(await valueOf(`(() => { try { new URL('nowhere') } catch (error) { return error.name } })()`)).to.equal(
      'TypeError',
    );
  });

  it('encode and decode UTF-8 as Node does, whole and in pieces', async () => {
    const texts = ['', 'Grüße, 李😀', '\ufeffmark', 'half \ud83d of a pair', '\u07ff\u0800\uffff\u{10ffff}'];
    const bytes = [
      ...texts.map((text) => [...new TextEncoder().encode(text)]),
      [0xff, 0x41, 0xc0, 0x80, 0xe0, 0x9f, 0xbf, 0xed, 0xa0, 0x80, 0xf4, 0x90, 0x80, 0x80],
      [0xe2, 0x82],
      [0xf0, 0x9f, 0x98],
      [0xc3, 0x28, 0xf0, 0x28, 0x8c, 0xbc],
    ];
    const expression = `[
      given.texts.map((text) => [...new TextEncoder().encode(text)]),
      given.bytes.map((one) => new TextDecoder().decode(new Uint8Array(one))),
      given.bytes.map((one) => new TextDecoder('utf8', { ignoreBOM: true }).decode(new Uint8Array(one).buffer)),
      given.bytes.map((one) => {
        const decoder = new TextDecoder();
        return one.map((byte) => decoder.decode(new Uint8Array([byte]), { stream: true })).join('') + decoder.decode();
      }),
    ]`;
    const decoded = bytes.map((one) => new TextDecoder().decode(new Uint8Array(one)));
    expect(await valueOf(expression, { texts, bytes })).to.deep.equal([
      bytes.slice(0, texts.length),
      decoded,
      bytes.map((one) => new TextDecoder('utf8', { ignoreBOM: true }).decode(new Uint8Array(one))),
      decoded,
    ]);
    const failing = `(() => { try { new TextDecoder('utf-8', { fatal: true }).decode(new Uint8Array([255])) } catch (e) { return e.name } })()`;
    expect(await valueOf(failing)).to.equal('TypeError');
    expect(await valueOf(`new TextEncoder().encodeInto('aü😀', new Uint8Array(6))`)).to.deep.equal({
      read: 2,
      written: 3,
    });
  });

  it('read and write base64 as Node does', async () => {
    const texts = ['', 'a', 'ab', 'abc', '\u0000ÿ\u0080', 'any carnal pleas'];
    const encoded = ['', 'YQ==', 'YQ', ' Y Q = = ', 'YWI=', 'YWJj', 'AP+A'];
    expect(await valueOf(`[given.texts.map(btoa), given.encoded.map(atob)]`, { texts, encoded })).to.deep.equal([
      texts.map((text) => btoa(text)),
      encoded.map((text) => atob(text)),
    ]);
    for (const wrong of [`atob('a')`, `atob('YQ=')`, `atob('Y*==')`, `btoa('李')`])
      expect(await valueOf(`(() => { try { ${wrong} } catch (error) { return error.name } })()`), wrong).to.equal(
        'InvalidCharacterError',
      );
  });

  it('clone values with maps, dates and rings, and refuse functions', async () => {
    const expression = `(() => {
      const source = { list: [1, { a: null }], map: new Map([['k', new Set([1])]]), date: new Date(5), big: 7n, none: undefined };
      source.ring = source;
      const copy = structuredClone(source);
      let refused = false;
      try { structuredClone({ run() {} }) } catch { refused = true }
      return [copy !== source, copy.ring === copy, copy.list, [...copy.map.get('k')], copy.date.getTime(), String(copy.big), 'none' in copy, refused];
    })()`;
    expect(await valueOf(expression)).to.deep.equal([true, true, [1, { a: null }], [1], 5, '7', true, true]);
  });

  it('make UUIDs that are the same when the run is repeated, and unlike those of every other run', async () => {
    const expression = 'Array.from({ length: 500 }, () => crypto.randomUUID())';
    const first = (await valueOf(expression)) as string[];
    expect(await valueOf(expression)).to.deep.equal(first);
    const event = { ...requestOf(botOf('')).event!, id: 6 };
    const others = await Promise.all([
      valueOf(expression, null, { seed: 8 }),
      valueOf(expression, null, { now: 1_750_000_000_001 }),
      valueOf(expression, null, { event }),
    ]);
    const all = [first, ...(others as string[][])].flat();
    expect(new Set(all).size).to.equal(2000);
    for (const uuid of all)
      expect(uuid).to.match(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });

  it('cost a bot nothing that does not name them: the libraries of the large ones are not loaded', async () => {
    const names = ['URL', 'URLSearchParams', 'structuredClone'];
    const hidden = `[${names.map((name) => `typeof globalThis['${name.slice(0, 2)}' + '${name.slice(2)}']`).join()}]`;
    expect(await valueOf(hidden)).to.deep.equal(['undefined', 'undefined', 'undefined']);
  });

  it('stay those of the run that changes them', async () => {
    const broken = 'URL.prototype.toString = () => "x"; TextEncoder = null; globalThis.crypto = { own: true };';
    expect(
      await valueOf(`(() => { ${broken} return [String(new URL('https://a.example')), crypto.own] })()`),
    ).to.deep.equal(['x', true]);
    expect(
      await valueOf(`[String(new URL('https://a.example')), typeof TextEncoder, typeof crypto.randomUUID]`),
    ).to.deep.equal(['https://a.example/', 'function', 'function']);
  });
});
