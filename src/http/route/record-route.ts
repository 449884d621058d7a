import type { Route } from './route.ts';

const parameter = /:(\w+)/g;

/** The names of a path's parameters, in order. */
export function parameterNames(path: string): string[] {
  return Array.from(path.matchAll(parameter), ([, name = '']) => name);
}

/** Whether a path parameter is an identifier of ours, and so a number. */
export function isIdParameter(name: string): boolean {
  return name === 'id' || name.endsWith('_id');
}

/** A path whose parameters have no names: `/contacts/:`. */
export function anonymous(path: string): string {
  return path.replaceAll(parameter, ':');
}

/** The GET of a record, and how the operation that acts on the record names that GET's path parameters. */
export interface RecordRoute {
  route: Route;
  /** Parameter of the GET → parameter of the operation. */
  parameters: ReadonlyMap<string, string>;
}

/**
 * The record that an operation acts on, for its path: `…/:id` itself, and for `…/:id/action` the record before the last
 * word. Null when no operation answers that record.
 */
export function findRecordRoute({ method, path }: Route, routes: readonly Route[]): RecordRoute | null {
  if (method === 'GET') return null;
  const candidates = [path, path.replace(/\/[^/:]+$/, '')].map(anonymous);
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
