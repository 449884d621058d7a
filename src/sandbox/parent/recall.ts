import type { Recall, RecordedCall } from '../run.ts';
import type { CallAnswer, CallRequest } from '../wire.ts';

/**
 * Answers a round of calls from a record, in place of the service; null when the record has no answer to one of them. The
 * isolate gets the same JSON as when the answers were recorded.
 */
export async function recallAnswers(
  requests: readonly CallRequest[],
  recall: Recall,
): Promise<{ answers: string; calls: RecordedCall[] } | null> {
  const texts: string[] = [];
  const calls: RecordedCall[] = [];
  for (const { id, name, input } of requests) {
    // Sequential, since a record answers in its order.
    const recorded = await recall({ name, input });
    if (!recorded) return null;
    const { output, error } = recorded;
    const answer: CallAnswer = error ? { id, error } : { id, value: output ?? null };
    texts.push(JSON.stringify(answer));
    calls.push({ name, input, ms: 0, ...(error ? { error } : { output }) });
  }
  return { answers: `[${texts.join()}]`, calls };
}
