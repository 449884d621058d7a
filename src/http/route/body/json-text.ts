import { findUnsafeValue, inexact, type UnsafeValue } from '../../../lib/text/unsafe-value.ts';

const syntaxPosition = /at position (\d+)(?: \(line \d+ column \d+\))?$/;
// Whole numbers with fewer digits are exact.
const maybeInexact = /\d{16}/;
const wholeNumber = /^-?\d+$/;
const strictUtf8 = new TextDecoder('utf-8', { fatal: true });

/** A parsed body, why it is not JSON, or the value in it that is refused. */
export type ParsedBody = { value: unknown } | { problem: string } | { unsafe: UnsafeValue };

/**
 * Parses a request body as JSON in strict UTF-8; a byte order mark is tolerated. Refuses what findUnsafeValue refuses, and
 * whole numbers beyond 2^53 that would be written back with other digits. Takes time linear in the size. `problem` is a
 * sentence for the caller that never quotes the body.
 */
export function parseJsonBody(bytes: Buffer): ParsedBody {
  let text: string;
  try {
    text = strictUtf8.decode(bytes);
  } catch {
    return { problem: 'The body is not valid UTF-8.' };
  }
  if (text.trim() === '') return { problem: 'The body is empty; JSON was expected.' };
  try {
    const value: unknown = JSON.parse(text);
    const unsafe = findUnsafe(text, (reviver) => (reviver ? JSON.parse(text, reviver) : value));
    return unsafe ? { unsafe } : { value };
  } catch (error) {
    return { problem: syntaxProblem(error) };
  }
}

/** A reviver of JSON.parse that sees each value and its source text. */
export type Reviver = typeof markInexact;

/**
 * The first refused value in what `parse` returns: refused by findUnsafeValue, or a whole number that would be written
 * back with other digits. `parse` is called with a reviver only for documents within the limits, since the second pass
 * takes time for each value.
 */
export function findUnsafe(text: string, parse: (reviver?: Reviver) => unknown): UnsafeValue | null {
  return findUnsafeValue(parse()) ?? (maybeInexact.test(text) ? findUnsafeValue(parse(markInexact)) : null);
}

function markInexact(_key: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value;
  const written = context?.source ?? '';
  // Large powers of two and of ten may be exact.
  return wholeNumber.test(written) && String(value) !== written ? inexact : value;
}

function syntaxProblem(error: unknown): string {
  // V8 quotes the body in its message; only the position at the end is safe to repeat.
  const position = error instanceof SyntaxError ? syntaxPosition.exec(error.message)?.[1] : undefined;
  return position === undefined
    ? 'The body is not valid JSON.'
    : `The body is not valid JSON: unexpected text at character ${position}.`;
}
