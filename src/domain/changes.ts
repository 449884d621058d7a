import { isDeepStrictEqual } from 'node:util';
import { invalid } from '../errors.ts';
import type { ChangedAttributes } from '../events/catalog.ts';
import { fieldName } from '../lib/field-name.ts';

type Attributes = Record<string, unknown>;
/** Values for the fields of something; undefined leaves a field as it is. */
export type NewValues<Target> = { [Field in keyof Target]?: Target[Field] | undefined };

/** Bytes of JSON text that merging may grow an object of a caller's to: what one request may bring at most. */
const maxAttributeBytes = 64 * 1024;

function bytesOf(attributes: Attributes): number {
  return Buffer.byteLength(JSON.stringify(attributes));
}

function restName(field: string): string {
  return field.replace(/[A-Z]/g, (capital) => `_${capital.toLowerCase()}`);
}

/**
 * Gives the fields of `target` new values, undefined leaving one as it is, and answers what is different now by the
 * names the REST API has for the fields; null when nothing is.
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

/**
 * Attributes with others put in key by key, null removing a key; undefined when there are none to put in. Errors: 422
 * at `pointer` when they grow too large.
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
  // What grew larger before there was this bound may still be made smaller.
  if (size <= bound || size <= bytesOf(current)) return attributes;
  const most = `at most ${bound / 1024} KB of JSON`;
  throw invalid(pointer, 'maxBytes', `${fieldName(pointer)} must be ${most}, with what it holds already`);
}
