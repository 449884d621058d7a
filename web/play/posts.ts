import type { KeptPost, PlayState } from '../shared/play.ts';

const kept = 200;

/** The posts that the page shows, newest first. */
export type Posts = readonly KeptPost[];

/** The posts with those that were read just now, which may be known, and answered meanwhile. */
export function withPosts(known: Posts, { payload }: PlayState): Posts {
  const read = new Set(payload.map(({ id }) => id));
  const all = [...payload, ...known.filter(({ id }) => !read.has(id))];
  return all.toSorted((one, other) => other.id - one.id).slice(0, kept);
}

/** Behind which post to read on: what is not answered yet is read again. */
export function placeOf(posts: Posts): number {
  const waiting = posts.filter(({ status }) => status === null).map(({ id }) => id - 1);
  return Math.min(posts[0]?.id ?? 0, ...waiting);
}
