import type { Sql } from '../../postgres/sql.ts';
import { storableText } from '../../lib/text/storable.ts';
import { comparable, configurationOf } from './languages.ts';
import { splitQuestion, withoutQuestionWords } from './question-words.ts';
import { exchanges, tolerated } from './spelling.ts';
import { distance } from '../../lib/text/distance.ts';

/** A word of a question in one language of the articles. */
export interface Term {
  language: string;
  /** Weight in the score: words that few passages have weigh more. */
  weight: number;
  /** The passages that have it, or one of its variants. */
  passages: number;
  /** All passages in this language. */
  total: number;
  /** The word itself, if an article has it. */
  word: string | null;
  /** Words of articles that stand for it: misspelt, longer, or a part of it. */
  variants: string[];
  /** How well the variants fit, below 1. */
  quality: number;
  /** Whether it is a part of another one that is written with a hyphen: “bike” of “e-bike”. */
  isPart: boolean;
}

/** Languages in which a question is asked at most: those with the most passages. */
const maxLanguages = 8;
/** Characters of a question at most; the rest is ignored. */
export const maxQueryChars = 10_000;
/** Words of a question at most; the rest is ignored. */
const maxWords = 24;
/** Words of articles that stand for one of a question at most. */
const maxVariants = 12;
// Dampens the weight of words in small collections, where chance decides how many passages have one.
const priorPassages = 50;
// A word that no article has says less about the question than one that an article has.
const unknownShare = 0.8;
const [misspelt, begun, partly] = [0.85, 0.6, 0.85];
const [shortestBeginning, shortestPart] = [4, 4];
// A question may have a word of thousands of letters: guesses grow with the square of its length, and the database takes it
// apart anew for each similar word.
const longestGuessed = 50;
/** Languages that write compounds as one word. */
const compounding = new Set(['german', 'dutch', 'swedish', 'danish', 'norwegian', 'finnish', 'hungarian', 'estonian']);

interface Row {
  language: string;
  total: number;
  term: string;
  /** The passages that have exactly this word; null if none. */
  exact: number | null;
  /** Words that begin like it. */
  longer: Found[];
  /** Words it may be misspelt from, or consist of. */
  similar: Found[];
}
interface Found {
  word: string;
  passages: number;
}

/**
 * Returns the words of a question in each language that the account's articles have, or in those of the filter, with the words
 * of articles that stand for them: the same, misspelt ones, longer ones and parts of compounds.
 */
export async function findTerms(
  sql: Sql,
  accountId: number,
  { query, languages }: { query: string; languages: readonly string[] },
): Promise<Term[]> {
  const present = await readLanguages(sql, accountId, languages);
  // Cut: folding turns one character into up to eighteen.
  const text = storableText(comparable(query), maxQueryChars);
  const words = splitQuestion(text);
  const asked = present.map(({ language, passages }) => ({
    language,
    total: passages,
    configuration: configurationOf(language),
    text: withoutQuestionWords(words, language),
  }));
  if (asked.length === 0) return [];
  const lexemes = await sql<{ language: string; term: string }>(lexemesStatement, [JSON.stringify(asked)]);
  const looked = lexemes.map((lexeme) => ({ ...lexeme, guesses: guessesFor(lexeme) }));
  if (looked.length === 0) return [];
  const rows = await sql<Row>(vocabularyStatement, [accountId, JSON.stringify(looked)]);
  const totals = new Map(asked.map(({ language, total }) => [language, total]));
  const parts = looked.flatMap(({ term }) => (term.includes('-') ? term.split('-') : []));
  // Endings differ: “e-bik” and “bike”.
  const isPart = (term: string) => parts.some((part) => part === term || (part.length > 1 && term.startsWith(part)));
  return rows.map((row) => ({ ...termOf(row, totals.get(row.language) ?? 0), isPart: isPart(row.term) }));
}

/** Returns the languages of the account's published articles, those with the most passages first. */
export async function languagesOf(sql: Sql, accountId: number): Promise<string[]> {
  return (await readLanguages(sql, accountId, [])).map(({ language }) => language);
}

function readLanguages(sql: Sql, accountId: number, languages: readonly string[]) {
  const wanted = languages.length > 0 ? languages : null;
  return sql<{ language: string; passages: number }>(languagesStatement, [accountId, wanted]);
}

/** Returns words that a term may stand for, for exact lookups: two letters exchanged, and parts of a compound. */
export function guessesFor({ language, term }: { language: string; term: string }): string[] {
  if (term.length < shortestPart || term.length > longestGuessed || /\d/.test(term)) return [];
  const parts = compounding.has(configurationOf(language)) ? partsOf(term) : [];
  return [...exchanges(term), ...parts];
}

