import type { Reply } from '../../../shared/call.ts';
import type { EvalCase, Expectation } from './eval-cases.ts';
import { cut, type Change, type EvalProgress } from './run-evals.ts';

export type LastEvals = Reply<'GET agent_bots/:id/usage'>['last_evals'];

/** A case with its result of the present run, or else of the last one. */
export interface EvalRow {
  /** Place of the case on the page; null for a question of the last run whose case this browser does not have. */
  index: number | null;
  question: string;
  /** Messages before the question. */
  before: number;
  expect: Expectation | null;
  result: { passed: boolean; got: string } | null;
  change: Change | null;
}

interface Sources {
  cases: readonly EvalCase[];
  /** The run of this bot that this tab has begun. */
  progress: EvalProgress | null;
  last: LastEvals;
}

/** The rows of the table: the cases of the page, or without any the questions of the last run. */
export function rowsOf({ cases, progress, last }: Sources): EvalRow[] {
  if (cases.length === 0 && !progress) {
    return (last?.results ?? []).map(({ question, passed, got }) => ({
      index: null,
      question,
      before: 0,
      expect: null,
      change: null,
      result: { passed, got },
    }));
  }
  const find = progress ? resultsOfRun(progress) : resultsOfLast(last);
  return cases.map((one, index) => {
    const { question, history = [], expect } = one;
    return { index, question, before: history.length, expect, ...find(one) };
  });
}

type Find = (one: EvalCase) => Pick<EvalRow, 'result' | 'change'>;

const nothing = { result: null, change: null };

function resultsOfRun({ cases, results, kept }: EvalProgress): Find {
  const changes = new Map(kept?.changes.map((change) => [change.index, change]));
  const take = byText(cases.map((one, index) => [JSON.stringify(one), index]));
  return (one) => {
    const index = take(JSON.stringify(one));
    if (index === undefined) return nothing;
    return { result: results[index] ?? null, change: changes.get(index) ?? null };
  };
}

// The results that are kept do not say what was expected.
function resultsOfLast(last: LastEvals): Find {
  const take = byText((last?.results ?? []).map((result) => [result.question, result]));
  return ({ question }) => {
    const result = take(cut(question));
    return result ? { result: { passed: result.passed, got: result.got }, change: null } : nothing;
  };
}

/** Takes the values of a text one after the other: the same question may be there twice. */
function byText<Value>(
  entries: readonly (readonly [text: string, value: Value])[],
): (text: string) => Value | undefined {
  const left = new Map<string, Value[]>();
  for (const [text, value] of entries) left.set(text, [...(left.get(text) ?? []), value]);
  return (text) => left.get(text)?.shift();
}
