import type { Database } from '../../postgres/database.ts';
import { system, transact } from '../../events/transaction.ts';
import { sql } from '../../postgres/sql.ts';
import { wake } from './lifecycle.ts';
import { sweep } from '../upkeep/sweep.ts';

interface DueSnooze {
  id: number;
  account_id: number;
  account_name: string;
}

const pageSize = 200;

// Skip locked snoozes: another process is waking them.
function findDue(database: Database, after: DueSnooze | null): Promise<DueSnooze[]> {
  return sql<DueSnooze>(
    database.em(),
    `SELECT c.id, c.account_id, a.name AS account_name FROM conversations c JOIN accounts a ON a.id = c.account_id
     WHERE c.status = 'snoozed' AND c.snoozed_until <= $1 AND c.id > $2 ORDER BY c.id LIMIT ${pageSize}
     FOR UPDATE OF c SKIP LOCKED`,
    [database.clock.now(), after?.id ?? 0],
  );
}

async function wakeOne(database: Database, { id, account_id, account_name }: DueSnooze): Promise<number> {
  const account = { id: account_id, name: account_name };
  return (await transact(database, { account, actor: system }, (tx) => wake(tx, id))) ? 1 : 0;
}

/** Opens every conversation whose snooze is over; answers how many. One that cannot be opened keeps no other asleep. */
export function wakeDueSnoozes(database: Database): Promise<number> {
  return sweep<DueSnooze>(database, {
    name: 'waking snoozed conversations',
    nameOf: ({ id, account_id: accountId }) => `conversation ${id} of account ${accountId}`,
    page: (after) => findDue(database, after),
    pageSize,
    atOnce: 1,
    work: async ([snooze]) => (snooze ? wakeOne(database, snooze) : 0),
  });
}
