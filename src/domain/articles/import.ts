import { createHash } from 'node:crypto';
import { Article } from '../../records/article.ts';
import type { Transaction, Transact } from '../../events/transaction.ts';
import { createRow, findRows, save, update } from '../small-rows.ts';
import { indexArticles, lockArticles } from './index-articles.ts';
import type { ImportedArticle, ImportLine } from './import-file.ts';

/** Result of an import. */
export interface ImportResult {
  created: number;
  updated: number;
  unchanged: number;
  errors: { line: number; error: string }[];
}

type Line = Extract<ImportLine, { article: unknown }>;
type Outcome = 'created' | 'updated' | 'unchanged' | { error: string };

// Other writers of the account's articles wait for a batch.
const [batchArticles, batchChars] = [50, 300_000];

/**
 * Creates and changes articles, by URL or else by path, in batches, one transaction each. A line with neither is the article
 * with the same title, content and language, if there is one. Fields that a line leaves out stay unchanged. Lines with errors
 * are left out, as are lines that name an article of an earlier line.
 */
export async function importArticles(
  transact: Transact,
  lines: readonly ImportLine[],
  language = 'en',
): Promise<ImportResult> {
  const result: ImportResult = { created: 0, updated: 0, unchanged: 0, errors: [] };
  for (const batch of batchesOf(withoutTwins(lines, result))) {
    const outcomes = await transact((tx) => importBatch(tx, batch, language));
    batch.forEach(({ line }, index) => {
      const outcome = outcomes[index];
      if (typeof outcome === 'string') result[outcome] += 1;
      else if (outcome) result.errors.push({ line, error: outcome.error });
    });
  }
  result.errors.sort((one, other) => one.line - other.line);
  return result;
}

/** Returns the lines with articles, each of another URL and path; the errors of the others go to the result. */
function withoutTwins(lines: readonly ImportLine[], { errors }: ImportResult): Line[] {
  const seen = new Map<string, number>();
  return lines.flatMap((one) => {
    if ('error' in one) {
      errors.push({ line: one.line, error: one.error });
      return [];
    }
    const names = namesOf(one.article);
    const twin = names.map((name) => seen.get(name)).find((line) => line !== undefined);
    if (twin !== undefined) {
      errors.push({ line: one.line, error: `Line ${twin} is the same article: it has the same URL or path` });
      return [];
    }
    for (const name of names) seen.set(name, one.line);
    return [one];
  });
}

function namesOf({ url, path }: ImportedArticle): string[] {
  return [...(url ? [`url ${url}`] : []), ...(path ? [`path ${path}`] : [])];
}

function batchesOf(lines: readonly Line[]): Line[][] {
  const batches: Line[][] = [];
  let chars = Infinity;
  for (const line of lines) {
    const last = batches.at(-1);
    chars += line.article.content.length;
    if (last && last.length < batchArticles && chars <= batchChars) last.push(line);
    else {
      batches.push([line]);
      chars = line.article.content.length;
    }
  }
  return batches;
}

async function importBatch(tx: Transaction, batch: readonly Line[], language: string): Promise<Outcome[]> {
  await lockArticles(tx);
  const present = await findPresent(tx, batch);
  const changed = new Set<Article>();
  const outcomes: Outcome[] = [];
  for (const { article } of batch) outcomes.push(await importOne(tx, article, { present, changed, language }));
  if (changed.size === 0) return outcomes;
  await indexArticles(tx, [...changed]);
  return outcomes;
}

/** Articles that the lines may name, those of earlier lines included, and the changed ones so far. */
interface Batch {
  present: Article[];
  changed: Set<Article>;
  language: string;
}

async function importOne(
  tx: Transaction,
  given: ImportedArticle,
  { present, changed, language }: Batch,
): Promise<Outcome> {
  const found = matchOf(given, present);
  if (found && 'error' in found) return found;
  if (!found) {
    const article = await create(tx, given, language);
    present.push(article);
    changed.add(article);
    return 'created';
  }
  if (!update(found, changesOf(given), tx.now)) return 'unchanged';
  changed.add(found);
  // Written at once: a later line may take the URL or path that this one left.
  await save(tx.sql, found);
  return 'updated';
}

const presentStatement = `
  SELECT id FROM articles WHERE account_id = $1
    AND (md5(url) = ANY ($2::text[]) OR path = ANY ($3::text[]) OR title = ANY ($4::text[]))`;

async function findPresent(tx: Transaction, batch: readonly Line[]): Promise<Article[]> {
  const articles = batch.map(({ article }) => article);
  const rows = await tx.sql<{ id: number }>(presentStatement, [
    tx.account.id,
    articles.flatMap(({ url }) => (url ? [createHash('md5').update(url).digest('hex')] : [])),
    articles.flatMap(({ path }) => path ?? []),
    articles.flatMap(({ url, path, title }) => (url || path ? [] : [title])),
  ]);
  const ids = rows.map(({ id }) => id);
  return ids.length === 0 ? [] : findRows(tx.sql, Article, { accountId: tx.account.id, id: { $in: ids } });
}

function matchOf(given: ImportedArticle, present: readonly Article[]): Article | { error: string } | undefined {
  const { url, path, title, content, language } = given;
  const byUrl = url ? present.find((article) => article.url === url) : undefined;
  const byPath = path ? present.find((article) => article.path === path) : undefined;
  if (byUrl && byPath && byUrl !== byPath)
    return { error: `The URL is that of article ${byUrl.id}, the path that of article ${byPath.id}` };
  if (url || path) return byUrl ?? byPath;
  return present.find(
    (article) =>
      article.title === title &&
      article.content === content &&
      (language === undefined || article.language === language),
  );
}

function changesOf({ title, content, url, path, language, tags, published }: ImportedArticle) {
  return { title, content, url, path, language, tags, published };
}

function create(tx: Transaction, given: ImportedArticle, defaultLanguage: string): Promise<Article> {
  const { title, content, url = null, path = null, language = defaultLanguage, tags = [], published = true } = given;
  const article = { title, content, url, path, language, tags, published };
  return createRow(tx.sql, Article, { ...article, accountId: tx.account.id, createdAt: tx.now, updatedAt: tx.now });
}
