/** A refusal in the published contract. */
interface Refusal {
  name: string;
  description: string;
  headers?: readonly string[];
}

/** All refusals, by status. */
export const refusals: Readonly<Record<number, Refusal>> = {
  400: { name: 'BadRequest', description: 'The request cannot be understood: its JSON, path, query or a header.' },
  401: {
    name: 'Unauthenticated',
    description: 'No access token, or one that is not valid.',
    headers: ['WWW-Authenticate'],
  },
  403: { name: 'Forbidden', description: 'The token is valid, but its owner may not do this.' },
  404: { name: 'NotFound', description: 'There is no such record in this account.' },
  408: { name: 'Stalled', description: 'Nothing of the form arrived any more; the connection is closed.' },
  409: {
    name: 'Conflict',
    description:
      'The first request with this Idempotency-Key is still running (`conflict`), or was performed and its answer is not stored: too large, or erased with what it named (`answer_not_stored`).',
    headers: ['Retry-After'],
  },
  410: { name: 'Gone', description: 'It was there, and is no more.' },
  412: {
    name: 'PreconditionFailed',
    description: 'The record is not in the state that If-Match names.',
    headers: ['ETag'],
  },
  413: { name: 'TooLarge', description: 'The body is larger than the service takes; the connection is closed.' },
  415: { name: 'UnsupportedMediaType', description: 'The body is not application/json in UTF-8, or is compressed.' },
  422: { name: 'Invalid', description: 'The request was understood, but a rule forbids it; `details` tells which.' },
  429: {
    name: 'RateLimited',
    description: 'Too many requests.',
    headers: [
      'Retry-After',
      'RateLimit',
      'RateLimit-Policy',
      'X-RateLimit-Limit',
      'X-RateLimit-Remaining',
      'X-RateLimit-Reset',
    ],
  },
  503: { name: 'Unavailable', description: 'The service cannot answer at the moment.', headers: ['Retry-After'] },
};
