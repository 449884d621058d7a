import type { Route } from './route.ts';

const parameter = /:(\w+)/g;

/** The names of a path's parameters, in order. */
export function parameterNames(path: string): string[] {
  return Array.from(path.matchAll(parameter), ([, name = '']) => name);
}

/** Whether a path parameter is an identifier, and so a number. */
export function isIdParameter(name: string): boolean {
  return name === 'id' || name.endsWith('_id');
}

/** The path without the names of its parameters: `/contacts/:`. */
export function anonymous(path: string): string {
  return path.replaceAll(parameter, ':');
}

/** The GET of a record, and how an operation on that record names the GET's path parameters. */
export interface RecordRoute {
  route: Route;
  /** Parameter of the GET → parameter of the operation. */
  parameters: ReadonlyMap<string, string>;
}

/**
 * Finds the GET of the record that an operation acts on: at `…/:id` itself, or for `…/:id/action` one segment above.
 * Null when no operation answers that record.
 */
export function findRecordRoute({ method, path }: Route, routes: readonly Route[]): RecordRoute | null {
  if (method === 'GET') return null;
  const above = path.replace(/\/[^/:]+$/, '');
  // An account holds all that is added to it; who adds something does not change the account's own record.
  const candidates = (above.endsWith('/:account_id') ? [path] : [path, above]).map(anonymous);
  const found = candidates
    .map((wanted) => routes.find((other) => other.contract.record && anonymous(other.path) === wanted))
    .find((other) => other !== undefined);
  if (!found) return null;
  const own = parameterNames(path);
  return {
    route: found,
    parameters: new Map(parameterNames(found.path).map((name, index) => [name, own[index] ?? name])),
  };
}
