import { ApiError } from '../../errors.ts';
import { findUnsafe, type Reviver } from '../../http/route/body/json-text.ts';
import type { Json } from './operation.ts';

/** Whether a value is an object of JSON. */
export function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A value as an object; an empty one where it is none. */
export function objectOf(value: unknown): Json {
  return isObject(value) ? value : {};
}

/** The objects of a list; none where it is no list. */
export function listOf(value: unknown): Json[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** Leaves out fields, whatever their value. */
export function without(body: Json, ...fields: readonly string[]): Json {
  return Object.fromEntries(Object.entries(body).filter(([name]) => !fields.includes(name)));
}

/** Leaves out fields with a value that clients send for an input that nobody touched. */
export function leaveOut(body: Json, blanks: readonly unknown[], fields: readonly string[]): Json {
  return Object.fromEntries(
    Object.entries(body).filter(([name, value]) => !fields.includes(name) || !blanks.includes(value)),
  );
}

/**
 * Reads fields that are JSON text as the objects that they stand for; any other text stays as it is. Errors: 422 for values that
 * JSON bodies may not have either.
 */
export function unpack(body: Json, fields: readonly string[]): Json {
  const texts = fields.map((name) => body[name]).filter(isPacked);
  if (texts.length === 0) return body;
  const read = (reviver?: Reviver): Json =>
    Object.fromEntries(
      Object.entries(body).map(([name, value]) => [name, fields.includes(name) ? objectIn(value, reviver) : value]),
    );
  const unsafe = findUnsafe(texts.join('\n'), read);
  if (unsafe) throw new ApiError(422, 'validation_failed', unsafe.message, { details: [unsafe] });
  return read();
}

function isPacked(value: unknown): value is string {
  return typeof value === 'string' && value.trimStart().startsWith('{');
}

// Bounded by the limit of the body; values that are no objects are left to the schema to refuse.
function objectIn(value: unknown, reviver: Reviver | undefined): unknown {
  return isPacked(value) ? parsed(value, reviver) : value;
}

function parsed(text: string, reviver?: Reviver): unknown {
  try {
    return JSON.parse(text, reviver) as unknown;
  } catch {
    return text;
  }
}

/** Reads parameters that are a list in JSON text as its values, one after the other; null is none. */
export function spreadLists(query: URLSearchParams, ...names: readonly string[]): void {
  for (const name of names) {
    const values = query.getAll(name).flatMap(valuesIn);
    query.delete(name);
    for (const value of values) query.append(name, value);
  }
}

// A list with anything but texts and numbers in it is left to the schema.
function valuesIn(text: string): string[] {
  const list = text.startsWith('[') ? parsed(text) : null;
  if (!Array.isArray(list)) return [text];
  const values = list.filter((value: unknown) => value !== null);
  return values.every((value) => typeof value === 'string' || typeof value === 'number') ? values.map(String) : [text];
}

/** Leaves out blank parameters of a query, and those in `zeros` that are `0`, which is no page and no id. */
export function dropBlanks(query: URLSearchParams, zeros: readonly string[] = []): void {
  const given = [...query];
  const kept = given.filter(([name, value]) => value !== '' && (value !== '0' || !zeros.includes(name)));
  if (kept.length === given.length) return;
  for (const name of new Set(query.keys())) query.delete(name);
  for (const [name, value] of kept) query.append(name, value);
}
