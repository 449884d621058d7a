import type { Context } from 'koa';

/** Says what a body means that was written in the words of another API; `{}` stands for no body at all. */
export type MeantBody = (body: unknown) => Promise<unknown>;

const meanings = new WeakMap<Context, MeantBody>();

/**
 * Has the body of the request be read by its meaning: after the caller was admitted and the text was decoded within its
 * limits, and before it is held against its schema.
 */
export function readBodyAs(ctx: Context, meant: MeantBody): void {
  meanings.set(ctx, meant);
}

/** How the request's body is meant, where it is not meant literally. */
export function meaningOf(ctx: Context): MeantBody | undefined {
  return meanings.get(ctx);
}
