import type { Article } from '../../records/article.ts';
import type { Transaction } from '../../events/transaction.ts';
import { comparable, configurationOf } from './languages.ts';
import { divide } from './passages.ts';
import { plainText } from './plain-text.ts';

type Indexed = Pick<Article, 'id' | 'title' | 'content' | 'language' | 'tags' | 'published'>;

const lockStatement = `SELECT pg_advisory_xact_lock(hashtextextended('articles', $1))`;

/** Locks the account's articles against other writers, which count the same words. Taken before other locks. */
export async function lockArticles(tx: Transaction): Promise<void> {
  await tx.sql(lockStatement, [tx.account.id]);
}

/**
 * Replaces the passages of articles, which unpublished ones do not have. The caller holds the lock of lockArticles and
 * has written the articles.
 */
export async function indexArticles(tx: Transaction, articles: readonly Indexed[]): Promise<void> {
  const unused = await removePassages(
    tx,
    articles.map(({ id }) => id),
  );
  const rows = articles.filter(({ published }) => published).flatMap(rowsOf);
  if (rows.length > 0) {
    await tx.sql(insertStatement, [tx.account.id, JSON.stringify(rows)]);
    tx.announce('articles', null);
  }
  await forgetWords(tx, unused);
}

/** Removes the passages of an article that is about to be deleted. The caller holds the lock of lockArticles. */
export async function unindexArticle(tx: Transaction, id: number): Promise<void> {
  await forgetWords(tx, await removePassages(tx, [id]));
}

interface Word {
  language: string;
  word: string;
}

/** Answers the words that no passage has any more. */
async function removePassages(tx: Transaction, ids: readonly number[]): Promise<Word[]> {
  const left = await tx.sql<Word & { passages: number }>(removeStatement, [tx.account.id, ids]);
  return left.filter(({ passages }) => passages <= 0);
}

async function forgetWords(tx: Transaction, words: readonly Word[]): Promise<void> {
  if (words.length > 0) await tx.sql(forgetStatement, [tx.account.id, JSON.stringify(words)]);
}

function rowsOf({ id, title, content, language, tags }: Indexed) {
  return divide(content).map(({ heading, headings, text }, position) => ({
    article_id: id,
    position,
    language,
    configuration: configurationOf(language),
    tags,
    heading,
    text,
    title_words: comparable(plainText(title)),
    heading_words: comparable([...headings, ...tags].join(' . ')),
    words: comparable(plainText(text)),
  }));
}

// The empty word counts the passages themselves.
const counted = (rows: string) => `
  SELECT language, word, count(*) AS passages
  FROM ${rows}, unnest(array_append(tsvector_to_array(search), '')) AS word GROUP BY language, word`;

const removeStatement = `
  WITH removed AS (
    DELETE FROM article_passages WHERE account_id = $1 AND article_id = ANY ($2::bigint[]) RETURNING language, search
  ), fewer AS (${counted('removed')})
  UPDATE article_words w SET passages = w.passages - fewer.passages FROM fewer
  WHERE w.account_id = $1 AND w.language = fewer.language AND w.word = fewer.word
  RETURNING w.language, w.word, w.passages`;

const insertStatement = `
  WITH given AS (
    SELECT * FROM jsonb_to_recordset($2::jsonb) AS g (article_id bigint, position integer, language text,
      configuration regconfig, tags text[], heading text, text text, title_words text, heading_words text, words text)
  ), added AS (
    INSERT INTO article_passages (account_id, article_id, position, language, tags, heading, text, title, search)
    SELECT $1, article_id, position, language, tags, heading, text, to_tsvector(configuration, title_words),
      setweight(to_tsvector(configuration, title_words), 'A')
        || setweight(to_tsvector(configuration, heading_words), 'B') || to_tsvector(configuration, words)
    FROM given RETURNING language, search
  ), noted AS (
    INSERT INTO embedding_tasks (account_id) SELECT $1 ON CONFLICT DO NOTHING
  ), woken AS (
    UPDATE embedding_tasks SET due_at = now() WHERE account_id = $1 AND due_at = 'infinity'
  )
  INSERT INTO article_words AS w (account_id, language, word, passages)
  SELECT $1, c.language, c.word, c.passages FROM (${counted('added')}) c
  ON CONFLICT (account_id, language, word) DO UPDATE SET passages = w.passages + excluded.passages`;

const forgetStatement = `
  DELETE FROM article_words w USING jsonb_to_recordset($2::jsonb) AS unused (language text, word text)
  WHERE w.account_id = $1 AND w.language = unused.language AND w.word = unused.word AND w.passages <= 0`;
