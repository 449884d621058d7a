import { expect } from 'chai';
import { Redaction } from '../../src/runs/doors/redaction.ts';

const hex = (unit: number) => `\\u${unit.toString(16).padStart(4, '0')}`;
const units = (text: string) => Array.from({ length: text.length }, (_, at) => text.charCodeAt(at));
const bytes = (text: string) => Array.from(Buffer.from(text), (byte) => `%${byte.toString(16).padStart(2, '0')}`);

/** How hosts write a value in what they answer. */
const forms: Readonly<Record<string, (value: string) => string>> = {
  'as it is': (value) => value,
  'in JSON': (value) => JSON.stringify({ value }),
  'in JSON of PHP': (value) => JSON.stringify({ value }).replaceAll('/', '\\/'),
  'in JSON of ASCII': (value) => units(value).map(hex).join(''),
  'in JSON of ASCII, in capitals': (value) =>
    units(value)
      .map((unit) => hex(unit).toUpperCase().replace('U', 'u'))
      .join(''),
  'in JSON in JSON': (value) => JSON.stringify(JSON.stringify({ value }).replaceAll('/', '\\/')),
  'in a URL': encodeURIComponent,
  'in a URL, in small letters': (value) => encodeURIComponent(value).replace(/%../g, (one) => one.toLowerCase()),
  'in a URL, every byte': (value) => bytes(value).join(''),
  'in a URL in a URL': (value) => encodeURIComponent(encodeURIComponent(value)),
  'in a URL in JSON': (value) => JSON.stringify(encodeURIComponent(value)).replaceAll('%', '\\u0025'),
  'in base64': (value) => Buffer.from(value).toString('base64'),
  'in base64 in JSON of PHP': (value) => Buffer.from(value).toString('base64').replaceAll('/', '\\/'),
  'in base64 in a URL': (value) => encodeURIComponent(Buffer.from(value).toString('base64')).toLowerCase(),
};
const secrets = [
  'pier-7/k9Zq+aB==',
  'plain4711',
  'Grüße, 李😀/%41\\n',
  '%2541%42CDEF',
  'a\\u0041\\\\"b\n',
  'with a space/?',
];
// Base64 in small letters is another value.
const isAnother = (form: string, secret: string) =>
  form === 'in base64 in a URL' && /[A-Z]/.test(Buffer.from(secret).toString('base64'));

describe('the redaction of secrets', () => {
  for (const [form, write] of Object.entries(forms)) {
    it(`knows them ${form}, and leaves everything else as it is`, () => {
      for (const secret of secrets) {
        if (isAnother(form, secret)) continue;
        const redaction = new Redaction();
        redaction.add('KEY', secret);
        const written = write(secret);
        const around = redaction.apply(`é\\/ %2f before ${written} after \\u00e9 %`);
        const quotes = /^"|"$|^\{"value":"|"\}$/;
        const shown = quotes.test(written) ? around : around.replace('[secret KEY]', '\0');
        if (shown === around) expect(around).to.contain('[secret KEY]');
        else expect(shown, `${form}: ${secret}`).to.equal('é\\/ %2f before \0 after \\u00e9 %');
        for (const code of [
          (text: string) => text,
          decodeURIComponentSafe,
          (text: string) => text.replaceAll('\\/', '/'),
        ])
          expect(code(around)).to.not.contain(secret);
      }
    });
  }

  it('replaces each of several, in keys too, and the longest first place where they overlap', () => {
    const redaction = new Redaction();
    redaction.add('ONE', 'first/one');
    redaction.add('TWO', 'second/two');
    const text = 'first\\/one second%2ftwo FIRST\\/ONE first/one';
    expect(redaction.apply({ [text]: [text] })).to.deep.equal({
      '[secret ONE] [secret TWO] FIRST\\/ONE [secret ONE]': ['[secret ONE] [secret TWO] FIRST\\/ONE [secret ONE]'],
    });
  });

  it('knows them within the base64 of a longer text, wherever they begin', () => {
    for (const before of ['', 'u', 'us', 'user:', 'user/1:']) {
      const redaction = new Redaction();
      redaction.add('KEY', 'pier-7/k9?>~');
      const encoded = Buffer.from(`${before}pier-7/k9?>~ and more`).toString('base64');
      const shown = redaction.apply(`Basic ${encoded}`);
      expect(shown).to.contain('[secret KEY]');
      const left = Buffer.from(shown.replace('[secret KEY]', ''), 'base64').toString('latin1');
      expect(left).to.not.match(/ier-7|7\/k9/);
      const safe = Buffer.from(`${before}pier-7/k9?>~ and more`).toString('base64url');
      expect(redaction.apply(safe)).to.contain('[secret KEY]');
    }
  });

  it('does not find what is not there', () => {
    const redaction = new Redaction();
    redaction.add('KEY', 'pier-7/k9');
    for (const text of [
      '',
      '\\',
      '%',
      '\\u',
      '\\u00',
      '%2',
      'pier-7\\\\k9',
      'pier-7%2',
      '\\ud83d',
      '\\udc00 \\ud83dx',
      'é'.repeat(9),
    ])
      expect(redaction.apply(text)).to.equal(text);
  });
});

function decodeURIComponentSafe(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
