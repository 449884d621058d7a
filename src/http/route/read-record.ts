import { readQuery } from './body/read-request.ts';
import type { AnyCall } from './call.ts';
import type { RecordRoute } from './record-route.ts';
import type { Route } from './route.ts';

/** Answers what the GET answers to the caller. */
export function answerOf({ contract, steps }: Route, call: AnyCall, params: AnyCall['params']): Promise<unknown> {
  const query = contract.query ? readQuery('', contract.query) : undefined;
  return steps.handle({ ...call, params, query, body: undefined }, undefined);
}

/** The path parameters by which the GET of a record finds the one that a call acts on, or has created with this id. */
export function paramsFor(
  { parameters }: RecordRoute,
  { params }: AnyCall,
  id: number | string | null = null,
): AnyCall['params'] {
  return Object.fromEntries(Array.from(parameters, ([name, own]) => [name, params[own] ?? id ?? '']));
}
