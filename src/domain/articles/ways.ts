import type { Term } from './query-terms.ts';

/** An index scan that finds passages: by a query of their words, or of their articles' titles. */
export interface Way {
  language: string;
  query: string;
  title: boolean;
}

// As many passages are scored without choosing among them.
const budget = 1200;

/**
 * The ways to find what one language has for the terms. Passages with a rare word are all found; of words that many have,
 * those passages that have several, since scoring all of them would take the longer the more articles there are.
 */
export function waysOf(terms: readonly Term[]): Way[] {
  const known = terms.filter(({ passages }) => passages > 0).toSorted((one, other) => one.passages - other.passages);
  const rare: Term[] = [];
  let sum = 0;
  for (const term of known) {
    sum += term.passages;
    if (sum <= budget) rare.push(term);
  }
  const common = known.slice(rare.length);
  const language = terms[0]?.language ?? '';
  const inText = [...(rare.length > 0 ? [queryOf(rare)] : []), ...choose(common)];
  const inTitle = common.length > 0 ? choose(known) : [];
  return [
    ...[...new Set(inText)].map((query) => ({ language, query, title: false })),
    ...[...new Set(inTitle)].map((query) => ({ language, query, title: true })),
  ];
}

/** Of terms, the rarest first: all of them, the rarest with another one, the rarest. */
function choose(terms: readonly Term[]): string[] {
  const [rarest, ...others] = terms;
  if (!rarest) return [];
  const alone = queryOf([rarest]);
  if (others.length === 0) return [alone];
  const together = terms.map((term) => `(${queryOf([term])})`).join(' & ');
  return [together, `(${alone}) & (${queryOf(others)})`, alone];
}

/** The tsquery for one of the words of the terms. */
export function queryOf(terms: readonly Term[]): string {
  return terms.flatMap(({ word, variants }) => (word === null ? variants : [word, ...variants]).map(quote)).join(' | ');
}

/** A term as the statement that scores passages reads it; queries are null where there are no words. */
export function scoredTerm({ language, weight, quality, word, variants }: Term) {
  const prominent = (found: readonly string[]) => found.map((one) => `${quote(one)}:AB`).join(' | ') || null;
  const itself = word === null ? [] : [word];
  return {
    language,
    weight,
    quality,
    word: itself.map(quote).join('') || null,
    variants: variants.map(quote).join(' | ') || null,
    prominent: prominent(itself),
    prominent_variants: prominent(variants),
  };
}

function quote(word: string): string {
  return `'${word.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`;
}
