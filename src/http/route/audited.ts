import type { AnyCall } from './call.ts';
import { answerOf, paramsFor } from './read-record.ts';
import { anonymous, findRecordRoute, isIdParameter, parameterNames, type RecordRoute } from './record-route.ts';
import type { AuditClause, Route } from './route.ts';

/** A record as the API answers it. */
export type Fields = Readonly<Record<string, unknown>>;

type Id = number | string | null;

/** How an operation is told in the audit log. */
export interface Audited {
  action: string;
  clause: AuditClause;
  /** The kind of record that is acted on, and the path parameter with its id; null where the answer has the id. */
  target: { type: string; parameter: string | null };
  /** Further ids of the path, of something within the record. */
  others: readonly string[];
  /** Reads the record as the caller sees it; null where no operation answers it. */
  read: (call: AnyCall, id: Id) => Promise<Fields | null>;
  /** How fields of the body are told that the record does not show. */
  told: 'as sent' | 'as hidden' | 'not at all';
}

const standard: Record<string, string> = { POST: 'created', PATCH: 'updated', DELETE: 'deleted' };

/** Finds out how the operation is told; null for those that change nothing only administrators change. */
export function auditOf(route: Route, routes: readonly Route[]): Audited | null {
  const { method, path, contract } = route;
  const clause = clauseOf(route);
  if (!clause) return null;
  const parameter = clause.target === undefined ? targetParameter(path) : null;
  const others = parameterNames(path).filter((name) => name !== 'account_id' && name !== parameter);
  const isWithin = others.length > 0;
  const type = clause.target?.type ?? singular(segmentBefore(path, parameter));
  const sent = clause.action === undefined && !clause.unread ? 'as hidden' : 'as sent';
  return {
    action: clause.action ?? `${type}.${standard[method]}`,
    clause,
    target: { type, parameter },
    read: readerOf(route, routes, { ...clause, isMade: parameter === null && !clause.target, isWithin }),
    others,
    told: contract.upload || clause.members ? 'not at all' : sent,
  };
}

function clauseOf({ method, contract: { audit, role } }: Route): AuditClause | null {
  if (method === 'GET' || audit === false) return null;
  if (audit) return audit;
  return role === 'administrator' || role === 'platform' ? {} : null;
}

function readerOf(
  route: Route,
  routes: readonly Route[],
  { members, unread, isMade, isWithin }: AuditClause & { isMade: boolean; isWithin: boolean },
): Audited['read'] {
  const { path } = route;
  if (unread) return async () => null;
  if (members) {
    const list = listAt(path, routes) ?? listAt(`${path}/:`, routes);
    return async (call, id) => list && { members: (await rowsOf(list, call, id)).map((row) => row['id']) };
  }
  const record = findRecordRoute(route, routes) ?? (isMade ? recordMadeBy(route, routes) : null);
  if (record) return async (call, id) => (await answerOf(record.route, call, paramsFor(record, call, id))) as Fields;
  // The list at the path of what is within a record is not that of records.
  const list = isWithin ? null : listAt(path.replace(/\/:[^/]+$/, ''), routes);
  return async (call, id) => {
    const rows = list && id !== null ? await rowsOf(list, call, id) : [];
    return rows.find((row) => row['id'] === id) ?? null;
  };
}

async function rowsOf(list: Route, call: AnyCall, id: Id): Promise<Fields[]> {
  const own = parameterNames(list.path).map((name) => [name, call.params[name] ?? id ?? ''] as const);
  const answer = await answerOf(list, call, Object.fromEntries(own));
  const rows = Array.isArray(answer) ? answer : (answer as { payload?: unknown }).payload;
  return Array.isArray(rows) ? (rows as Fields[]) : [];
}

function recordMadeBy({ path }: Route, routes: readonly Route[]): RecordRoute | null {
  const wanted = `${anonymous(path)}/:`;
  const route = routes.find(({ contract, path: other }) => contract.record && anonymous(other) === wanted);
  if (!route) return null;
  return { route, parameters: new Map(parameterNames(route.path).map((name) => [name, name])) };
}

function listAt(path: string, routes: readonly Route[]): Route | null {
  const isHere = ({ method, contract, path: other }: Route): boolean =>
    method === 'GET' && !contract.paged && !contract.record && anonymous(other) === anonymous(path);
  return routes.find(isHere) ?? null;
}

function targetParameter(path: string): string | null {
  const [first = null] = parameterNames(path).filter((name) => name !== 'account_id');
  if (first === null) return path.endsWith('/:account_id') ? 'account_id' : null;
  return isIdParameter(first) || first === 'plugin' ? first : null;
}

function segmentBefore(path: string, parameter: string | null): string {
  const before = parameter === null ? path : path.slice(0, path.indexOf(`/:${parameter}`));
  return before.slice(before.lastIndexOf('/') + 1);
}

function singular(noun: string): string {
  if (noun.endsWith('ies')) return `${noun.slice(0, -3)}y`;
  return noun.endsWith('xes') ? noun.slice(0, -2) : noun.replace(/s$/, '');
}
