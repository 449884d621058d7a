import { Inbox } from '../../records/inbox.ts';
import type { Transaction, Transact } from '../../events/transaction.ts';
import type { Sql } from '../../postgres/sql.ts';
import { checkAgents } from '../people/agents.ts';
import { detachAndRemove } from '../conversations/assignment/detach.ts';
import type { MemberChange } from '../people/teams.ts';
import { unassign } from '../conversations/assignment/unassign.ts';
import { lockOne } from '../small-rows.ts';

/** The ids of an inbox's members. */
export function findInboxMembers(sql: Sql, accountId: number, inboxId: number): Promise<number[]> {
  const statement = 'SELECT user_id FROM inbox_members WHERE account_id = $1 AND inbox_id = $2';
  return findUserIds(sql, statement, [accountId, inboxId]);
}

async function findUserIds(sql: Sql, statement: string, parameters: readonly unknown[]): Promise<number[]> {
  const rows = await sql<{ user_id: number }>(statement, parameters);
  return rows.map((row) => row.user_id);
}

/** The ids of all agents to whom conversations of an inbox may be assigned: its members, and all administrators. */
export function findAssignable(sql: Sql, accountId: number, inboxId: number): Promise<number[]> {
  return findUserIds(
    sql,
    `SELECT user_id FROM inbox_members WHERE account_id = $1 AND inbox_id = $2
     UNION SELECT user_id FROM agents WHERE account_id = $1 AND role = 'administrator'`,
    [accountId, inboxId],
  );
}

// Adds members; returns those that are still to be removed.
async function admitMembers(
  tx: Transaction,
  inboxId: number,
  { userIds, change }: { userIds: readonly number[]; change: MemberChange },
): Promise<number[]> {
  const { sql, account } = tx;
  await lockOne(sql, Inbox, { id: inboxId, accountId: account.id });
  await checkAgents(sql, account.id, userIds);
  const scope = [account.id, inboxId, userIds];
  if (change !== 'remove') {
    await sql(
      `INSERT INTO inbox_members (account_id, inbox_id, user_id) SELECT $1, $2, user_id
       FROM unnest($3::bigint[]) AS user_id ORDER BY user_id ON CONFLICT DO NOTHING`,
      scope,
    );
  }
  if (change === 'add') return [];
  const meant = change === 'remove' ? 'user_id = ANY ($3)' : 'NOT (user_id = ANY ($3))';
  return findUserIds(
    sql,
    `SELECT user_id FROM inbox_members WHERE account_id = $1 AND inbox_id = $2 AND ${meant} ORDER BY user_id`,
    scope,
  );
}

// An agent who no longer sees the inbox cannot keep its conversations; administrators see every inbox.
function removeMember(transact: Transact, inboxId: number, userId: number): Promise<void> {
  const member = `FROM inbox_members WHERE account_id = $1 AND inbox_id = $2 AND user_id = $3`;
  return detachAndRemove(transact, userId, {
    referring: `SELECT id FROM conversations WHERE account_id = $1 AND assignee_id = $2 AND inbox_id = ${inboxId}
      AND NOT EXISTS (SELECT FROM agents WHERE account_id = $1 AND user_id = $2 AND role = 'administrator')`,
    ...unassign(userId),
    lock: (tx) => tx.sql(`SELECT ${member} FOR UPDATE`, [tx.account.id, inboxId, userId]),
    remove: (tx) => tx.sql(`DELETE ${member}`, [tx.account.id, inboxId, userId]),
  });
}

/**
 * Changes the members of an inbox. Conversations of removed members are unassigned. Says conversation_updated for each.
 * Errors: 404 for the inbox, and for a user who is not an agent of the account.
 */
export async function changeInboxMembers(
  transact: Transact,
  inboxId: number,
  wanted: { userIds: readonly number[]; change: MemberChange },
): Promise<void> {
  const leaving = await transact((tx) => admitMembers(tx, inboxId, wanted));
  for (const userId of leaving) await removeMember(transact, inboxId, userId);
}
