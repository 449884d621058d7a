import type { Route } from '../../src/http/route/route.ts';
import { accountOperations } from './account-operations.ts';
import { conversationOperations } from './conversation-operations.ts';
import { clientOperations, outerOperations } from './outer-operations.ts';
import { smallOperations } from './small-resources.ts';
import type { Tenant, World } from './world.ts';

/** A request that an operation accepts from a caller with all rights; its ids are of the account's own records. */
export interface Request {
  /** The path's parameters, except `account_id`. */
  at?: Record<string, number | string>;
  query?: string;
  body?: Record<string, unknown>;
}

/** Makes a request, on a new record if the operation changes it. */
export type Prepare = (home: Tenant, world: World) => Request | Promise<Request>;

const accountPath = '/api/v1/accounts/:account_id/';

/** How the tables of the tests call an operation: `GET contacts/:id` below an account, `GET /healthz` elsewhere. */
export function nameOf({ method, path }: Pick<Route, 'method' | 'path'>): string {
  return `${method} ${path.startsWith(accountPath) ? path.slice(accountPath.length) : path}`;
}

/** Method and path pattern of a name; the part after # tells requests to one operation apart. */
export function readName(name: string): { method: string; path: string; operation: string } {
  const operation = name.replace(/#.*$/, '');
  const [method = '', path = ''] = operation.split(' ');
  return { method, path: path.startsWith('/') ? path : accountPath + path, operation };
}

/** The path of a request, filled in. */
export function fillPath(pattern: string, accountId: number, { at = {}, query }: Request): string {
  const path = pattern.replaceAll(/:(\w+)/g, (_, name: string) => {
    const value = at[name] ?? (name === 'account_id' ? accountId : undefined);
    if (value === undefined) throw new Error(`The request to ${pattern} lacks ${name}`);
    return encodeURIComponent(value);
  });
  return query === undefined ? path : `${path}?${query}`;
}

/** A request to each operation, and further requests under other rules, by name. */
export const operations: Readonly<Record<string, Prepare>> = {
  ...conversationOperations,
  ...accountOperations,
  ...smallOperations,
  ...outerOperations,
  ...clientOperations,
};
