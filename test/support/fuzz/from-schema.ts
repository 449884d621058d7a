import * as fc from 'fast-check';
import type { Arbitrary } from 'fast-check';
import naughtyStrings from 'big-list-of-naughty-strings' with { type: 'json' };
import { follow } from '../../../src/lib/composition.ts';
import { documents } from '../../../src/schemas.ts';

/** The part of JSON Schema that the contract uses; compositions are written out. */
export interface Schema {
  $ref?: string;
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  anyOf?: Schema[];
  oneOf?: Schema[];
  properties?: Record<string, Schema>;
  additionalProperties?: boolean | Schema;
  minProperties?: number;
  required?: string[];
  items?: Schema;
  minItems?: number;
  maxItems?: number;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  pattern?: string;
  format?: string;
}

const naughty: string[] = naughtyStrings;
const maxGeneratedItems = 5;
// Long strings are an edge case; most requests need none.
const maxGeneratedLength = 300;
const smallId = fc.integer({ min: 1, max: 12 });

/** The schema that a reference points to, and its document. */
export function resolve(schema: Schema, document: string): { schema: Schema; document: string } {
  if (schema.$ref === undefined) return { schema, document };
  const target = follow(documents, schema.$ref, document);
  return resolve(target.schema, target.document);
}

// Making one takes longer than a request.
const matchingTexts = new Map<string, Arbitrary<string>>();

function matching(pattern: string): Arbitrary<string> {
  const known = matchingTexts.get(pattern);
  if (known) return known;
  const made = fc.stringMatching(new RegExp(pattern.replace(/\\p\{L\}\\p\{N\}/g, 'a-z0-9'), 'u'));
  matchingTexts.set(pattern, made);
  return made;
}

function text(schema: Schema): Arbitrary<string> {
  if (schema.format === 'email') return fc.integer({ min: 1, max: 9999 }).map((n) => `person-${n}@example.com`);
  if (schema.format === 'uri' || schema.format === 'date-time') return fc.constant('https://example.com/');
  const { pattern } = schema;
  if (pattern !== undefined && pattern !== '\\S') return matching(pattern);
  const minLength = schema.minLength ?? 0;
  const maxLength = Math.max(minLength, Math.min(schema.maxLength ?? maxGeneratedLength, maxGeneratedLength));
  const fits = (value: string) => value.length >= minLength && value.length <= (schema.maxLength ?? Infinity);
  return fc
    .oneof(
      { arbitrary: fc.constantFrom('hello', 'urgent', 'a-b_c', 'Ünïcödé 漢字'), weight: 3 },
      { arbitrary: fc.string({ minLength, maxLength, unit: 'grapheme' }), weight: 2 },
      { arbitrary: fc.constantFrom(...naughty), weight: 2 },
      {
        arbitrary: fc.constant('x'.repeat(Math.min(schema.maxLength ?? 1, 150_000))),
        weight: schema.maxLength && schema.maxLength < 5000 ? 1 : 0,
      },
    )
    .filter(fits);
}

function integer(schema: Schema, name: string): Arbitrary<number> {
  const { minimum = -1000, maximum = 2 ** 53 - 1 } = schema;
  if (/(^|_)id$|^id|agent_bot$|user_ids/.test(name))
    return fc.oneof({ arbitrary: smallId, weight: 9 }, { arbitrary: fc.constant(maximum), weight: 1 });
  return fc.oneof(
    fc.constantFrom(minimum, maximum),
    fc.integer({ min: minimum, max: Math.min(maximum, minimum + 5000) }),
  );
}

function object(schema: Schema, document: string, depth: number): Arbitrary<unknown> {
  const { properties, required = [], additionalProperties, minProperties: minKeys = 0 } = schema;
  if (!properties)
    return depth > 2
      ? fc.constant({})
      : fc.dictionary(
          fc.string({ maxLength: 10 }).filter((key) => key !== '__proto__'),
          typeof additionalProperties === 'object'
            ? fromSchema(additionalProperties, document, { name: '', depth: depth + 1 })
            : fc.jsonValue({ maxDepth: 2 }),
          { minKeys, maxKeys: 3 },
        );
  const record: Record<string, Arbitrary<unknown>> = {};
  for (const [name, property] of Object.entries(properties))
    record[name] = fromSchema(property, document, { name, depth: depth + 1 });
  return fc.record(record, { requiredKeys: required.filter((name) => name in record), noNullPrototype: true });
}

function ofType(
  schema: Schema,
  type: string,
  document: string,
  { name, depth }: { name: string; depth: number },
): Arbitrary<unknown> {
  switch (type) {
    case 'string':
      return text(schema);
    case 'integer':
    case 'number':
      return integer(schema, name);
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    case 'array': {
      const items = schema.items ?? {};
      const bounds = {
        minLength: schema.minItems ?? 0,
        maxLength: Math.min(schema.maxItems ?? maxGeneratedItems, Math.max(schema.minItems ?? 0, maxGeneratedItems)),
      };
      return fc.uniqueArray(fromSchema(items, document, { name, depth: depth + 1 }), {
        ...bounds,
        selector: (value) => JSON.stringify(value),
      });
    }
    default:
      return object(schema, document, depth);
  }
}

/** Values that satisfy the schema or lie on its limits; ids are mostly small, so that they often hit a record. */
export function fromSchema(given: Schema, from: string, context = { name: '', depth: 0 }): Arbitrary<unknown> {
  const { schema, document } = resolve(given, from);
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum) return fc.constantFrom(...schema.enum);
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices) return fc.oneof(...choices.map((choice) => fromSchema(choice, document, context)));
  const types = [schema.type ?? (schema.properties ? 'object' : 'string')].flat();
  return fc.oneof(...types.map((type) => ofType(schema, type, document, context)));
}
