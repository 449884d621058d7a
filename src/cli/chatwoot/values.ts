import { storableJson, storableText } from '../../lib/text/storable.ts';

/** A record as Chatwoot sent it: anything may be in it. */
export type Foreign = Readonly<Record<string, unknown>>;

/** Returns the value as a record; empty if it is none. */
export function recordOf(value: unknown): Foreign {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Foreign) : {};
}

/** Returns the records of a list, or of a list in `payload`; null if the answer is neither. */
export function listOf(value: unknown): Foreign[] | null {
  const list = Array.isArray(value) ? value : recordOf(value)['payload'];
  return Array.isArray(list) ? list.map(recordOf) : null;
}

/** Returns a whole number from 1, also from digits; null for anything else. */
export function idOf(value: unknown): number | null {
  const id = typeof value === 'string' && /^\d{1,16}$/.test(value) ? Number(value) : value;
  return typeof id === 'number' && Number.isSafeInteger(id) && id > 0 ? id : null;
}

/** Returns a whole number from 0 to `most`; 0 for anything else. */
export function countOf(value: unknown, most: number): number {
  return typeof value === 'number' && value > 0 ? Math.min(most, Math.floor(value)) : 0;
}

/** Returns a text that PostgreSQL can store, at most `most` characters, trimmed; null if nothing is left. */
export function textOf(value: unknown, most: number): string | null {
  const given = typeof value === 'number' ? String(value) : value;
  const text = typeof given === 'string' ? storableText(given.trim(), most).trim() : '';
  return text === '' ? null : text;
}

/** Returns whether textOf would cut the value. */
export function isLonger(value: unknown, most: number): boolean {
  return typeof value === 'string' && value.trim().length > most;
}

/** Returns the value if it is one of `known`, otherwise null. */
export function oneOf<Known extends string>(value: unknown, known: readonly Known[]): Known | null {
  return known.find((candidate) => candidate === value) ?? null;
}

const [earliest, latest] = [0, Date.UTC(9999, 0)];

/** Returns the moment of Unix seconds, as a number or in digits, or of an ISO time; null for anything else, and for 0. */
export function momentOf(value: unknown): Date | null {
  const seconds = typeof value === 'string' && /^\d{1,12}(\.\d+)?$/.test(value) ? Number(value) : value;
  const ms = typeof seconds === 'number' ? seconds * 1000 : typeof value === 'string' ? Date.parse(value) : Number.NaN;
  return ms > earliest && ms < latest ? new Date(Math.floor(ms)) : null;
}

/** Like momentOf, but never after `now`; `otherwise` if the value is no moment. */
export function pastOf(value: unknown, now: Date, otherwise: Date): Date {
  const moment = momentOf(value) ?? otherwise;
  return moment > now ? now : moment;
}

/** Like pastOf; null if the value is no moment. */
export function pastOrNull(value: unknown, now: Date): Date | null {
  return momentOf(value) && pastOf(value, now, now);
}

// The API's limit, less room for the attributes that an import adds.
const mostAttributeBytes = 63 * 1024;
const deepest = 100;

/** Returns attributes that can be stored; null if they are too large or too deep. */
function attributesOf(value: unknown): Record<string, unknown> | null {
  const given = recordOf(value);
  if (!isShallow(given, deepest)) return null;
  const text = storableJson(given);
  return Buffer.byteLength(text) > mostAttributeBytes ? null : (JSON.parse(text) as Record<string, unknown>);
}

/** Returns the attributes in a field; if they cannot be stored, none, and adds a problem. */
export function readAttributes(given: Foreign, field: string, problems: string[]): Record<string, unknown> {
  const found = attributesOf(given[field]);
  if (found === null) problems.push(`${field} are too large or too deep, and were left out`);
  return found ?? {};
}

function isShallow(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return levels > 0 && Object.values(value).every((part) => isShallow(part, levels - 1));
}
