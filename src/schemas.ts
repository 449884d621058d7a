import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { ErrorObject, ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import type { Schemas } from '../schemas/types.ts';
import type { ErrorDetail } from './errors.ts';

/** The name of a schema: its path below schemas/, without `.json`. */
export type SchemaName = keyof Schemas;
/** What a value of the named schema looks like. */
export type Shape<Name extends SchemaName> = Schemas[Name];

const folder = fileURLToPath(new URL('../schemas/', import.meta.url));
const names = globSync('**/*.json', { cwd: folder }).map((file) => file.slice(0, -'.json'.length));
// More would only lengthen the answer to a broken request.
const maxDetails = 20;

/** Every schema document by name, as read from schemas/. */
export const documents: ReadonlyMap<string, Record<string, unknown>> = new Map(
  names.map((name) => [name, JSON.parse(readFileSync(`${folder}${name}.json`, 'utf8')) as Record<string, unknown>]),
);

function createValidator(options: { coerceTypes?: 'array'; useDefaults?: boolean }): Ajv2020 {
  const ajv = new Ajv2020({ allErrors: true, strict: true, strictRequired: false, allowUnionTypes: true, ...options });
  formats.default(ajv);
  ajv.addKeyword('x-secret');
  ajv.addKeyword('defaultText');
  for (const [name, document] of documents) ajv.addSchema(document, `switchboard:/${name}.json`);
  return ajv;
}

const strict = createValidator({});
// Query strings are all text, and repeatable.
const coercing = createValidator({ coerceTypes: 'array', useDefaults: true });

function compiled(ajv: Ajv2020, name: string): ValidateFunction {
  const validate = ajv.getSchema(`switchboard:/${name}.json`);
  if (!validate) throw new Error(`No schema ${name}`);
  return validate;
}

function detail(error: ErrorObject): ErrorDetail {
  const missing = error.keyword === 'required' ? `/${String(error.params.missingProperty)}` : '';
  const extra = error.keyword === 'additionalProperties' ? `/${String(error.params.additionalProperty)}` : '';
  const allowed = error.keyword === 'enum' ? `: ${(error.params.allowedValues as unknown[]).join(', ')}` : '';
  const path = error.instancePath + missing + extra;
  return { path, rule: error.keyword, message: `${path || 'The body'} ${error.message ?? 'is invalid'}${allowed}` };
}

function problems(validate: ValidateFunction, value: unknown): ErrorDetail[] {
  if (validate(value)) return [];
  const details = (validate.errors ?? []).filter(({ keyword }) => keyword !== 'if').map(detail);
  return details.slice(0, maxDetails);
}

/** What is wrong with a JSON value by the named schema; empty when nothing is. */
export function findProblems(name: SchemaName, value: unknown): ErrorDetail[] {
  return problems(compiled(strict, name), value);
}

/** Like findProblems for query strings: turns text into numbers and booleans and fills in defaults, in place. */
export function findQueryProblems(name: SchemaName, query: Record<string, unknown>): ErrorDetail[] {
  const found = problems(compiled(coercing, name), query);
  // Ajv looks at the bounds of a number before it turns the text into one, and `1e400` becomes Infinity.
  const endless = Object.keys(query).filter((key) => query[key] === Infinity || query[key] === -Infinity);
  return [...found, ...endless.map((key) => ({ path: `/${key}`, rule: 'type', message: `/${key} must be integer` }))];
}

/** Throws a defect when a value of our own making breaks its schema. */
export function assertShape(name: SchemaName, value: unknown): void {
  const [first] = findProblems(name, value);
  if (first) throw new Error(`${name}: ${first.path} ${first.message}`);
}
