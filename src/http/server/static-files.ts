import type { Context, Next } from 'koa';
import { entityTag, isUnchanged } from '../conditional/entity-tag.ts';
import { methodNotAllowed } from './refuse-method.ts';

/** A file that the service serves as it is. */
export interface StaticFile {
  path: string;
  /** The media type, or a file extension that implies it. */
  type: string;
  /** Called once, at the first request. */
  read: () => Buffer;
  headers?: Readonly<Record<string, string>>;
}

const methods = ['GET', 'HEAD', 'OPTIONS'];

/** Koa middleware that serves the files; clients may cache them if they revalidate each time. */
export function serveFiles(files: readonly StaticFile[]) {
  const byPath = new Map(files.map((file) => [file.path, file]));
  const loaded = new Map<StaticFile, ReturnType<typeof load>>();
  return async (ctx: Context, next: Next): Promise<void> => {
    const file = byPath.get(ctx.path);
    if (!file) return next();
    if (!methods.includes(ctx.method)) throw methodNotAllowed(methods);
    if (ctx.method === 'OPTIONS') {
      ctx.status = 204;
      ctx.set('allow', methods.join(', '));
      return;
    }
    const content = loaded.get(file) ?? load(file);
    loaded.set(file, content);
    ctx.set({ 'cache-control': 'no-cache', ...file.headers });
    if (isUnchanged(ctx, content.tag)) {
      ctx.status = 304;
      return;
    }
    ctx.type = file.type;
    ctx.body = content.bytes;
  };
}

function load({ read }: StaticFile) {
  const bytes = read();
  return { bytes, tag: entityTag(bytes) };
}
