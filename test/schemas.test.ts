import { expect } from 'chai';
import { routes } from '../src/api/index.ts';
import { usualBodyBytes } from '../src/http/route/read-request.ts';
import { documents, type SchemaName } from '../src/schemas.ts';
import type { Schema } from './support/fuzz/from-schema.ts';
import {
  findUnbounded,
  findUnexplained,
  largestBytes,
  partsOf,
  requestSchemas,
  type Part,
} from './support/schema-parts.ts';

const explained: SchemaName[] = [
  ...requestSchemas(),
  'runtime/plugin',
  'runtime/action.reply',
  'runtime/action.note',
  'runtime/action.handoff',
  'runtime/action.label',
];

describe('the schemas of requests', () => {
  it('bound every text, list and object, so that no check of them takes long', () => {
    expect(requestSchemas()).to.have.length.above(40);
    const problems = requestSchemas().flatMap((name) => partsOf(name).flatMap(findUnbounded));
    expect(problems).to.deep.equal([]);
  });

  it('say every pattern and format in words, as manifests and actions do', () => {
    const problems = explained.flatMap((name) => partsOf(name).flatMap(findUnexplained));
    expect(problems).to.deep.equal([]);
  });

  const planted: [string, Part][] = [
    ['a list without maxItems', { type: 'array', items: { type: 'integer' } }],
    ['a list of anything', { type: 'array', maxItems: 9 }],
    ['unique items without a type', { type: 'array', maxItems: 9, uniqueItems: true, items: { enum: ['a'] } }],
    ['unique objects', { type: 'array', maxItems: 9, uniqueItems: true, items: { type: 'object', properties: {} } }],
    ['a text without maxLength', { type: ['string', 'null'], pattern: '^a$' }],
    ['an open object', { type: 'object' }],
    ['anything', {}],
    ['a pattern that backtracks', { type: 'string', maxLength: 9, pattern: '^(a+)+$' }],
  ];
  for (const [title, schema] of planted) {
    it(`would be found with ${title}`, () => {
      expect(findUnbounded({ where: '', schema, document: '' })).to.have.length.at.least(1);
    });
  }

  it('would be found with a pattern or a format that has no words, or the pattern for words', () => {
    for (const schema of [{ pattern: '^a$' }, { format: 'uri' }, { pattern: '^a$', 'x-explained': 'must be ^a$' }])
      expect(findUnexplained({ where: '', schema, document: '' })).to.have.lengthOf(1);
  });
});

describe('the size of a body', () => {
  const largest = ({ body }: { body?: SchemaName }) => largestBytes(documents.get(body!) as Schema, body!);
  const withBody = routes.filter(({ contract }) => contract.body !== undefined);

  for (const { method, path, contract } of withBody) {
    it(`${method} ${path} takes ${contract.largeBody ? 'a large one, because it needs to' : 'all that it needs'}`, () => {
      expect(largest(contract) > usualBodyBytes).to.equal(contract.largeBody ?? false);
    });
  }
});
