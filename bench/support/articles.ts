import { withClient } from './database.ts';

/** Words by how often they are used, the most frequent first. */
const vocabularySize = 40_000;
const passagesPerArticle = 3;
const wordsPerPassage = 110;
const batch = 2_000;
// With it, the most frequent word is in half of the passages, like the name of the product.
const flattening = 20;

/** Deterministic, so that every run measures the same articles. */
export function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

const syllables =
  'ba be bi bo bu da de di do du fa fe ga go ka ke ki ko la le li lo ma me mi mo na ne no pa pe po ra re ri ro sa se ta te ti to'.split(
    ' ',
  );

function wordOf(rank: number): string {
  let [rest, word] = [rank + syllables.length, ''];
  while (rest > 0) {
    word += syllables[rest % syllables.length];
    rest = Math.floor(rest / syllables.length);
  }
  return `${word}n`;
}

/** A word as often as it is used: by Zipf's law, flattened. */
export function anyWord(random: () => number): string {
  const rank = flattening * ((1 + vocabularySize / flattening) ** random() - 1);
  return wordOf(Math.floor(rank));
}

/** Returns a random word of the 30 most frequent ones. */
export function commonWord(random: () => number): string {
  return wordOf(Math.floor(30 * random()));
}

function text(random: () => number, words: number): string {
  return Array.from({ length: words }, () => anyWord(random)).join(' ');
}

const articlesStatement = `
  INSERT INTO articles (account_id, title, content, url, language, tags, published)
  SELECT 1, title, array_to_string(passages, E'\\n\\n'), 'https://help.example.com/' || n, 'en', ARRAY['tag-' || n % 20], true
  FROM jsonb_to_recordset($1::jsonb) AS a (n bigint, title text, passages text[])`;

const passagesStatement = `
  INSERT INTO article_passages (account_id, article_id, position, language, tags, heading, text, title, search)
  SELECT 1, a.id, p.position - 1, 'en', a.tags, NULL, p.text, to_tsvector('english', a.title),
    setweight(to_tsvector('english', a.title), 'A') || to_tsvector('english', p.text)
  FROM articles a, unnest(string_to_array(a.content, E'\\n\\n')) WITH ORDINALITY AS p (text, position)`;

const wordsStatement = `
  INSERT INTO article_words (account_id, language, word, passages)
  SELECT 1, 'en', word, count(*) FROM article_passages, unnest(array_append(tsvector_to_array(search), '')) AS word
  GROUP BY word`;

const indexes = [
  'CREATE INDEX article_passages_by_word ON article_passages USING gin (account_id, search)',
  'CREATE INDEX article_passages_by_title ON article_passages USING gin (account_id, title) WHERE position = 0',
];

/** Gives account 1 so many published articles of invented words, as frequent as words are. */
export async function generateArticles(databaseUrl: string, count: number): Promise<void> {
  const random = randomNumbers(1);
  await withClient(databaseUrl, async (client) => {
    await client.query('DROP INDEX article_passages_by_word, article_passages_by_title');
    for (let first = 0; first < count; first += batch) {
      const rows = Array.from({ length: Math.min(batch, count - first) }, (_, index) => ({
        n: first + index,
        title: text(random, 5),
        passages: Array.from({ length: passagesPerArticle }, () => text(random, wordsPerPassage)),
      }));
      await client.query(articlesStatement, [JSON.stringify(rows)]);
    }
    for (const statement of [passagesStatement, wordsStatement, ...indexes, 'VACUUM ANALYZE'])
      await client.query(statement);
  });
}
