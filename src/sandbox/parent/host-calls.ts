import { runBounds } from '../run.ts';
import type { HostCall, RunRequest } from '../run.ts';
import type { CallAnswer, CallRequest } from '../wire.ts';

const maxMessageChars = 500;
const maxNameChars = 100;

/** The host calls that a run may make, and the run they are made for; `signal` is aborted when the run ends early. */
export interface CallService {
  hostCalls: Readonly<Record<string, HostCall>>;
  run: RunRequest;
  signal: AbortSignal;
}

/**
 * Performs one round of a bot's calls concurrently and returns the JSON text of their CallAnswers. The answers go back
 * together and in the order of the requests, so that a run can be replayed from its recorded answers. Never rejects.
 */
export async function answerCalls(requests: readonly CallRequest[], service: CallService): Promise<string> {
  const answers = await Promise.all(requests.map((request) => answerCall(request, service)));
  const chars = answers.reduce((sum, { length }) => sum + length, 0);
  if (chars <= runBounds.callOutputChars) return `[${answers.join()}]`;
  const message = `The answers are longer than ${runBounds.callOutputChars} characters as JSON`;
  return `[${requests.map(({ id }) => refuse(id, 'answer_too_large', message)).join()}]`;
}

async function answerCall({ id, name, input }: CallRequest, service: CallService): Promise<string> {
  const call = Object.hasOwn(service.hostCalls, name) ? service.hostCalls[name] : undefined;
  if (!call) return refuse(id, 'unknown_call', `The service offers no call named ${name.slice(0, maxNameChars)}`);
  try {
    const value = (await call(input, service.run, service.signal)) ?? null;
    return JSON.stringify({ id, value } satisfies CallAnswer);
  } catch (error) {
    return refuseFor(id, error);
  }
}

function refuse(id: number, code: string, message: string): string {
  const error = { code: code.slice(0, maxNameChars), message: message.slice(0, maxMessageChars) };
  return JSON.stringify({ id, error } satisfies CallAnswer);
}

function refuseFor(id: number, error: unknown): string {
  const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'call_failed';
  return refuse(id, code, error instanceof Error ? error.message : String(error));
}
