import { globSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
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
/** The type of a value that matches the named schema. */
export type Shape<Name extends SchemaName> = Schemas[Name];

const folder = fileURLToPath(new URL('../schemas/', import.meta.url));
const files = globSync('**/*.json', { cwd: folder }).map((file) => file.slice(0, -'.json'.length));
/**
 * The size, in values and characters, up to which all problems of a value are reported; of a larger value only the
 * first one: to find all, Ajv goes on after a broken limit such as maxItems, so that a sender could make it work for
 * long.
 */
const maxWhollyChecked = 4096;

// The documents as they are in schemas/, with references to shapes.
const composed: SchemaDocuments = new Map(files.flatMap(readDocuments));
/**
 * All schema documents by name, without compositions; values are validated against these. A flat schema reports a
 * missing or unknown field before it checks other fields, a composed schema only after it has checked those of its
 * parts.
 */
export const documents: SchemaDocuments = new Map([...composed.keys()].map((name) => [name, writeOut(composed, name)]));

/**
 * The named document for code generators: with its compositions, unless one of them requires a property that only its
 * parts define. Generators lose such a `required`, so that this document is returned without compositions. Null if
 * there is none.
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

interface Stated extends Schema {
  'x-list'?: Schema & { by?: 'cursor' | 'feed' };
  'x-create'?: { required: string[] } & Schema;
}

/**
 * The documents that a file states: its own and, by `x-list` and `x-create`, those that follow from it. A page of a list of
 * `resources/NAME` is `resources/NAME-list`, numbered, or followed `by` a cursor, backwards or as a feed; the body that creates what
 * `requests/NAME.update` changes, with some of its properties required, is `requests/NAME.create`.
 */
function readDocuments(name: string): [string, Schema][] {
  const text = readFileSync(`${folder}${name}.json`, 'utf8');
  const { 'x-list': list, 'x-create': create, ...document } = JSON.parse(text) as Stated;
  const { $schema } = document;
  const whole = { $ref: `${posix.basename(name)}.json` };
  const read: [string, Schema][] = [[name, document]];
  if (list) {
    const { by = 'page', ...words } = list;
    read.push([`${name}-list`, { $schema, ...words, ...pageOf(whole, `${by}_meta`) }]);
  }
  if (create) {
    const { required, ...words } = create;
    read.push([name.replace(/\.update$/, '.create'), { $schema, ...words, type: 'object', allOf: [whole], required }]);
  }
  return read;
}

function pageOf(items: Schema, meta: string): Schema {
  return {
    type: 'object',
    additionalProperties: false,
    required: ['payload', 'meta'],
    properties: { payload: { type: 'array', items }, meta: { $ref: `../common.json#/$defs/${meta}` } },
  };
}

interface ValidatorOptions {
  allErrors: boolean;
  coerceTypes?: 'array';
  useDefaults?: boolean;
}

// The documents are ours: tests hold them against the schema of schemas, which takes a quarter of a second to compile.
const validatorOptions = {
  strict: true,
  strictRequired: false,
  allowUnionTypes: true,
  verbose: true,
  validateSchema: false,
} as const;

function createValidator(options: ValidatorOptions): Ajv2020 {
  const ajv = new Ajv2020({ ...validatorOptions, ...options });
  formats.default(ajv);
  ajv.addKeyword('x-secret');
  ajv.addKeyword('x-explained');
  // Read by http/route/body/tolerant-reading.ts.
  ajv.addKeyword('x-left-out');
  ajv.addKeyword('x-null');
  ajv.addKeyword('defaultText');
  // Limits an object of any contents by the bytes of its JSON text.
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

const kinds = {
  // Stops at the first problem, so that a limit such as maxItems protects from the work behind it.
  quick: { allErrors: false },
  thorough: { allErrors: true },
  // Parameters of query strings are texts and may be repeated; the HTTP server limits their size.
  coercing: { allErrors: true, coerceTypes: 'array', useDefaults: true },
} as const satisfies Record<string, ValidatorOptions>;
const validators = new Map<keyof typeof kinds, Ajv2020>();

function compiled(kind: keyof typeof kinds, name: string): ValidateFunction {
  const ajv = validators.get(kind) ?? createValidator(kinds[kind]);
  validators.set(kind, ajv);
  const validate = ajv.getSchema(`switchboard:/${name}.json`);
  if (!validate) throw new Error(`No schema ${name}`);
  return validate;
}

function faults(validate: ValidateFunction, value: unknown, whole?: string): ErrorDetail[] {
  return validate(value) ? [] : explainFaults(validate.errors, whole);
}

// The rest of the budget after subtracting the values and characters of `value`; negative if the budget is exceeded.
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
 * Validates a JSON value against the named schema and returns the problems; of a large value only the first one.
 * `whole` names the value itself in messages, by default "The body".
 */
export function findProblems(name: SchemaName, value: unknown, whole?: string): ErrorDetail[] {
  const first = faults(compiled('quick', name), value, whole);
  const isSmall = first.length > 0 && spend(value, maxWhollyChecked) >= 0;
  return isSmall ? faults(compiled('thorough', name), value, whole) : first;
}

/** Like findProblems, for query strings: converts texts to numbers and booleans and sets defaults, in place. */
export function findQueryProblems(name: SchemaName, query: Record<string, unknown>): ErrorDetail[] {
  const found = faults(compiled('coercing', name), query);
  // Ajv checks `maximum` before it converts the text, and `1e400` becomes Infinity.
  const endless = Object.keys(query).filter((key) => query[key] === Infinity || query[key] === -Infinity);
  return [
    ...found,
    ...endless.map((key) => ({ path: `/${key}`, rule: 'type', message: `\`${key}\` must be a whole number` })),
  ];
}

/** The JSON types that a property of the named schema may have; empty if the schema does not define it. */
export function propertyTypes(name: SchemaName, property: string): readonly string[] {
  const { properties = {} } = (documents.get(name) ?? {}) as { properties?: Record<string, Schema> };
  const { $ref, type = [] } = (Object.hasOwn(properties, property) && properties[property]) || {};
  if (typeof $ref !== 'string') return [type].flat() as string[];
  return [follow(documents, $ref, name).schema['type'] ?? []].flat() as string[];
}

/** The properties of the named schema that are the bytes of a file. */
export function fileProperties(name: SchemaName): string[] {
  const { properties = {} } = (documents.get(name) ?? {}) as { properties?: Record<string, Schema> };
  return Object.keys(properties).filter((property) => properties[property]?.['contentMediaType'] !== undefined);
}

/** The properties of the named schema that are lists of files: `attachments[]`. */
export function fileLists(name: SchemaName): string[] {
  const { properties = {} } = (documents.get(name) ?? {}) as { properties?: Record<string, Schema> };
  return Object.entries(properties).flatMap(([property, schema]) => {
    const { items = {} } = typeof schema['$ref'] === 'string' ? follow(documents, schema['$ref'], name).schema : schema;
    return (items as Schema)['contentMediaType'] === undefined ? [] : [property];
  });
}

/** The JSON text of a value that the service itself made. Errors: those of assertShape. */
export function jsonOf(name: SchemaName, value: unknown): string {
  assertShape(name, value);
  return JSON.stringify(value);
}

/** Throws an internal error if a value that the service itself made does not match its schema. */
export function assertShape(name: SchemaName, value: unknown): void {
  const [first] = findProblems(name, value);
  if (first) throw new Error(`${name}: ${first.message} (${first.rule} at ${first.path})`);
}
