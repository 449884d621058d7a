import type { Database } from '../../postgres/database.ts';
import type { Sql } from '../../postgres/sql.ts';
import type { RecordedEvent } from '../outbox.ts';
import { chatwootBody } from './chatwoot.ts';
import { readSurroundings, wantsAny } from './surroundings.ts';
import { wantingAccounts } from './wanting.ts';

/**
 * Makes the bodies in another format that subscribers of the account want of its events, in place. The rows of the transaction
 * are written before, so that its statements see them. All statements are asked for at once.
 */
export async function formatEvents(
  { database, sql }: { database: Database; sql: Sql },
  accountId: number,
  events: readonly RecordedEvent[],
): Promise<void> {
  const [isWanted, around] = await Promise.all([wantsAny(sql, accountId), readSurroundings(sql, accountId, events)]);
  if (!isWanted) wantingAccounts(database).delete(accountId);
  for (const [event, surroundings] of around) {
    const { name, kept } = event;
    if (!kept) continue;
    event.chatwootPayload = chatwootBody(name, { subject: kept, around: surroundings, links: database.fileLinks });
  }
  for (const event of events) event.kept = null;
}
