import { routes } from '../../src/api/index.ts';
import { documents, type SchemaName } from '../../src/schemas.ts';
import { resolve, type Schema } from './fuzz/from-schema.ts';

/** A schema within a schema, with references resolved, and its place. */
export interface SchemaPart {
  where: string;
  schema: Part;
  document: string;
}

/** A schema with the keywords that limit and explain it. */
export interface Part extends Schema {
  if?: Part;
  then?: Part;
  else?: Part;
  allOf?: Part[];
  uniqueItems?: boolean;
  maxProperties?: number;
  'x-max-bytes'?: number;
  'x-explained'?: string;
}

const scalar = new Set(['string', 'integer', 'number', 'boolean', 'null']);
// Nested repetitions can take a time exponential in the length of the text.
const nestedRepetition = /\([^()]*[+*}][^()]*\)[+*{]/;

/** The schemas of all request bodies and queries. */
export function requestSchemas(): SchemaName[] {
  return [...new Set(routes.flatMap(({ contract }) => [contract.body ?? [], contract.query ?? []].flat()))];
}

/** All subschemas of a schema, itself first. */
export function partsOf(name: SchemaName): SchemaPart[] {
  const parts: SchemaPart[] = [];
  visit(documents.get(name) as Schema, name, name, parts);
  return parts;
}

function visit(given: Schema, from: string, where: string, parts: SchemaPart[]): void {
  const { schema, document }: { schema: Part; document: string } = resolve(given, from);
  parts.push({ where, schema, document });
  for (const [name, property] of Object.entries(schema.properties ?? {}))
    visit(property, document, `${where}/${name}`, parts);
  if (schema.items) visit(schema.items, document, `${where}/0`, parts);
  for (const choice of [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])])
    visit(choice, document, `${where}|`, parts);
}

/** Why checking such a part may take long, or accept values of any size; empty when neither. */
export function findUnbounded({ where, schema, document }: SchemaPart): string[] {
  const types = [schema.type ?? []].flat();
  const listed = isListed(schema);
  const problems: [boolean, string][] = [
    [types.length === 0 && !listed && !isComposed(schema), 'lets in anything'],
    [types.includes('string') && !listed && schema.maxLength === undefined, 'is text without maxLength'],
    [
      types.includes('array') && (schema.maxItems === undefined || !schema.items),
      'is a list without maxItems or items',
    ],
    [schema.uniqueItems === true && !hasScalarItems(schema, document), 'compares items that are not of a scalar type'],
    [types.includes('object') && !isBoundedObject(schema), 'is an object of any size'],
    [nestedRepetition.test(schema.pattern ?? ''), 'has a pattern that may take long'],
  ];
  return problems.flatMap(([found, problem]) => (found ? `${where} ${problem}` : []));
}

/** Why faults in a part would be explained by code; empty when each has words. */
export function findUnexplained({ where, schema }: SchemaPart): string[] {
  if (schema.pattern === undefined && schema.format === undefined) return [];
  const words = schema['x-explained'] ?? '';
  return /^must [^\\^]+$/.test(words) ? [] : [`${where} has a pattern or a format, but no words: x-explained`];
}

function hasScalarItems({ items }: Part, document: string): boolean {
  if (!items) return false;
  const types = [resolve(items, document).schema.type ?? []].flat();
  return types.length > 0 && types.every((type) => scalar.has(type));
}

function isListed(schema: Part): boolean {
  return schema.enum !== undefined || schema.const !== undefined;
}

function isComposed({ anyOf, oneOf, allOf }: Part): boolean {
  return [anyOf, oneOf, allOf].some((choices) => choices !== undefined);
}

function isBoundedObject({ properties, maxProperties, 'x-max-bytes': maxBytes }: Part): boolean {
  return properties !== undefined || maxProperties !== undefined || maxBytes !== undefined;
}

/** The most bytes of UTF-8 that a schema accepts, without unknown properties. */
export function largestBytes(given: Schema, from: string): number {
  const { schema, document }: { schema: Part; document: string } = resolve(given, from);
  // Many clients escape characters beyond ASCII, which doubles their length.
  if (schema['x-max-bytes'] !== undefined) return 2 * schema['x-max-bytes'];
  const properties = Object.entries(schema.properties ?? {}).map(
    ([name, property]) => name.length + 4 + largestBytes(property, document),
  );
  const items = schema.items ? (schema.maxItems ?? Infinity) * (1 + largestBytes(schema.items, document)) : 0;
  const listed = Math.max(0, ...(schema.enum ?? []).map((value) => JSON.stringify(value).length));
  const text = schema.enum ? listed : 4 * (schema.maxLength ?? 5);
  return 2 + (schema.properties ? properties.reduce((sum, size) => sum + size, 0) : schema.items ? items : text);
}
