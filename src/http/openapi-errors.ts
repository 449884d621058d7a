import { hasPages, answersRecord, findRecordRoute } from './record-route.ts';
import type { Route } from './route.ts';

/** A refusal as the published contract describes it. */
interface Refusal {
  name: string;
  description: string;
  headers?: readonly string[];
}

/** Every refusal there is, by status. */
export const refusals: Readonly<Record<number, Refusal>> = {
  400: { name: 'BadRequest', description: 'The request cannot be understood: its JSON, path, query or a header.' },
  401: {
    name: 'Unauthenticated',
    description: 'No access token, or one that is not valid.',
    headers: ['WWW-Authenticate'],
  },
  403: { name: 'Forbidden', description: 'The token is valid, but its owner may not do this.' },
  404: { name: 'NotFound', description: 'There is no such record in this account.' },
  409: {
    name: 'Conflict',
    description: 'The first request with this Idempotency-Key is still running.',
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

/** What an operation takes and tells beyond its own schemas. */
export interface Traits {
  /** It can be sent again under an Idempotency-Key. */
  keyed: boolean;
  /** It acts on a record whose state If-Match can name. */
  conditional: boolean;
  /** It answers a record with an entity tag. */
  tagged: boolean;
  /** It answers a list page by page. */
  paged: boolean;
  authenticated: boolean;
  /** The statuses it may be refused with, in order. */
  errors: number[];
}

/** Derives the traits from the contract and the table that the route stands in. */
export function traitsOf(route: Route, routes: readonly Route[]): Traits {
  const { method, path, contract } = route;
  const authenticated = contract.role !== 'anyone';
  const ofContacts = contract.role === 'visitor' || contract.role === 'contact';
  // A visitor may be nobody yet.
  const keyed = authenticated && contract.role !== 'visitor' && method === 'POST';
  const conditional = authenticated && findRecordRoute(route, routes) !== null;
  const applies: [boolean, number[]][] = [
    [true, [400, 503]],
    [authenticated, ofContacts ? [401, 429] : [401, 403, 429]],
    [path.includes(':'), [404]],
    [keyed, [409]],
    [conditional, [412]],
    [contract.body !== undefined, [413, 415]],
    [contract.body !== undefined || method !== 'GET', [422]],
    [true, [...(contract.errors ?? [])]],
  ];
  const errors = applies.flatMap(([holds, statuses]) => (holds ? statuses : []));
  return {
    keyed,
    conditional,
    tagged: answersRecord(route),
    paged: hasPages(route),
    authenticated,
    errors: [...new Set(errors)].sort((one, other) => one - other),
  };
}
