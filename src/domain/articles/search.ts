import { sql, type Executor } from '../../postgres/sql.ts';
import { highlight } from './highlight.ts';
import { findTerms, type Term } from './query-terms.ts';
import { queryOf, scoredTerm, waysOf } from './ways.ts';

/** The best passage of an article for a question. */
export interface FoundPassage {
  article_id: number;
  title: string;
  url: string | null;
  language: string;
  heading: string | null;
  /** Markdown. */
  text: string;
  /** 0 to 1: how much of the question the passage has, its telling words more than others. See answerThreshold. */
  score: number;
  /** HTML: escaped text, whose only tags are `<mark>`. */
  highlight: string;
}

export interface PassageFilter {
  /** Only articles with one of these tags; empty or undefined = all. */
  tags?: readonly string[] | undefined;
  /** Only articles in one of these languages; empty or undefined = all. */
  languages?: readonly string[] | undefined;
  /** Articles at most. */
  limit: number;
}

/** The score from which on a passage answers the question; `npm run bench -- retrieval` shows what it lets through. */
export const answerThreshold = 0.5;

// Passages that one way of looking scores at most: how long a search takes does not grow with the articles.
const candidatesPerWay = 400;
// What the score consists of: the words of the question, the words of the title, how close together they are.
const [ofWords, ofTitle, ofRank] = [0.85, 0.1, 0.05];
/** What a word counts that is in the text, but neither in the title nor in a heading above it. */
const inTextAlone = 0.85;

type Row = Omit<FoundPassage, 'highlight'>;

/**
 * The passages of the account's published articles that say most about a question: one of each article, best first. Words
 * may be misspelt, parts of compounds or only begun. Articles are searched in their languages, by the words that PostgreSQL's
 * configuration of the language makes of them.
 */
export async function searchPassages(
  executor: Executor,
  accountId: number,
  query: string,
  { tags = [], languages = [], limit }: PassageFilter,
): Promise<FoundPassage[]> {
  const terms = await findTerms(executor, accountId, { query, languages });
  const looked = [...Map.groupBy(terms, ({ language }) => language).values()].filter(hasWords);
  if (looked.length === 0) return [];
  const rows = await sql<Row>(executor, searchStatement, [
    accountId,
    JSON.stringify(looked.flatMap(waysOf)),
    JSON.stringify(looked.flatMap((ofLanguage) => ofLanguage.map(scoredTerm))),
    tags.length > 0 ? tags : null,
    limit,
    JSON.stringify(looked.map(wholeOf)),
  ]);
  const words = new Map(looked.map((ofLanguage) => [ofLanguage[0]?.language ?? '', queryOf(ofLanguage)]));
  const highlights = await highlight(executor, rows, words);
  return rows.map((row, index) => ({ ...row, highlight: highlights[index] ?? '' }));
}

function hasWords(terms: readonly Term[]): boolean {
  return terms.some(({ passages }) => passages > 0);
}

function wholeOf(terms: readonly Term[]): { language: string; weight: number; query: string } {
  const weight = terms.reduce((sum, term) => sum + term.weight, 0);
  return { language: terms[0]?.language ?? '', weight, query: queryOf(terms) };
}

const wanted = 'p.account_id = $1 AND p.language = way.language AND ($4::text[] IS NULL OR p.tags && $4::text[])';

// A CASE stops at the first that holds, so that a passage is looked at about twice for each word.
const matched = (vector: string) =>
  `CASE WHEN ${vector} @@ t.word THEN 1 WHEN ${vector} @@ t.variants THEN t.quality ELSE 0 END`;

const searchStatement = `
  WITH ways AS (SELECT * FROM jsonb_to_recordset($2::jsonb) AS w (language text, query tsquery, title boolean)),
  terms AS (
    SELECT * FROM jsonb_to_recordset($3::jsonb) AS t (language text, weight float8, quality float8, word tsquery,
      variants tsquery, prominent tsquery, prominent_variants tsquery)
  ),
  whole AS (SELECT * FROM jsonb_to_recordset($6::jsonb) AS w (language text, weight float8, query tsquery)),
  candidates AS MATERIALIZED (
    SELECT f.id FROM ways way CROSS JOIN LATERAL (
      SELECT p.id FROM article_passages p WHERE ${wanted} AND p.search @@ way.query LIMIT ${candidatesPerWay}
    ) f WHERE NOT way.title
    UNION
    SELECT all_of.id FROM ways way CROSS JOIN LATERAL (
      SELECT p.article_id FROM article_passages p WHERE ${wanted} AND p.title @@ way.query AND p.position = 0
      LIMIT ${candidatesPerWay}
    ) f JOIN article_passages all_of ON all_of.account_id = $1 AND all_of.article_id = f.article_id WHERE way.title
  ),
  scored AS (
    SELECT p.id, p.article_id, p.search, p.language,
      sum(t.weight * CASE WHEN p.search @@ t.prominent THEN 1 WHEN p.search @@ t.prominent_variants THEN t.quality
        ELSE ${inTextAlone} * (${matched('p.search')}) END) AS words,
      sum(CASE WHEN p.title @@ t.word OR p.title @@ t.variants THEN 1 ELSE 0 END) / greatest(length(p.title), 1)::float8 AS title
    FROM candidates c JOIN article_passages p ON p.id = c.id AND p.account_id = $1
    JOIN terms t ON t.language = p.language
    GROUP BY p.id
  ),
  ranked AS (
    SELECT s.id, s.article_id, least(1, ${ofWords} * s.words / w.weight + ${ofTitle} * least(1, s.title)
      + ${ofRank} * ts_rank_cd(s.search, w.query, 32)) AS score
    FROM scored s JOIN whole w ON w.language = s.language
  ),
  best AS (SELECT DISTINCT ON (article_id) id, article_id, score FROM ranked ORDER BY article_id, score DESC, id)
  SELECT a.id AS article_id, a.title, a.url, a.language, p.heading, p.text, b.score
  FROM (SELECT * FROM best WHERE score > 0 ORDER BY score DESC, article_id LIMIT $5) b
  JOIN article_passages p ON p.account_id = $1 AND p.id = b.id
  JOIN articles a ON a.account_id = $1 AND a.id = b.article_id
  ORDER BY b.score DESC, a.id`;
