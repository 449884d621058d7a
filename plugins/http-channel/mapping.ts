// Mappings of JSON. A place is a JSON pointer (`/from/id`), or a text with pointers in braces (`{/channel}:{/ts}`).

/** Values by pointer, all of which must be there: null where nothing is, and one of a list. */
export type Condition = Record<string, unknown>;

/** Returns the value at a JSON pointer; undefined when there is none. */
export function valueAt(root: unknown, pointer: string): unknown {
  return pointer
    .split('/')
    .slice(1)
    .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce<unknown>((value, token) => {
      const isContainer = typeof value === 'object' && value !== null;
      return isContainer && Object.hasOwn(value, token) ? (value as Record<string, unknown>)[token] : undefined;
    }, root);
}

/** Returns the text or the number at a place as text; undefined when something of it is missing. */
export function textAt(root: unknown, place: string | undefined): string | undefined {
  if (place === undefined) return undefined;
  if (place.startsWith('/')) return asText(valueAt(root, place));
  const parts = Array.from(place.matchAll(pointers), ([, pointer = '']) => asText(valueAt(root, pointer)));
  if (parts.includes(undefined)) return undefined;
  return place.replaceAll(pointers, () => parts.shift() ?? '');
}

const pointers = /\{(\/[^{}]*)\}/g;

function asText(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value !== 'number') return undefined;
  // Two ids would become one.
  if (Number.isInteger(value) && !Number.isSafeInteger(value))
    throw new Error(`The number ${value} has more digits than JSON keeps: the other system has to send it as text`);
  return String(value);
}

/** Whether a condition holds; one that is absent does. */
export function holds(root: unknown, condition: Condition = {}): boolean {
  return Object.entries(condition).every(([pointer, expected]) => {
    const value = valueAt(root, pointer) ?? null;
    return Array.isArray(expected) ? expected.includes(value) : value === expected;
  });
}

/** Returns the JSON value with `{name}` in its texts filled in; a text that is nothing else takes the value as it is. */
export function fill(template: unknown, values: Readonly<Record<string, unknown>>): unknown {
  if (typeof template === 'string') return fillText(template, values);
  if (Array.isArray(template)) return template.map((item) => fill(item, values));
  if (typeof template !== 'object' || template === null) return template;
  return Object.fromEntries(Object.entries(template).map(([name, value]) => [name, fill(value, values)]));
}

function fillText(text: string, values: Readonly<Record<string, unknown>>): unknown {
  const whole = /^\{(\w+)\}$/.exec(text)?.[1];
  if (whole !== undefined && Object.hasOwn(values, whole)) return values[whole];
  return text.replaceAll(/\{(\w+)\}/g, (found, name: string) =>
    Object.hasOwn(values, name) ? String(values[name]) : found,
  );
}

/** Returns Unix seconds of seconds, of milliseconds, or of an ISO time; undefined for anything else. */
export function momentOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const number = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Date.parse(text) / 1_000;
  const seconds = Math.floor(number > latest ? number / 1_000 : number);
  return seconds >= 0 && seconds <= latest ? seconds : undefined;
}

/** The end of the year 5138: greater numbers are milliseconds. */
const latest = 99_999_999_999;
