import {
  findCountedInboxes,
  findUnmergedAccounts,
  mergeCounts,
  recount,
  type CountedInbox,
} from '../../records/conversations/counts.ts';
import type { Database } from '../../postgres/database.ts';
import { sweep } from './sweep.ts';

const pageSize = 200;

/** Merges changes into the counts, so that a list sums few rows; returns the number of accounts. */
export function mergeCountChanges(database: Database): Promise<number> {
  return sweep<{ id: number }>(database, {
    name: 'merging counts of conversations',
    nameOf: ({ id }) => `account ${id}`,
    page: (after) => findUnmergedAccounts(database.sql, { after: after?.id ?? 0, limit: pageSize }),
    pageSize,
    atOnce: 1,
    work: async ([account]) => {
      if (!account) return 0;
      while (await mergeCounts(database.sql, account.id));
      return 1;
    },
  });
}

/**
 * Recounts the conversations of all inboxes, one statement each; corrects wrong counts, logs them as an error and returns
 * their number. Counts are wrong only if triggers were switched off.
 */
export function recountConversations(database: Database): Promise<number> {
  return sweep<CountedInbox>(database, {
    name: 'counting conversations anew',
    nameOf: ({ account_id: accountId, inbox_id: inboxId }) => `inbox ${inboxId} of account ${accountId}`,
    page: (after) => findCountedInboxes(database.sql, { after, limit: pageSize }),
    pageSize,
    atOnce: 1,
    work: async ([inbox]) => (inbox ? recountOne(database, inbox) : 0),
  });
}

async function recountOne(database: Database, inbox: CountedInbox): Promise<number> {
  const wrong = await recount(database.sql, inbox);
  const place = `inbox ${inbox.inbox_id} of account ${inbox.account_id}`;
  if (wrong > 0) database.failed(new WrongCountsError(`${wrong} counts of conversations were wrong in ${place}`));
  return wrong;
}

/** Counts were wrong, and have been corrected: something wrote conversations while the counting triggers were off. */
class WrongCountsError extends Error {
  override name = 'WrongCountsError';
}
