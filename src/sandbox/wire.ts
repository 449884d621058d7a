import { runBounds } from './run.ts';
import type { LogLine, RunLimits, RunOutcome } from './run.ts';

// Parent and child speak over the child's stdin and stdout, one JSON document per line, and not over Node's own IPC
// channel: that one parses whatever a taken-over child writes, without a bound, and throws in the parent when it is not JSON.

/** A bot's call to the service. */
export interface CallRequest {
  id: number;
  name: string;
  input: unknown;
}

/** The service's answer to one call; a list of them reaches the isolate as JSON. */
export type CallAnswer = { id: number; value: unknown } | { id: number; error: { code: string; message: string } };

/** Parent to child. `input` is the JSON text that the isolate reads, so that the child need not. */
export type ParentMessage =
  | { type: 'bundle'; hash: string; code: string }
  | { type: 'run'; run: number; hash: string; input: string; limits: RunLimits }
  | { type: 'answers'; run: number; answers: string };

/** What the isolate says when a slice is over. */
export type Step =
  | { state: 'waiting'; requests: CallRequest[] }
  | { state: 'never_settled'; logs: LogLine[] }
  | { state: 'done'; outcome: RunOutcome; actions: unknown[]; logs: LogLine[]; error?: string; handlers?: string[] };

/** Child to parent. `failed` comes from outside the isolate: it was stopped, or is gone. */
export type ChildMessage =
  | { type: 'ready' }
  | { type: 'step'; run: number; step: Step }
  | { type: 'failed'; run: number; outcome: RunOutcome; error: string };

/** How many bundles a child keeps; parent and child both forget all when one more arrives. */
export const keptBundles = 32;
/** The longest line a child may write, in bytes. */
export const maxChildLineBytes = 1024 * 1024;
/** The longest line a parent writes, in bytes: input and bundle may need six characters for one in JSON. */
export const maxParentLineBytes = 16 * 1024 * 1024;

const newline = 0x0a;

/** Cuts a stream of bytes into lines. */
export class LineReader {
  readonly #maxBytes: number;
  #chunks: Buffer[] = [];
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** The lines that are complete with this chunk; null when a line is longer than allowed, after which the reader is of no use. */
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
  'too_many_calls',
  'too_many_actions',
  'output_too_large',
]);
const outerOutcomes = new Set(['timeout', 'memory', 'threw', 'crashed', 'load_failed']);
const logLevels = new Set(['info', 'warn', 'error']);

type Fields = Record<string, unknown>;

function isFields(value: unknown): value is Fields {
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

function isLogLine(value: unknown): boolean {
  return isFields(value) && isOneOf(logLevels, value.level) && isText(value.message, runBounds.logLineChars);
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
  if (!isListOf(step.logs, runBounds.logLines + 1, isLogLine)) return false;
  if (step.state === 'never_settled') return true;
  return (
    step.state === 'done' &&
    isOneOf(isolateOutcomes, step.outcome) &&
    isListOf(step.actions, runBounds.actions, () => true) &&
    (step.error === undefined || isText(step.error, runBounds.errorChars)) &&
    (step.handlers === undefined || isListOf(step.handlers, runBounds.handlers, (name) => isText(name, 255)))
  );
}

// Whatever a child writes beside what is looked at goes no further.
function knownFieldsOf(step: Step): Step {
  if (step.state === 'waiting') {
    return { state: step.state, requests: step.requests.map(({ id, name, input }) => ({ id, name, input })) };
  }
  const logs = step.logs.map(({ level, message }) => ({ level, message }));
  if (step.state === 'never_settled') return { state: step.state, logs };
  const { state, outcome, actions, error, handlers } = step;
  return {
    state,
    outcome,
    actions,
    logs,
    ...(error === undefined ? {} : { error }),
    ...(handlers ? { handlers } : {}),
  };
}

/** Reads a line of a child; null when it is anything but a message as it should be. */
export function readChildMessage(line: string): ChildMessage | null {
  let message: unknown;
  try {
    message = JSON.parse(line);
  } catch {
    return null;
  }
  if (!isFields(message)) return null;
  if (message.type === 'ready') return { type: 'ready' };
  const { type, run, step, outcome, error } = message as Fields & { run: number };
  if (!Number.isSafeInteger(run)) return null;
  if (type === 'step' && isStep(step)) return { type, run, step: knownFieldsOf(step) };
  if (type !== 'failed' || !isOneOf(outerOutcomes, outcome) || !isText(error, runBounds.errorChars)) return null;
  return { type, run, outcome: outcome as RunOutcome, error };
}
