import type { Reply } from '../../../shared/call.ts';
import { sentenceOf, ServiceError } from '../../../shared/service-error.ts';
import { Task, type TaskRun } from '../../kit/task.ts';
import { call } from '../../session.ts';
import type { EvalCase } from './eval-cases.ts';

/** Changes since the run before. */
export type Change = Reply<'POST agent_bots/:id/evals'>['changes'][number];

/** Result of a case, in words of the service; `error` where the bot could not be asked. */
interface EvalResult {
  passed: boolean;
  got: string;
  replies: readonly string[];
}

/** How far a run of evals is; `changes` and the moments once all is asked and kept. */
export interface EvalProgress {
  bot: number;
  cases: readonly EvalCase[];
  /** Results in the order of the cases. */
  results: readonly (EvalResult | undefined)[];
  kept: Pick<Reply<'POST agent_bots/:id/evals'>, 'ran_at' | 'last_ran_at' | 'changes'> | null;
}

/** It goes on while its page is left: one run at a time. */
export const runningEvals = new Task<EvalProgress>();

/** Cases that are asked at once. */
const atOnce = 4;
const busyPauseMs = 2_000;
const maxBusyPauses = 30;

/** Asks the bot all cases as it is configured, and keeps the results as its last run. Stopped, nothing is kept. */
export async function runEvals(
  bot: number,
  cases: readonly EvalCase[],
  { signal, told }: TaskRun<EvalProgress>,
): Promise<void> {
  const results: (EvalResult | undefined)[] = cases.map(() => undefined);
  const tell = (kept: EvalProgress['kept'] = null): void => told({ bot, cases, results: [...results], kept });
  const left = cases.map((one, index) => ({ one, index }));
  tell();
  const work = async (): Promise<void> => {
    for (let next = left.shift(); next; next = left.shift()) {
      results[next.index] = await ask(bot, next.one, signal);
      tell();
    }
  };
  try {
    await Promise.all(Array.from({ length: atOnce }, work));
  } finally {
    // The others ask no more after a failure.
    left.length = 0;
  }
  const kept = cases.map(({ question }, index) => {
    const { passed = false, got = '' } = results[index] ?? {};
    return { question: cut(question), passed, got: cut(got) };
  });
  tell(await call('POST agent_bots/:id/evals', { id: bot, body: { results: kept }, signal }));
}

/** A text as far as results are kept; by characters, as half an emoji cannot be stored. */
export function cut(text: string): string {
  return /^.{0,400}/su.exec(text)?.[0] ?? '';
}

async function ask(id: number, body: EvalCase, signal: AbortSignal): Promise<EvalResult> {
  try {
    const { passed, got, replies } = await patiently(
      () => call('POST agent_bots/:id/try', { id, body: { ...body }, signal }),
      signal,
    );
    return { passed: passed === true, got, replies: replies.map(({ content }) => content) };
  } catch (error) {
    // A case that the service refuses fails by itself; whatever else goes wrong ends the run.
    if (!(error instanceof ServiceError) || (error.status !== 422 && error.status !== 400)) throw error;
    return { passed: false, got: `not asked: ${sentenceOf(error)}`, replies: [] };
  }
}

async function patiently<Answer>(work: () => Promise<Answer>, signal: AbortSignal): Promise<Answer> {
  for (let pauses = 0; ; pauses += 1) {
    try {
      return await work();
    } catch (error) {
      const isBusy = error instanceof ServiceError && (error.status === 429 || error.status === 503);
      if (!isBusy || pauses === maxBusyPauses || signal.aborted) throw error;
      await new Promise((resolve) => setTimeout(resolve, busyPauseMs));
      signal.throwIfAborted();
    }
  }
}
