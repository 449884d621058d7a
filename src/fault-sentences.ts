import type { ErrorObject } from 'ajv';
import type { ErrorDetail } from './errors.ts';
import { distance } from './lib/text/distance.ts';
import { fieldName, pointerToken } from './lib/text/field-name.ts';

/** Keywords of a schema that help to explain its errors. */
interface Explained {
  /** The end of the sentence about a broken `pattern` or `format`, after the field's name: "must …". */
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
// Ajv reports these in addition to the error of the subschema, which says more.
const echoes: ReadonlySet<string> = new Set(['if', 'propertyNames']);

// Further details would make the answer longer, but not more helpful.
const maxDetails = 20;

/**
 * Translates errors of Ajv (with the option `verbose`) to sentences that name the field and say what it must be; at
 * most 20. `whole` names the value itself. The sentences contain neither patterns nor values.
 */
export function explainFaults(faults: readonly ErrorObject[] | null | undefined, whole = 'The body'): ErrorDetail[] {
  return (faults ?? [])
    .filter(({ keyword }) => !echoes.has(keyword))
    .slice(0, maxDetails)
    .map((fault) => explain(fault, whole));
}

function explain(fault: ErrorObject, whole: string): ErrorDetail {
  const path = fault.instancePath + placeOf(fault);
  const sentence = sentences[fault.keyword] ?? notValid;
  const holder = fault.propertyName === undefined ? fieldName(path, whole) : nameOfProperty(fault.propertyName, path);
  return { path, rule: publicRules[fault.keyword] ?? fault.keyword, message: sentence(fault, holder) };
}

// Ajv reports a missing or unknown property at its object; the answer names the property itself.
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
// The formats that settings of plugins may declare.
const formats: Readonly<Record<string, string>> = {
  email: 'must be an e-mail address such as ada@example.com',
  uri: 'must be a URL such as https://www.example.com/',
  date: 'must be a date such as 2026-11-20',
  time: 'must be a time such as 09:30:00Z',
  'date-time': 'must be a date and time such as 2026-11-20T09:30:00Z',
};
const notValid: Sentence = (_, name) => `${name} is not valid`;
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

/** The allowed values: `one of urgent, high, medium, low, or null`, or a single value. */
function choice(values: readonly unknown[]): string {
  const texts = values.filter((value) => value !== null).map(String);
  const nullable = texts.length < values.length;
  if (texts.length === 1) return nullable ? `${texts[0]} or null` : String(texts[0]);
  return `one of ${[...texts, ...(nullable ? ['or null'] : [])].join(', ')}`;
}

/** The known name most similar to the given one, if at most a third of its letters differ; else null. */
function closest(given: string, known: readonly string[]): string | null {
  const text = given.slice(0, 64).toLowerCase();
  const near = known
    .map((name) => {
      const most = Math.ceil(name.length / 3);
      return { name, most, errors: distance(text, name.toLowerCase(), most) };
    })
    .filter(({ errors, most }) => errors <= most)
    .sort((one, other) => one.errors - other.errors);
  return near[0]?.name ?? null;
}

/** The keywords of a property of schemas/config.json that reading its value needs. */
export interface Setting {
  type?: string;
  default?: unknown;
  examples?: string[];
  'x-secret'?: boolean;
}

/** Says what is wrong with the value of a setting; never a secret one itself. */
export function explainSetting(error: ErrorObject, settings: Readonly<Record<string, Setting>>): string {
  if (error.keyword === 'dependentRequired') {
    return `${String(error.params['missingProperty'])} is needed when ${String(error.params['property'])} is set`;
  }
  const name = error.instancePath.split('/')[1] ?? '';
  const setting = settings[name];
  const allowed = error.keyword === 'enum' ? `: ${(error.params['allowedValues'] as string[]).join(', ')}` : '';
  const example = error.keyword === 'pattern' ? setting?.examples?.[0] : undefined;
  const rule = example ? `must be like ${example}` : `${error.message ?? 'is not valid'}${allowed}`;
  return setting?.['x-secret'] ? `${name} ${rule}` : `${name} ${rule}, not ${JSON.stringify(error.data)}`;
}
