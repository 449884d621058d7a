import { createHash } from 'node:crypto';
import type { Context } from 'koa';
import { ApiError } from '../../errors.ts';

const listed = /(?:W\/)?"([\x21\x23-\x7e\x80-\xff]*)"/g;

/** The weak entity tag of a text: the same while the text is. */
export function entityTag(text: string | Buffer): string {
  return `W/"${createHash('sha256').update(text).digest('base64url').slice(0, 27)}"`;
}

// All tags of ours are weak, so that the strong comparison would never hold: a client's tag counts by its text.
function names(header: string, tag: string): boolean {
  if (header.trim() === '*') return true;
  return Array.from(header.matchAll(listed), ([, text]) => `W/"${text}"`).includes(tag);
}

/** Tells the tag of what a GET is about to answer; true when the caller has just that already and gets a 304. */
export function isUnchanged(ctx: Context, tag: string): boolean {
  ctx.set('etag', tag);
  const known = ctx.get('if-none-match');
  return known !== '' && names(known, tag);
}

/**
 * Refuses a change that was meant for another state of the record. `tag` is that of its present state, null for what
 * has none. Errors: 412.
 */
export function checkIfMatch(header: string, tag: string | null): void {
  if (tag !== null && names(header, tag)) return;
  const message =
    tag === null ? 'This has no version that If-Match could name' : 'The record has changed since you read it';
  throw new ApiError(412, 'precondition_failed', message, { headers: tag === null ? {} : { etag: tag } });
}
