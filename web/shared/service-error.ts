/** A refusal by the service, or no answer at all: the message is a sentence for people. */
export class ServiceError extends Error {
  /** 0 where nothing answered. */
  readonly status: number;
  readonly code: string;
  /** Sentences by the JSON pointer of the field that they concern. */
  readonly fields: ReadonlyMap<string, string>;

  /** Everything that is wrong; several sentences may be about one field. */
  readonly sentences: readonly string[];

  constructor(status: number, code: string, message: string, details: readonly Detail[] = []) {
    super(message);
    this.status = status;
    this.code = code;
    this.fields = new Map(details.map((one) => [one.path, one.message]));
    this.sentences = details.length === 0 ? [message] : details.map((one) => one.message);
  }
}

/** Problem of a field, by its JSON pointer. */
interface Detail {
  path: string;
  message: string;
}

interface Refusal {
  error?: string;
  code?: string;
  details?: Detail[];
}

/** The error that an answer tells; the body may be none of the service's, as a proxy's is. */
export function errorOf(status: number, body: unknown): ServiceError {
  const { error, code = 'unknown', details } = (typeof body === 'object' && body !== null ? body : {}) as Refusal;
  const message =
    typeof error === 'string' ? error : `The service returned an error (${status}). Try again in a moment.`;
  return new ServiceError(status, code, message, Array.isArray(details) ? details : []);
}

/** Said of an answer that says that all went well, and is none: it may have been cut off, or come from something else. */
export function unreadable(): ServiceError {
  return new ServiceError(
    0,
    'unreadable',
    'The response could not be read. A proxy may have changed it, or the connection broke.',
  );
}

/** Said when nothing answers. */
export function unreachable(): ServiceError {
  return new ServiceError(
    0,
    'unreachable',
    'The service is not responding. It may be restarting, or your network is down.',
  );
}

/** Said when an answer takes too long. */
export function tooSlow(seconds: number): ServiceError {
  return new ServiceError(
    0,
    'too_slow',
    `The service did not respond within ${seconds} seconds. Try again in a moment.`,
  );
}

/** The sentence of any error. */
export function sentenceOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
