import { expect } from 'chai';
import { arrayParameter, type ElementType } from '../../src/postgres/array-parameter.ts';
import { TestApp } from '../support/app.ts';

const long = 'ü"\\{},'.repeat(1000);
const cases: Readonly<Record<ElementType, readonly unknown[]>> = {
  boolean: [true, null, false],
  bigint: [0, 1, -1, 2 ** 32, 2 ** 32 - 1, -(2 ** 32) - 5, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER, null],
  int: [0, 2 ** 31 - 1, -(2 ** 31), undefined],
  text: ['', 'NULL', null, 'ünïcode \u{1f600}', '\ud800', long, '{"a": "b"}'],
  float8: [0.1, -1e300, null, 3],
  timestamptz: [new Date(0), new Date('2026-11-22T12:34:56.789Z'), new Date('1999-12-31T23:59:59.999Z'), null],
  uuid: ['0190f5a3-7c1e-7b2a-9d3e-0123456789ab', null],
  jsonb: ['{"a": [1, "ü"]}', 'null', null],
};

describe('an array as a parameter', () => {
  let app: TestApp;

  before(async () => {
    app = await TestApp.start({ engine: false });
  });

  after(() => app.stop());

  for (const [type, values] of Object.entries(cases) as [ElementType, readonly unknown[]][]) {
    it(`of ${type} is what its elements are by themselves`, async () => {
      const singly = values.map((_, index) => `$${index + 2}::${type}`).join(', ');
      const parameters = [arrayParameter(type, values), ...values];
      const [row] = await app.query(
        `SELECT $1::${type}[] = ARRAY[${singly}] AS same, cardinality($1::${type}[]) AS length`,
        parameters,
      );
      expect(row).to.deep.equal({ same: true, length: values.length });
    });
  }

  it('may be empty, or of nothing', async () => {
    const [row] = await app.query(`SELECT cardinality($1::text[]) AS none, $2::bigint[] AS nothing`, [
      arrayParameter('text', []),
      arrayParameter('bigint', [null]),
    ]);
    expect(row).to.deep.equal({ none: 0, nothing: [null] });
  });

  it('is refused with a character that PostgreSQL cannot store', async () => {
    const refusal = await app.query('SELECT $1::text[]', [arrayParameter('text', ['\0'])]).catch((error) => error);
    expect(refusal).to.be.an('error');
  });
});
