import type { Shape } from '../../../schemas.ts';

type Results = Shape<'resources/bot-evals'>['results'];

type Change = Shape<'resources/bot-evals-kept'>['changes'][number];

/** Compares results with those of the last run. The same question twice is told apart by the order. */
export function changesSince(before: Results, now: Results): Change[] {
  const old = new Map(keyed(before));
  const recent = new Map(keyed(now));
  const gone = [...old].filter(([key]) => !recent.has(key)).map(([, one]) => one);
  return [
    ...[...recent].flatMap(([key, one], index) => changeOf(old.get(key), one, index)),
    ...gone.map(({ question, got }): Change => ({ index: null, question, kind: 'gone', before: got, now: null })),
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

function changeOf(
  before: Results[number] | undefined,
  { question, passed, got }: Results[number],
  index: number,
): Change[] {
  if (!before) return [{ index, question, kind: 'new', before: null, now: got }];
  const change = { index, question, before: before.got, now: got };
  if (before.passed !== passed) return [{ ...change, kind: passed ? 'fixed' : 'broken' }];
  return before.got === got ? [] : [{ ...change, kind: 'changed' }];
}
