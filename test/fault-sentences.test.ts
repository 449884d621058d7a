import { expect } from 'chai';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { explainFaults } from '../src/fault-sentences.ts';
import { fieldName } from '../src/lib/text/field-name.ts';
import { findProblems, findQueryProblems } from '../src/schemas.ts';

type Case = [rule: string, schema: object, value: unknown, path: string, message: string];

const permissions = { type: 'object', additionalProperties: false, properties: { permissions: {}, version: {} } };
const word = { type: 'string', pattern: '^[a-z]+$', 'x-explained': 'must be a lowercase word' };
const ofA = (schema: object) => ({ type: 'object', properties: { a: schema } });

const cases: Case[] = [
  ['required', { type: 'object', required: ['plugin_id'] }, {}, '/plugin_id', '`plugin_id` is missing'],
  ['required', ofA({ type: 'object', required: ['b'] }), { a: {} }, '/a/b', '`a.b` is missing'],
  ['dependentRequired', { type: 'object', dependentRequired: { a: ['b'] } }, { a: 1 }, '/b', '`b` is missing'],
  ['type', { type: 'object' }, [], '', 'The body must be an object'],
  ['type', ofA({ type: 'string' }), { a: 1 }, '/a', '`a` must be text'],
  ['type', ofA({ type: ['string', 'null'] }), { a: 1 }, '/a', '`a` must be text or null'],
  ['type', ofA({ type: 'integer' }), { a: 1.5 }, '/a', '`a` must be a whole number'],
  ['type', ofA({ type: 'number' }), { a: 'x' }, '/a', '`a` must be a number'],
  ['type', ofA({ type: 'boolean' }), { a: 1 }, '/a', '`a` must be true or false'],
  ['type', ofA({ type: 'array' }), { a: 1 }, '/a', '`a` must be a list'],
  [
    'type',
    ofA({ type: 'array', items: { type: 'integer' } }),
    { a: [1, 'x'] },
    '/a/1',
    '`a[1]` must be a whole number',
  ],
  [
    'enum',
    ofA({ enum: ['urgent', 'high', 'medium', 'low', null] }),
    { a: 'x' },
    '/a',
    '`a` must be one of urgent, high, medium, low, or null',
  ],
  ['enum', ofA({ enum: ['open', 'resolved'] }), { a: 'x' }, '/a', '`a` must be one of open, resolved'],
  ['enum', ofA({ enum: ['open', null] }), { a: 'x' }, '/a', '`a` must be open or null'],
  ['const', ofA({ const: '1' }), { a: 'x' }, '/a', '`a` must be 1'],
  ['pattern', ofA(word), { a: 'X' }, '/a', '`a` must be a lowercase word'],
  ['pattern', ofA({ type: 'string', pattern: '^b$' }), { a: 'x' }, '/a', '`a` does not have the right form'],
  ['format', ofA({ type: 'string', format: 'date' }), { a: 'x' }, '/a', '`a` must be a date such as 2026-11-20'],
  ['minLength', ofA({ type: 'string', minLength: 1 }), { a: '' }, '/a', '`a` must not be empty'],
  ['minLength', ofA({ type: 'string', minLength: 3 }), { a: 'x' }, '/a', '`a` must have at least 3 characters'],
  ['maxLength', ofA({ type: 'string', maxLength: 1 }), { a: 'xx' }, '/a', '`a` must have at most 1 character'],
  ['minimum', ofA({ type: 'integer', minimum: 1 }), { a: 0 }, '/a', '`a` must be at least 1'],
  ['maximum', ofA({ type: 'integer', maximum: 9 }), { a: 10 }, '/a', '`a` must be at most 9'],
  ['exclusiveMinimum', ofA({ type: 'number', exclusiveMinimum: 0 }), { a: 0 }, '/a', '`a` must be more than 0'],
  ['exclusiveMaximum', ofA({ type: 'number', exclusiveMaximum: 9 }), { a: 9 }, '/a', '`a` must be less than 9'],
  ['multipleOf', ofA({ type: 'number', multipleOf: 5 }), { a: 3 }, '/a', '`a` must be a multiple of 5'],
  ['minItems', ofA({ type: 'array', minItems: 1 }), { a: [] }, '/a', '`a` must have at least 1 item'],
  ['maxItems', ofA({ type: 'array', maxItems: 2 }), { a: [1, 2, 3] }, '/a', '`a` must have at most 2 items'],
  [
    'uniqueItems',
    ofA({ type: 'array', uniqueItems: true }),
    { a: [1, 1] },
    '/a',
    '`a` must not have the same item twice',
  ],
  ['minProperties', ofA({ type: 'object', minProperties: 1 }), { a: {} }, '/a', '`a` must have at least 1 field'],
  ['maxProperties', ofA({ type: 'object', maxProperties: 0 }), { a: { b: 1 } }, '/a', '`a` must have at most 0 fields'],
  ['maxBytes', ofA({ type: 'object', 'x-max-bytes': 1024 }), { a: {} }, '/a', '`a` must be at most 1 KB of JSON'],
  [
    'additionalProperties',
    permissions,
    { permision: 1 },
    '/permision',
    'unknown field `permision`; did you mean `permissions`?',
  ],
  ['additionalProperties', permissions, { colour: 1 }, '/colour', 'unknown field `colour`'],
  [
    'additionalProperties',
    ofA(permissions),
    { a: { Version: 1 } },
    '/a/Version',
    'unknown field `a.Version`; did you mean `version`?',
  ],
  [
    'unevaluatedProperties',
    { type: 'object', unevaluatedProperties: false },
    { 'a/b': 1 },
    '/a~1b',
    'unknown field `a/b`',
  ],
  [
    'pattern',
    ofA({ type: 'object', propertyNames: word }),
    { a: { X: 1 } },
    '/a',
    'The name `X` in `a` must be a lowercase word',
  ],
  ['not', ofA({ not: {} }), { a: 1 }, '/a', '`a` is not valid'],
];

