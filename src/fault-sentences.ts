import type { ErrorObject } from 'ajv';
import type { ErrorDetail } from './errors.ts';
import { fieldName, pointerToken } from './lib/field-name.ts';

/** What a schema says beside its rules. */
interface Explained {
  /** In place of a pattern or a format, which people cannot read: what goes after the field's name, "must …". */
  'x-explained'?: string;
  properties?: Record<string, unknown>;
}

type Sentence = (fault: ErrorObject, name: string) => string;

const kilobyte = 1024;
const typeNames: Readonly<Record<string, string>> = {
  string: 'text',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  null: 'null',
};
const publicRules: Readonly<Record<string, string>> = { 'x-max-bytes': 'maxBytes' };
// They only say that another rule was broken, which says so itself.
const echoes: ReadonlySet<string> = new Set(['if', 'propertyNames']);

// More would only lengthen the answer to a broken request.
const maxDetails = 20;

/**
 * Faults that Ajv found (with `verbose`), each as a sentence that names the field and what it must be; at most 20 of
 * them. `whole` is how the value itself is called. Neither patterns nor the value are ever repeated.
 */
export function explainFaults(faults: readonly ErrorObject[] | null | undefined, whole = 'The body'): ErrorDetail[] {
  return (faults ?? [])
    .filter(({ keyword }) => !echoes.has(keyword))
    .slice(0, maxDetails)
    .map((fault) => explain(fault, whole));
}

function explain(fault: ErrorObject, whole: string): ErrorDetail {
  const path = fault.instancePath + placeOf(fault);
  const sentence = sentences[fault.keyword] ?? unfit;
  const holder = fault.propertyName === undefined ? fieldName(path, whole) : nameOfProperty(fault.propertyName, path);
  return { path, rule: publicRules[fault.keyword] ?? fault.keyword, message: sentence(fault, holder) };
}

// A missing or unknown property is reported at its own place, not at the object's.
function placeOf({ params }: ErrorObject): string {
  const { missingProperty, additionalProperty, unevaluatedProperty } = params as Record<string, string | undefined>;
  const property = missingProperty ?? additionalProperty ?? unevaluatedProperty;
  return property === undefined ? '' : `/${pointerToken(property)}`;
}

function nameOfProperty(property: string, path: string): string {
  return `The name \`${property}\` in ${fieldName(path, 'the body')}`;
}

const missing: Sentence = (_, name) => `${name} is missing`;
const inWords: Sentence = ({ keyword, schema, parentSchema }, name) => {
  const { 'x-explained': words } = (parentSchema ?? {}) as Explained;
  const usual = keyword === 'format' ? formats[String(schema)] : undefined;
  return `${name} ${words ?? usual ?? 'does not have the right form'}`;
};
// Of the settings that plugins declare.
const formats: Readonly<Record<string, string>> = {
  email: 'must be an e-mail address such as ada@example.com',
  uri: 'must be a URL such as https://www.example.com/',
  date: 'must be a date such as 2026-11-20',
  time: 'must be a time such as 09:30:00Z',
  'date-time': 'must be a date and time such as 2026-11-20T09:30:00Z',
};
const unfit: Sentence = (_, name) => `${name} is not valid`;
const unknown: Sentence = ({ params, parentSchema }, name) => {
  const given = String(params['additionalProperty'] ?? params['unevaluatedProperty']);
  const likely = closest(given, Object.keys((parentSchema as Explained | undefined)?.properties ?? {}));
  return `unknown field ${name}${likely === null ? '' : `; did you mean \`${likely}\`?`}`;
};
const counted =
  (most: 'at most' | 'at least', one: string, many: string, verb = 'have'): Sentence =>
  ({ params: { limit } }, name) =>
    `${name} must ${verb} ${most} ${String(limit)} ${limit === 1 ? one : many}`;
const compared: Sentence = ({ params: { comparison, limit } }, name) =>
  `${name} must be ${comparisons[String(comparison)] ?? String(comparison)} ${String(limit)}`;
const comparisons: Readonly<Record<string, string>> = {
  '>=': 'at least',
  '<=': 'at most',
  '>': 'more than',
  '<': 'less than',
};

const sentences: Readonly<Record<string, Sentence>> = {
  required: missing,
  dependentRequired: missing,
  additionalProperties: unknown,
  unevaluatedProperties: unknown,
  type: ({ params: { type } }, name) =>
    `${name} must be ${[type as string | string[]].flat().map(typeName).join(' or ')}`,
  enum: ({ params: { allowedValues } }, name) => `${name} must be ${choice(allowedValues as unknown[])}`,
  const: ({ params: { allowedValue } }, name) => `${name} must be ${choice([allowedValue])}`,
  pattern: inWords,
  format: inWords,
  minLength: ({ params: { limit } }, name) =>
    limit === 1 ? `${name} must not be empty` : `${name} must have at least ${String(limit)} characters`,
  maxLength: counted('at most', 'character', 'characters'),
  minimum: compared,
  maximum: compared,
  exclusiveMinimum: compared,
  exclusiveMaximum: compared,
  multipleOf: ({ params: { multipleOf } }, name) => `${name} must be a multiple of ${String(multipleOf)}`,
  minItems: counted('at least', 'item', 'items'),
  maxItems: counted('at most', 'item', 'items'),
  uniqueItems: (_, name) => `${name} must not have the same item twice`,
  minProperties: counted('at least', 'field', 'fields'),
  maxProperties: counted('at most', 'field', 'fields'),
  'x-max-bytes': ({ schema }, name) => `${name} must be at most ${Number(schema) / kilobyte} KB of JSON`,
};

function typeName(type: string): string {
  return typeNames[type] ?? type;
}

/** `one of urgent, high, medium, low, or null`; a single value stands by itself. */
function choice(values: readonly unknown[]): string {
  const texts = values.filter((value) => value !== null).map(String);
  const nullable = texts.length < values.length;
  if (texts.length === 1) return nullable ? `${texts[0]} or null` : String(texts[0]);
  return `one of ${[...texts, ...(nullable ? ['or null'] : [])].join(', ')}`;
}

/** The name that was probably meant: the nearest one, by at most a third of its letters; null when none is near. */
function closest(given: string, known: readonly string[]): string | null {
  const near = known
    .map((name) => ({ name, distance: distance(given.slice(0, 64).toLowerCase(), name.toLowerCase()) }))
    .filter((one) => one.distance <= Math.ceil(one.name.length / 3))
    .sort((one, other) => one.distance - other.distance);
  return near[0]?.name ?? null;
}

/** How many letters must be added, taken away or exchanged to make one text of the other (Levenshtein). */
function distance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let index = 0; index < one.length; index++) {
    const next = [index + 1];
    for (let column = 0; column < other.length; column++) {
      const exchanged = (row[column] ?? 0) + (one[index] === other[column] ? 0 : 1);
      next.push(Math.min(exchanged, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1));
    }
    row = next;
  }
  return row[other.length] ?? 0;
}
