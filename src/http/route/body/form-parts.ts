import { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Context } from 'koa';
import { badRequest, invalid, tooLarge, type ApiError } from '../../../errors.ts';

/** A part of a multipart form: its headers by lower-case name, and its bytes. */
export interface Part {
  headers: Readonly<Record<string, string>>;
  bytes: Buffer;
}

/** Parts of a form at most: more than any operation has fields. */
export const maxParts = 32;
/** Header bytes of one part at most: the parser's search for names in them takes quadratic time. */
export const maxPartHeaderBytes = 1024;
/** Carriage returns in a form's texts at most: a delimiter could begin at each, for which the parser emits two events. */
export const maxCarriageReturns = 20_000;

const boundaryParameter = /;\s*boundary=(?:"([^"]*)"|([^\s;"]*))\s*(?:;|$)/i;
// RFC 2046, but without the space that it allows inside.
const boundaryForm = /^[\w'()+,./:=?-]{1,70}$/;
const sliceBytes = 16 * 1024;
const carriageReturn = 0x0d;
const namesFile = /;\s*filename\*?=/i;

/** Where a part's content begins and ends, and whether the part says that it is a file. */
interface Content {
  from: number;
  to: number;
  isFile: boolean;
}

/**
 * Divides a complete form into its parts, by koa-body. Checks first what koa-body's parser would spend too much time on
 * or tolerate, and gives it nothing to decode and no file: their bytes are those between the boundaries. Errors: 400 for a
 * malformed form, 422 for too many parts or line breaks, 413 for more than `maxTextBytes` besides the files.
 */
export async function readParts(ctx: Context, bytes: Buffer, maxTextBytes = Infinity): Promise<Part[]> {
  const boundary = boundaryOf(ctx);
  const contents = findContents(bytes, boundary);
  const lean = withoutFiles(bytes, contents);
  if (lean.length > maxTextBytes) throw tooLarge(maxTextBytes);
  checkCarriageReturns(lean);
  const parts = await parse(ctx, lean, boundary);
  if (parts.length !== contents.length) throw malformed('its parts are not divided as its boundary says');
  return parts.map((part, index) => {
    const content = contents[index];
    return content?.isFile ? { ...part, bytes: bytes.subarray(content.from, content.to) } : part;
  });
}

function withoutFiles(bytes: Buffer, contents: readonly Content[]): Buffer {
  const files = contents.filter(({ isFile }) => isFile);
  const starts = [0, ...files.map(({ to }) => to)];
  return Buffer.concat(starts.map((from, index) => bytes.subarray(from, files[index]?.from)));
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
function findContents(bytes: Buffer, boundary: string): Content[] {
  const opening = `--${boundary}\r\n`;
  const delimiter = Buffer.from(`\r\n--${boundary}`);
  if (bytes.toString('latin1', 0, opening.length) !== opening) throw malformed('it does not begin with its boundary');
  const contents: Content[] = [];
  let at = opening.length - '\r\n'.length;
  while (bytes.toString('latin1', at, at + 2) === '\r\n') {
    if (contents.length === maxParts) throw invalid('', 'maxProperties', `The form has more than ${maxParts} fields`);
    const headersEnd = bytes.subarray(at, at + maxPartHeaderBytes).indexOf('\r\n\r\n');
    if (headersEnd === -1) throw malformed(`a part has more than ${maxPartHeaderBytes} bytes of headers, or none`);
    const from = at + headersEnd + '\r\n\r\n'.length;
    const next = bytes.indexOf(delimiter, from);
    if (next === -1) throw malformed('it ends without its closing boundary');
    contents.push({ from, to: next, isFile: namesFile.test(bytes.toString('latin1', at, from)) });
    at = next + delimiter.length;
  }
  const end = bytes.toString('latin1', at);
  if (end !== '--' && end !== '--\r\n') throw malformed('it does not end with its closing boundary');
  return contents;
}

function checkCarriageReturns(bytes: Buffer): void {
  let left = maxCarriageReturns;
  for (const byte of bytes) if (byte === carriageReturn) left -= 1;
  if (left < 0) throw invalid('', 'maxLength', `The form has more than ${maxCarriageReturns} line breaks`);
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
