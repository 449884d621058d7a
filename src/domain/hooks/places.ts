import { createHash } from 'node:crypto';
import { isTooDeep } from '../../lib/text/json-depth.ts';
import type { SignedRequest } from './signatures.ts';

/** A request with its body read as JSON, where it is some. */
export interface ReadHookRequest extends Pick<SignedRequest, 'header' | 'body' | 'form'> {
  json: unknown;
}

const maxChars = 512;
// Bytes above which a body is read only if it has few values: files within a mail are long texts, and to read millions of
// numbers would hold up everybody.
const fewBytes = 1024 * 1024;
const fewValues = 100_000;
const comma = 0x2c;
const strictUtf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Reads a body as JSON; whole numbers that a double cannot keep are texts, so that neighbouring ids differ. Undefined for
 * text that is not JSON, for values that are nested deeper than requests of the API may be, and for large bodies of many values.
 */
export function readJson(body: Buffer): unknown {
  if (body.length > fewBytes && hasManyCommas(body)) return undefined;
  try {
    const text = strictUtf8.decode(body);
    if (isTooDeep(JSON.parse(text))) return undefined;
    return JSON.parse(text, keepDigits) as unknown;
  } catch {
    return undefined;
  }
}

function hasManyCommas(body: Buffer): boolean {
  let left = fewValues;
  for (let at = body.indexOf(comma); at >= 0 && left > 0; at = body.indexOf(comma, at + 1)) left -= 1;
  return left === 0;
}

function keepDigits(_name: string, value: unknown, context?: { source?: string }): unknown {
  const isInexact = typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value);
  return isInexact ? (context?.source ?? value) : value;
}

/** Returns the first value at the places, as a text of at most 512 characters (a longer one is hashed); null without any. */
export function readPlace(places: readonly string[], request: ReadHookRequest): string | null {
  for (const place of places) {
    const value = readAt(place, request);
    if (value !== null && value !== '') return bounded(value);
  }
  return null;
}

function readAt(place: string, { header, form, body, json }: ReadHookRequest): string | null {
  if (place === 'body') return createHash('sha256').update(body).digest('hex');
  if (place.startsWith('header:')) return header(place.slice('header:'.length).toLowerCase());
  if (place.startsWith('form:')) return form?.get(place.slice('form:'.length)) ?? null;
  return scalarText(valueAt(json, place));
}

function valueAt(json: unknown, pointer: string): unknown {
  const steps = pointer.split('/').slice(1);
  return steps.reduce<unknown>((value, step) => {
    const name = step.replaceAll('~1', '/').replaceAll('~0', '~');
    const isHolder = typeof value === 'object' && value !== null && Object.hasOwn(value, name);
    return isHolder ? Reflect.get(value, name) : undefined;
  }, json);
}

function scalarText(value: unknown): string | null {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : null;
}

// PostgreSQL stores neither NUL nor half of a surrogate pair.
function bounded(text: string): string {
  const isPlain = text.length <= maxChars && text.isWellFormed() && !text.includes('\0');
  return isPlain ? text : `sha256:${createHash('sha256').update(text).digest('hex')}`;
}