function partsOf(term: string): string[] {
  const parts: string[] = [];
  for (let at = shortestPart; at <= term.length - shortestPart; at++) parts.push(term.slice(0, at), term.slice(at));
  return parts;
}

function termOf({ language, term, exact, longer, similar }: Row, total: number): Omit<Term, 'isPart'> {
  const isKnown = exact !== null;
  const others = longer.filter(({ word }) => word !== term);
  const isCompounding = compounding.has(configurationOf(language));
  const { found, quality } = isKnown
    ? { found: isCompounding ? others : [], quality: begun }
    : guess(term, { longer, similar });
  const variants = found.slice(0, maxVariants);
  const all = variants.reduce((sum, { passages }) => sum + passages, exact ?? 0);
  const passages = Math.min(total, all);
  const weight = Math.log(1 + (total + priorPassages) / (passages + 1));
  const word = isKnown ? term : null;
  return {
    language,
    weight: weight * shareOf(term, all),
    passages,
    total,
    word,
    variants: variants.map(({ word: variant }) => variant),
    quality,
  };
}

// Numbers that no article has are those of an order, a day or a version.
function shareOf(term: string, passages: number): number {
  if (passages > 0) return 1;
  return /\d/.test(term) ? 0 : unknownShare;
}

function guess(
  term: string,
  { longer, similar }: Pick<Row, 'longer' | 'similar'>,
): { found: Found[]; quality: number } {
  const most = tolerated(term.length);
  const errors = new Map(similar.map(({ word }) => [word, distance(term, word, most)]));
  const least = Math.min(...errors.values());
  const close = similar.filter(({ word }) => least <= most && errors.get(word) === least);
  if (close.length > 0) return { found: close, quality: misspelt };
  if (longer.length > 0) return { found: longer, quality: begun };
  const found = longest(similar, term);
  const letters = found.reduce((sum, { word }) => sum + word.length, 0);
  return { found, quality: partly * Math.min(1, letters / term.length) };
}

/** Returns the longest part at the beginning, and the longest at the end. */
function longest(found: readonly Found[], term: string): Found[] {
  const byLength = found.toSorted((one, other) => other.word.length - one.word.length);
  const ends = [byLength.find(({ word }) => term.startsWith(word)), byLength.find(({ word }) => term.endsWith(word))];
  return ends.filter((part) => part !== undefined);
}

const languagesStatement = `
  SELECT language, passages FROM article_words
  WHERE account_id = $1 AND word = '' AND ($2::text[] IS NULL OR EXISTS (
    SELECT FROM unnest($2::text[]) AS wanted
    WHERE lower(language) = lower(wanted) OR starts_with(lower(language), lower(wanted) || '-')))
  ORDER BY passages DESC, language LIMIT ${maxLanguages}`;

const lexemesStatement = `
  SELECT a.language, w.lexeme AS term
  FROM jsonb_to_recordset($1::jsonb) AS a (language text, configuration regconfig, text text)
  CROSS JOIN LATERAL (
    SELECT lexeme FROM unnest(to_tsvector(a.configuration, a.text)) ORDER BY positions[1] LIMIT ${maxWords}
  ) w`;

const found = (rows: string) =>
  `coalesce((SELECT jsonb_agg(jsonb_build_object('word', f.word, 'passages', f.passages)) FROM (${rows}) f), '[]')`;

const vocabularyStatement = `
  SELECT t.language, t.term, w.passages AS exact,
    CASE WHEN length(t.term) < ${shortestBeginning} THEN '[]' ELSE ${found(`
      SELECT word, passages FROM article_words
      WHERE account_id = $1 AND language = t.language AND word >= t.term AND word < t.term || U&'\\FFFF'
      ORDER BY passages DESC LIMIT ${maxVariants}`)} END AS longer,
    CASE WHEN w.passages IS NOT NULL OR length(t.term) NOT BETWEEN ${shortestPart} AND ${longestGuessed} THEN '[]' ELSE ${found(`
      (SELECT word, passages FROM article_words
       WHERE account_id = $1 AND language = t.language AND word % t.term ORDER BY similarity(word, t.term) DESC LIMIT 20)
      UNION SELECT word, passages FROM article_words
      WHERE account_id = $1 AND language = t.language AND word = ANY (t.guesses)`)} END AS similar
  FROM jsonb_to_recordset($2::jsonb) AS t (language text, term text, guesses text[])
  LEFT JOIN article_words w ON w.account_id = $1 AND w.language = t.language AND w.word = t.term`;
