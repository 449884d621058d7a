import { isDeepStrictEqual } from 'node:util';
import { storableJson } from '../lib/text/storable.ts';
import type { Permissions, Recall, RecordedCall, RunLimits, RunResult, Bundle, Sandbox } from '../sandbox/run.ts';

/** A run as far as repeating it needs its record. */
export interface Recording {
  owner: { account: number; bot: number };
  event: { name: string; body: Record<string, unknown> };
  /** Without secrets, as the bot saw it. */
  config: Record<string, unknown>;
  seed: number;
  /** Milliseconds since 1970. */
  now: number;
  calls: readonly RecordedCall[];
}

/** The code that repeats a run, and what it may do. */
export interface Repeater {
  bundle: Bundle;
  permissions: Permissions;
  limits: RunLimits;
}

/** How a repeated run ended; `unanswered` is the call that ended it, since the record has no answer to it. */
export interface Repetition {
  result: RunResult;
  unanswered: Pick<RecordedCall, 'name' | 'input'> | null;
}

/** Repeats a run from its record: nothing is called, and nothing changed. */
export async function repeat(
  sandbox: Sandbox,
  recording: Recording,
  { repeater, recall }: { repeater: Repeater; recall: (calls: readonly RecordedCall[]) => Recall },
): Promise<Repetition> {
  const { owner, event, config, seed, now } = recording;
  const { history, calls } = withoutHistory(recording.calls, repeater.permissions);
  const find = recall(calls);
  let unanswered: Repetition['unanswered'] = null;
  const result = await sandbox.run({
    ...repeater,
    owner,
    event: event.body,
    handler: event.body['event'] === 'send' ? 'send' : event.name,
    config,
    seed,
    now,
    ...(history ? { history: history.output } : {}),
    recall: async (call) => {
      const answer = await find(call);
      if (!answer) unanswered ??= call;
      return answer;
    },
  });
  return { result, unanswered };
}

/** The answers in the order of the record, to a bot that asks exactly what it asked then. */
export function inOrder(calls: readonly RecordedCall[]): Recall {
  let next = 0;
  return ({ name, input }) => {
    const recorded = calls[next];
    if (!recorded || !isSame([recorded.name, recorded.input], [name, input])) return null;
    next += 1;
    return recorded;
  };
}

/** Each answer to the question that it was given to, whenever it is asked: for code that may ask in another order. */
export function byQuestion(calls: readonly RecordedCall[]): Recall {
  const left = [...calls];
  return ({ name, input }) => {
    const isAnswer = (call: RecordedCall) => isSame([call.name, call.input], [name, input]);
    const at = left.findIndex(isAnswer);
    return (at === -1 ? calls.findLast(isAnswer) : left.splice(at, 1)[0]) ?? null;
  };
}

// The record holds what could be stored of the question.
function isSame(recorded: unknown, asked: unknown): boolean {
  return isDeepStrictEqual([recorded], JSON.parse(storableJson([asked])));
}

// The history that a bot gets is recorded as its first call.
function withoutHistory(calls: readonly RecordedCall[], { history: limit }: Permissions) {
  const [first, ...others] = calls;
  const isThere = limit > 0 && first?.name === 'history';
  return isThere ? { history: first, calls: others } : { history: null, calls };
}
