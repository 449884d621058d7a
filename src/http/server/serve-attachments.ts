import { Readable } from 'node:stream';
import type { Context, Middleware, Next } from 'koa';
import { findFile, type StoredFile, type WithConnection } from '../../domain/attachments/store.ts';
import { ApiError, notFound } from '../../errors.ts';
import { filesPath } from '../../lib/file-links.ts';
import type { MountOptions } from '../route/mount.ts';
import { addressKey } from './limits/rate-limit.ts';
import { methodNotAllowed } from './refusals/method.ts';

const methods = ['GET', 'HEAD'];
const keptSeconds = 3600;

/**
 * Types that browsers show and that cannot run anything: by the content of the file, whatever it is called. All others are
 * saved.
 */
const shown = new Set([
  'image/png',
  'image/jpeg',
  'image/gif',
  'image/webp',
  'image/avif',
  'audio/mpeg',
  'audio/ogg',
  'audio/wav',
  'audio/flac',
  'audio/mp4',
  'audio/aac',
  'video/mp4',
  'video/webm',
  'application/pdf',
]);

/**
 * Koa middleware that answers links to files, `/files/SIGNED/NAME`: no part of the API, for whoever has the link. Errors: 404
 * for a link that has expired, was not made here, or whose message was deleted; 405, 416, 429.
 */
export function serveAttachments({ database, gate, requests, services }: MountOptions): Middleware {
  return async (ctx: Context, next: Next): Promise<void> => {
    if (!ctx.path.startsWith(filesPath)) return next();
    ctx['_matchedRoute'] = `${filesPath}:signed/:name`;
    if (!methods.includes(ctx.method)) throw methodNotAllowed(methods);
    await requests.consume(ctx, `files ${addressKey(ctx)}`);
    const [signed = '', , ...more] = ctx.path.slice(filesPath.length).split('/');
    const named = more.length === 0 ? services.fileLinks.read(signed) : null;
    if (!named) throw new ApiError(404, 'not_found', 'There is no such file, or the link to it has expired');
    const parties = gate.ofAccount(named.accountId, { visitor: true });
    const file = await gate.run(parties, () => findFile(database.sql, named));
    if (!file) throw notFound('File');
    const withConnection: WithConnection = (work) => gate.run(parties, () => work(database.sql));
    await answer(ctx, file, (range) => services.attachments.read(file, range, withConnection));
  };
}

interface Range {
  from: number;
  to: number;
}

// Nothing is set before the file is at hand: a refusal must not be kept, or be called a file.
async function answer(ctx: Context, file: StoredFile, read: (range: Range) => Promise<Readable>): Promise<void> {
  if (ctx.get('if-none-match') === tagOf(file)) {
    ctx.set(headersOf(file));
    ctx.status = 304;
    return;
  }
  const range = readRange(ctx.get('range'), file.size);
  if (range === 'beyond') {
    throw new ApiError(416, 'range_not_satisfiable', 'The file has no such part', {
      headers: { 'content-range': `bytes */${file.size}` },
    });
  }
  const { from, to } = range ?? { from: 0, to: file.size - 1 };
  const bytes = ctx.method === 'HEAD' ? Readable.from([]) : await read({ from, to });
  const headers = headersOf(file);
  ctx.status = range ? 206 : 200;
  ctx.body = bytes;
  ctx.set({ ...headers, ...(range ? { 'content-range': `bytes ${from}-${to}/${file.size}` } : {}) });
  ctx.length = to - from + 1;
}

function tagOf({ accountId, id }: StoredFile): string {
  return `"${accountId}-${id}"`;
}

// Even a file that a browser takes for a page may do nothing there, and is of no origin.
function headersOf(file: StoredFile): Record<string, string> {
  const { type, name } = file;
  const isDocument = type === 'application/pdf';
  return {
    'content-type': type === 'text/plain' ? 'text/plain; charset=utf-8' : type,
    'content-disposition': `${shown.has(type) ? 'inline' : 'attachment'}; ${fileNameOf(name)}`,
    // Browsers show no PDF in a sandbox.
    'content-security-policy': `default-src 'none'; frame-ancestors 'none'${isDocument ? '' : '; sandbox'}`,
    'cache-control': `private, max-age=${keptSeconds}`,
    'cross-origin-resource-policy': 'cross-origin',
    'accept-ranges': 'bytes',
    etag: tagOf(file),
  };
}

// RFC 6266: the name in ASCII, and in UTF-8 for those who read it.
function fileNameOf(name: string): string {
  const plain = name.replaceAll(/[^\x20-\x7e]|["\\]/g, '_');
  const encoded = encodeURIComponent(name).replaceAll(/['()*]/g, (one) => `%${one.charCodeAt(0).toString(16)}`);
  return `filename="${plain}"; filename*=UTF-8''${encoded}`;
}

// Reads a single range; a request for several gets the whole file.
function readRange(header: string, size: number): Range | 'beyond' | null {
  const [, first = '', last = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header.trim()) ?? [];
  if (first === '' && last === '') return null;
  const from = first === '' ? Math.max(0, size - Number(last)) : Number(first);
  const to = first === '' || last === '' ? size - 1 : Math.min(size - 1, Number(last));
  return from > to || from >= size ? 'beyond' : { from, to };
}
