import { storableText } from '../lib/text/storable.ts';
import { dispensable, type Dispensable } from './chat-body.ts';
import { ModelError, type ModelServer } from './chat.ts';

interface Refusal {
  status?: unknown;
  param?: unknown;
  message?: unknown;
  error?: unknown;
}

const maxMessageChars = 300;

const codes: Readonly<Record<number, readonly [code: string, sentence: string]>> = {
  401: ['unauthorized', 'The model server refuses the API key'],
  403: ['unauthorized', 'The model server refuses the API key'],
  404: ['unknown_model', 'The model server does not know the model, or the base URL is wrong'],
  408: ['timeout', 'The model server took too long'],
  429: ['rate_limited', 'The model server has had too many requests, or its quota is used up'],
};

/** Returns the error for a refusal of the model server, or a failure of its client; quotes the server without the key. */
export function explainRefusal(thrown: unknown, server: ModelServer): ModelError {
  const { status } = refusalOf(thrown);
  if (typeof status !== 'number') return explainFailure(thrown);
  const [code, sentence] = codes[status] ?? (status >= 500 ? serverError : refusedRequest);
  const said = saidIn(thrown, server);
  return new ModelError(code, `${sentence} (status ${status})${said === '' ? '' : `: ${said}`}`);
}

/** Returns the parameter that a server refuses and can be asked without; null for another failure. */
export function parameterToDrop(thrown: unknown, without: ReadonlySet<Dispensable>): Dispensable | null {
  return dispensable.find((one) => !without.has(one) && isAbout(thrown, one)) ?? null;
}

function isAbout(thrown: unknown, parameter: Dispensable): boolean {
  const { status, param, message } = refusalOf(thrown);
  if (status !== 400 && status !== 422) return false;
  const said = typeof message === 'string' ? message : '';
  // A format may also be refused because its schema is not valid, which its author has to learn.
  if (parameter === 'response_format' && (!isUnknown.test(said) || isInvalidSchema.test(said))) return false;
  return param === parameter || new RegExp(`\\b${parameter}\\b`).test(said);
}

const isUnknown =
  /\b(?:un(?:supported|known|recognized|expected|available)|not (?:supported|allowed|permitted)|extra)\b/i;
const isInvalidSchema = /\binvalid schema\b/i;
const serverError = ['server_error', 'The model server failed'] as const;
const refusedRequest = ['refused', 'The model server refuses the request'] as const;

// Without a status: the client gave up, or could not parse the answer.
function explainFailure(thrown: unknown): ModelError {
  const name = thrown instanceof Error ? thrown.constructor.name : '';
  if (name === 'APIConnectionTimeoutError' || name === 'APIUserAbortError')
    return new ModelError('timeout', 'The model server took too long');
  if (thrown instanceof SyntaxError) return new ModelError('bad_answer', 'The answer is no JSON');
  return new ModelError('connect', 'The model server cannot be asked');
}

function refusalOf(thrown: unknown): Refusal {
  return thrown instanceof Error ? thrown : {};
}

function saidIn(thrown: unknown, { apiKey }: ModelServer): string {
  const { error } = refusalOf(thrown);
  const message = (error as { message?: unknown } | null | undefined)?.message;
  if (typeof message !== 'string') return '';
  const hidden = apiKey === null ? message : message.replaceAll(apiKey, '[API key]');
  return storableText(hidden.replaceAll(/\s+/g, ' ').trim(), maxMessageChars);
}
