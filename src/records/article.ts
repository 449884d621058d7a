import { defineEntity, p } from '@mikro-orm/core';

const ArticleSchema = defineEntity({
  name: 'Article',
  tableName: 'articles',
  properties: {
    id: p.bigint('number').primary(),
    accountId: p.bigint('number'),
    title: p.text(),
    content: p.text(),
    url: p.text().nullable(),
    path: p.text().nullable(),
    language: p.text(),
    tags: p.array().columnType('text[]').$type<string[]>(),
    published: p.boolean(),
    createdAt: p.datetime().defaultRaw('now()'),
    updatedAt: p.datetime().defaultRaw('now()'),
  },
});

/**
 * An article of the knowledge base; `content` is Markdown, `language` a tag such as `de` or `pt-BR`, `path` the file from
 * which it was imported.
 */
export class Article extends ArticleSchema.class {
  static readonly noun = 'Article';
}
ArticleSchema.setClass(Article);
