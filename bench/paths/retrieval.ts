import { answerThreshold } from '../../src/domain/articles/search.ts';
import type { Bench, Figure, Setting } from '../bench.ts';
import { modelFigures, offlineFigures } from '../support/case-figures.ts';
import { readCases, type Case } from '../support/cases.ts';
import { playCases } from '../support/chats.ts';
import { addUnreached, writeFailures } from '../support/failures.ts';
import { readArticles, readQuestions, site, type Question } from '../support/retrieval.ts';
import { startScriptedModel } from '../support/scripted-model.ts';
import { call, serviceEnv, withService } from '../support/service.ts';

interface Answer {
  payload: { url: string | null; score: number }[];
}
/** A question, the keys of the articles found, best first, and the score of the first. */
interface Asked extends Question {
  found: string[];
  score: number;
}

const shown = 3;
/** Kinds of which a model is measured: whether it is asked at all, with the right passages. */
const forModels = ['follow-up', 'cross-language', 'small-talk'];

/**
 * A help centre in two languages is asked what customers ask, in its words, in others, misspelt, and what it knows nothing
 * of. An article answers where the first that is found scores enough for a bot to answer from it. Then bots of the kind `ai`
 * get whole messages as customers write them, without a model and with one by script.
 */
export const retrieval: Bench = {
  name: 'retrieval',
  needs: 'database',
  boundMs: 900_000,
  run: async ({ databaseUrl, failuresFile }) => {
    const cases = readCases();
    const searched = await withService(serviceEnv(databaseUrl, { ROLE: 'web' }), async ({ url }) => {
      for (const { key, ...article } of readArticles())
        await call(url, 'POST', 'articles', { ...article, url: site + key });
      const asked: Asked[] = [];
      for (const question of readQuestions()) asked.push(await ask(url, question));
      return figuresOf(asked);
    });
    const offline = await withService(serviceEnv(databaseUrl, prompt), async ({ url }) => {
      const played = await playCases(url, cases);
      if (failuresFile) await writeFailures(failuresFile, url, played);
      return offlineFigures(played);
    });
    return [...searched, ...offline, ...(await withModel({ databaseUrl, failuresFile }, cases))];
  },
};

/** Bots that do not wait for the rest of a message, which comes in one piece here. */
const prompt = { BURST_QUIET_MS: '0' };

type Place = Pick<Setting, 'databaseUrl' | 'failuresFile'>;

async function withModel({ databaseUrl, failuresFile }: Place, cases: readonly Case[]): Promise<Figure[]> {
  const model = await startScriptedModel();
  const env = { ...prompt, LLM_BASE_URL: model.baseUrl, LLM_MODEL: 'scripted', LLM_API_KEY: 'none' };
  try {
    const chosen = forModels.flatMap((kind) => cases.filter((one) => one.kind === kind));
    await withService(serviceEnv(databaseUrl, env), async ({ url }) => {
      for (const group of Map.groupBy(chosen, ({ kind, language }) => `${kind} ${language}`).values()) {
        model.expect(group);
        await playCases(url, group);
      }
    });
    const reached = model.reachedBy(chosen);
    if (failuresFile) addUnreached(failuresFile, reached);
    return modelFigures(reached);
  } finally {
    await model.close();
  }
}

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
