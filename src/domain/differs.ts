import { isDeepStrictEqual } from 'node:util';

/** Whether any of the values is another one than the record has. */
export function differs<Values extends object>(record: { [Key in keyof Values]?: unknown }, values: Values): boolean {
  return Object.entries(values).some(
    ([name, value]) => !isDeepStrictEqual(record[name as keyof Values] ?? null, value),
  );
}
