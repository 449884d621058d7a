import { createHash } from 'node:crypto';
import type { Context } from 'koa';
import { ApiError } from '../../errors.ts';

const listed = /(?:W\/)?"([\x21\x23-\x7e\x80-\xff]*)"/g;

/** The weak entity tag of a text: a hash of it. */
export function entityTag(text: string | Buffer): string {
  return `W/"${createHash('sha256').update(text).digest('base64url').slice(0, 27)}"`;
}

// All tags of the service are weak, so RFC 9110's strong comparison would never match: only the text is compared.
function names(header: string, tag: string): boolean {
  if (header.trim() === '*') return true;
  return Array.from(header.matchAll(listed), ([, text]) => `W/"${text}"`).includes(tag);
}

/** Sets the entity tag of a GET's answer. Returns true when the caller has this state already: answer 304. */
export function isUnchanged(ctx: Context, tag: string): boolean {
  ctx.set('etag', tag);
  const known = ctx.get('if-none-match');
  return known !== '' && names(known, tag);
}

/**
 * Checks `If-Match` against the tag of the record's present state; null for operations on nothing that has a tag.
 * Errors: 412.
 */
export function checkIfMatch(header: string, tag: string | null): void {
  if (tag !== null && names(header, tag)) return;
  const message =
    tag === null ? 'This has no version that If-Match could name' : 'The record has changed since you read it';
  throw new ApiError(412, 'precondition_failed', message, { headers: tag === null ? {} : { etag: tag } });
}
