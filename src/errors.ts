/** A problem of a request: the JSON pointer to the value, the broken rule, and a sentence. */
export interface ErrorDetail {
  path: string;
  rule: string;
  message: string;
}

/**
 * An error caused by the caller, who gets its status, code and message. Every other error is an internal one, answered
 * with 500 or 503 and without details.
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

/** 400: the request is malformed. */
export function badRequest(code: string, message: string, details: ErrorDetail[] = []): ApiError {
  return new ApiError(400, code, message, { details });
}

/** 401: the token is missing or not valid. */
export function unauthenticated(): ApiError {
  return new ApiError(401, 'unauthenticated', 'The API access token is missing or not valid', {
    headers: { 'www-authenticate': 'Bearer' },
  });
}

/** 403: the token's holder may not do this. */
export function forbidden(message: string, code = 'forbidden'): ApiError {
  return new ApiError(403, code, message);
}

/** 404: the record does not exist, or the caller may not see it. */
export function notFound(what: string): ApiError {
  return new ApiError(404, 'not_found', `${what} not found`);
}

/** 422: a value breaks a rule. `path` is the JSON pointer to the value. */
export function invalid(path: string, rule: string, message: string): ApiError {
  return new ApiError(422, 'validation_failed', message, { details: [{ path, rule, message }] });
}

/** 413: more was sent than is accepted here. The rest of it may be unread, so the connection carries no other request. */
export function tooLarge(limitBytes: number, what = 'The body'): ApiError {
  const most = limitBytes % 1024 === 0 ? `${limitBytes / 1024} KB` : `${limitBytes} bytes`;
  return new ApiError(413, 'too_large', `${what} is larger than ${most}, the most that is accepted here`, {
    headers: { connection: 'close' },
  });
}

/** 503: a record is locked, or there are too many requests; the caller may try again soon. */
export function busy(): ApiError {
  return new ApiError(503, 'busy', 'The service is busy with other requests: try again in a moment', {
    headers: { 'retry-after': '1' },
  });
}

/** 503: a newer release has migrated the database, and this process waits for its replacement. */
export function upgrading(): ApiError {
  return new ApiError(503, 'upgrading', 'The service is being upgraded: try again in a moment', {
    headers: { 'retry-after': '5' },
  });
}
