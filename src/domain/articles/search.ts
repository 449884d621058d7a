import { storableText } from '../../lib/text/storable.ts';
import type { Sql } from '../../postgres/sql.ts';
import { fuse } from './embeddings/fuse.ts';
import { findSimilar, type Meaning, type SimilarPassage } from './embeddings/similar.ts';
import { highlight } from './highlight.ts';
import { findTerms, maxQueryChars, type Term } from './query-terms.ts';
import { questionsOf } from './questions.ts';
import { queryOf, scoredTerm, waysOf, type Way } from './search-strategy.ts';

/** The best passage of an article for a question. */
export interface FoundPassage {
  id: number;
  article_id: number;
  title: string;
  url: string | null;
  language: string;
  heading: string | null;
  /** Markdown. */
  text: string;
  /**
   * 0 to 1: the share of the question that the passage covers, rare words more than others, or its similarity to the question's
   * meaning, if that is more.
   */
  score: number;
  /** Whether the score is high enough to answer the question with it. */
  answers: boolean;
  /** The sentence of the query that it fits best. */
  question: string;
  /** How many of the question's telling words the article has, and how many there are; null where its meaning alone fits. */
  matches: { words: number; of: number } | null;
  /** HTML: escaped text, whose only tags are `<mark>`. */
  highlight: string;
  /** The question's words in the spelling of the text; none if the passage was found by its meaning alone. */
  words: string[];
}

export interface PassageFilter {
  /** Only articles with one of these tags; empty or undefined = all. */
  tags?: readonly string[] | undefined;
  /** Only articles in one of these languages, of which `pt` includes `pt-BR`; empty or undefined = all. */
  languages?: readonly string[] | undefined;
  /** Articles at most. */
  limit: number;
  /** Vector of the question; null or undefined: the search uses its words alone. */
  meaning?: Meaning | null | undefined;
}

/** Score from which a passage's words answer the question; `npm run bench -- retrieval` shows which passages it admits. */
export const answerThreshold = 0.45;

// Passages that one index scan scores at most: the time of a search does not grow with the articles.
const candidatesPerWay = 250;
/** Articles that one index scan finds by their titles; all their passages are scored. */
const titlesPerWay = 80;
/** Articles of each list that are merged. */
const fusedArticles = 50;
// Weights of the score: words of the question, words of the title, and how close together the words are.
const [ofWords, ofTitle, ofRank] = [0.85, 0.1, 0.05];
/** Weight of a word that is in the text, but neither in the title nor in a heading above it. */
const inTextAlone = 0.85;

type Row = Omit<FoundPassage, 'highlight' | 'words' | 'answers'> & {
  /** The tsquery of its question in its language; empty where its meaning alone fits. */
  asked: string;
};
/** A passage as statements read it. */
type Read = Omit<Row, 'question' | 'asked' | 'matches'>;
/** `matched`: telling words that the passage has. */
type Scored = Read & { matched: number };
type Filter = { tags: readonly string[]; languages: readonly string[]; limit: number };

/**
 * Returns the passages of the account's published articles that cover most of a question: one of each article, best first.
 * Each sentence of a text is searched for by itself, and the best counts; statements, and then the questions of a quoted mail, are
 * searched for where nothing answers the questions. Words may be misspelt, parts of compounds or only begun. Articles are searched
 * in their languages, by the words that PostgreSQL's configuration of the language makes of them; with a meaning also by their
 * vectors, and the two lists are merged.
 */
export async function searchPassages(
  sql: Sql,
  accountId: number,
  query: string,
  { tags = [], languages = [], limit, meaning }: PassageFilter,
): Promise<FoundPassage[]> {
  const filter = { tags, languages, limit: meaning ? Math.max(limit, fusedArticles) : limit };
  const { asking, telling, quoted } = questionsOf(storableText(query, maxQueryChars));
  const search = async (questions: readonly string[]): Promise<Row[]> =>
    (await Promise.all(questions.map((question) => findByWords(sql, accountId, question, filter)))).flat();
  let found = await search(asking);
  for (const others of [telling, quoted]) if (!isAnswered(found)) found = [...found, ...(await search(others))];
  const byWords = bestOfArticles(found, filter.limit);
  const similar = meaning ? await findSimilar(sql, accountId, meaning, filter) : [];
  const rows = similar.length === 0 ? byWords : await withSimilar(sql, accountId, { query, byWords, similar, limit });
  const near = new Set(similar.map(({ article_id: id }) => id));
  const shown = rows.slice(0, limit);
  const highlights = await highlight(sql, shown);
  return shown.map((row, index) => {
    const answers = row.score >= answerThreshold || near.has(row.article_id);
    const { html = '', words = [] } = highlights[index] ?? {};
    return { ...row, answers, highlight: html, words };
  });
}

