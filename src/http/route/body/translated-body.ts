import type { Context } from 'koa';

/** Says what a body means that was written in the words of another API; `{}` stands for no body at all. */
export type MeantBody = (body: unknown) => Promise<unknown>;

const meanings = new WeakMap<Context, MeantBody>();
const said = new WeakMap<Context, unknown>();

/**
 * Has the body of the request be read by its meaning: after the caller was admitted and the text was decoded within its
 * limits, and before it is held against its schema.
 */
export function readBodyAs(ctx: Context, meant: MeantBody): void {
  meanings.set(ctx, (body) => {
    said.set(ctx, body);
    return meant(body);
  });
}

/** How the request's body is meant, where it is not meant literally. */
export function meaningOf(ctx: Context): MeantBody | undefined {
  return meanings.get(ctx);
}

/**
 * The body as the client wrote it, of which `body` was made. What it means may depend on what is so at the moment; a repeated
 * request is known by its words.
 */
export function saidBody(ctx: Context, body: unknown): unknown {
  return said.has(ctx) ? said.get(ctx) : body;
}
