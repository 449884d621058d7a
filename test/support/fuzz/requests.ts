import * as fc from 'fast-check';
import type { Arbitrary } from 'fast-check';
import naughtyStrings from 'big-list-of-naughty-strings' with { type: 'json' };
import type { Route } from '../../../src/http/route/route.ts';
import { documents, findProblems } from '../../../src/schemas.ts';
import { fromSchema, resolve, type Schema } from './from-schema.ts';

/** A request; `faulty` ones must be refused. */
export interface FuzzRequest {
  route: Route;
  path: string;
  headers: Record<string, string>;
  body?: string;
  faulty: boolean;
}

const naughty: string[] = naughtyStrings;
const wrongValues: Record<string, unknown[]> = {
  string: [5, true, [], {}, { $ne: null }],
  integer: ['7e0', ' 7', '7x', 1.5, -1, 2 ** 60, true, [], {}],
  number: ['7', true, [], {}],
  boolean: ['true', 1, null, []],
  array: ['a', 5, {}, { 0: 'a' }],
  object: ['a', 5, []],
};

function objectSchema(name: string): { schema: Schema; document: string } {
  return resolve(documents.get(name) as Schema, name);
}

function pathOf(
  route: Route,
  identifiers: { account: Arbitrary<string>; inbox: string },
): Arbitrary<{ path: string; faulty: boolean }> {
  const parts = route.path.split('/').map((part): Arbitrary<string> => {
    if (part === ':account_id') return identifiers.account;
    if (part === ':identifier')
      return fc.oneof(
        { arbitrary: fc.constant(identifiers.inbox), weight: 4 },
        { arbitrary: fc.constantFrom(...naughty), weight: 1 },
      );
    if (part === ':token') return fc.constantFrom(...naughty);
    if (part.startsWith(':'))
      return fc.oneof(
        { arbitrary: fc.integer({ min: 1, max: 12 }).map(String), weight: 8 },
        { arbitrary: fc.constantFrom('0', '9007199254740993', '99999999999999999999', 'x', '-1', '1.5'), weight: 1 },
      );
    return fc.constant(part);
  });
  return fc.tuple(...parts).map((chosen) => ({
    path: chosen
      .map((part, index) =>
        route.path.split('/')[index]?.startsWith(':') ? encodeURIComponent(part.toWellFormed()) : part,
      )
      .join('/'),
    faulty: false,
  }));
}

function queryOf(route: Route): Arbitrary<string> {
  if (!route.contract.query) return fc.constant('');
  const { schema, document } = objectSchema(route.contract.query);
  const valid = fromSchema(schema, document).map((value) =>
    new URLSearchParams(
      Object.entries(value as Record<string, unknown>).flatMap(([name, item]) =>
        [item].flat().map((one): [string, string] => [name, String(one).toWellFormed()]),
      ),
    ).toString(),
  );
  const odd = fc
    .tuple(fc.constantFrom(...Object.keys(schema.properties ?? { page: 1 })), fc.constantFrom(...naughty))
    .map(([name, value]) => new URLSearchParams([[name, value.toWellFormed()]]).toString());
  return fc.oneof(
    { arbitrary: valid, weight: 4 },
    { arbitrary: odd, weight: 1 },
    {
      arbitrary: fc.constantFrom('page=0', 'page=-1', 'page=1e9', 'page=1&page=2', 'q=', '%ff=%ff', 'page=%00'),
      weight: 1,
    },
  );
}

interface Body {
  text: string;
  faulty: boolean;
}

// Faults that every schema refuses.
const brokenTexts = [
  '',
  '{',
  'nul',
  '[',
  '{"a":1,}',
  '"x"',
  '5',
  'null',
  '[]',
  '[1]',
  '{"content":"\\ud800"}',
  '{"name":"\\u0000"}',
  '{"__proto__":{}}',
  `${'['.repeat(40)}${']'.repeat(40)}`,
];

function withOneFault(value: Record<string, unknown>, schema: Schema, document: string): Arbitrary<Body> {
  const { properties = {}, required = [] } = schema;
  const faults: Arbitrary<Body>[] = [fc.constantFrom(...brokenTexts).map((text) => ({ text, faulty: true }))];
  if (required.length > 0) {
    faults.push(
      fc
        .constantFrom(...required)
        .map((name) => ({ text: JSON.stringify({ ...value, [name]: undefined }), faulty: true })),
    );
  }
  const typed = Object.entries(properties).flatMap(([name, property]) => {
    const { schema: target } = resolve(property, document);
    const [type = ''] = [target.type ?? []].flat();
    return (wrongValues[type] ?? []).filter(() => !Array.isArray(target.type)).map((wrong) => [name, wrong] as const);
  });
  if (typed.length > 0) {
    faults.push(
      fc
        .constantFrom(...typed)
        .map(([name, wrong]) => ({ text: JSON.stringify({ ...value, [name]: wrong }), faulty: wrong !== -1 })),
    );
  }
  return fc.oneof(...faults);
}

function bodyOf(route: Route, faulty: boolean): Arbitrary<Body | null> {
  if (!route.contract.body) return fc.constant(null);
  const { schema, document } = objectSchema(route.contract.body);
  const valid = fromSchema(schema, document) as Arbitrary<Record<string, unknown>>;
  if (!faulty) return valid.map((value) => ({ text: JSON.stringify(value), faulty: false }));
  // A POST that says nothing is read as `{}` where that says enough.
  const maySayNothing = route.method === 'POST' && findProblems(route.contract.body, {}).length === 0;
  return valid
    .chain((value) => withOneFault(value, schema, document))
    .map(({ text, ...body }) => ({ text, faulty: body.faulty && !(text === '' && maySayNothing) }));
}

/** Requests to a route: valid ones and ones on the limits; with `faulty`, ones with exactly one fault. */
export function requestsTo(
  route: Route,
  { token, inbox, faulty }: { token: string; inbox: string; faulty: boolean },
): Arbitrary<FuzzRequest> {
  const account = fc.oneof(
    { arbitrary: fc.constant(route.path.startsWith('/platform') ? '7' : '1'), weight: 12 },
    { arbitrary: fc.constantFrom('2', '999999', 'x', '0'), weight: 1 },
  );
  return fc
    .record({ target: pathOf(route, { account, inbox }), query: queryOf(route), body: bodyOf(route, faulty) })
    .map(({ target, query, body }) => ({
      route,
      path: query === '' ? target.path : `${target.path}?${query}`,
      headers: { api_access_token: token, ...(body ? { 'content-type': 'application/json' } : {}) },
      ...(body ? { body: body.text } : {}),
      faulty: faulty && (body?.faulty ?? false),
    }));
}
