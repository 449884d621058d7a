import type { Context } from 'koa';
import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from '../../postgres/sql.ts';
import { mayCall } from '../route/authenticate.ts';
import { checkIfMatch, entityTag } from './entity-tag.ts';
import type { AnyCall } from '../route/one-transaction.ts';
import { readQuery } from '../route/read-request.ts';
import type { RecordRoute } from '../route/record-route.ts';

/** The header's value where it means something: on requests that change something. */
export function readIfMatch(ctx: Context): string | null {
  const { 'if-match': header } = ctx.req.headers;
  return ctx.method === 'GET' || ctx.method === 'HEAD' ? null : (header ?? null);
}

/**
 * Begins a transaction in which a condition on the present state holds to the end: should another transaction change
 * what this one has read and writes too, this one fails as a serialization failure and is run again.
 */
export async function freezeView(em: EntityManager): Promise<void> {
  await sql(em, 'SET TRANSACTION ISOLATION LEVEL REPEATABLE READ');
}

async function presentTag(call: AnyCall, record: RecordRoute): Promise<string> {
  const { route, parameters } = record;
  const ids = Object.fromEntries(Array.from(parameters, ([name, own]) => [name, call.ids[own] ?? 0]));
  const names = Object.fromEntries(Array.from(parameters, ([name, own]) => [name, call.names[own] ?? '']));
  const query = route.contract.query ? readQuery('', route.contract.query) : undefined;
  return entityTag(
    JSON.stringify(await route.steps.handle({ ...call, ids, names, query, body: undefined }, undefined)),
  );
}

/** Refuses the call unless the record that it acts on is in the state that `header` names. Errors: 412, 404, 403. */
export async function requireMatch(header: string, call: AnyCall, record: RecordRoute | null): Promise<void> {
  const caller = call.actor ?? (call.principal && { kind: call.principal.kind, role: null });
  // Who may not read the record cannot know its state, nor learn of it here.
  const readable = record && caller && mayCall(record.route.contract.role, caller);
  checkIfMatch(header, readable ? await presentTag(call, record) : null);
}
