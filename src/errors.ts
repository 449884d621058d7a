/** One fault in a request: JSON pointer to the value, the rule it breaks, and a sentence. */
export interface ErrorDetail {
  path: string;
  rule: string;
  message: string;
}

/**
 * A fault of the caller: it is answered with its status and message. Whatever else is thrown is a defect of ours or of
 * the surroundings and never tells the caller more than that.
 */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly details: ErrorDetail[];
  readonly headers: Record<string, string>;

  constructor(
    status: number,
    code: string,
    message: string,
    extra: { details?: ErrorDetail[]; headers?: Record<string, string> } = {},
  ) {
    super(message);
    this.status = status;
    this.code = code;
    this.details = extra.details ?? [];
    this.headers = extra.headers ?? {};
  }
}

/** 400: the request cannot be understood. */
export function badRequest(code: string, message: string, details: ErrorDetail[] = []): ApiError {
  return new ApiError(400, code, message, { details });
}

/** 401: no token, or one that is not valid. */
export function unauthenticated(): ApiError {
  return new ApiError(401, 'unauthenticated', 'The API access token is missing or not valid', {
    headers: { 'www-authenticate': 'Bearer' },
  });
}

/** 403: the token is valid but may not do this. */
export function forbidden(message: string, code = 'forbidden'): ApiError {
  return new ApiError(403, code, message);
}

/** 404: nothing there, or nothing that this account may know of. */
export function notFound(what: string): ApiError {
  return new ApiError(404, 'not_found', `${what} not found`);
}

/** 422: understood, but a rule forbids it. `path` is the JSON pointer of the offending value. */
export function invalid(path: string, rule: string, message: string): ApiError {
  return new ApiError(422, 'validation_failed', message, { details: [{ path, rule, message }] });
}

/** 503: others are at work on the same records, or too many at once; the same request may well succeed in a moment. */
export function busy(): ApiError {
  return new ApiError(503, 'busy', 'The service is busy with other requests: try again in a moment', {
    headers: { 'retry-after': '1' },
  });
}
