/** PostgreSQL's configurations of full text search by the first part of a language tag; `simple` for all other languages. */
const configurations: Readonly<Record<string, string>> = {
  ar: 'arabic',
  ca: 'catalan',
  da: 'danish',
  de: 'german',
  el: 'greek',
  en: 'english',
  es: 'spanish',
  et: 'estonian',
  eu: 'basque',
  fi: 'finnish',
  fr: 'french',
  ga: 'irish',
  hi: 'hindi',
  hu: 'hungarian',
  hy: 'armenian',
  id: 'indonesian',
  it: 'italian',
  lt: 'lithuanian',
  nb: 'norwegian',
  ne: 'nepali',
  nl: 'dutch',
  nn: 'norwegian',
  no: 'norwegian',
  pt: 'portuguese',
  ro: 'romanian',
  ru: 'russian',
  sr: 'serbian',
  sv: 'swedish',
  ta: 'tamil',
  tr: 'turkish',
  yi: 'yiddish',
};

// Written without spaces between words: full text search would take a sentence for one word.
const unspaced =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
const segmenter = new Intl.Segmenter(undefined, { granularity: 'word' });

/** The language's configuration of full text search. */
export function configurationOf(language: string): string {
  const [first = ''] = language.toLowerCase().split('-');
  return (Object.hasOwn(configurations, first) && configurations[first]) || 'simple';
}

/** The text as its words are compared: case and compatible characters folded, words apart in every script. */
export function comparable(text: string): string {
  const folded = text.normalize('NFKC').toLowerCase();
  if (!unspaced.test(folded)) return folded;
  return Array.from(segmenter.segment(folded), ({ segment }) => segment).join(' ');
}
