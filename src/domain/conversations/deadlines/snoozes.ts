import type { Database } from '../../../postgres/database.ts';
import { system, transact } from '../../../events/transaction.ts';
import type { Sql } from '../../../postgres/sql.ts';
import { holdFree } from '../hold.ts';
import { wake } from '../lifecycle.ts';
import { inTurns, sweep } from '../../upkeep/sweep.ts';

interface DueSnooze {
  id: number;
  account_id: number;
  account_name: string;
  /** As text, in the database's precision. */
  due_at: string;
}

const pageSize = 1000;
// A commit for many, and yet no row is locked for longer than some tens of milliseconds.
const batch = 500;

/** Opens all conversations whose snooze has ended; returns how many. One that fails does not hold back the others. */
export function wakeDueSnoozes(database: Database): Promise<number> {
  return sweep<DueSnooze>(database, {
    name: 'waking snoozed conversations',
    nameOf: ({ id, account_id: accountId }) => `conversation ${id} of account ${accountId}`,
    page: (after) => findDueSnoozes(database.sql, database.clock.now(), after),
    pageSize,
    atOnce: batch,
    together: ({ account_id: accountId }) => accountId,
    work: (snoozes) => wakeSome(database, snoozes),
  });
}

/** The next conversations whose snooze ended by `now`, in the order of that moment. */
export function findDueSnoozes(sql: Sql, now: Date, after: DueSnooze | null): Promise<DueSnooze[]> {
  return sql<DueSnooze>(
    `SELECT c.id, c.account_id, a.name AS account_name, c.snoozed_until AS due_at
     FROM conversations c JOIN accounts a ON a.id = c.account_id
     WHERE c.status = 'snoozed' AND c.snoozed_until <= $1 AND (c.snoozed_until, c.id) > ($2::timestamptz, $3::bigint)
     ORDER BY c.snoozed_until, c.id LIMIT ${pageSize}`,
    [now, after?.due_at ?? '-infinity', after?.id ?? 0],
  );
}

async function wakeSome(database: Database, snoozes: readonly DueSnooze[]): Promise<number> {
  const [first] = snoozes;
  if (!first) return 0;
  const account = { id: first.account_id, name: first.account_name };
  return transact(database, { account, actor: system }, async (tx) => {
    let woken = 0;
    for await (const { id } of inTurns(await holdFree(tx, snoozes))) if (await wake(tx, id)) woken += 1;
    return woken;
  });
}
