import type { Context } from 'koa';
import { ApiError, badRequest, notFound, type ErrorDetail } from '../../../errors.ts';
import { findProblems, findQueryProblems, type SchemaName } from '../../../schemas.ts';
import { decodeForm, type FormFile } from './form-body.ts';
import { meaningOf } from './translated-body.ts';
import { bodyTypes, decodeBody, isForm, readBody } from './read-body.ts';
import type { Arrival } from '../../server/limits/upload-gate.ts';
import type { Parameters } from '../call.ts';
import { isIdParameter } from '../record-route.ts';
import type { Contract, Upload } from '../route.ts';
import { readTolerantly } from './tolerant-reading.ts';

const digits = /^\d+$/;

/** Path parameters: identifiers as numbers, all others as text. Errors: 400; 404 for an id beyond all ids. */
export function readPath(parameters: Readonly<Record<string, string>>): Parameters {
  const read = Object.entries(parameters).map(([name, text]) => {
    if (isIdParameter(name)) return [name, readId(name, text)] as const;
    if (isText(text)) return [name, text] as const;
    throw badRequest('bad_path', `\`${name}\` in the path holds a NUL character or half of a surrogate pair`);
  });
  return Object.fromEntries(read);
}

function isText(value: string): boolean {
  return value.isWellFormed() && !value.includes('\0');
}

function readId(name: string, text: string): number {
  if (!digits.test(text)) throw badRequest('bad_path', `\`${name}\` in the path must be a number`);
  const id = Number(text);
  // Beyond every id that the database gives out.
  if (!Number.isSafeInteger(id) || id === 0) throw notFound('Record');
  return id;
}

// More than any operation has, repetitions included.
const maxQueryParameters = 200;

/** Parses the query by its schema and fills in defaults; `name[]` is read as `name`. Errors: 400. */
export function readQuery(querystring: string, schema: SchemaName): Record<string, unknown> {
  const values = new Map<string, string[]>();
  // Koa's `ctx.query` takes quadratic time in the number of parameters.
  for (const [spelling, text] of boundedParameters(querystring)) {
    const name = spelling.replace(/\[\]$/, '');
    if (!isText(text)) throw badRequest('bad_query', 'The query holds a NUL character or half of a surrogate pair');
    if (name !== '__proto__') values.set(name, (values.get(name) ?? []).concat(text));
  }
  const query = Object.fromEntries(
    Array.from(values, ([name, texts]) => [name, texts.length === 1 ? texts[0] : texts] as const),
  );
  refuse(findQueryProblems(schema, query), 400, 'bad_query');
  return query;
}

function refuse(details: ErrorDetail[], status: 400 | 422, code: string): void {
  const [first] = details;
  if (first) throw new ApiError(status, code, first.message, { details });
}

/** Whether a query has more parameters than any operation reads. */
export function hasTooManyParameters({ size }: URLSearchParams): boolean {
  return size > maxQueryParameters;
}

function boundedParameters(querystring: string): [string, string][] {
  const parameters = new URLSearchParams(querystring);
  if (!hasTooManyParameters(parameters)) return [...parameters];
  throw badRequest('bad_query', `The query has more than ${maxQueryParameters} parameters`);
}

/** Bytes of a body at most, unless its contract allows a large one: enough for ids, names and settings. */
export const usualBodyBytes = 192 * 1024;

/** The service's own limits of bodies, in bytes. */
export interface BodyLimits {
  /** BODY_LIMIT_BYTES. */
  maxBytes: number;
  /** For a form with a file. */
  maxUploadBytes: Readonly<Record<Upload, number>>;
  /** For a form with files `attachments[]`, all of them together. */
  maxFormBytes: number;
  /** Overhead of such a form besides its files. */
  formBytes: number;
}

/** Bytes of the contract's body at most. */
export function bodyLimitOf({ largeBody, upload }: Contract, { maxBytes, maxUploadBytes }: BodyLimits): number {
  if (upload) return maxUploadBytes[upload];
  return largeBody ? maxBytes : Math.min(maxBytes, usualBodyBytes);
}

/** Parses and validates a JSON body, read tolerantly where its schema refuses it. Errors: 400, 422. */
export function checkBody(bytes: Buffer, schema: SchemaName): unknown {
  return checkValue(decodeBody(bytes), schema);
}

// Returns a body that the schema accepts unchanged; only others are read tolerantly.
function checkValue(body: unknown, schema: SchemaName): unknown {
  const problems = findProblems(schema, body);
  if (problems.length === 0) return body;
  const read = readTolerantly(body, schema);
  refuse(read === body ? problems : findProblems(schema, read), 422, 'validation_failed');
  return read;
}

// A POST without a body has no content type either.
function isAbsent(ctx: Context): boolean {
  return ctx.method === 'POST' && ctx.get('transfer-encoding') === '' && Number(ctx.get('content-length')) === 0;
}

// Null where something must be said: what is read then says that no body came.
async function readAbsent(ctx: Context, schema: SchemaName): Promise<CheckedBody | null> {
  const meant = meaningOf(ctx);
  if (meant) return { body: checkValue(await meant({}), schema), files: [] };
  return findProblems(schema, {}).length === 0 ? { body: {}, files: [] } : null;
}

async function literally(body: unknown): Promise<unknown> {
  return body;
}

/** The body of a request, and the files `attachments[]` of its form. */
export interface CheckedBody {
  body: unknown;
  files: readonly FormFile[];
}

/**
 * Reads and validates the body of a contract. Undefined where the contract has no
 * body: whatever was sent is ignored. Errors: 400, 413, 415, 422, and those of the gate of uploads.
 */
export async function readCheckedBody(
  ctx: Context,
  contract: Contract,
  { limits, arrival }: { limits: BodyLimits; arrival: Arrival | null },
): Promise<CheckedBody> {
  const { body: schema, withFiles } = contract;
  if (!schema) return { body: undefined, files: [] };
  const absent = isAbsent(ctx) ? await readAbsent(ctx, schema) : null;
  if (absent) return absent;
  const [limitBytes, types] = [bodyLimitOf(contract, limits), bodyTypes(contract)];
  const meant = meaningOf(ctx) ?? literally;
  if (!isForm(ctx)) {
    const body = decodeBody(await readBody(ctx, { limitBytes, types }));
    return { body: checkValue(await meant(body), schema), files: [] };
  }
  const most = withFiles ? limits.maxFormBytes : limitBytes;
  const bytes = await readBody(ctx, { limitBytes: most, types, arrival });
  const terms = { schema, ...(withFiles ? { withFiles, maxTextBytes: limitBytes } : {}) };
  const { fields, files } = await decodeForm(ctx, bytes, terms);
  return { body: checkValue(await meant(fields), files.length > 0 ? (withFiles ?? schema) : schema), files };
}
