import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { expect } from 'chai';
import * as fc from 'fast-check';
import { routes } from '../src/api/index.ts';
import { usualBodyBytes } from '../src/http/route/body/read-request.ts';
import { documents, findProblems, type SchemaName } from '../src/schemas.ts';
import { fromSchema, type Schema } from './support/fuzz/from-schema.ts';
import {
  findUnbounded,
  findUnexplained,
  largestBytes,
  partsOf,
  requestSchemas,
  type Part,
} from './support/schema-parts.ts';
import { findRepetition, readWrittenDocuments, type Written } from './support/schema-repeats.ts';

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
      expect(largest(contract) > usualBodyBytes).to.equal(contract.largeBody ?? contract.upload !== undefined);
    });
  }
});

describe('the shapes', () => {
  const written = readWrittenDocuments();

  it('are each stated once, and what is told is closed', () => {
    expect(written.size).to.be.above(100);
    expect(findRepetition(written)).to.deep.equal([]);
  });

  const properties = written.get('shapes/conversation')!['properties'] as Written;
  const { id, name } = written.get('shapes/contact-brief')!['properties'] as Written;
  const closed = { type: 'object', additionalProperties: false };
  const planted: [string, string, Written, RegExp][] = [
    [
      'an event that states a shape again',
      'events/account/a',
      { ...closed, properties },
      /both state .*status, priority/,
    ],
    [
      'an enumeration of two files',
      'resources/a',
      { items: { enum: ['web_widget', 'api'] } },
      /resources.a.items is defined/,
    ],
    ['a shape that one schema uses', 'shapes/a', { type: 'object', properties: { id } }, /shapes.a is part of one/],
    ['an open answer', 'resources/a', { type: 'object', properties: { name } }, /resources.a is not closed/],
    [
      'a page that is written out',
      'resources/a-list',
      { ...closed, properties: { payload: {}, meta: {} } },
      /resources.a-list follows from its element/,
    ],
    [
      'a body that creates, written out',
      'requests/a.create',
      { type: 'object', allOf: [{ $ref: 'a.update.json' }], required: ['name'] },
      /requests.a.create follows from a.update.json/,
    ],
    ['an open composition', 'resources/a', { type: 'object', allOf: [] }, /resources.a is not closed/],
  ];
  for (const [title, file, schema, problem] of planted) {
    it(`would be found with ${title}`, () => {
      const other = { properties: { type: { enum: ['web_widget', 'api'] } } };
      const found = findRepetition(new Map([...written, ['requests/z', other], [file, schema]]));
      expect(
        found.some((one) => problem.test(one)),
        found.join('\n'),
      ).to.equal(true);
    });
  }
});

describe('schemas that are written out', () => {
  const written = readWrittenDocuments();
  const ajv = new Ajv2020({ strict: false });
  formats.default(ajv);
  for (const [name, document] of written) ajv.addSchema(document, `switchboard:/${name}.json`);
  const composed = [...written].filter(([, document]) => JSON.stringify(document).includes('"allOf"'));

  /** The value, and ones that lack a property or have one too many, at any depth. */
  function* variantsOf(value: unknown): Generator {
    yield value;
    if (typeof value !== 'object' || value === null) return;
    if (!Array.isArray(value)) yield { ...value, stranger: 1 };
    for (const [key, inner] of Object.entries(value)) {
      if (!Array.isArray(value)) yield Object.fromEntries(Object.entries(value).filter(([other]) => other !== key));
      for (const variant of variantsOf(inner))
        yield Array.isArray(value) ? value.with(Number(key), variant) : { ...value, [key]: variant };
    }
  }

  for (const [name] of composed.filter(([file]) => file.includes('/'))) {
    it(`${name} lets in what its composition lets in`, () => {
      const judge = ajv.getSchema(`switchboard:/${name}.json`)!;
      const values = fc.sample(fromSchema(documents.get(name) as Schema, name), { numRuns: 20, seed: 7 });
      const verdicts = new Set<boolean>();
      for (const variant of values.flatMap((value) => [...variantsOf(value)])) {
        const isFit = findProblems(name as SchemaName, variant).length === 0;
        expect(isFit, JSON.stringify(variant)).to.equal(judge(variant));
        verdicts.add(isFit);
      }
      expect(verdicts.has(true)).to.equal(true);
    });
  }
});

describe('the schema documents', () => {
  it('are valid schemas, which a start does not check again', () => {
    const ajv = new Ajv2020({ allErrors: true });
    for (const [name, document] of documents)
      expect(ajv.validateSchema(document), `${name}: ${ajv.errorsText(ajv.errors)}`).to.equal(true);
    expect(ajv.validateSchema({ type: 'object', required: 'name' })).to.equal(false);
  });
});
