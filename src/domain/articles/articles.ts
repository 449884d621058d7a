import { Article } from '../../records/article.ts';
import type { Transaction } from '../../events/transaction.ts';
import type { Sql } from '../../postgres/sql.ts';
import {
  createRow,
  deleteRows,
  listPage,
  lockOne,
  readOne,
  rowsPerPage,
  save,
  uniqueOr422,
  update,
  type Page,
  type Where,
} from '../small-rows.ts';
import { indexArticles, lockArticles, unindexArticle } from './index-articles.ts';

export interface NewArticle {
  title: string;
  /** Markdown. */
  content: string;
  url: string | null;
  /** A language tag such as `de` or `pt-BR`. */
  language: string;
  tags: string[];
  published: boolean;
}

const refuseUrl = uniqueOr422('articles_url_unique', '/url', 'Another article of this account has this URL');

/** Filter of a list of articles; undefined selects all. */
export interface ArticleFilter {
  published?: boolean | undefined;
  tag?: string | undefined;
  /** A language tag, of which `pt` includes `pt-BR`. */
  language?: string | undefined;
}

/** Returns one page of the account's articles, by title. */
export async function listArticles(
  sql: Sql,
  accountId: number,
  { page, published, tag, language }: ArticleFilter & { page: number },
): Promise<Page<Article>> {
  const where: Where<Article> = {
    accountId,
    ...(published === undefined ? {} : { published }),
    ...(tag === undefined ? {} : { tags: { $contains: [tag] } }),
    // A language tag has no character that means something else in a pattern.
    ...(language === undefined
      ? {}
      : { $or: [{ language: { $ilike: language } }, { language: { $ilike: `${language}-%` } }] }),
  };
  // The longest article of the account, whatever the filter, so that all lists of the account have pages of one size.
  const [longest] = await sql<{ bytes: number | null }>(
    'SELECT max(octet_length(content)) AS bytes FROM articles WHERE account_id = $1',
    [accountId],
  );
  const perPage = rowsPerPage(longest?.bytes ?? 0);
  return listPage(sql, Article, where, { page, perPage, orderBy: { title: 'asc', id: 'asc' } });
}

/**
 * Returns whether the account has a published article with one of the tags and in one of the languages, of which `pt` includes
 * `pt-BR`; empty = any.
 */
export async function hasArticles(
  sql: Sql,
  accountId: number,
  { tags, languages }: { tags: readonly string[]; languages: readonly string[] },
): Promise<boolean> {
  const [row] = await sql<{ found: boolean }>(
    `SELECT EXISTS (SELECT FROM articles WHERE account_id = $1 AND published
       AND (cardinality($2::text[]) = 0 OR tags && $2::text[])
       AND (cardinality($3::text[]) = 0 OR EXISTS (
         SELECT FROM unnest($3::text[]) AS wanted
         WHERE lower(language) = lower(wanted) OR starts_with(lower(language), lower(wanted) || '-')))) AS found`,
    [accountId, tags, languages],
  );
  return row?.found ?? false;
}

/** Returns an article of the account. Errors: 404. */
export function readArticle(sql: Sql, accountId: number, id: number): Promise<Article> {
  return readOne(sql, Article, { id, accountId });
}

/** Creates an article, which searches find from the commit on if it is published. Errors: 422 for a URL in use. */
export async function createArticle(tx: Transaction, input: NewArticle): Promise<Article> {
  await lockArticles(tx);
  const dates = { createdAt: tx.now, updatedAt: tx.now };
  const values = { ...input, path: null, accountId: tx.account.id, ...dates };
  const article = await createRow(tx.sql, Article, values).catch(refuseUrl);
  await indexArticles(tx, [article]);
  return article;
}

/** Changes an article and its passages in the search index. Errors: 404, 422 for a URL in use. */
export async function updateArticle(tx: Transaction, id: number, changes: Partial<NewArticle>): Promise<Article> {
  await lockArticles(tx);
  const article = await lockOne(tx.sql, Article, { id, accountId: tx.account.id });
  if (!update(article, changes, tx.now)) return article;
  await save(tx.sql, article).catch(refuseUrl);
  await indexArticles(tx, [article]);
  return article;
}

/** Deletes an article. Errors: 404. */
export async function deleteArticle(tx: Transaction, id: number): Promise<void> {
  await lockArticles(tx);
  const { accountId } = await lockOne(tx.sql, Article, { id, accountId: tx.account.id });
  await unindexArticle(tx, id);
  await deleteRows(tx.sql, Article, { id, accountId });
}
