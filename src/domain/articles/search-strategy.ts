import type { Term } from './query-terms.ts';

/** An index scan that finds passages: by a query of their words, or of their articles' titles. */
export interface Way {
  language: string;
  query: string;
  title: boolean;
}

// Up to this many passages are scored without a choice among them.
const budget = 800;
/** Words in a larger share of the passages find nothing by themselves, unless all words of the question are that common. */
const tellingShare = 0.15;
// Intersecting long lists of passages takes time.
const maxTogether = 4;

/**
 * Returns the index scans for the terms of one language. Passages with a rare word are all found; of common words only passages
 * that have several, since scoring all of them would take longer with each article.
 */
export function waysOf(terms: readonly Term[]): Way[] {
  const [first] = terms;
  if (!first) return [];
  const { language, total } = first;
  const known = terms.filter(({ passages }) => passages > 0).toSorted((one, other) => one.passages - other.passages);
  const telling = known.filter(({ passages }) => passages <= Math.max(budget, tellingShare * total));
  const found = telling.length > 0 ? telling : known.slice(0, 2);
  const rare = takeWhileBelow(budget, found);
  const common = found.slice(rare.length);
  const inText = [
    ...(rare.length > 0 ? [queryOf(rare)] : []),
    ...(common.length > 1 ? severalOf(common) : [queryOf(common)]),
  ];
  const inTitle = common.length > 0 ? [...severalOf(found), queryOf(found)] : [];
  return [
    ...inText.map((query) => ({ language, query, title: false })),
    ...inTitle.map((query) => ({ language, query, title: true })),
  ].filter(({ query }) => query !== '');
}

function takeWhileBelow(most: number, terms: readonly Term[]): Term[] {
  let sum = 0;
  return terms.filter(({ passages }) => (sum += passages) <= most);
}

/** Returns queries for several terms, the rarest first: all of them together, and the rarest with any other. */
function severalOf(terms: readonly Term[]): string[] {
  const [rarest, ...others] = terms;
  if (!rarest || others.length === 0) return [];
  const withOther = `(${queryOf([rarest])}) & (${queryOf(others)})`;
  if (others.length === 1) return [withOther];
  const together = terms.slice(0, maxTogether).map((term) => `(${queryOf([term])})`);
  return [together.join(' & '), withOther];
}

/** Returns the tsquery for any of the terms. */
export function queryOf(terms: readonly Term[]): string {
  return terms.flatMap(({ word, variants }) => (word === null ? variants : [word, ...variants]).map(quote)).join(' | ');
}

/** Returns a term as the scoring statement reads it; none for a word that no passage has. */
export function scoredTerm(term: Term) {
  const { language, weight, quality, word, variants, isPart } = term;
  const itself = word === null ? [] : [word];
  if (itself.length + variants.length === 0) return [];
  const prominent = (words: readonly string[]) => words.map((one) => `${quote(one)}:AB`).join(' | ') || null;
  return [
    {
      language,
      weight,
      quality,
      counts: weight > 0 && !isPart,
      word: itself.map(quote).join('') || null,
      any_word: queryOf([term]),
      prominent: prominent(itself),
      any_prominent: prominent([...itself, ...variants]),
    },
  ];
}

function quote(word: string): string {
  return `'${word.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`;
}
