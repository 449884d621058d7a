import type { Database } from '../../postgres/database.ts';
import { system, transact } from '../../events/transaction.ts';
import { sql } from '../../postgres/sql.ts';
import { holdFree } from './hold.ts';
import { wake } from './lifecycle.ts';
import { sweep } from '../upkeep/sweep.ts';

interface DueSnooze {
  id: number;
  account_id: number;
  account_name: string;
}

const pageSize = 200;

/** Opens all conversations whose snooze has ended; returns how many. One that fails does not hold back the others. */
export function wakeDueSnoozes(database: Database): Promise<number> {
  return sweep<DueSnooze>(database, {
    name: 'waking snoozed conversations',
    nameOf: ({ id, account_id: accountId }) => `conversation ${id} of account ${accountId}`,
    page: (after) => findDue(database, after),
    pageSize,
    atOnce: pageSize,
    together: ({ account_id: accountId }) => accountId,
    work: (snoozes) => wakeSome(database, snoozes),
  });
}

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

async function wakeSome(database: Database, snoozes: readonly DueSnooze[]): Promise<number> {
  const [first] = snoozes;
  if (!first) return 0;
  const account = { id: first.account_id, name: first.account_name };
  return transact(database, { account, actor: system }, async (tx) => {
    let woken = 0;
    for (const { id } of await holdFree(tx, snoozes)) if (await wake(tx, id)) woken += 1;
    return woken;
  });
}
