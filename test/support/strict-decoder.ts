import type { Found } from './field-clients.ts';

/** What a strictly typed program expects of a value: a name of a type, fields by name, or a list of such. */
export type Expected = 'int' | 'text' | 'bool' | 'map' | Fields | readonly [Expected];

interface Fields {
  readonly [name: string]: Expected;
}

const zeros = { int: 0, text: '', bool: false, map: {} } as const;
const isMap = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * Decodes JSON as Go's decoder does: null and what is not there become the zero of their type, what is of another type is
 * an error, and what nobody expects is passed over.
 */
export function decode(value: unknown, expected: Expected, path = ''): Found {
  if (value === null || value === undefined) return zeroOf(expected);
  if (typeof expected === 'string') {
    if (!isOf(value, expected))
      throw new TypeError(`${path || 'the answer'} is no ${expected}: ${JSON.stringify(value)}`);
    return value;
  }
  if (isList(expected)) {
    if (!Array.isArray(value)) throw new TypeError(`${path || 'the answer'} is no list`);
    return value.map((element: unknown, index) => decode(element, expected[0], `${path}[${index}]`));
  }
  if (!isMap(value)) throw new TypeError(`${path || 'the answer'} is no object: ${JSON.stringify(value)}`);
  const given = value as Record<string, unknown>;
  return Object.fromEntries(
    Object.entries(expected).map(([name, wanted]) => [
      name,
      decode(given[name], wanted, path ? `${path}.${name}` : name),
    ]),
  );
}

function isList(expected: Exclude<Expected, string>): expected is readonly [Expected] {
  return Array.isArray(expected);
}

function isOf(value: unknown, type: keyof typeof zeros): boolean {
  if (type === 'int') return Number.isInteger(value);
  if (type === 'map') return isMap(value);
  return typeof value === (type === 'text' ? 'string' : 'boolean');
}

// A structure that is not there is a null pointer; a list, an empty one.
function zeroOf(expected: Expected): Found {
  if (typeof expected === 'string') return zeros[expected];
  return isList(expected) ? [] : null;
}
