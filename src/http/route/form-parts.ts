import { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Context } from 'koa';
import { badRequest, invalid, type ApiError } from '../../errors.ts';

/** A part of a multipart form: its headers by lower-case name, and its bytes. */
export interface Part {
  headers: Readonly<Record<string, string>>;
  bytes: Buffer;
}

/** Parts of a form at most: more than any operation has fields. */
export const maxParts = 32;
/** Header bytes of one part at most: the parser's search for names in them takes quadratic time. */
export const maxPartHeaderBytes = 1024;
/** Carriage returns in a form at most: a delimiter could begin at each, for which the parser emits two events. */
export const maxCarriageReturns = 20_000;
// Compressed files have one in 256 bytes; that of a file of texts ends lines that are longer than this.
const fileBytesPerCarriageReturn = 128;

const boundaryParameter = /;\s*boundary=(?:"([^"]*)"|([^\s;"]*))\s*(?:;|$)/i;
// RFC 2046, but without the space that it allows inside.
const boundaryForm = /^[\w'()+,./:=?-]{1,70}$/;
const sliceBytes = 16 * 1024;
const carriageReturn = 0x0d;

/**
 * Divides a complete form into its parts, by koa-body. Checks first what koa-body's parser would spend too much time on
 * or tolerate, and gives it nothing to decode and no file to write. Errors: 400 for a malformed form, 422 for too many
 * parts or line breaks.
 */
export async function readParts(ctx: Context, bytes: Buffer, hasFiles = false): Promise<Part[]> {
  const boundary = boundaryOf(ctx);
  const count = countParts(bytes, boundary);
  const allowed = hasFiles
    ? Math.max(maxCarriageReturns, bytes.length / fileBytesPerCarriageReturn)
    : maxCarriageReturns;
  checkCarriageReturns(bytes, Math.floor(allowed));
  const parts = await parse(ctx, bytes, boundary);
  if (parts.length !== count) throw malformed('its parts are not divided as its boundary says');
  return parts;
}

/** 400 for a malformed form. The problem is a phrase that never quotes the body. */
export function malformed(problem: string): ApiError {
  return badRequest('invalid_form', `The body is not a valid form: ${problem}`);
}

function boundaryOf(ctx: Context): string {
  const found = boundaryParameter.exec(ctx.get('content-type'));
  const boundary = found?.[1] ?? found?.[2] ?? '';
  if (!boundaryForm.test(boundary)) throw malformed('the content type names no boundary of 1 to 70 characters');
  return boundary;
}

// Finds too many parts and unterminated headers before the parser allocates objects for them.
function countParts(bytes: Buffer, boundary: string): number {
  const opening = `--${boundary}\r\n`;
  const delimiter = Buffer.from(`\r\n--${boundary}`);
  if (bytes.toString('latin1', 0, opening.length) !== opening) throw malformed('it does not begin with its boundary');
  let count = 0;
  let at = opening.length - '\r\n'.length;
  while (bytes.toString('latin1', at, at + 2) === '\r\n') {
    count += 1;
    if (count > maxParts) throw invalid('', 'maxProperties', `The form has more than ${maxParts} fields`);
    const headersEnd = bytes.subarray(at, at + maxPartHeaderBytes).indexOf('\r\n\r\n');
    if (headersEnd === -1) throw malformed(`a part has more than ${maxPartHeaderBytes} bytes of headers, or none`);
    const next = bytes.indexOf(delimiter, at + headersEnd + '\r\n\r\n'.length);
    if (next === -1) throw malformed('it ends without its closing boundary');
    at = next + delimiter.length;
  }
  const end = bytes.toString('latin1', at);
  if (end !== '--' && end !== '--\r\n') throw malformed('it does not end with its closing boundary');
  return count;
}

function checkCarriageReturns(bytes: Buffer, most: number): void {
  let left = most;
  for (const byte of bytes) if (byte === carriageReturn) left -= 1;
  if (left < 0) throw invalid('', 'maxLength', `The form has more than ${most} line breaks`);
}

// Yields the event loop between slices, so that other requests proceed.
async function* slices(bytes: Buffer): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += sliceBytes) {
    if (at > 0) await nextTurn();
    yield bytes.subarray(at, at + sliceBytes);
  }
}

// Imported with the first form: loading koa-body takes longer than the rest of the start.
async function parse(ctx: Context, bytes: Buffer, boundary: string): Promise<Part[]> {
  const { koaBody } = await import('koa-body');
  const parts: Part[] = [];
  const room = Buffer.allocUnsafe(bytes.length);
  let used = 0;
  const middleware = koaBody({
    multipart: true,
    json: false,
    urlencoded: false,
    text: false,
    patchNode: false,
    patchKoa: false,
    // Parts are taken here: koa-body itself would decode them with replacement characters, or write them to files.
    formidable: {
      maxFiles: 0,
      onPart: (part) => {
        const from = used;
        const { headers } = part as unknown as Pick<Part, 'headers'>;
        part.on('data', (data: Buffer) => {
          used += data.copy(room, used);
        });
        part.on('end', () => parts.push({ headers, bytes: room.subarray(from, used) }));
      },
    },
  });
  const headers = {
    'content-type': `multipart/form-data; boundary="${boundary}"`,
    'content-length': String(bytes.length),
  };
  const request = Object.assign(Readable.from(slices(bytes), { objectMode: false }), { headers });
  try {
    await middleware(Object.create(ctx, { req: { value: request } }) as Context, () => Promise.resolve());
  } catch (error) {
    // Errors of formidable carry a status; their messages describe its internals.
    if ((error as { httpCode?: number }).httpCode === undefined) throw error;
    throw malformed('its parts cannot be read');
  }
  return parts;
}
