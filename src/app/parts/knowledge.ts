import { hasArticles } from '../../domain/articles/articles.ts';
import type { ReadMeaning } from '../../domain/articles/embeddings/questions.ts';
import { languagesOf } from '../../domain/articles/query-terms.ts';
import { plainText } from '../../domain/articles/plain-text.ts';
import { searchPassages } from '../../domain/articles/search.ts';
import type { Database } from '../../postgres/database.ts';
import type { KnowledgePorts } from '../../runs/doors/search.ts';

// A passage has a few hundred words; one without headings and paragraphs may be a whole article.
const maxTextChars = 4000;

/** Creates the ports of `ctx.kb`, which search the account's published articles. */
export function knowledgeOf(database: Database, readMeaning: ReadMeaning): KnowledgePorts {
  return {
    languages: (accountId) => languagesOf(database.sql, accountId),
    hasArticles: (accountId, filter) => hasArticles(database.sql, accountId, filter),
    find: async (accountId, { query, ...filter }) => {
      const meaning = await readMeaning(accountId, query, (work) => work(database.sql));
      const found = await searchPassages(database.sql, accountId, query, { ...filter, meaning });
      return found.map(
        ({ article_id: id, title, url, heading, language, text, score, answers, words, question, matches }) => {
          const plain = plainText(text).slice(0, maxTextChars).toWellFormed();
          return { id, title, url, heading, language, text: plain, score, answers, words, question, matches };
        },
      );
    },
  };
}
