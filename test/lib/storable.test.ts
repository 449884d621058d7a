import { expect } from 'chai';
import * as fc from 'fast-check';
import { storableJson, storableText } from '../../src/lib/text/storable.ts';
import { TestApp } from '../support/app.ts';
import { naughtyTexts } from '../support/naughty.ts';

describe('storable text', () => {
  let app: TestApp;

  before(async () => {
    app = await TestApp.start({ engine: false });
  });

  after(() => app.stop());

  /** The texts as the database gives them back, from a text column and from jsonb, as a value and as a name. */
  async function throughDatabase(values: readonly string[]): Promise<{ text: string[]; json: unknown[] }> {
    const [row] = await app.query<{ text: string[]; json: unknown[] }>('SELECT $1::text[] AS text, $2::jsonb AS json', [
      values.map((value) => storableText(value, 2_000_000)),
      storableJson(values.map((value) => ({ [value]: value }))),
    ]);
    return row!;
  }

  const replaced = (text: string) => text.toWellFormed().replaceAll('\0', '\uFFFD');

  it('is stored whatever the text was, as a text and in jsonb, and changed no more than it must be', async () => {
    const { text, json } = await throughDatabase(naughtyTexts);
    expect(text).to.deep.equal(naughtyTexts.map(replaced));
    expect(json).to.deep.equal(naughtyTexts.map((value) => ({ [replaced(value)]: replaced(value) })));
  });

  it('is stored for texts of any code units', async () => {
    const codeUnits = fc.array(fc.oneof(fc.constantFrom(0, 0x5c, 0x75, 0x30, 0xd800, 0xdfff), fc.nat(0xffff)));
    const anyText = codeUnits.map((units) => String.fromCharCode(...units));
    await fc.assert(
      fc.asyncProperty(fc.array(anyText, { minLength: 20, maxLength: 40 }), async (values) => {
        const { text, json } = await throughDatabase(values);
        expect(text).to.deep.equal(values.map(replaced));
        expect(json).to.deep.equal(values.map((value) => ({ [replaced(value)]: replaced(value) })));
      }),
      { numRuns: 50 },
    );
  });

  it('is cut to its bound, also where the cut goes through a pair', () => {
    expect(storableText('ab\u{1f600}', 3)).to.equal('ab\uFFFD');
    expect(storableText('abc', 2)).to.equal('ab');
    expect(storableText('abc', 3)).to.equal('abc');
  });
});
