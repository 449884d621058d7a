import { runBounds } from './run.ts';
import type { LogLine, RunLimits, RunOutcome } from './run.ts';

// Parent and child exchange JSON documents, one a line, over the child's stdin and stdout. Node's own IPC channel would
// parse input of a compromised child without a size limit, and throw in the parent when the input is not JSON.

/** A bot's call to the service. */
export interface CallRequest {
  id: number;
  name: string;
  input: unknown;
}

/** The service's answer to one call; a list of them reaches the isolate as JSON. */
export type CallAnswer = { id: number; value: unknown } | { id: number; error: { code: string; message: string } };

/** A round of calls that has been answered: the digest of the requests, and the answers as JSON text. */
export interface Round {
  digest: string;
  answers: string;
}

/**
 * Parent to child. `input` and answers are JSON text within JSON: the child passes them on to the isolate without parsing
 * them. `rounds` are those of an earlier execution of the same run, which is repeated up to its last answers; `computingMs`
 * is the computing time of all slices together. `drop` ends a run that waits for answers.
 */
export type ParentMessage =
  | { type: 'bundle'; hash: string; code: string }
  | { type: 'run'; run: number; hash: string; input: string; limits: RunLimits; computingMs?: number; rounds?: Round[] }
  | { type: 'answers'; run: number; answers: string }
  | { type: 'drop'; run: number };

/** The state of a run at the end of a slice, as the isolate reports it. */
export type Step =
  | { state: 'waiting'; requests: CallRequest[] }
  | { state: 'never_settled' }
  | { state: 'done'; outcome: RunOutcome; actions: unknown[]; error?: string; handlers?: string[] };

/**
 * Child to parent. `log` is a line at the moment when the bot writes it. `failed` is reported by the child's own code, when
 * the isolate was stopped or has died. `cpuMs` is the processor time of the execution so far; `digest` that of the requests.
 */
export type ChildMessage =
  | { type: 'ready' }
  | { type: 'log'; run: number; line: LogLine }
  | { type: 'step'; run: number; step: Step; cpuMs: number; digest: string }
  | { type: 'failed'; run: number; outcome: RunOutcome; error: string; cpuMs: number };

/** The number of bundles that a child caches; when one more arrives, parent and child both clear the cache. */
export const keptBundles = 32;
/** The longest line that a child may write, in bytes. */
export const maxChildLineBytes = 1024 * 1024;
/** The longest line that the parent writes, in bytes: JSON may escape a character of input or bundle as six, of answers as two. */
export const maxParentLineBytes = 64 * 1024 * 1024;

const newline = 0x0a;

