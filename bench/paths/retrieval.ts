import { answerThreshold } from '../../src/domain/articles/search.ts';
import type { Bench, Figure } from '../bench.ts';
import { readArticles, readQuestions, type Question } from '../support/retrieval.ts';
import { call, serviceEnv, withService } from '../support/service.ts';

interface Answer {
  payload: { url: string | null; score: number }[];
}
/** A question, the keys of the articles found, best first, and the score of the first. */
interface Asked extends Question {
  found: string[];
  score: number;
}

const site = 'https://help.example.com/';
const shown = 3;

/**
 * A help centre in two languages is asked what customers ask, in its words, in others, misspelt, and what it knows nothing
 * of. An article answers where the first that is found scores enough for a bot to answer from it.
 */
export const retrieval: Bench = {
  name: 'retrieval',
  needs: 'database',
  boundMs: 120_000,
  run: ({ databaseUrl }) =>
    withService(serviceEnv(databaseUrl, { ROLE: 'web' }), async ({ url }) => {
      for (const { key, ...article } of readArticles())
        await call(url, 'POST', 'articles', { ...article, url: site + key });
      const asked: Asked[] = [];
      for (const question of readQuestions()) asked.push(await ask(url, question));
      return figuresOf(asked);
    }),
};

async function ask(url: string, question: Question): Promise<Asked> {
  const path = `articles/search?limit=${shown}&q=${encodeURIComponent(question.text)}`;
  const { payload } = await call<Answer>(url, 'GET', path);
  const found = payload.map(({ url: of }) => of?.slice(site.length) ?? '');
  return { ...question, found, score: payload[0]?.score ?? 0 };
}

function figuresOf(asked: readonly Asked[]): Figure[] {
  const known = asked.filter(({ expected }) => expected !== null);
  const kinds = [...Map.groupBy(known, ({ kind }) => kind)];
  const isFirst = ({ found, expected }: Asked) => found[0] === expected;
  const isShown = ({ found, expected }: Asked) => found.includes(expected ?? '');
  const isAnswered = ({ score }: Asked) => score >= answerThreshold;
  const offTopic = asked.filter(({ expected }) => expected === null);
  return [
    share('hit@1', known, isFirst),
    share('hit@3', known, isShown),
    ...kinds.map(([kind, ofKind]) => share(`hit@3 of ${kind} questions`, ofKind, isShown)),
    share('answered rightly', known, (one) => isAnswered(one) && isFirst(one)),
    share('answered from another article', known, (one) => isAnswered(one) && !isFirst(one)),
    share('off-topic questions answered', offTopic, isAnswered),
  ];
}

function share(path: string, asked: readonly Asked[], holds: (asked: Asked) => boolean): Figure {
  const percent = (100 * asked.filter(holds).length) / asked.length;
  return { path: `retrieval: ${path}, of ${asked.length}`, unit: '%', ours: percent };
}
