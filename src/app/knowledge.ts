import { plainText } from '../domain/articles/plain-text.ts';
import { hasArticles } from '../domain/articles/articles.ts';
import { answerThreshold, searchPassages } from '../domain/articles/search.ts';
import type { Database } from '../postgres/database.ts';
import type { KnowledgePorts } from '../runs/doors/search.ts';

// A passage has a few hundred words; one without headings and paragraphs may be a whole article.
const maxTextChars = 4000;

/** What bots ask with `ctx.kb`: the account's published articles. */
export function knowledgeOf(database: Database): KnowledgePorts {
  return {
    hasArticles: (accountId, filter) => hasArticles(database.em(), accountId, filter),
    find: async (accountId, { query, ...filter }) => {
      const found = await searchPassages(database.em(), accountId, query, filter);
      return found.map(({ article_id: id, title, url, heading, language, text, score }) => ({
        id,
        title,
        url,
        heading,
        language,
        text: plainText(text).slice(0, maxTextChars).toWellFormed(),
        score,
        answers: score >= answerThreshold,
      }));
    },
  };
}