/** Splits a stream of bytes into lines of a limited length. */
export class LineReader {
  readonly #maxBytes: number;
  #chunks: Buffer[] = [];
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /**
   * The lines completed by this chunk; null when a line is too long, after which the reader must not be used any more.
   */
  read(chunk: Buffer): string[] | null {
    const lines: string[] = [];
    let rest = chunk;
    for (let end = rest.indexOf(newline); end !== -1; end = rest.indexOf(newline)) {
      if (!this.#keep(rest.subarray(0, end))) return null;
      lines.push(Buffer.concat(this.#chunks).toString('utf8'));
      this.#chunks = [];
      this.#bytes = 0;
      rest = rest.subarray(end + 1);
    }
    return this.#keep(rest) ? lines : null;
  }

  #keep(part: Buffer): boolean {
    this.#bytes += part.length;
    if (this.#bytes > this.#maxBytes) return false;
    this.#chunks.push(part);
    return true;
  }
}

const isolateOutcomes = new Set([
  'ok',
  'no_handler',
  'threw',
  'load_failed',
  'invalid_actions',
  'too_many_calls',
  'too_many_actions',
  'output_too_large',
]);
const outerOutcomes = new Set(['timeout', 'memory', 'threw', 'crashed', 'load_failed']);
const logLevels = new Set(['info', 'warn', 'error']);
const maxDigestChars = 64;
// A message, each character of which JSON may escape as six, and fields.
const maxLogChars = 8 * runBounds.logLineChars;

/** JSON as an object. */
export type Fields = Record<string, unknown>;

/** True for a JSON object. */
export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isOneOf(values: ReadonlySet<string>, value: unknown): boolean {
  return typeof value === 'string' && values.has(value);
}

function isText(value: unknown, maxChars: number): value is string {
  return typeof value === 'string' && value.length <= maxChars;
}

function isListOf(value: unknown, max: number, accepts: (item: unknown) => boolean): value is unknown[] {
  return Array.isArray(value) && value.length <= max && value.every(accepts);
}

function isLogLine(value: unknown): value is LogLine {
  return (
    isFields(value) &&
    isOneOf(logLevels, value.level) &&
    isText(value.message, runBounds.logLineChars) &&
    (value.fields === undefined || isFields(value.fields))
  );
}

function lineOf({ level, message, fields }: LogLine): LogLine {
  return { level, message, ...(fields ? { fields } : {}) };
}

function isCallRequest(value: unknown): boolean {
  return (
    isFields(value) &&
    Number.isSafeInteger(value.id) &&
    isText(value.name, runBounds.callInputChars) &&
    'input' in value
  );
}

function isStep(step: unknown): step is Step {
  if (!isFields(step)) return false;
  if (step.state === 'waiting') return isListOf(step.requests, runBounds.calls, isCallRequest);
  if (step.state === 'never_settled') return true;
  return (
    step.state === 'done' &&
    isOneOf(isolateOutcomes, step.outcome) &&
    isListOf(step.actions, runBounds.channelActions, () => true) &&
    (step.error === undefined || isText(step.error, runBounds.errorChars)) &&
    (step.handlers === undefined || isListOf(step.handlers, runBounds.handlers, (name) => isText(name, 255)))
  );
}

// Copies only the fields that were validated: a compromised child may have added others.
function knownFieldsOf(step: Step): Step {
  if (step.state === 'waiting') {
    return { state: step.state, requests: step.requests.map(({ id, name, input }) => ({ id, name, input })) };
  }
  if (step.state === 'never_settled') return { state: step.state };
  const { state, outcome, actions, error, handlers } = step;
  return {
    state,
    outcome,
    actions,
    ...(error === undefined ? {} : { error }),
    ...(handlers ? { handlers } : {}),
  };
}

/** Parses and validates a line of a child; null when it is not a valid message. */
export function readChildMessage(line: string): ChildMessage | null {
  let message: unknown;
  try {
    message = JSON.parse(line);
  } catch {
    return null;
  }
  if (!isFields(message)) return null;
  if (message.type === 'ready') return { type: 'ready' };
  const { type, run } = message;
  if (!isRun(run)) return null;
  if (type === 'log') return line.length <= maxLogChars ? logOf(run, message) : null;
  return type === 'step' ? stepOf(run, message) : failureOf(run, message);
}

function isRun(value: unknown): value is number {
  return Number.isSafeInteger(value);
}

function logOf(run: number, { line }: Fields): ChildMessage | null {
  return isLogLine(line) ? { type: 'log', run, line: lineOf(line) } : null;
}

function stepOf(run: number, { step, digest, cpuMs }: Fields): ChildMessage | null {
  if (!isStep(step) || !isText(digest, maxDigestChars)) return null;
  return { type: 'step', run, step: knownFieldsOf(step), cpuMs: timeOf(cpuMs), digest };
}

function failureOf(run: number, { type, outcome, error, cpuMs }: Fields): ChildMessage | null {
  if (type !== 'failed' || !isOneOf(outerOutcomes, outcome) || !isText(error, runBounds.errorChars)) return null;
  return { type, run, outcome: outcome as RunOutcome, error, cpuMs: timeOf(cpuMs) };
}

function timeOf(ms: unknown): number {
  return typeof ms === 'number' && ms >= 0 ? ms : 0;
}
