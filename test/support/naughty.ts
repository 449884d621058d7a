import naughtyStrings from 'big-list-of-naughty-strings' with { type: 'json' };

/** Texts that PostgreSQL refuses, or that may be cut, escaped or counted wrongly on the way to it. */
export const poisonTexts: readonly string[] = [
  '\0',
  'a\0b\0',
  '\ud800',
  '\udc00\ud800',
  'half of a pair at the end \ud83d',
  '\\u0000',
  '\\\\u0000 \\ud800',
  '\\\0',
  '\u2028\u2029\ufeff\uffff',
  '"\\"',
  '$1 $$ %s {} \u001b[2J',
  'x'.repeat(1_000_000),
  '\0'.repeat(100_000),
];

/** These, and the big list of naughty strings. */
export const naughtyTexts: readonly string[] = [...naughtyStrings, ...poisonTexts];
