import { expect } from 'chai';
import { targetOf, writeOut, type Schema } from '../../src/lib/composition.ts';

const text = { type: 'string' };
const id = { $ref: '../common.json#/$defs/id' };
const shape = { title: 'Shape', type: 'object', required: ['id'], properties: { id, name: text } };

function written(document: Schema, others: Record<string, Schema> = {}): Schema {
  return writeOut(new Map(Object.entries({ 'shapes/a': shape, ...others, 'events/bot/x': document })), 'events/bot/x');
}

describe('a composition that is written out', () => {
  const allOf = [{ $ref: '../../shapes/a.json' }];

  it('is one flat schema, with references told from its own place', () => {
    const flat = written({ title: 'X', type: 'object', allOf, required: ['at'], properties: { at: text } });
    expect(flat).to.deep.equal({
      title: 'X',
      type: 'object',
      required: ['id', 'at'],
      properties: { id: { $ref: '../../common.json#/$defs/id' }, name: text, at: text },
    });
  });

  it('is closed where the composition is, at any depth', () => {
    const composition = { type: 'object', allOf, unevaluatedProperties: false };
    const { properties } = written({ properties: { list: { items: composition } } });
    const { list } = properties as { list: { items: Schema } };
    expect(list.items['additionalProperties']).to.equal(false);
    expect(list.items).not.to.have.property('unevaluatedProperties');
  });

  it('keeps the order of its parts, and the places that they hold', () => {
    const parts = [{ properties: { at: text, name: true } }, ...allOf];
    const { properties } = written({ type: 'object', allOf: parts, properties: { last: text } });
    expect(Object.entries(properties as object).map(([name]) => name)).to.deep.equal(['at', 'name', 'id', 'last']);
    expect(properties).to.have.deep.property('name', text);
  });

  it('keeps what else its parts say', () => {
    const conditional = { if: { properties: { id: { const: 1 } } }, else: { required: ['name'] } };
    const flat = written(
      { allOf: [{ $ref: '../../shapes/b.json' }] },
      { 'shapes/b': { type: 'object', ...conditional } },
    );
    expect(flat).to.deep.equal({ type: 'object', ...conditional, properties: {} });
  });

  const refused: [string, Schema, RegExp][] = [
    ['differ in a property', { allOf, properties: { name: { type: 'integer' } } }, /differ in name/],
    ['differ in a rule', { allOf: [{ minProperties: 1 }, { minProperties: 2 }] }, /differ in minProperties/],
    ['are closed', { allOf: [{ additionalProperties: false }] }, /closed schema/],
    ['are not there', { allOf: [{ $ref: '../../shapes/b.json' }] }, /No schema/],
    ['are not there, within a document', { allOf: [{ $ref: '../../shapes/a.json#/$defs/b' }] }, /No schema/],
  ];
  for (const [title, document, problem] of refused) {
    it(`does not come of parts that ${title}`, () => {
      expect(() => written(document)).to.throw(problem);
    });
  }

  it('finds what a reference means', () => {
    expect(targetOf('#/$defs/a', 'common')).to.deep.equal({ document: 'common', pointer: '/$defs/a' });
    expect(targetOf('../b.json', 'resources/a')).to.deep.equal({ document: 'b', pointer: '' });
  });
});
