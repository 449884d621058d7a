import type { Context } from 'koa';
import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from '../../postgres/sql.ts';
import { checkIfMatch, entityTag } from './entity-tag.ts';
import type { AnyCall } from '../route/call.ts';
import { readQuery } from '../route/read-request.ts';
import type { RecordRoute } from '../route/record-route.ts';
import { factsOf, type Caller } from '../route/roles.ts';

/** The value of `If-Match` on requests that change something; null on GET and HEAD. */
export function readIfMatch(ctx: Context): string | null {
  const { 'if-match': header } = ctx.req.headers;
  return ctx.method === 'GET' || ctx.method === 'HEAD' ? null : (header ?? null);
}

/**
 * Makes the transaction REPEATABLE READ, so that a condition checked in it holds until its commit: if another
 * transaction changes a row that this one then writes, this one fails with a serialization error and is run again.
 */
export async function freezeView(em: EntityManager): Promise<void> {
  await sql(em, 'SET TRANSACTION ISOLATION LEVEL REPEATABLE READ');
}

function callerOf(call: AnyCall): Caller | null {
  if ('actor' in call) return call.actor;
  return 'principal' in call ? { ...call.principal, role: null } : null;
}

async function presentTag(call: AnyCall, record: RecordRoute): Promise<string> {
  const { route, parameters } = record;
  const params = Object.fromEntries(Array.from(parameters, ([name, own]) => [name, call.params[own] ?? '']));
  const query = route.contract.query ? readQuery('', route.contract.query) : undefined;
  return entityTag(JSON.stringify(await route.steps.handle({ ...call, params, query, body: undefined }, undefined)));
}

/** Checks that the record which the call acts on is in the state that `header` names. Errors: 412, 404, 403. */
export async function requireMatch(header: string, call: AnyCall, record: RecordRoute | null): Promise<void> {
  const caller = callerOf(call);
  // A caller who may not read the record must not learn its state from the 412.
  const readable = record && caller && factsOf(record.route.contract.role).admits(caller);
  checkIfMatch(header, readable ? await presentTag(call, record) : null);
}
