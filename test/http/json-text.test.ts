import { expect } from 'chai';
import * as fc from 'fast-check';
import { parseJsonBody } from '../../src/http/route/body/json-text.ts';
import { findUnsafeValue, maxJsonDepth, maxJsonValues } from '../../src/lib/text/unsafe-value.ts';

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

describe('whole numbers that a double cannot hold', () => {
  const largest = Number.MAX_SAFE_INTEGER;
  const unsafeIn = (text: string) => {
    const parsed = parseJsonBody(Buffer.from(text));
    return 'unsafe' in parsed ? parsed.unsafe : null;
  };

  const refused: [text: string, path: string][] = [
    ['9007199254740993', ''],
    ['{"a":{"b":[1,-9007199254740993]}}', '/a/b/1'],
    ['{"a/b":12345678901234567890}', '/a~1b'],
    ['{"text":"9007199254740993","id":9007199254740993}', '/id'],
    ['{"a":1,"a":9007199254740993}', '/a'],
    [`[${'1,'.repeat(15_000)}1${'0'.repeat(300)}]`, '/15000'],
  ];
  for (const [text, path] of refused) {
    it(`are refused at their place: ${text.slice(0, 60)}`, () => {
      expect(unsafeIn(text)).to.include({ path, rule: 'number' });
    });
  }

  it('are told with a way out', () => {
    expect(unsafeIn('{"crm_id":12345678901234567890}')?.message).to.equal(
      '`crm_id` has more digits than a number can keep: only text can hold it',
    );
  });

  it('are all that is refused: what stays as it was is read, and decimals are rounded as everywhere', () => {
    const kept = [
      `[${largest},-${largest}]`,
      '9007199254740992',
      '{"a":"12345678901234567890"}',
      '[1e20,0.1234567890123456789]',
      '[-0]',
    ];
    for (const text of kept) expect(parseJsonBody(Buffer.from(text)), text).to.deep.equal({ value: JSON.parse(text) });
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
      '0.1000000000000000055511151231257827021181583404541015625',
      'null',
      '{"":""}',
      '[[]]',
    ];
    for (const json of harmless) expect(findUnsafeValue(JSON.parse(json)), json).to.equal(null);
  });

  it(`accepts ${maxJsonDepth} levels and refuses one more, at its place`, () => {
    expect(findUnsafeValue(JSON.parse(nested(maxJsonDepth)))).to.equal(null);
    expect(findUnsafeValue(JSON.parse(nested(maxJsonDepth + 1)))).to.include({
      rule: 'depth',
      path: '/0'.repeat(maxJsonDepth),
    });
  });

  it('survives documents that would overflow the stack', () => {
    const arrays = parseJsonBody(Buffer.from(nested(100_000)));
    const objects = parseJsonBody(Buffer.from(`${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`));
    for (const parsed of [arrays, objects]) expect('unsafe' in parsed && parsed.unsafe.rule).to.equal('depth');
  });

  it(`accepts ${maxJsonValues} values in all and refuses one more, naming no place`, () => {
    const lists = Array.from({ length: 10 }, () => Array.from({ length: maxJsonValues / 10 - 1 }, () => 1));
    expect(findUnsafeValue({ lists: lists.slice(1), a: lists[0]!.slice(2) })).to.equal(null);
    expect(findUnsafeValue({ lists: lists.slice(1), a: lists[0]!.slice(1) })).to.include({ rule: 'values', path: '' });
  });

  it('says what is wrong in a sentence that names the field', () => {
    expect(findUnsafeValue({ a: { b: ['\0'] } })?.message).to.equal('`a.b[0]` contains a NUL character');
    expect(findUnsafeValue({ a: { 'k\0': 1 } })?.message).to.equal(
      '`a` has a property whose name contains a NUL character',
    );
    expect(findUnsafeValue('\ud800')?.message).to.equal('The body contains half of a surrogate pair');
  });

  it('answers with a path that is short and safe whatever the property names are', () => {
    const found = findUnsafeValue({ [`${'x'.repeat(254)}😀${'y'.repeat(9_000)}`]: '\0' });
    expect(found?.path.length).to.be.at.most(255);
    expect(found?.path.isWellFormed()).to.equal(true);
  });
});
