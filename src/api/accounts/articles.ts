import {
  createArticle,
  deleteArticle,
  listArticles,
  readArticle,
  updateArticle,
} from '../../domain/articles/articles.ts';
import { importArticles } from '../../domain/articles/import.ts';
import { readImportFile } from '../../domain/articles/import-file.ts';
import { countUses } from '../../domain/articles/used-in-answers.ts';
import { searchPassages } from '../../domain/articles/search.ts';
import type { Article } from '../../records/article.ts';
import { doors } from '../../http/route/admission/doors.ts';
import { withoutUndefined } from '../../lib/without-undefined.ts';
import { presentPage } from '../page.ts';
import { unixSeconds } from '../../lib/unix-time.ts';
import type { Shape } from '../../schemas.ts';

const base = '/api/v1/accounts/:account_id/articles';

function presentArticle(article: Article, uses: ReadonlyMap<number, number>): Shape<'resources/article'> {
  return {
    id: article.id,
    account_id: article.accountId,
    title: article.title,
    content: article.content,
    url: article.url ?? null,
    path: article.path ?? null,
    language: article.language,
    tags: article.tags,
    published: article.published,
    used_in_answers: uses.get(article.id) ?? 0,
    created_at: unixSeconds(article.createdAt),
    updated_at: unixSeconds(article.updatedAt),
  };
}

const searchRoute = doors.account(
  ['GET', `${base}/search`, 'Search articles'],
  {
    query: 'requests/article.search.query',
    reply: 'resources/article-search',
    role: 'agent',
    description:
      'Finds what bots find: published articles, by a question or by words, which may be misspelt, and by what they mean where the model server has a model for embeddings.',
  },
  {
    prepare: ({ services, account, query: { q }, read }) => services.readMeaning(account.id, q, read),
    handle: async ({ sql, account, query: { q, tags, languages, limit = 10 } }, meaning) => {
      const found = await searchPassages(sql, account.id, q, { tags, languages, limit, meaning });
      const payload = found.map(
        ({ article_id: id, title, url, language, heading, score, answers, question, highlight }) => {
          return { id, title, url, language, heading, score, answers, question, highlight };
        },
      );
      return { payload };
    },
  },
);

const importRoute = doors.account(
  ['POST', `${base}/import`, 'Import articles'],
  {
    body: 'requests/article.import',
    upload: 'articles',
    reply: 'resources/article-import',
    role: 'administrator',
    audit: { action: 'article.imported', target: { type: 'article' } },
    inBatches: true,
    description:
      'An article with the URL or path of one that is there changes it. Lines that cannot be read are told, and the others imported.',
  },
  {
    prepare: ({ services, body: { file, file_name: name = '' } }) =>
      readImportFile(name, Buffer.from(file, 'latin1'), services.importBounds),
    handle: ({ body: { language }, transact }, lines) => importArticles(transact, lines, language),
  },
);

export const articleRoutes = [
  doors.account(
    ['GET', base, 'List articles'],
    { query: 'requests/article.list.query', reply: 'resources/article-list', paged: true, role: 'agent' },
    async ({ sql, account, query: { page = 1, published, tag, language }, now }) => {
      const found = await listArticles(sql, account.id, { page, published, tag, language });
      const uses = await countUses(sql, account.id, { articleIds: found.rows.map(({ id }) => id), now });
      return presentPage(found, (article) => presentArticle(article, uses));
    },
  ),
  searchRoute,
  importRoute,
  doors.account(
    ['GET', `${base}/:id`, 'Get an article'],
    { reply: 'resources/article', record: true, role: 'agent' },
    async ({ sql, account, params, now }) => {
      const article = await readArticle(sql, account.id, params.id);
      return presentArticle(article, await countUses(sql, account.id, { articleIds: [article.id], now }));
    },
  ),
  doors.account(
    ['POST', base, 'Create an article'],
    {
      body: 'requests/article.create',
      largeBody: true,
      reply: 'resources/article',
      role: 'administrator',
      status: 201,
    },
    async ({ body, transact }) => {
      const { title, content, url = null, language = 'en', tags = [], published = true } = body;
      const input = { title, content, url, language, tags, published };
      return presentArticle(await transact((tx) => createArticle(tx, input)), new Map());
    },
  ),
  doors.account(
    ['PATCH', `${base}/:id`, 'Update an article'],
    { body: 'requests/article.update', largeBody: true, reply: 'resources/article', role: 'administrator' },
    async ({ params, body, transact }) => {
      const { title, content, url, language, tags, published } = body;
      const changes = withoutUndefined({ title, content, url, language, tags, published });
      return transact(async (tx) => {
        const article = await updateArticle(tx, params.id, changes);
        const asked = { articleIds: [article.id], now: tx.now };
        return presentArticle(article, await countUses(tx.sql, tx.account.id, asked));
      });
    },
  ),
  doors.account(
    ['DELETE', `${base}/:id`, 'Delete an article'],
    { reply: 'resources/empty', role: 'administrator' },
    ({ params, transact }) => transact((tx) => deleteArticle(tx, params.id)),
  ),
];
