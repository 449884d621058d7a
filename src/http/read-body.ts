import type { Context } from 'koa';
import rawBody from 'raw-body';
import { ApiError, badRequest } from '../errors.ts';
import { findUnsafeValue, parseJsonBody } from '../lib/json-text.ts';

interface BodyError {
  type?: string;
}

function explain(error: unknown): unknown {
  const { type } = error as BodyError;
  if (type === 'entity.too.large') {
    // What follows is not read, so the connection cannot carry another request.
    return new ApiError(413, 'too_large', 'The body is too large', { headers: { connection: 'close' } });
  }
  if (type?.startsWith('request.')) return badRequest('incomplete_body', 'The body did not arrive whole');
  return error;
}

const charsets = new Set(['', 'utf-8', 'utf8']);
const encodings = new Set(['', 'identity']);

function checkMediaType(ctx: Context): void {
  const type = ctx.request.type.trim().toLowerCase();
  const readable = type === 'application/json' && charsets.has(ctx.request.charset.toLowerCase());
  if (readable && encodings.has(ctx.get('content-encoding').toLowerCase())) return;
  throw new ApiError(415, 'unsupported_media_type', 'The body must be sent as application/json in UTF-8');
}

/** Reads a request's JSON body. Errors: 415, 413, 400 for text that is not JSON, 422 for values nothing can store. */
export async function readBody(ctx: Context, limitBytes: number): Promise<unknown> {
  checkMediaType(ctx);
  const bytes = await rawBody(ctx.req, { limit: limitBytes, length: ctx.get('content-length') || null }).catch(
    (error: unknown) => {
      throw explain(error);
    },
  );
  const parsed = parseJsonBody(bytes);
  if ('problem' in parsed) throw badRequest('invalid_json', parsed.problem);
  const unsafe = findUnsafeValue(parsed.value);
  if (unsafe) throw new ApiError(422, 'validation_failed', unsafe.message, { details: [unsafe] });
  return parsed.value;
}
