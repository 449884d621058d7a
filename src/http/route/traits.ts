import { findRecordRoute, type RecordRoute } from './record-route.ts';
import { factsOf } from './roles.ts';
import type { Route } from './route.ts';

/** What an operation takes and tells beyond its own schemas. */
export interface Traits {
  /** It can be sent again under an Idempotency-Key. */
  keyed: boolean;
  /** It acts on a record whose state If-Match can name: this one. */
  record: RecordRoute | null;
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
  const role = factsOf(contract.role);
  const authenticated = role.security.length > 0;
  const keyed = role.keyed && method === 'POST';
  const record = authenticated ? findRecordRoute(route, routes) : null;
  const applies: [boolean, number[]][] = [
    [true, [400, 503]],
    [true, [...role.errors]],
    [path.includes(':'), [404]],
    [keyed, [409]],
    [record !== null, [412]],
    [contract.body !== undefined, [413, 415]],
    [contract.body !== undefined || method !== 'GET', [422]],
    [true, [...(contract.errors ?? [])]],
  ];
  const errors = applies.flatMap(([holds, statuses]) => (holds ? statuses : []));
  return {
    keyed,
    record,
    tagged: contract.record === true,
    paged: contract.paged === true,
    authenticated,
    errors: [...new Set(errors)].sort((one, other) => one - other),
  };
}
