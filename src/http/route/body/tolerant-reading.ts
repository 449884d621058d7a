import { follow, type Schema } from '../../../lib/composition.ts';
import { documents, type SchemaName } from '../../../schemas.ts';

interface Readable extends Schema {
  type?: string | string[];
  maximum?: number;
  items?: Readable;
  properties?: Readonly<Record<string, Readable>>;
  required?: readonly string[];
  /** Values that clients send for a property that they leave out. */
  'x-left-out'?: readonly unknown[];
  /** Values that clients send for null. */
  'x-null'?: readonly unknown[];
}

/** A schema, and the document in which its references are resolved. */
interface Place {
  schema: Readable;
  document: string;
}

const digits = /^\d+$/;

/**
 * Reads a body that its schema refuses as clients of such APIs mean it, where there is but one meaning: a text of digits
 * alone is the id that is wanted in its place, and a property may name values that mean null (`x-null`), or that
 * it is left out (`x-left-out`, where it is optional). All else stays as it is; the same object is returned where nothing
 * is read otherwise. The schema is then asked again: this decides nothing but how values are written.
 */
export function readTolerantly(body: unknown, name: SchemaName): unknown {
  return read(body, resolve({ schema: documents.get(name) ?? {}, document: name }));
}

// Keywords beside a reference go before those of what it refers to.
function resolve({ schema, document }: Place): Place {
  const { $ref, ...own } = schema;
  if (typeof $ref !== 'string') return { schema, document };
  const target = resolve(follow(documents, $ref, document));
  return { schema: { ...target.schema, ...own }, document: target.document };
}

function read(value: unknown, place: Place): unknown {
  const { schema, document } = place;
  if (typeof value === 'string') return readId(value, schema);
  if (typeof value !== 'object' || value === null) return value;
  if (!Array.isArray(value)) return readObject(value as Record<string, unknown>, place);
  if (!schema.items) return value;
  const items = resolve({ schema: schema.items, document });
  const elements = value.map((element: unknown) => read(element, items));
  return elements.every((element, index) => element === value[index]) ? value : elements;
}

// Ids are the integers that may be as large as there are (common.json); other numbers are written as numbers.
function readId(text: string, { type = [], maximum }: Readable): unknown {
  const types = [type].flat();
  const isId = types.includes('integer') && !types.includes('string') && maximum === Number.MAX_SAFE_INTEGER;
  if (!isId || !digits.test(text)) return text;
  return Number.isSafeInteger(Number(text)) ? Number(text) : text;
}

function readObject(object: Record<string, unknown>, { schema, document }: Place): Record<string, unknown> {
  const { properties = {}, required = [] } = schema;
  const entries = Object.entries(object);
  const kept = entries.flatMap(([name, value]): [string, unknown][] => {
    if (!Object.hasOwn(properties, name)) return [[name, value]];
    const place = resolve({ schema: properties[name] ?? {}, document });
    const { 'x-left-out': leftOut = [], 'x-null': nulls = [] } = place.schema;
    if (leftOut.includes(value) && !required.includes(name)) return [];
    const meant = read(value, place);
    return [[name, nulls.includes(meant) ? null : meant]];
  });
  const isSame = kept.length === entries.length && kept.every(([name, value]) => value === object[name]);
  return isSame ? object : Object.fromEntries(kept);
}
