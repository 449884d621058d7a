import type { Database } from '../database.ts';
import { system, transact } from '../events/transaction.ts';
import { sql } from '../lib/sql.ts';
import { wake } from './conversations.ts';

interface DueSnooze {
  id: number;
  account_id: number;
  account_name: string;
}

const batch = 200;

// A snooze another process is waking is locked, and none of our business.
function findDue(database: Database, after: number): Promise<DueSnooze[]> {
  return sql<DueSnooze>(
    database.em(),
    `SELECT c.id, c.account_id, a.name AS account_name FROM conversations c JOIN accounts a ON a.id = c.account_id
     WHERE c.status = 'snoozed' AND c.snoozed_until <= $1 AND c.id > $2 ORDER BY c.id LIMIT ${batch}
     FOR UPDATE OF c SKIP LOCKED`,
    [database.clock.now(), after],
  );
}

/** Opens every conversation whose snooze is over; answers how many. */
export async function wakeDueSnoozes(database: Database): Promise<number> {
  let woken = 0;
  let after = 0;
  for (;;) {
    const due = await findDue(database, after);
    for (const { id, account_id: accountId, account_name: name } of due) {
      const account = { id: accountId, name };
      if (await transact(database, { account, actor: system }, (tx) => wake(tx, id))) woken += 1;
      after = id;
    }
    if (due.length < batch) return woken;
  }
}