describe('sentences about faults', () => {
  for (const [rule, schema, value, path, message] of cases) {
    it(`${rule}: ${message}`, () => {
      const ajv = new Ajv2020({ allErrors: true, verbose: true, strict: false });
      formats.default(ajv);
      ajv.addKeyword({ keyword: 'x-max-bytes', validate: () => false, errors: false });
      const validate = ajv.compile(schema);
      expect(validate(value)).to.equal(false);
      expect(explainFaults(validate.errors)).to.deep.equal([{ path, rule, message }]);
    });
  }

  it('name the fields of requests, and never show a pattern', () => {
    const told = (name: Parameters<typeof findProblems>[0], value: object) =>
      findProblems(name, value).map(({ message }) => message);
    expect(told('requests/agent-bot.create', { name: 'Bot', kind: 'plugin' })).to.deep.equal([
      '`plugin_id` is missing',
    ]);
    expect(told('requests/conversation.update', { priority: 'no' })).to.deep.equal([
      '`priority` must be one of urgent, high, medium, low, or null',
    ]);
    expect(told('requests/label.create', { title: 'A b', color: 'red' })).to.deep.equal([
      '`title` must consist of lowercase letters, digits, `_` and `-`',
      '`color` must be a hex colour such as #1f93ff',
    ]);
    expect(told('requests/contact.create', { name: ' ', email: 'x', phone_number: '5' })).to.deep.equal([
      '`name` must not be blank',
      '`email` must be an e-mail address such as ada@example.com',
      '`phone_number` must be an international number such as +14155552671: a plus and up to 15 digits',
    ]);
    const query = { page: 'x', status: 'no' };
    expect(findQueryProblems('requests/conversation.list.query', query).map(({ message }) => message)).to.deep.equal([
      '`page` must be a whole number',
      '`status` must be one of open, resolved, pending, snoozed, all',
    ]);
  });

  it('of a large value tell the first fault alone', () => {
    const name = 'x'.repeat(5000);
    expect(findProblems('requests/contact.create', { name, blocked: 'no' })).to.have.lengthOf(1);
    expect(findProblems('requests/contact.create', { name: 'x'.repeat(300), blocked: 'no' })).to.have.lengthOf(2);
  });

  it('name a value by its place', () => {
    expect(fieldName('')).to.equal('The body');
    expect(fieldName('/working_hours/3/open_hour')).to.equal('`working_hours[3].open_hour`');
    expect(fieldName('/a~1b/c~0d')).to.equal('`a/b.c~d`');
  });
});
