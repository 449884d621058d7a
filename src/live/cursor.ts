import { ApiError, badRequest } from '../errors.ts';
import { openList, sealList } from '../lib/secrets/sealed-list.ts';
import type { SecretBox } from '../lib/secrets/secret-box.ts';
import type { Kept } from './read-page.ts';

/** A reader's place in the feed of an account. */
export interface Place {
  /** The position of the last event that was read; 0 before the first. */
  position: number;
  /** The position up to which events were deleted when the reader began (see Kept.dropped): never promised to this reader. */
  floor: number;
}

/** The cursor that names a place in the account's feed. */
export function sealPlace(secretBox: SecretBox, accountId: number, { position, floor }: Place): string {
  return sealList(secretBox, ['feed', accountId, position, floor]);
}

/** The place that a cursor of the account's feed names. Errors: 400 for a forged one, or another account's or list's. */
export function openPlace(secretBox: SecretBox, accountId: number, cursor: string): Place {
  const [list, account, position, floor] = openList(secretBox, cursor);
  const isOurs = list === 'feed' && account === accountId;
  if (isOurs && typeof position === 'number' && typeof floor === 'number') return { position, floor };
  throw badRequest('bad_query', 'The cursor is none that the feed of this account has answered', [
    { path: '/after', rule: 'cursor', message: 'must be the cursor of an event, or a `next_cursor`, of this feed' },
  ]);
}

/** Errors: 410 when events behind the place are not kept any more, or when the place is beyond the feed's end. */
export function checkKept({ position, floor }: Place, { dropped, head }: Kept): void {
  const isOld = position < dropped && floor < dropped;
  // A database that was restored from a backup gives its positions once more, to other events.
  if (!isOld && position <= head) return;
  throw new ApiError(410, 'cursor_expired', 'The feed is not kept as far back as this cursor: begin again without it');
}
