import type { Context } from 'koa';
import rawBody from 'raw-body';
import { ApiError, badRequest, tooLarge } from '../../../errors.ts';
import { parseJsonBody } from './json-text.ts';
import type { Arrival } from '../../server/limits/upload-gate.ts';
import type { Contract } from '../route.ts';

interface BodyError {
  type?: string;
}

const jsonType = 'application/json';
/** The media type of multipart forms. */
export const formType = 'multipart/form-data';

const charsets = new Set(['', 'utf-8', 'utf8']);
const encodings = new Set(['', 'identity']);

/** The media types in which the contract's body may be sent. */
export function bodyTypes({ multipart, upload, withFiles }: Contract): string[] {
  if (upload) return [formType];
  return multipart || withFiles ? [jsonType, formType] : [jsonType];
}

function mediaTypeOf(ctx: Context): string {
  return ctx.request.type.trim().toLowerCase();
}

/** Whether the body is a multipart form. */
export function isForm(ctx: Context): boolean {
  return mediaTypeOf(ctx) === formType;
}

function checkMediaType(ctx: Context, types: readonly string[]): void {
  const readable = types.includes(mediaTypeOf(ctx)) && charsets.has(ctx.request.charset.toLowerCase());
  if (readable && encodings.has(ctx.get('content-encoding').toLowerCase())) return;
  throw new ApiError(415, 'unsupported_media_type', `The body must be sent as ${types.join(' or ')} in UTF-8`);
}

/** Parses a body. Errors: 400 for text that is not JSON, 422 for values that are refused in every body. */
export function decodeBody(bytes: Buffer): unknown {
  const parsed = parseJsonBody(bytes);
  if ('problem' in parsed) throw badRequest('invalid_json', parsed.problem);
  if ('value' in parsed) return parsed.value;
  const { unsafe } = parsed;
  throw new ApiError(422, 'validation_failed', unsafe.message, { details: [unsafe] });
}

/**
 * Reads a request's body in one of the media types; one that is given up meanwhile is not read further. Errors: 415, 413, 400
 * when it ends early, 408 and 503 when it is given up.
 */
export async function readBody(
  ctx: Context,
  { limitBytes, types, arrival }: { limitBytes: number; types: readonly string[]; arrival?: Arrival | null },
): Promise<Buffer> {
  checkMediaType(ctx, types);
  return readBytes(ctx, limitBytes, arrival);
}

/**
 * Reads a request's body as it comes, in any media type; one that is given up meanwhile is not read further. Errors: 413, 400 when it ends
 * early, 408 and 503 when it is given up.
 */
export async function readBytes(ctx: Context, limitBytes: number, arrival: Arrival | null = null): Promise<Buffer> {
  const read = readRaw(ctx, limitBytes);
  if (!arrival) return read;
  const count = (chunk: Buffer): void => arrival.took(chunk.length);
  ctx.req.on('data', count);
  try {
    return await Promise.race([read, arrival.givenUp]);
  } finally {
    ctx.req.off('data', count);
    arrival.arrived();
  }
}

function readRaw(ctx: Context, limitBytes: number): Promise<Buffer> {
  const reading = rawBody(ctx.req, { limit: limitBytes, length: ctx.get('content-length') || null });
  return reading.catch((error: unknown) => {
    throw explain(error, limitBytes);
  });
}

function explain(error: unknown, limitBytes: number): unknown {
  const { type } = error as BodyError;
  if (type === 'entity.too.large') return tooLarge(limitBytes);
  // Not readable: the connection ended, or its bytes were not HTTP, before anybody read the body.
  if (type?.startsWith('request.') || type === 'stream.not.readable')
    return badRequest('incomplete_body', 'The connection ended before the whole body had arrived');
  return error;
}
