import type { Context, Next } from 'koa';
import { entityTag, isUnchanged } from '../conditional/entity-tag.ts';
import { methodNotAllowed } from './refusals/method.ts';

/** A file that the service serves as it is. */
export interface StaticFile {
  path: string;
  /** The media type, or a file extension that implies it. */
  type: string;
  /** Called once, at the first request. */
  read: () => Buffer;
  headers?: Readonly<Record<string, string>>;
}

/** The content of a file, also compressed where that was done in advance. */
export interface FileContent {
  type: string;
  headers?: Readonly<Record<string, string>>;
  bytes: Buffer;
  br?: Buffer;
  gzip?: Buffer;
}

/** Finds the file at a path, null where there is none. */
export type FindFile = (path: string) => Promise<FileContent | null>;

const methods = ['GET', 'HEAD', 'OPTIONS'];

/**
 * Koa middleware that serves the files, and those that `find` finds; clients may cache them if they revalidate each time,
 * unless the file's headers say more.
 */
export function serveFiles(files: readonly StaticFile[], find: FindFile) {
  const byPath = new Map(files.map((file) => [file.path, file]));
  const loaded = new Map<StaticFile, FileContent>();
  const tags = new WeakMap<FileContent, string>();
  function load(file: StaticFile): FileContent {
    const { read, type, headers } = file;
    const content = loaded.get(file) ?? { type, bytes: read(), ...(headers ? { headers } : {}) };
    loaded.set(file, content);
    return content;
  }
  return async (ctx: Context, next: Next): Promise<void> => {
    const file = byPath.get(ctx.path);
    const content = file ? load(file) : await find(ctx.path);
    if (!content) return next();
    if (!methods.includes(ctx.method)) throw methodNotAllowed(methods);
    if (ctx.method === 'OPTIONS') {
      ctx.status = 204;
      ctx.set('allow', methods.join(', '));
      return;
    }
    const tag = tags.get(content) ?? entityTag(content.bytes);
    tags.set(content, tag);
    answer(ctx, content, tag);
  };
}

function answer(ctx: Context, content: FileContent, tag: string): void {
  ctx.set({ 'cache-control': 'no-cache', ...content.headers });
  if (content.br || content.gzip) ctx.vary('Accept-Encoding');
  if (isUnchanged(ctx, tag)) {
    ctx.status = 304;
    return;
  }
  const accepted = ctx.acceptsEncodings('br', 'gzip', 'identity');
  const encoding = accepted === 'br' || accepted === 'gzip' ? accepted : null;
  const compressed = encoding && content[encoding];
  if (compressed) ctx.set('content-encoding', encoding);
  ctx.type = content.type;
  ctx.body = compressed ?? content.bytes;
}
