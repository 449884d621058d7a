import { expect } from 'chai';
import * as fc from 'fast-check';
import { readTools } from '../../src/domain/bots/tools/tool.ts';
import { requestOf, type ToolRequest } from '../../src/runs/doors/tool-request.ts';
import { readResult } from '../../src/runs/doors/tool-result.ts';

function toolAt(url: string, method: 'GET' | 'POST' = 'GET') {
  const [tool] = readTools([{ name: 'orders', url, method, headers: { 'X-Key': '{{KEY}}' } }]);
  return tool!;
}

function sent(url: string, given: Record<string, unknown>, method?: 'POST'): ToolRequest {
  const request = requestOf(toolAt(url, method), given);
  if ('problems' in request) throw new Error(request.problems.join());
  return request;
}

describe('the request of a tool', () => {
  it('has arguments in the places of its URL, and the others as query parameters', () => {
    const { url, method, body } = sent('https://shop.example/orders/{id}?lang={lang}', {
      id: 'A/17 ü?#%',
      lang: "d'e",
      page: 2,
      tags: ['a', 'b'],
      text: 'x&y=z',
    });
    expect(url).to.equal(
      'https://shop.example/orders/A%2F17%20%C3%BC%3F%23%25?lang=d%27e&page=2&tags=%5B%22a%22%2C%22b%22%5D&text=x%26y%3Dz',
    );
    expect([method, body]).to.deep.equal(['GET', undefined]);
  });

  it('has the others as a JSON body with another method', () => {
    const { url, method, headers, body } = sent(
      'https://shop.example/orders/{id}',
      { id: 7, note: 'ü', n: [1] },
      'POST',
    );
    expect([url, method, body]).to.deep.equal(['https://shop.example/orders/7', 'POST', '{"note":"ü","n":[1]}']);
    expect(headers).to.deep.equal({
      accept: 'application/json',
      'content-type': 'application/json',
      'x-key': '{{KEY}}',
    });
  });

  it('is not made where an argument would be anything but a value in the URL', () => {
    for (const value of ['', '.', '..', null, undefined, {}, ['a']])
      expect(
        requestOf(toolAt('https://shop.example/orders/{id}'), { id: value }),
        JSON.stringify(value),
      ).to.have.property('problems');
    expect(requestOf(toolAt('https://shop.example/.{id}/x'), { id: '.' })).to.have.property('problems');
    expect(requestOf(toolAt('https://shop.example/{id}'), { id: 'x'.repeat(2048) })).to.have.property('problems');
    expect(requestOf(toolAt('https://shop.example/'), { text: 'x'.repeat(2048) })).to.have.property('problems');
  });

  it('keeps host and path whatever the arguments are', () => {
    const hostile = fc.oneof(
      fc.string(),
      fc.constantFrom(
        '@evil.example',
        '//evil.example',
        '\\\\evil.example',
        '../../admin',
        '%2e%2e/%2e%2e',
        ':443@evil.example',
      ),
      fc.webUrl({ withFragments: true, withQueryParameters: true }),
      fc.constantFrom('\ud800', '\0', '\t', '\n', 'qz0zq', '{id}', '{{KEY}}'),
    );
    fc.assert(
      fc.property(hostile, hostile, hostile, (id, lang, more) => {
        const request = requestOf(toolAt('https://shop.example:8443/orders/{id}/items?lang={lang}'), {
          id,
          lang,
          more,
        });
        if ('problems' in request) return;
        const { origin, pathname, searchParams, username, hash } = new URL(request.url);
        expect([origin, username, hash]).to.deep.equal(['https://shop.example:8443', '', '']);
        const segments = pathname.split('/');
        expect(segments).to.have.lengthOf(4);
        expect([segments[1], decodeURIComponent(segments[2]!), segments[3]]).to.deep.equal([
          'orders',
          id.toWellFormed(),
          'items',
        ]);
        expect([...searchParams.keys()]).to.deep.equal(['lang', 'more']);
        expect(searchParams.get('lang')).to.equal(lang.toWellFormed());
      }),
    );
  });
});

describe('the result of a tool', () => {
  const answer = JSON.stringify({ order: { state: 'sent', items: [{ 'a/b': 1 }], none: null, yes: false } });
  const codeOf = (text: string, pointer: string | null) => {
    try {
      return readResult(text, pointer);
    } catch (error) {
      return { code: (error as { code?: string }).code };
    }
  };

  for (const [pointer, expected] of [
    [null, answer],
    ['', answer],
    ['/order/state', 'sent'],
    ['/order/items/0/a~1b', '1'],
    ['/order/none', 'null'],
    ['/order/yes', 'false'],
    ['/order/items', '[{"a/b":1}]'],
    ['/order/missing', { code: 'no_result' }],
    ['/order/state/0', { code: 'no_result' }],
    ['/constructor', { code: 'no_result' }],
    ['/order/items/length', { code: 'no_result' }],
  ] as const) {
    it(`at ${pointer}`, () => {
      expect(codeOf(answer, pointer)).to.deep.equal(expected);
    });
  }

  it('is bounded, and storable', () => {
    expect(codeOf(JSON.stringify('x'.repeat(32_768)), null)).to.have.lengthOf(32_768);
    expect(codeOf(JSON.stringify('x'.repeat(32_769)), null)).to.deep.equal({ code: 'too_large' });
    expect(codeOf(JSON.stringify({ a: 'x'.repeat(500_000), b: 'small' }), '/b')).to.equal('small');
    expect(codeOf('['.repeat(400_000) + ']'.repeat(400_000), null)).to.deep.equal({ code: 'too_large' });
    expect(codeOf('"a\\u0000b\\ud800"', null)).to.not.match(/\0|\ud800/);
    expect([codeOf('', null), codeOf('<html>', null)]).to.deep.equal(['null', { code: 'not_json' }]);
  });
});
