import type { ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { explainFaults } from '../../../fault-sentences.ts';
import { keepResults } from '../../../lib/keep-results.ts';

// Ajv compiles a schema to code in the process of the service: the schema of the requests bounds its size.
const maxSchemaDepth = 8;
/** Characters of the arguments of one call as JSON. */
const maxArgumentChars = 8192;
const maxKept = 500;

/** Keywords whose check takes time in proportion to what is checked: no references and no regular expressions. */
const keywords: ReadonlySet<string> = new Set([
  'type',
  'title',
  'description',
  'default',
  'examples',
  'enum',
  'const',
  'format',
  'properties',
  'required',
  'additionalProperties',
  'items',
  'minItems',
  'maxItems',
  'anyOf',
  'oneOf',
  'allOf',
  'minLength',
  'maxLength',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
]);

type Schema = Readonly<Record<string, unknown>>;

/** Why `parameters` cannot be those of a tool, as the end of a sentence; null when they can. */
export function findSchemaProblem(parameters: Schema): string | null {
  if (parameters['type'] !== 'object') return 'must be a JSON Schema of the type object';
  const strange = findStrange(parameters, 0);
  if (strange !== null) return strange;
  const compiled = compile(JSON.stringify(parameters));
  return 'problem' in compiled ? `is no valid JSON Schema: ${compiled.problem}` : null;
}

/** Names of the arguments that a tool may have. */
export function argumentNames({ properties }: Schema): string[] {
  return Object.keys(properties ?? {});
}

/** Sentences that tell a model what is wrong with its arguments; none when they fit. Only for schemas without a problem. */
export function findArgumentProblems(parameters: Schema, given: Record<string, unknown> | string): string[] {
  if (typeof given === 'string') return ['The arguments are no JSON object'];
  if (JSON.stringify(given).length > maxArgumentChars) {
    return [`The arguments must be at most ${maxArgumentChars} characters of JSON`];
  }
  const compiled = compile(JSON.stringify(parameters));
  if ('problem' in compiled) return [compiled.problem];
  return compiled.validate(given)
    ? []
    : explainFaults(compiled.validate.errors, 'The arguments').map(({ message }) => message);
}

function findStrange(schema: Schema, depth: number): string | null {
  if (depth > maxSchemaDepth) return `is nested more than ${maxSchemaDepth} deep`;
  const unknown = Object.keys(schema).find((keyword) => !keywords.has(keyword));
  if (unknown !== undefined) return `has \`${unknown.slice(0, 64)}\`, which tools cannot have`;
  for (const inner of schemasWithin(schema)) {
    const found = findStrange(inner, depth + 1);
    if (found !== null) return found;
  }
  return null;
}

function schemasWithin({ properties, items, additionalProperties, ...combined }: Schema): Schema[] {
  const lists = ['anyOf', 'oneOf', 'allOf'].map((keyword) => combined[keyword]);
  const named = isSchema(properties) ? Object.values(properties) : [];
  return [...named, items, additionalProperties, ...lists.filter(Array.isArray).flat()].filter(isSchema);
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

type Compiled = { validate: ValidateFunction } | { problem: string };

// Most messages of a conversation use the same few tools.
const compile = keepResults(maxKept, (text): Compiled => {
  compiler ??= createCompiler();
  // Arguments that no one has declared would be sent on as they are.
  const schema = { additionalProperties: false, ...(JSON.parse(text) as object) };
  try {
    return { validate: compiler.compile(schema) };
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) };
  } finally {
    compiler.removeSchema(schema);
  }
});

let compiler: Ajv2020 | undefined;

function createCompiler(): Ajv2020 {
  const ajv = new Ajv2020({ strict: true, strictRequired: false, strictTypes: false, allErrors: true, verbose: true });
  // The patterns of the mode `full` can take exponential time on hostile texts.
  formats.default(ajv, { mode: 'fast', formats: ['email', 'uri', 'date', 'time', 'date-time', 'uuid'] });
  return ajv;
}
