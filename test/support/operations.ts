import type { Route } from '../../src/http/route/route.ts';
import { accountOperations } from './account-operations.ts';
import { conversationOperations } from './conversation-operations.ts';
import { outerOperations } from './outer-operations.ts';
import { smallOperations } from './small-resources.ts';
import type { Tenant, World } from './world.ts';

/** A request that an operation accepts from whoever may do everything there; ids of the account's own records. */
export interface Request {
  /** The path's parameters beside `account_id`. */
  at?: Record<string, number | string>;
  query?: string;
  body?: Record<string, unknown>;
}

/** Makes a request, on records that nobody else uses where the operation changes them. */
export type Prepare = (home: Tenant, world: World) => Request | Promise<Request>;

const accountPath = '/api/v1/accounts/:account_id/';

/** How the tables of the tests call an operation: `GET contacts/:id` below an account, `GET /healthz` elsewhere. */
export function nameOf({ method, path }: Pick<Route, 'method' | 'path'>): string {
  return `${method} ${path.startsWith(accountPath) ? path.slice(accountPath.length) : path}`;
}

/** The method and the path pattern of a name; what stands after # tells apart requests to one operation. */
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

/** A request to each operation, and further ones that other rules hold for, by name. */
export const operations: Readonly<Record<string, Prepare>> = {
  ...conversationOperations,
  ...accountOperations,
  ...smallOperations,
  ...outerOperations,
};
