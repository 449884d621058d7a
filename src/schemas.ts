import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import type { Schemas } from '../schemas/types.ts';
import type { ErrorDetail } from './errors.ts';
import { explainFaults } from './fault-sentences.ts';
import { follow, writeOut, type Schema, type SchemaDocuments } from './lib/composition.ts';

/** The name of a schema: its path below schemas/, without `.json`. */
export type SchemaName = keyof Schemas;
/** What a value of the named schema looks like. */
export type Shape<Name extends SchemaName> = Schemas[Name];

const folder = fileURLToPath(new URL('../schemas/', import.meta.url));
const names = globSync('**/*.json', { cwd: folder }).map((file) => file.slice(0, -'.json'.length));
/**
 * Values and characters up to which all faults of a value are looked for. Of a larger one the first fault is told:
 * looking for all would take as long as its sender likes, whatever the schema says about sizes.
 */
const maxWhollyChecked = 4096;

// As they stand in schemas/: composed of shapes.
const composed: SchemaDocuments = new Map(
  names.map((name) => [name, JSON.parse(readFileSync(`${folder}${name}.json`, 'utf8')) as Schema]),
);
/**
 * Every schema document by name, its compositions written out. Values are checked by these: a flat schema tells a missing
 * or an unknown field before it looks at any other, a composed one looks at all that its parts know first.
 */
export const documents: SchemaDocuments = new Map(names.map((name) => [name, writeOut(composed, name)]));

/**
 * The named document for those who generate code from it: composed, unless a composition requires what only its parts
 * define. Generators lose such a `required`, so then the document is written out. Null when there is no such document.
 */
export function readableDocument(name: string): Schema | null {
  const document = composed.get(name) ?? null;
  return isStricterThanItsParts(document) ? (documents.get(name) ?? null) : document;
}

function isStricterThanItsParts(schema: unknown): boolean {
  if (typeof schema !== 'object' || schema === null) return false;
  const { allOf, required = [], properties = {} } = schema as Composition;
  const isStricter = allOf !== undefined && required.some((property) => !(property in properties));
  return isStricter || Object.values(schema).some(isStricterThanItsParts);
}

interface Composition {
  allOf?: unknown;
  required?: string[];
  properties?: object;
}

interface ValidatorOptions {
  allErrors: boolean;
  coerceTypes?: 'array';
  useDefaults?: boolean;
}

function createValidator(options: ValidatorOptions): Ajv2020 {
  const ajv = new Ajv2020({ strict: true, strictRequired: false, allowUnionTypes: true, verbose: true, ...options });
  formats.default(ajv);
  ajv.addKeyword('x-secret');
  ajv.addKeyword('x-explained');
  ajv.addKeyword('defaultText');
  // A bound for objects that may hold anything: bytes of their JSON text.
  ajv.addKeyword({
    keyword: 'x-max-bytes',
    schemaType: 'number',
    type: 'object',
    validate: isWithinBytes,
    errors: false,
  });
  for (const [name, document] of documents) ajv.addSchema(document, `switchboard:/${name}.json`);
  return ajv;
}

function isWithinBytes(maxBytes: number, value: unknown): boolean {
  return Buffer.byteLength(JSON.stringify(value)) <= maxBytes;
}

// Ends at the first fault, so that a bound is not passed by: what stands behind it may take long.
const quick = createValidator({ allErrors: false });
const thorough = createValidator({ allErrors: true });
// Query strings are all text, and repeatable; the HTTP server bounds their size.
const coercing = createValidator({ allErrors: true, coerceTypes: 'array', useDefaults: true });

function compiled(ajv: Ajv2020, name: string): ValidateFunction {
  const validate = ajv.getSchema(`switchboard:/${name}.json`);
  if (!validate) throw new Error(`No schema ${name}`);
  return validate;
}

function faults(validate: ValidateFunction, value: unknown, whole?: string): ErrorDetail[] {
  return validate(value) ? [] : explainFaults(validate.errors, whole);
}

// What is left of the budget, values and characters counted; negative when it was not enough.
function spend(value: unknown, budget: number): number {
  if (typeof value === 'string') return budget - 1 - value.length;
  let left = budget - 1;
  if (typeof value !== 'object' || value === null) return left;
  for (const key in value) {
    if (left < 0) return left;
    left = spend((value as Record<string, unknown>)[key], left - key.length);
  }
  return left;
}

/**
 * What is wrong with a JSON value by the named schema; empty when nothing is. Of a large value, the first fault alone.
 * `whole` is how the sentences call the value itself: "The body" unless said otherwise.
 */
export function findProblems(name: SchemaName, value: unknown, whole?: string): ErrorDetail[] {
  const first = faults(compiled(quick, name), value, whole);
  const isSmall = first.length > 0 && spend(value, maxWhollyChecked) >= 0;
  return isSmall ? faults(compiled(thorough, name), value, whole) : first;
}

/** Like findProblems for query strings: turns text into numbers and booleans and fills in defaults, in place. */
export function findQueryProblems(name: SchemaName, query: Record<string, unknown>): ErrorDetail[] {
  const found = faults(compiled(coercing, name), query);
  // Ajv looks at the bounds of a number before it turns the text into one, and `1e400` becomes Infinity.
  const endless = Object.keys(query).filter((key) => query[key] === Infinity || query[key] === -Infinity);
  return [
    ...found,
    ...endless.map((key) => ({ path: `/${key}`, rule: 'type', message: `\`${key}\` must be a whole number` })),
  ];
}

/** The JSON types that a property of the named schema may have; empty where the schema says nothing of it. */
export function propertyTypes(name: SchemaName, property: string): readonly string[] {
  const { properties = {} } = (documents.get(name) ?? {}) as { properties?: Record<string, Schema> };
  const { $ref, type = [] } = (Object.hasOwn(properties, property) && properties[property]) || {};
  if (typeof $ref !== 'string') return [type].flat() as string[];
  return [follow(documents, $ref, name).schema['type'] ?? []].flat() as string[];
}

/** Throws a defect when a value of our own making breaks its schema. */
export function assertShape(name: SchemaName, value: unknown): void {
  const [first] = findProblems(name, value);
  if (first) throw new Error(`${name}: ${first.message} (${first.rule} at ${first.path})`);
}
