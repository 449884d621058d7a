import { ForbiddenCall, runBounds } from '../run.ts';
import type { HostCall, RecordedCall, RunRequest } from '../run.ts';
import type { CallAnswer, CallRequest } from '../wire.ts';

const maxMessageChars = 500;
const maxNameChars = 100;

/**
 * The host calls that a run may make, and the run they are made for; `signal` is aborted when the run ends early.
 * `charsLeft` is how long all answers may be as JSON.
 */
export interface CallService {
  hostCalls: Readonly<Record<string, HostCall>>;
  run: RunRequest;
  signal: AbortSignal;
  charsLeft: number;
  /** Called with the length of each answer when it has come, before the others of its round have. */
  hold: (chars: number) => void;
}

/** A call as it is answered and recorded. */
export interface BoundedRequest extends CallRequest {
  /** Its input was nested too deep, and is null in place of it. */
  isTooDeep?: true;
}

/** The answers of a round as JSON text, and its calls with them; or the permission that one of its calls lacked. */
type AnsweredCalls = { answers: string; calls: RecordedCall[] } | { forbidden: string };

/** The answer to a call: JSON text of a CallAnswer, and the call for the record. */
interface OneAnswer {
  text: string;
  call: RecordedCall;
  forbidden?: string;
}

type CallError = NonNullable<RecordedCall['error']>;

/**
 * Performs one round of a bot's calls concurrently. The answers go back together and in the order of the requests, so that
 * a run can be repeated from its recorded answers. Never rejects.
 */
export async function answerCalls(requests: readonly BoundedRequest[], service: CallService): Promise<AnsweredCalls> {
  const answers = await Promise.all(requests.map((request) => answerCall(request, service)));
  const forbidden = answers.find((answer) => answer.forbidden !== undefined)?.forbidden;
  if (forbidden !== undefined) return { forbidden };
  const fitting = fit(answers, requests, service.charsLeft);
  return { answers: `[${fitting.map(({ text }) => text).join()}]`, calls: fitting.map(({ call }) => call) };
}

// Answers of `fetch` have a bound of their own, in bytes.
function fit(answers: readonly OneAnswer[], requests: readonly CallRequest[], charsLeft: number): readonly OneAnswer[] {
  const charsOf = (some: readonly OneAnswer[]) => some.reduce((sum, { text }) => sum + text.length, 0);
  const bounded = answers.filter(({ call }) => call.name !== 'fetch');
  if (charsOf(bounded) > runBounds.callOutputChars) return refuseAll(answers, requests, runBounds.callOutputChars);
  return charsOf(answers) > charsLeft ? refuseAll(answers, requests, charsLeft) : answers;
}

function refuseAll(answers: readonly OneAnswer[], requests: readonly CallRequest[], chars: number): OneAnswer[] {
  const message = `The answers are longer than ${chars} characters as JSON`;
  return requests.map((request, at) =>
    refuse(request, { code: 'answer_too_large', message }, answers[at]?.call.ms ?? 0),
  );
}

/** The call without an input that is nested too deep: what goes down all of it, such as a comparison, would end the service. */
export function boundedRequest(request: CallRequest): BoundedRequest {
  const isTooDeep = isNestedDeeper(request.input, runBounds.callInputDepth);
  return isTooDeep ? { ...request, input: null, isTooDeep } : request;
}

function isNestedDeeper(value: unknown, most: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return most === 0 || Object.values(value).some((inner) => isNestedDeeper(inner, most - 1));
}

async function answerCall(request: BoundedRequest, service: CallService): Promise<OneAnswer> {
  const { id, name, input } = request;
  if (request.isTooDeep) {
    const message = `The input of a call may be nested ${runBounds.callInputDepth} deep`;
    return refuse(request, { code: 'bad_request', message }, 0);
  }
  const call = Object.hasOwn(service.hostCalls, name) ? service.hostCalls[name] : undefined;
  if (!call) {
    const message = `The service offers no call named ${name.slice(0, maxNameChars)}`;
    return refuse(request, { code: 'unknown_call', message }, 0);
  }
  const startedAt = performance.now();
  const passed = () => Math.round(performance.now() - startedAt);
  try {
    const value = (await call(input, service.run, service.signal)) ?? null;
    const text = JSON.stringify({ id, value } satisfies CallAnswer);
    service.hold(text.length);
    return { text, call: { name, input, output: value, ms: passed() } };
  } catch (error) {
    const refused = refuse(request, errorOf(error), passed());
    return error instanceof ForbiddenCall ? { ...refused, forbidden: error.message } : refused;
  }
}

function refuse({ id, name, input }: CallRequest, { code, message }: CallError, ms: number): OneAnswer {
  const error = { code: code.slice(0, maxNameChars), message: message.slice(0, maxMessageChars) };
  return { text: JSON.stringify({ id, error } satisfies CallAnswer), call: { name, input, error, ms } };
}

function errorOf(error: unknown): CallError {
  const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'call_failed';
  return { code, message: error instanceof Error ? error.message : String(error) };
}
