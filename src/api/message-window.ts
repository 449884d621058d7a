import type { MessageWindow } from '../records/messages/message.ts';
import { fromUnixSeconds } from '../lib/unix-time.ts';
import type { Shape } from '../schemas.ts';

/** The stretch of a conversation that a query asks for. */
export function windowOf(query: Shape<'requests/message.list.query'>): MessageWindow {
  const { before, after, before_message: beforeId, after_message: afterId } = query;
  return {
    before: before === undefined ? undefined : fromUnixSeconds(before),
    after: after === undefined ? undefined : fromUnixSeconds(after),
    beforeId,
    afterId,
  };
}
