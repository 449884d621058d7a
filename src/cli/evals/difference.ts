import type { Shape } from '../../schemas.ts';

type Results = Shape<'resources/bot-evals'>['results'];

/** A question whose result is another one than in the last run. */
export interface Change {
  question: string;
  kind: 'fixed' | 'broken' | 'changed' | 'new' | 'gone';
  before: string | null;
  now: string | null;
}

/** Compares results with those of the last run. The same question twice is told apart by the order. */
export function changesSince(before: Results, now: Results): Change[] {
  const old = new Map(keyed(before));
  const recent = new Map(keyed(now));
  const gone = [...old].filter(([key]) => !recent.has(key)).map(([, one]) => one);
  return [
    ...[...recent].flatMap(([key, one]) => changeOf(old.get(key), one)),
    ...gone.map(({ question, got }): Change => ({ question, kind: 'gone', before: got, now: null })),
  ];
}

function keyed(results: Results): [string, Results[number]][] {
  const seen = new Map<string, number>();
  return results.map((result) => {
    const count = (seen.get(result.question) ?? 0) + 1;
    seen.set(result.question, count);
    return [`${count} ${result.question}`, result];
  });
}

function changeOf(before: Results[number] | undefined, { question, passed, got }: Results[number]): Change[] {
  if (!before) return [{ question, kind: 'new', before: null, now: got }];
  const change = { question, before: before.got, now: got };
  if (before.passed !== passed) return [{ ...change, kind: passed ? 'fixed' : 'broken' }];
  return before.got === got ? [] : [{ ...change, kind: 'changed' }];
}
