import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { targetOf } from '../../src/lib/composition.ts';

/** A schema as it is written. */
export type Written = Readonly<Record<string, unknown>>;
/** Schema documents as they are written, by name. */
export type WrittenDocuments = ReadonlyMap<string, Written>;

/** An object schema, its file, and its place there. */
interface Stated {
  file: string;
  where: string;
  schema: Written;
}

// Records may share an id, a name and a time without being one thing.
const mostAlike = 3;
// Keywords that make a definition more than a reference or a plain type.
const ownRules = ['enum', 'pattern', 'format', 'properties', 'allOf', 'x-max-bytes'];
// Keywords whose values are data and not schemas.
const literals = new Set(['const', 'enum', 'default', 'examples', 'required']);

const folder = fileURLToPath(new URL('../../schemas/', import.meta.url));

/** The documents of the contract by name, without the service's settings. */
export function readWrittenDocuments(): WrittenDocuments {
  const files = globSync('**/*.json', { cwd: folder }).filter((file) => file !== 'config.json');
  return new Map(
    files.map((file) => [file.slice(0, -'.json'.length), JSON.parse(readFileSync(folder + file, 'utf8')) as Written]),
  );
}

/** All schemas within the documents, with their places. */
function* schemasOf(documents: WrittenDocuments): Generator<Stated> {
  for (const [file, document] of documents) yield* schemasBelow({ file, where: file, schema: document });
}

function* schemasBelow({ file, where, schema }: Stated): Generator<Stated> {
  yield { file, where, schema };
  for (const [key, value] of Object.entries(schema)) {
    if (typeof value !== 'object' || value === null || literals.has(key)) continue;
    const isNamed = key === 'properties' || key === '$defs';
    const held: [string, unknown][] = isNamed ? Object.entries(value) : [value].flat().map((one) => [key, one]);
    for (const [name, one] of held)
      if (typeof one === 'object' && one !== null)
        yield* schemasBelow({ file, where: `${where}/${name}`, schema: one as Written });
  }
}

/** A definition without its descriptions, with references relative to schemas/. */
function essence(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(essence);
  if (typeof value === 'string') return value.replace(/^(?:\.\.\/)+/, '');
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key, said]) => !(['title', 'description'].includes(key) && typeof said === 'string'))
      .map(([key, said]) => [key, essence(said)]),
  );
}

// A name in a request has limits that a name in an answer lacks.
const sideOf = ({ file }: Stated) => file.startsWith('requests/');

function statedAlike(one: Written, other: Written): string[] {
  return Object.keys(one).filter(
    (name) => name in other && one[name] !== true && isDeepStrictEqual(one[name], other[name]),
  );
}

/** Files that state the same properties, which should be a shape. */
function findRepeats(documents: WrittenDocuments): string[] {
  const objects = [...schemasOf(documents)]
    .filter(({ schema }) => typeof schema['properties'] === 'object')
    .map((stated) => ({ ...stated, properties: essence(stated.schema['properties']) as Written }));
  return objects.flatMap((one, index) =>
    objects.slice(index + 1).flatMap((other) => {
      if (one.file === other.file || sideOf(one) !== sideOf(other)) return [];
      const alike = statedAlike(one.properties, other.properties);
      return alike.length > mostAlike ? [`${one.where} and ${other.where} both state ${alike.join(', ')}`] : [];
    }),
  );
}

/** Definitions that occur twice: each deserves a name in common.json, or a shape. */
function findCopies(documents: WrittenDocuments): string[] {
  const places = new Map<string, string>();
  return [...schemasOf(documents)].flatMap(({ file, where, schema }) => {
    if (where === file || !ownRules.some((rule) => rule in schema)) return [];
    const definition = JSON.stringify(essence(schema));
    const first = places.get(definition);
    places.set(definition, first ?? where);
    return first === undefined ? [] : [`${where} is defined as ${first} is`];
  });
}

/** Shapes that only one schema uses. */
function findLonelyShapes(documents: WrittenDocuments): string[] {
  const pairs = [...schemasOf(documents)].flatMap(({ file, schema: { $ref } }) =>
    typeof $ref === 'string' ? [{ file, target: targetOf($ref, file).document }] : [],
  );
  return [...documents.keys()]
    .filter((name) => name.startsWith('shapes/'))
    .filter((name) => new Set(pairs.filter(({ target }) => target === name).map(({ file }) => file)).size < 2)
    .map((name) => `${name} is part of one schema at most: state it there`);
}

/** Objects in answers and events that accept unknown properties. */
function findOpen(documents: WrittenDocuments): string[] {
  return [...schemasOf(documents)].flatMap(({ file, where, schema }) => {
    const isTold = file.startsWith('resources/') || file.startsWith('events/');
    const isObject = schema['type'] === 'object' && ('properties' in schema || 'allOf' in schema);
    const isClosed = (schema['allOf'] ? schema['unevaluatedProperties'] : schema['additionalProperties']) === false;
    return isTold && isObject && !isClosed ? [`${where} is not closed`] : [];
  });
}

/** Documents that are written although `x-list` or `x-create` of another derives them. */
function findDerivable(documents: WrittenDocuments): string[] {
  return [...documents].flatMap(([file, { properties, allOf, required }]) => {
    const own = Object.keys(properties ?? {}).sort();
    const update = `${file.slice(file.lastIndexOf('/') + 1).replace(/create$/, 'update')}.json`;
    if (/^resources\/.*-list$/.test(file) && own.join() === 'meta,payload')
      return [`${file} follows from its element: see x-list`];
    const isUpdate = isDeepStrictEqual(allOf, [{ $ref: update }]) && own.length === 0 && required !== undefined;
    return isUpdate ? [`${file} follows from ${update}: see x-create`] : [];
  });
}

/** Problems in the composition of the documents; empty when each shape is stated once. */
export function findRepetition(documents: WrittenDocuments): string[] {
  return [findRepeats, findCopies, findLonelyShapes, findOpen, findDerivable].flatMap((find) => find(documents));
}
