import { isDeepStrictEqual } from 'node:util';
import { invalid } from '../errors.ts';
import type { ChangedAttributes } from '../events/catalog.ts';
import { fieldName } from '../lib/text/field-name.ts';

type Attributes = Record<string, unknown>;
/** Values for the fields of something; undefined leaves a field as it is. */
export type NewValues<Target> = { [Field in keyof Target]?: Target[Field] | undefined };

/** Bytes of JSON text to which merging may grow attributes: as many as one request may bring. */
export const maxAttributeBytes = 64 * 1024;

/**
 * Assigns new values to fields of `target`; undefined leaves a field unchanged. Returns the previous and current values of
 * the fields that changed, by their names in the REST API; null when none did.
 */
export function change<Target extends object>(target: Target, values: NewValues<Target>): ChangedAttributes | null {
  const changed: ChangedAttributes = {};
  for (const [field, current] of Object.entries(values)) {
    const previous: unknown = target[field as keyof Target] ?? null;
    if (current === undefined || isDeepStrictEqual(current, previous)) continue;
    changed[restName(field)] = { previous, current };
    Object.assign(target, { [field]: current });
  }
  return Object.keys(changed).length > 0 ? changed : null;
}

function restName(field: string): string {
  return field.replace(/[A-Z]/g, (capital) => `_${capital.toLowerCase()}`);
}

/**
 * Merges attributes key by key; null removes a key. Returns undefined when `added` is undefined. Errors: 422 at `pointer`
 * when the result is larger than `bound` bytes of JSON.
 */
export function merge(
  pointer: string,
  current: Attributes,
  added: Attributes | undefined,
  bound: number = maxAttributeBytes,
): Attributes | undefined {
  if (!added) return undefined;
  const merged = new Map(Object.entries(current));
  for (const [name, value] of Object.entries(added)) {
    if (value === null) merged.delete(name);
    else merged.set(name, value);
  }
  const attributes = Object.fromEntries(merged);
  const size = bytesOf(attributes);
  // Attributes from before this bound existed may be larger: they may still shrink.
  if (size <= bound || size <= bytesOf(current)) return attributes;
  const most = `at most ${bound / 1024} KB of JSON`;
  throw invalid(pointer, 'maxBytes', `${fieldName(pointer)} must be ${most}, with what it holds already`);
}

function bytesOf(attributes: Attributes): number {
  return Buffer.byteLength(JSON.stringify(attributes));
}
