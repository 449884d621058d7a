import type { Context } from 'koa';
import { ApiError, badRequest, notFound, type ErrorDetail } from '../errors.ts';
import { findProblems, findQueryProblems, type SchemaName } from '../schemas.ts';
import { readBody } from './read-body.ts';
import { isIdParameter } from './record-route.ts';
import type { Contract } from './route.ts';

const digits = /^\d+$/;

function refuse(details: ErrorDetail[], status: 400 | 422, code: string): void {
  const [first] = details;
  if (first) throw new ApiError(status, code, first.message, { details });
}

function isText(value: string): boolean {
  return value.isWellFormed() && !value.includes('\0');
}

function readId(name: string, text: string): number {
  if (!digits.test(text)) throw badRequest('bad_path', `${name} must be a number`);
  const id = Number(text);
  // No record has it.
  if (!Number.isSafeInteger(id) || id === 0) throw notFound('Record');
  return id;
}

/** The path's parameters: identifiers as numbers, the others as text. Errors: 400; 404 for an id beyond all ids. */
export function readPath(parameters: Readonly<Record<string, string>>): {
  ids: Record<string, number>;
  names: Record<string, string>;
} {
  const ids: Record<string, number> = {};
  const names: Record<string, string> = {};
  for (const [name, text] of Object.entries(parameters)) {
    if (isIdParameter(name)) ids[name] = readId(name, text);
    else if (isText(text)) names[name] = text;
    else throw badRequest('bad_path', `${name} holds characters that are not text`);
  }
  return { ids, names };
}

/** The query by its schema, with defaults filled in; `name[]` is another spelling of `name`. Errors: 400. */
export function readQuery(given: Context['query'], schema: SchemaName): Record<string, unknown> {
  const values = new Map<string, string[]>();
  for (const [spelling, value = ''] of Object.entries(given)) {
    const name = spelling.replace(/\[\]$/, '');
    const texts = [value].flat();
    if (!texts.every(isText)) throw badRequest('bad_query', 'A query value holds characters that are not text');
    if (name !== '__proto__') values.set(name, [...(values.get(name) ?? []), ...texts]);
  }
  const query = Object.fromEntries(
    Array.from(values, ([name, texts]) => [name, texts.length === 1 ? texts[0] : texts] as const),
  );
  refuse(findQueryProblems(schema, query), 400, 'bad_query');
  return query;
}

/** The body by the contract; undefined where the contract has none, whatever was sent. Errors: 400, 413, 415, 422. */
export async function readCheckedBody(ctx: Context, { body: schema }: Contract, limitBytes: number): Promise<unknown> {
  if (!schema) return undefined;
  const body = await readBody(ctx, limitBytes);
  refuse(findProblems(schema, body), 422, 'validation_failed');
  return body;
}
