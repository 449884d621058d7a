import { badRequest } from '../errors.ts';
import { catalog } from '../events/catalog.ts';

/** Throws 400 for the first of the names that no event has; `parameter` is the one of the query that has them. */
export function requireEventNames(names: readonly string[], parameter: string): void {
  const unknown = names.find((name) => !Object.hasOwn(catalog, name));
  if (unknown === undefined) return;
  const message = `There is no event \`${unknown}\``;
  throw badRequest('bad_query', message, [{ path: `/${parameter}`, rule: 'enum', message }]);
}
