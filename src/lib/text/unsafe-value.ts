import { fieldName, pointerToken } from './field-name.ts';

/** Why a JSON document is refused: the JSON pointer of the offending value, the rule that it breaks, and a sentence. */
export interface UnsafeValue {
  readonly path: string;
  readonly rule: 'nul' | 'surrogate' | 'depth' | 'number' | 'key' | 'values';
  readonly message: string;
}

/** The deepest nesting of objects and arrays that is accepted. */
export const maxJsonDepth = 32;
/**
 * The number of values that a document may contain, nested properties and items included: validation and storage take
 * time for each of them.
 */
export const maxJsonValues = 20_000;

const maxPathChars = 255;
/** The parser's replacement for a number that a double cannot represent. */
export const inexact = Symbol('inexact number');

/**
 * Finds the first value, in document order, that no part of the service accepts: a text or property name with a NUL
 * character or an unpaired surrogate (PostgreSQL cannot store them), nesting beyond maxJsonDepth, more than
 * maxJsonValues values, a number that is not finite, or the property name `__proto__`. Null if there is none. Safe for
 * any document: the walk ends at the limits.
 */
export function findUnsafeValue(value: unknown): UnsafeValue | null {
  const found = inspect(value, { left: maxJsonValues, depth: 0 });
  if (found === null) return null;
  const { rule, fault, steps } = found;
  const pointer = steps.map((step) => `/${pointerToken(step)}`).join('');
  const path = pointer.slice(0, maxPathChars).toWellFormed();
  return { path, rule, message: `${fieldName(path)} ${fault}` };
}

/** The broken rule, the end of a sentence that begins with the value's name, and the path to the value. */
interface Finding {
  rule: UnsafeValue['rule'];
  fault: string;
  steps: string[];
}

/** The remaining budget of the walk. */
interface Bounds {
  left: number;
  depth: number;
}

function inspect(value: unknown, bounds: Bounds): Finding | null {
  bounds.left -= 1;
  if (bounds.left < 0) return finding('values', `has more than ${maxJsonValues} values in it`);
  if (typeof value === 'string') return inspectText(value, '');
  if (typeof value === 'number' && !Number.isFinite(value)) return finding('number', 'is too large a number');
  if (value === inexact) return finding('number', 'has more digits than a number can keep: only text can hold it');
  if (typeof value !== 'object' || value === null) return null;
  if (bounds.depth >= maxJsonDepth)
    return finding('depth', `is nested too deep: objects and lists may be nested ${maxJsonDepth} deep`);
  bounds.depth += 1;
  const found = Array.isArray(value) ? inspectItems(value, bounds) : inspectProperties(value, bounds);
  bounds.depth -= 1;
  return found;
}

function inspectItems(items: readonly unknown[], bounds: Bounds): Finding | null {
  for (let index = 0; index < items.length; index++) {
    const found = inspect(items[index], bounds);
    if (found !== null) return below(String(index), found);
  }
  return null;
}

function inspectProperties(object: object, bounds: Bounds): Finding | null {
  // Names alone: the walk ends at the limits, and listing all entries of a hostile object takes three times as long.
  for (const key of Object.keys(object)) {
    // A refused name is reported at its object, because the answer must not repeat the name.
    if (key === '__proto__') return finding('key', 'has a property named __proto__, which is not allowed');
    const unsafeName = inspectText(key, 'has a property whose name ');
    if (unsafeName !== null) return unsafeName;
    const found = inspect(Reflect.get(object, key), bounds);
    if (found !== null) return below(key, found);
  }
  return null;
}

function inspectText(text: string, subject: string): Finding | null {
  if (text.includes('\0')) return finding('nul', `${subject}contains a NUL character`);
  if (!text.isWellFormed()) return finding('surrogate', `${subject}contains half of a surrogate pair`);
  return null;
}

function finding(rule: UnsafeValue['rule'], fault: string): Finding {
  return { rule, fault, steps: [] };
}

function below(step: string, found: Finding): Finding {
  // The rule `values` is about the whole document, so its pointer stays empty.
  if (found.rule !== 'values') found.steps.unshift(step);
  return found;
}
