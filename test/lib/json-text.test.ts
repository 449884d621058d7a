import { expect } from 'chai';
import * as fc from 'fast-check';
import { findUnsafeValue, MAX_JSON_DEPTH, parseJsonBody } from '../../src/lib/json-text.ts';

function problemOf(bytes: Buffer | string): string {
  const parsed = parseJsonBody(Buffer.from(bytes));
  if (!('problem' in parsed)) throw new Error('The body was accepted.');
  return parsed.problem;
}

function nested(depth: number): string {
  return '['.repeat(depth) + ']'.repeat(depth);
}

describe('parseJsonBody', () => {
  it('reads JSON, a byte order mark included', () => {
    expect(parseJsonBody(Buffer.from('{"a":[1,"é😀"]}'))).to.deep.equal({ value: { a: [1, 'é😀'] } });
    expect(parseJsonBody(Buffer.from('\uFEFF[]'))).to.deep.equal({ value: [] });
  });

  it('refuses bytes that are not UTF-8', () => {
    const invalid = ['22ff22', '22c328', '22c0af22', '22eda08022', '22f490808022', '22e282', 'fffe5b005d00'];
    for (const hex of invalid) expect(problemOf(Buffer.from(hex, 'hex')), hex).to.equal('The body is not valid UTF-8.');
  });

  it('refuses an empty body', () => {
    for (const text of ['', '  \n']) expect(problemOf(text)).to.contain('empty');
  });

  it('refuses what is not JSON, names the place, and never repeats the body', () => {
    const malformed = [
      '{',
      '{"secret":',
      '{"secret":1,}',
      '[secret]',
      "'secret'",
      '{"secret":01}',
      '{"secret" 1}',
      'NaN',
    ];
    const exotic = [
      '[1,]',
      '"\u0001"',
      '"\\x"',
      '"\\ud8"',
      '// secret\n1',
      '[1] secret',
      'Infinity',
      '+1',
      '.5',
      'tru',
      '\u00a0[]',
    ];
    for (const text of [...malformed, ...exotic]) {
      expect(problemOf(text), text).to.match(/^The body is not valid JSON(\.|: unexpected text at character \d+\.)$/);
    }
    expect(problemOf('{"a":1,}')).to.equal('The body is not valid JSON: unexpected text at character 7.');
  });

  it('reads whatever JSON.stringify writes, and nothing unsafe is found in it', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5, stringUnit: 'grapheme' }), (value) => {
        const text = JSON.stringify(value);
        fc.pre(!text.includes('__proto__') && !text.includes('\\u0000'));
        const parsed = parseJsonBody(Buffer.from(text));
        expect(parsed).to.deep.equal({ value: JSON.parse(text) });
        if ('value' in parsed) expect(findUnsafeValue(parsed.value)).to.equal(null);
      }),
    );
  });
});

describe('findUnsafeValue', () => {
  const lone = '\\ud800';
  const corpus: [json: string, path: string, rule: string][] = [
    ['"\\u0000"', '', 'nul'],
    ['{"a":{"b":["x","y\\u0000"]}}', '/a/b/1', 'nul'],
    [`{"a":"${lone}"}`, '/a', 'surrogate'],
    [`{"a":"\\udc00${lone}"}`, '/a', 'surrogate'],
    [`{"a":{"k${lone}":1}}`, '/a', 'surrogate'],
    ['{"a":{"k\\u0000":1}}', '/a', 'nul'],
    ['{"a":1e999}', '/a', 'number'],
    ['[0,-1e400]', '/1', 'number'],
    ['{"__proto__":{"admin":true}}', '', 'key'],
    ['{"a":[{"__proto__":1}]}', '/a/0', 'key'],
    ['{"a/b":{"c~d":"\\u0000"}}', '/a~1b/c~0d', 'nul'],
    ['{"":{"":"\\u0000"}}', '//', 'nul'],
    ['["\\u0000",1e999]', '/0', 'nul'],
  ];

  for (const [json, path, rule] of corpus) {
    it(`refuses ${json}`, () => {
      expect(findUnsafeValue(JSON.parse(json))).to.include({ path, rule });
    });
  }

  it('accepts what only looks odd', () => {
    const harmless = [
      '"😀"',
      '{"constructor":1,"prototype":2}',
      '-0',
      '1e308',
      '9007199254740993',
      'null',
      '{"":""}',
      '[[]]',
    ];
    for (const json of harmless) expect(findUnsafeValue(JSON.parse(json)), json).to.equal(null);
  });

  it(`accepts ${MAX_JSON_DEPTH} levels and refuses one more, at its place`, () => {
    expect(findUnsafeValue(JSON.parse(nested(MAX_JSON_DEPTH)))).to.equal(null);
    expect(findUnsafeValue(JSON.parse(nested(MAX_JSON_DEPTH + 1)))).to.include({
      rule: 'depth',
      path: '/0'.repeat(MAX_JSON_DEPTH),
    });
  });

  it('survives documents that would overflow the stack', () => {
    const arrays = parseJsonBody(Buffer.from(nested(100_000)));
    const objects = parseJsonBody(Buffer.from(`${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`));
    for (const parsed of [arrays, objects]) {
      expect('value' in parsed && findUnsafeValue(parsed.value)).to.include({ rule: 'depth' });
    }
  });

  it('answers with a path that is short and safe whatever the property names are', () => {
    const found = findUnsafeValue({ [`${'x'.repeat(254)}😀${'y'.repeat(9_000)}`]: '\0' });
    expect(found?.path.length).to.be.at.most(255);
    expect(found?.path.isWellFormed()).to.equal(true);
  });
});
