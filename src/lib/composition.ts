import { posix } from 'node:path';
import { isDeepStrictEqual } from 'node:util';

/** A JSON Schema, or a document that holds one. */
export type Schema = Readonly<Record<string, unknown>>;
/** Schema documents by name: the path below schemas/, without `.json`. */
export type SchemaDocuments = ReadonlyMap<string, Schema>;

/** The document that contains a schema, and the document that it is copied into. */
interface Place {
  from: string;
  into: string;
}

// Keywords that hold a schema or a list of schemas, and keywords that hold schemas by name; all others hold data.
const holders = new Set('items additionalProperties propertyNames not if then else anyOf oneOf'.split(' '));
const namedHolders = new Set(['properties', 'patternProperties', '$defs']);

/**
 * An equivalent of the named document without compositions: each `allOf` becomes one flat object schema, closed if the
 * composition has `unevaluatedProperties: false`. Properties are in the order of the `allOf`, then the composition's
 * own; a property that is `true` only holds the place of a later definition. Throws where two parts define one property
 * or keyword differently.
 */
export function writeOut(documents: SchemaDocuments, name: string): Schema {
  const piece = (schema: Schema, place: Place): Schema => {
    const { allOf, ...written } = Object.fromEntries(
      Object.entries(schema).map(([keyword, value]) => [keyword, held(keyword, value, place)]),
    );
    if (!allOf) return written;
    const parts = (allOf as Schema[]).map((part) => {
      const target = typeof part['$ref'] === 'string' ? follow(documents, part['$ref'], place.from) : null;
      return piece(target?.schema ?? part, target ? { from: target.document, into: place.into } : place);
    });
    return merge(parts, written, name);
  };
  const held = (keyword: string, value: unknown, place: Place): unknown => {
    if (keyword === '$ref') return rebase(String(value), place);
    if (typeof value !== 'object' || value === null) return value;
    if (holders.has(keyword))
      return Array.isArray(value) ? value.map((one: Schema) => piece(one, place)) : piece(value as Schema, place);
    if (!namedHolders.has(keyword)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([property, one]) => [property, one === true ? one : piece(one as Schema, place)]),
    );
  };
  const { schema } = follow(documents, '', name);
  return piece(schema, { from: name, into: name });
}

/** The document and the pointer within it that a reference in the document `from` refers to. */
export function targetOf(reference: string, from: string): { document: string; pointer: string } {
  const [file = '', pointer = ''] = reference.split('#');
  const document = file === '' ? from : posix.join(posix.dirname(from), file).replace(/\.json$/, '');
  return { document, pointer };
}

/** The schema that a reference in the document `from` means, and its document. Throws where there is none. */
export function follow(documents: SchemaDocuments, ref: string, from: string): { schema: Schema; document: string } {
  const { document, pointer } = targetOf(ref, from);
  const steps = pointer.split('/').slice(1);
  const schema = steps.reduce<Schema | undefined>((at, step) => at?.[step] as Schema, documents.get(document));
  if (!schema) throw new Error(`No schema ${ref || document} for ${from}`);
  return { schema, document };
}

function rebase(reference: string, { from, into }: Place): string {
  const { document, pointer } = targetOf(reference, from);
  const file = document === into ? '' : `${posix.relative(posix.dirname(into), document)}.json`;
  return pointer === '' && !reference.includes('#') ? file : `${file}#${pointer}`;
}

function merge(parts: readonly Schema[], composition: Schema, name: string): Schema {
  if (parts.some((part) => part['additionalProperties'] === false))
    throw new Error(`${name} is composed of a closed schema`);
  const { unevaluatedProperties, ...own } = composition;
  // Title and description of a shape do not describe the schema that is composed of it.
  const rules = parts.map(({ $schema: _schema, title: _title, description: _description, ...rest }) => rest);
  const all: Schema[] = [...rules, own];
  const required = [...new Set(all.flatMap((part) => (part['required'] ?? []) as string[]))];
  const properties = all.map((part) => (part['properties'] ?? {}) as Schema);
  const others = all.map(({ properties: _properties, required: _required, ...rest }) => rest);
  return {
    ...unite(others, name),
    ...(unevaluatedProperties === false ? { additionalProperties: false } : {}),
    ...(required.length > 0 ? { required } : {}),
    properties: unite(properties, name),
  };
}

function unite(parts: readonly Schema[], name: string): Schema {
  const united: Record<string, unknown> = {};
  for (const [key, value] of parts.flatMap((part) => Object.entries(part))) {
    const said = united[key] ?? true;
    if (said !== true && !isDeepStrictEqual(said, value)) throw new Error(`The parts of ${name} differ in ${key}`);
    united[key] = value;
  }
  return united;
}
