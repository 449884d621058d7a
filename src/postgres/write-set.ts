import { prepared } from './prepared.ts';
import type { Statement } from './sql-transaction.ts';

/** Writes to some tables, as common table expressions of one statement. */
export interface Part {
  /** Names the text. The same shape has the same text. */
  shape: string;
  /** The expressions, with parameters from `$first` on; `$1` is the account. `after` holds when the parts before are locked. */
  text: (first: number, after: string) => string;
  parameters: readonly unknown[];
  /** Whether the shape is frequent, so that its plan is worth keeping. */
  hot: boolean;
  /** An expression that returns rows: parts after this one wait for it, because its rows are locked before theirs. */
  locks?: string;
  /** The expression that the statement returns. */
  answer?: string;
}

const texts = new Map<string, string>();

/** Returns a single statement that writes all parts of an account; null without a part. */
export function writeSet(accountId: number, parts: readonly Part[]): Statement | null {
  if (parts.length === 0) return null;
  const parameters = [accountId, ...parts.flatMap((part) => part.parameters)];
  if (!parts.every(({ hot }) => hot)) return { text: textOf(parts), parameters };
  const shape = parts.map((part) => part.shape).join(' ');
  const known = texts.get(shape) ?? prepared(textOf(parts));
  texts.set(shape, known);
  return { text: known, parameters };
}

function textOf(parts: readonly Part[]): string {
  let first = 2;
  // PostgreSQL runs expressions in no order of its own.
  const locked: string[] = [];
  const expressions = parts.map((part) => {
    const text = part.text(first, locked.map((name) => `(SELECT count(*) FROM ${name}) >= 0`).join(' AND ') || 'true');
    first += part.parameters.length;
    if (part.locks) locked.push(part.locks);
    return text;
  });
  const answer = parts.find((part) => part.answer !== undefined)?.answer ?? 'SELECT WHERE false';
  return `WITH ${expressions.join(', ')} ${answer}`;
}

/** Rows of parameters for VALUES, with types: `($2::text, $3::bigint), …`. */
export function valuesOf(first: number, rows: number, types: readonly string[]): string {
  const row = (index: number): string =>
    `(${types.map((type, column) => `$${first + index * types.length + column}::${type}`).join(', ')})`;
  return Array.from({ length: rows }, (_, index) => row(index)).join(', ');
}
