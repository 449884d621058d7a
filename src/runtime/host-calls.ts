import { runBounds } from './run-types.ts';
import type { HostCall, RunRequest } from './run-types.ts';
import type { CallAnswer, CallRequest } from './wire.ts';

const maxMessageChars = 500;

function refusal(id: number, code: string, message: string): CallAnswer {
  return { id, error: { code, message } };
}

function describe(error: unknown): { code: string; message: string } {
  const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'call_failed';
  const message = error instanceof Error ? error.message : String(error);
  return { code: code.slice(0, 100), message: message.slice(0, maxMessageChars) };
}

async function answerCall(
  request: CallRequest,
  call: HostCall | undefined,
  run: RunRequest,
  signal: AbortSignal,
): Promise<CallAnswer> {
  const { id, name, input } = request;
  if (!call) return refusal(id, 'unknown_call', `The service offers no call named ${name.slice(0, 100)}`);
  try {
    return { id, value: (await call(input, run, signal)) ?? null };
  } catch (error) {
    return { id, error: describe(error) };
  }
}

/**
 * Performs one round of a bot's calls side by side and gives the JSON text of their CallAnswers. All are answered
 * together and in order, which makes a run repeatable from its recorded answers. Never rejects.
 */
export async function answerCalls(
  requests: readonly CallRequest[],
  hostCalls: Readonly<Record<string, HostCall>>,
  run: RunRequest,
  signal: AbortSignal,
): Promise<string> {
  const answers = await Promise.all(
    requests.map((request) => {
      const call = Object.hasOwn(hostCalls, request.name) ? hostCalls[request.name] : undefined;
      return answerCall(request, call, run, signal);
    }),
  );
  const text = JSON.stringify(answers);
  if (text.length <= runBounds.callOutputChars) return text;
  const message = `The answers are longer than ${runBounds.callOutputChars} characters as JSON`;
  return JSON.stringify(requests.map(({ id }) => refusal(id, 'answer_too_large', message)));
}
