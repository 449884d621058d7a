import type { FileLinks } from '../../lib/file-links.ts';
import type { Sql } from '../../postgres/sql.ts';
import type { RecordedEvent } from '../outbox.ts';
import { chatwootBody } from './chatwoot.ts';
import { readSurroundings } from './surroundings.ts';

/**
 * Makes the bodies in another format that subscribers of the account want of its events, in place. The rows of the transaction
 * are written before, so that its statement sees them.
 */
export async function formatEvents(
  { sql, links }: { sql: Sql; links: FileLinks },
  accountId: number,
  events: readonly RecordedEvent[],
): Promise<void> {
  for (const [event, around] of await readSurroundings(sql, accountId, events)) {
    const { name, kept } = event;
    if (kept) event.chatwootPayload = chatwootBody(name, { subject: kept, around, links });
  }
  for (const event of events) event.kept = null;
}
