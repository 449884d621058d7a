/** A value that no part of the service may accept: where it stands (JSON pointer), which rule it breaks, a sentence. */
export interface UnsafeValue {
  readonly path: string;
  readonly rule: 'nul' | 'surrogate' | 'depth' | 'number' | 'key';
  readonly message: string;
}

/** The deepest nesting of objects and arrays that is accepted. */
export const MAX_JSON_DEPTH = 32;

const MAX_PATH_CHARS = 255;
const SYNTAX_POSITION = /at position (\d+)(?: \(line \d+ column \d+\))?$/;
const strictUtf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Reads a request body as JSON: strict UTF-8, a byte order mark tolerated.
 * The problem is a sentence for the caller that never repeats what the body holds.
 */
export function parseJsonBody(bytes: Buffer): { value: unknown } | { problem: string } {
  let text: string;
  try {
    text = strictUtf8.decode(bytes);
  } catch {
    return { problem: 'The body is not valid UTF-8.' };
  }
  if (text.trim() === '') return { problem: 'The body is empty; JSON was expected.' };
  try {
    return { value: JSON.parse(text) };
  } catch (error) {
    return { problem: syntaxProblem(error) };
  }
}

/**
 * The first value, in document order, that is refused everywhere: NUL characters and lone surrogates (PostgreSQL cannot
 * store them) in texts and property names, nesting beyond MAX_JSON_DEPTH, numbers too large to be finite, and the
 * property name `__proto__`. Null when there is none. Any nesting is safe to pass: the walk ends at the depth limit.
 */
export function findUnsafeValue(value: unknown): UnsafeValue | null {
  return inspect(value, '', 0);
}

function inspect(value: unknown, path: string, depth: number): UnsafeValue | null {
  if (typeof value === 'string') return inspectText(value, path, 'This text');
  if (typeof value === 'number' && !Number.isFinite(value)) {
    return finding(path, 'number', 'This number is too large.');
  }
  if (typeof value !== 'object' || value === null) return null;
  if (depth >= MAX_JSON_DEPTH) {
    return finding(path, 'depth', `Objects and arrays may be nested ${MAX_JSON_DEPTH} deep.`);
  }
  return Array.isArray(value) ? inspectItems(value, path, depth + 1) : inspectProperties(value, path, depth + 1);
}

function inspectItems(items: readonly unknown[], path: string, depth: number): UnsafeValue | null {
  for (const [index, item] of items.entries()) {
    const found = inspect(item, `${path}/${index}`, depth);
    if (found !== null) return found;
  }
  return null;
}

function inspectProperties(object: object, path: string, depth: number): UnsafeValue | null {
  for (const [key, item] of Object.entries(object)) {
    // A refused name is reported at its object, so that the answer never repeats it.
    if (key === '__proto__') return finding(path, 'key', 'A property may not be named __proto__.');
    const found = inspectText(key, path, 'A property name') ?? inspect(item, `${path}/${pointerToken(key)}`, depth);
    if (found !== null) return found;
  }
  return null;
}

function inspectText(text: string, path: string, subject: string): UnsafeValue | null {
  if (text.includes('\0')) return finding(path, 'nul', `${subject} contains a NUL character.`);
  if (!text.isWellFormed()) return finding(path, 'surrogate', `${subject} contains half of a surrogate pair.`);
  return null;
}

function finding(path: string, rule: UnsafeValue['rule'], message: string): UnsafeValue {
  return { path: path.slice(0, MAX_PATH_CHARS).toWellFormed(), rule, message };
}

function pointerToken(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1');
}

function syntaxProblem(error: unknown): string {
  // V8 quotes the body in its message; only the position at the end is safe to pass on.
  const position = error instanceof SyntaxError ? SYNTAX_POSITION.exec(error.message)?.[1] : undefined;
  return position === undefined
    ? 'The body is not valid JSON.'
    : `The body is not valid JSON: unexpected text at character ${position}.`;
}
