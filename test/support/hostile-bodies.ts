import * as fc from 'fast-check';
import { documents, type SchemaName } from '../../src/schemas.ts';
import { fromSchema, resolve, type Schema } from './fuzz/from-schema.ts';

const seed = 7;
const deepest = 32;

function list(bytes: number, item: (index: number) => string): string {
  const items: string[] = [];
  for (let length = 2, index = 0; length < bytes; index++) {
    const text = item(index);
    items.push(text);
    length += text.length + 1;
  }
  return items.join(',');
}

const builders: Record<string, (bytes: number) => string> = {
  'a list of lists': (bytes) => `[${list(bytes, () => '[]')}]`,
  'a list of different lists': (bytes) => `[${list(bytes, (index) => `[${index}]`)}]`,
  'a list of objects': (bytes) => `[${list(bytes, () => '{}')}]`,
  'a list of numbers': (bytes) => `[${list(bytes, () => '1')}]`,
  'a list of different numbers': (bytes) => `[${list(bytes, (index) => String(index))}]`,
  'a list of texts': (bytes) => `[${list(bytes, (index) => `"t${index}"`)}]`,
  'a list of nulls': (bytes) => `[${list(bytes, () => 'null')}]`,
  'a list of numbers that no double holds': (bytes) => `[${list(bytes, (index) => `9007199254740993${index}`)}]`,
  'an object of many keys': (bytes) => `{${list(bytes, (index) => `"k${index}":1`)}}`,
  'an object of numbered keys': (bytes) => `{${list(bytes, (index) => `"${index * 7919}":1`)}}`,
  'one key many times': (bytes) => `{${list(bytes, () => '"a":1')}}`,
  'nested lists': (bytes) => '['.repeat(bytes / 2) + ']'.repeat(bytes / 2),
  'lists nested as deep as may be': (bytes) =>
    `[${list(bytes, () => '['.repeat(deepest - 2) + ']'.repeat(deepest - 2))}]`,
  'nested objects': (bytes) => '{"a":'.repeat(bytes / 6) + '1' + '}'.repeat(bytes / 6),
  'a long text': (bytes) => `"${'x'.repeat(bytes)}"`,
  'a long blank text': (bytes) => `"${' '.repeat(bytes)}"`,
  'a text of escapes': (bytes) => `"${String.raw`\u0041`.repeat(bytes / 6)}"`,
  'a long number': (bytes) => '9'.repeat(bytes),
  'a long e-mail address': (bytes) => `"a@${'a-.'.repeat(bytes / 3)}"`,
};

/** The kinds of hostile JSON. */
export const hostileShapes: readonly string[] = Object.keys(builders);

const built = new Map<string, string>();

/** Hostile JSON of the kind, of about this many bytes. */
export function hostileShape(shape: string, bytes: number): string {
  const key = `${shape} ${bytes}`;
  const text = built.get(key) ?? builders[shape]!(bytes);
  built.set(key, text);
  return text;
}

/** A place in bodies of a schema for a hostile value, and the body with a value there. */
export interface Place {
  name: string;
  /** The same for places with the same rules. */
  key: string;
  /** The kinds worth trying: for a single value, all large ones fail by their type. */
  shapes: readonly string[];
  fill(shape: string): Buffer;
}

const single = new Set(['integer', 'number', 'boolean', 'null']);
const severalShapes = ['a list of lists', 'an object of many keys', 'a long text', 'a long number'];
const mark = '"here"';

/** All places in a body: the whole, each property, each list item; the rest of the body is valid. */
export function placesIn(name: SchemaName): Place[] {
  const whole: Place = {
    name: 'the whole body',
    key: 'whole',
    shapes: hostileShapes,
    fill: (shape) => Buffer.from(shape),
  };
  const document = documents.get(name) as Schema;
  const [example] = fc.sample(fromSchema(document, name), { seed, numRuns: 1 });
  return [whole, ...placesBelow({ schema: document, document: name, path: '' }, (value) => value, example)];
}

function placesBelow(
  { schema: given, document: from, path }: { schema: Schema; document: string; path: string },
  around: (value: unknown) => unknown,
  example: unknown,
): Place[] {
  const { schema, document } = resolve(given, from);
  const inside = Object.entries(schema.properties ?? {}).map(([property, part]): Below => {
    const put = (value: unknown) => around({ ...(example as object | undefined), [property]: value });
    return { part, path: `${path}/${property}`, put, example: (example as Record<string, unknown> | null)?.[property] };
  });
  const items: Below[] = schema.items
    ? [{ part: schema.items, path: `${path}/0`, put: (value) => around([value]), example: undefined }]
    : [];
  return [...inside, ...items].flatMap((below) => [
    placeOf(below, document),
    ...placesBelow({ schema: below.part, document, path: below.path }, below.put, below.example),
  ]);
}

interface Below {
  part: Schema;
  path: string;
  put: (value: unknown) => unknown;
  example: unknown;
}

function placeOf({ part, path, put }: Below, document: string): Place {
  const [before = '', after = ''] = JSON.stringify(put('here')).split(mark);
  const { schema } = resolve(part, document);
  const isSingle = schema.enum !== undefined || [schema.type].flat().every((type) => single.has(String(type)));
  const shapes = isSingle ? severalShapes : hostileShapes;
  return { name: path, key: JSON.stringify(schema), shapes, fill: (shape) => Buffer.from(before + shape + after) };
}
