import { catalog, type Entry } from '../events/catalog.ts';
import type { SecretBox } from '../lib/secrets/secret-box.ts';
import { unixSeconds } from '../lib/unix-time.ts';
import { sealPlace } from './cursor.ts';
import type { FeedEvent } from './read-page.ts';

/** An account's feed, and the position up to which it was deleted when the event was read (see Kept.dropped). */
export interface Feed {
  accountId: number;
  dropped: number;
}

/** An event as lists and streams show it (`resources/event`), as JSON, and the cursor of the place behind it. */
export function presentEvent(
  secretBox: SecretBox,
  { accountId, dropped }: Feed,
  event: FeedEvent,
): { cursor: string; json: string } {
  const cursor = sealPlace(secretBox, accountId, { position: event.position, floor: dropped });
  const head = JSON.stringify({
    id: event.id,
    cursor,
    event: event.name,
    conversation_id: conversationOf(event),
    sequence: event.sequence,
    created_at: unixSeconds(event.createdAt),
  });
  // The body is JSON already, and may be long.
  return { cursor, json: `${head.slice(0, -1)},"payload":${event.payload ?? 'null'}}` };
}

// The event of a deletion has no reference to the deleted row, but its body names it.
function conversationOf({ name, conversationId, payload }: FeedEvent): number | null {
  const { ends } = (catalog as Record<string, Entry>)[name] ?? {};
  if (ends !== 'conversation' || payload === null) return conversationId;
  return (JSON.parse(payload) as { id: number }).id;
}
