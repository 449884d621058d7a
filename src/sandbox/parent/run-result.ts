import { hidePaths } from '../child-process.ts';
import { runBounds } from '../run.ts';
import type { RunOutcome, RunResult } from '../run.ts';
import { inAuthorsFiles } from '../source-map.ts';
import { judgeActions } from './action-batch.ts';
import type { OngoingRun } from './ongoing-run.ts';
import type { RawResult } from './watched-process.ts';

/** Returns a run's result, its actions validated. */
export function toResult(raw: RawResult, { request, logs, calls, spentMs, cpuMs }: OngoingRun): RunResult {
  const verdict = raw.outcome === 'ok' ? judgeActions(raw.actions, request) : raw;
  const { outcome, error } = 'outcome' in verdict ? verdict : { outcome: 'ok' as const, error: undefined };
  return {
    outcome,
    actions: 'outcome' in verdict ? [] : verdict.actions,
    logs,
    calls,
    wallMs: spentMs,
    cpuMs,
    ...(error === undefined
      ? {}
      : { error: inAuthorsFiles(hidePaths(error, runBounds.errorChars), request.bundle.code) }),
    ...(raw.handlers ? { handlers: raw.handlers } : {}),
  };
}

/** The end of a run that the sandbox does not execute, or not further. */
export function refused(outcome: RunOutcome, error: string): RawResult {
  return { outcome, actions: [], error };
}