function isAnswered(rows: readonly Row[]): boolean {
  return rows.some(({ score }) => score >= answerThreshold);
}

async function findByWords(sql: Sql, accountId: number, question: string, filter: Filter): Promise<Row[]> {
  const terms = await findTerms(sql, accountId, { query: question, languages: filter.languages });
  const looked = [...Map.groupBy(terms, ({ language }) => language).values()].filter(hasWords);
  if (looked.length === 0) return [];
  const asked = new Map(looked.map((ofLanguage) => [ofLanguage[0]?.language ?? '', ofLanguage]));
  const found = await find(sql, accountId, looked, filter);
  return found.map(({ matched, ...row }) => {
    const ofLanguage = asked.get(row.language) ?? [];
    const of = ofLanguage.filter(({ weight, isPart }) => weight > 0 && !isPart).length;
    return { ...row, question, asked: queryOf(ofLanguage), matches: { words: matched, of } };
  });
}

/** Returns the best row of each article, best first. */
function bestOfArticles(rows: readonly Row[], limit: number): Row[] {
  const sorted = rows.toSorted((one, other) => other.score - one.score || one.article_id - other.article_id);
  const best = new Map<number, Row>();
  for (const row of sorted) if (!best.has(row.article_id)) best.set(row.article_id, row);
  return [...best.values()].slice(0, limit);
}

/** Returns the better passage of each article: the one found by words, or the one found by meaning. */
async function withSimilar(
  sql: Sql,
  accountId: number,
  {
    query,
    byWords,
    similar,
    limit,
  }: { query: string; byWords: readonly Row[]; similar: readonly SimilarPassage[]; limit: number },
): Promise<Row[]> {
  const lists = [byWords, similar].map((list) => list.map(({ article_id: id }) => id));
  const chosen = fuse(lists).slice(0, limit);
  const [worded, meant] = [new Map(byWords.map(entryOf)), new Map(similar.map(entryOf))];
  const isByWords = (id: number): boolean => {
    const answers = (worded.get(id)?.score ?? 0) >= answerThreshold;
    return !meant.has(id) || (answers && placeIn(lists[0], id) <= placeIn(lists[1], id));
  };
  const wanted = chosen.filter((id) => !isByWords(id)).flatMap((id) => meant.get(id)?.id ?? []);
  const read = new Map((await readPassages(sql, accountId, wanted)).map(entryOf));
  return chosen.flatMap((id) => {
    const row = isByWords(id) ? worded.get(id) : read.get(id);
    const score = Math.max(worded.get(id)?.score ?? 0, Math.min(1, meant.get(id)?.similarity ?? 0));
    return row ? [{ question: query, asked: worded.get(id)?.asked ?? '', matches: null, ...row, score }] : [];
  });
}

function entryOf<One extends { article_id: number }>(one: One): [number, One] {
  return [one.article_id, one];
}

function placeIn(list: readonly number[] | undefined, id: number): number {
  const place = list?.indexOf(id) ?? -1;
  return place === -1 ? Infinity : place;
}

function readPassages(sql: Sql, accountId: number, ids: readonly number[]): Promise<Read[]> {
  if (ids.length === 0) return Promise.resolve([]);
  return sql<Read>(
    `SELECT p.id, a.id AS article_id, a.title, a.url, a.language, p.heading, p.text, 0::float8 AS score
     FROM article_passages p JOIN articles a ON a.account_id = p.account_id AND a.id = p.article_id
     WHERE p.account_id = $1 AND p.id = ANY ($2::bigint[])`,
    [accountId, ids],
  );
}

function hasWords(terms: readonly Term[]): boolean {
  return terms.some(({ passages }) => passages > 0);
}

