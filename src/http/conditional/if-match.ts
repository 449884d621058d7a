import type { Context } from 'koa';
import { checkIfMatch, entityTag } from './entity-tag.ts';
import type { AnyCall } from '../route/call.ts';
import { answerOf, paramsFor } from '../route/read-record.ts';
import type { RecordRoute } from '../route/record-route.ts';
import { factsOf, type Caller } from '../route/admission/roles.ts';

/** The value of `If-Match` on requests that change something; null on GET and HEAD. */
export function readIfMatch(ctx: Context): string | null {
  const { 'if-match': header } = ctx.req.headers;
  return ctx.method === 'GET' || ctx.method === 'HEAD' ? null : (header ?? null);
}

function callerOf(call: AnyCall): Caller | null {
  if ('actor' in call) return call.actor;
  return 'principal' in call ? { ...call.principal, role: null } : null;
}

/** Checks that the record which the call acts on is in the state that `header` names. Errors: 412, 404, 403. */
export async function requireMatch(header: string, call: AnyCall, record: RecordRoute | null): Promise<void> {
  const caller = callerOf(call);
  // A caller who may not read the record must not learn its state from the 412.
  const readable = record && caller && factsOf(record.route.contract.role).admits(caller);
  checkIfMatch(
    header,
    readable ? entityTag(JSON.stringify(await answerOf(record.route, call, paramsFor(record, call)))) : null,
  );
}
