import { findRecordRoute, type RecordRoute } from './record-route.ts';
import { factsOf } from './admission/roles.ts';
import type { Route } from './route.ts';

/** Features that an operation accepts and answers in addition to its own schemas. */
export interface Traits {
  /** Accepts an Idempotency-Key. */
  keyed: boolean;
  /** The record that If-Match refers to; null where there is none. */
  record: RecordRoute | null;
  /** Answers a record with an entity tag. */
  tagged: boolean;
  /** Answers a list by pages. */
  paged: boolean;
  authenticated: boolean;
  /** The statuses of its refusals, in ascending order. */
  errors: number[];
}

/** Derives the traits from the contract and the route table. */
export function traitsOf(route: Route, routes: readonly Route[]): Traits {
  const { method, path, contract } = route;
  const role = factsOf(contract.role);
  const authenticated = role.security.length > 0;
  const keyed = role.keyed && method === 'POST' && contract.keyed !== false && !contract.countsTries;
  const record = authenticated && !contract.countsTries ? findRecordRoute(route, routes) : null;
  const applies: [boolean, number[]][] = [
    [true, [400, 503]],
    [true, [...role.errors]],
    [path.includes(':'), [404]],
    [keyed, [409]],
    [record !== null, [412]],
    [contract.body !== undefined, [413, 415]],
    [contract.withFiles !== undefined, [408]],
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