function wholeOf(terms: readonly Term[]): { language: string; weight: number; query: string } {
  const weight = terms.reduce((sum, term) => sum + term.weight, 0);
  return { language: terms[0]?.language ?? '', weight, query: queryOf(terms) };
}

async function find(sql: Sql, accountId: number, terms: readonly Term[][], { tags, limit }: Filter): Promise<Scored[]> {
  const ways = terms.flatMap(waysOf);
  const parameters = [
    accountId,
    JSON.stringify(terms.flat().flatMap((term) => scoredTerm(term))),
    JSON.stringify(terms.map(wholeOf)),
    limit,
    ...(tags.length > 0 ? [tags] : []),
  ];
  const condition = tags.length > 0 ? `AND p.tags && $${parameters.length}::text[]` : '';
  const candidates = ways
    .map((way, index) => candidatesOf(way, parameters.length + 2 * index, condition))
    .join(' UNION ALL ');
  return sql<Scored>(searchStatement(candidates), [
    ...parameters,
    ...ways.flatMap(({ language, query }) => [language, query]),
  ]);
}

// Each scan has parameters of its own: the planner estimates each word from its statistics.
function candidatesOf({ title }: Way, before: number, condition: string): string {
  const wanted = `p.account_id = $1 AND p.language = $${before + 1} ${condition}`;
  const query = `$${before + 2}::tsquery`;
  if (!title)
    return `(SELECT ${columns('p')} FROM article_passages p WHERE ${wanted} AND p.search @@ ${query} LIMIT ${candidatesPerWay})`;
  return `
    (SELECT ${columns('every')} FROM (
      SELECT p.article_id FROM article_passages p
      WHERE ${wanted} AND p.title @@ ${query} AND p.position = 0 LIMIT ${titlesPerWay}
    ) f JOIN article_passages every ON every.account_id = $1 AND every.article_id = f.article_id)`;
}

const columns = (from: string) =>
  ['id', 'article_id', 'language', 'title', 'search'].map((name) => `${from}.${name}`).join();

// Some passages are candidates twice, and scored twice: removing duplicates first would read all of them twice.
const searchStatement = (candidates: string) => `
  WITH terms AS (
    SELECT * FROM jsonb_to_recordset($2::jsonb) AS t (language text, weight float8, quality float8, counts boolean, word tsquery,
      any_word tsquery, prominent tsquery, any_prominent tsquery)
  ),
  whole AS (SELECT * FROM jsonb_to_recordset($3::jsonb) AS w (language text, weight float8, query tsquery)),
  scored AS (
    SELECT p.id, p.article_id, least(1, ${ofWords} * s.words / w.weight + ${ofTitle} * least(1, s.title)
      + ${ofRank} * ts_rank_cd(p.search, w.query, 32)) AS score, s.matched
    FROM (${candidates}) p JOIN whole w ON w.language = p.language
    CROSS JOIN LATERAL (
      SELECT sum(t.weight * CASE WHEN NOT p.search @@ t.any_word THEN 0 WHEN p.search @@ t.prominent THEN 1
          WHEN p.search @@ t.any_prominent THEN t.quality WHEN p.search @@ t.word THEN ${inTextAlone}
          ELSE ${inTextAlone} * t.quality END) AS words,
        count(*) FILTER (WHERE t.counts AND p.search @@ t.any_word) AS matched,
        sum(CASE WHEN p.title @@ t.any_word THEN 1 ELSE 0 END) / greatest(length(p.title), 1)::float8 AS title
      FROM terms t WHERE t.language = p.language
    ) s
  ),
  best AS (SELECT DISTINCT ON (article_id) id, article_id, score, matched FROM scored ORDER BY article_id, score DESC, id)
  SELECT p.id, a.id AS article_id, a.title, a.url, a.language, p.heading, p.text, b.score, b.matched
  FROM (SELECT * FROM best WHERE score > 0 ORDER BY score DESC, article_id LIMIT $4) b
  JOIN article_passages p ON p.account_id = $1 AND p.id = b.id
  JOIN articles a ON a.account_id = $1 AND a.id = b.article_id
  ORDER BY b.score DESC, a.id`;
