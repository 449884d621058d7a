import { Account } from '../../records/account.ts';
import type { Named } from '../../records/conversations/conversation.ts';
import { deleteSomeLanes } from '../../deliveries/log/erase.ts';
import { within, type OuterTransaction, type Transact, type Transaction } from '../../events/transaction.ts';
import type { Sql } from '../../postgres/sql.ts';
import { deleteSystemBot, dismissSystemBot, findServedAccounts } from '../bots/removal.ts';
import { deleteInbox } from '../inboxes/inboxes.ts';
import { revokeIdleTokens } from '../people/seats.ts';
import { deleteSomeAnswers } from '../upkeep/idempotency-keys.ts';
import { listPage, lockOne, readOne, type Page } from '../small-rows.ts';

/** Returns one page of all accounts, oldest first. */
export function listAccounts(sql: Sql, page: number): Promise<Page<Account>> {
  return listPage(sql, Account, {}, { page, orderBy: { id: 'asc' } });
}

/** Returns an account. Errors: 404. */
export function readAccount(sql: Sql, id: number): Promise<Account> {
  return readOne(sql, Account, { id });
}

// Rows that one transaction deletes, so that none takes long.
const batch = 1000;

// Until the account is gone its feed has no positions that a reader could miss.
async function dropFeed({ sql, account }: Transaction): Promise<void> {
  await sql('UPDATE event_feed_heads SET dropped = position WHERE account_id = $1', [account.id]);
}

async function deleteSome(tx: Transaction, table: 'events' | 'contacts'): Promise<number> {
  await dropFeed(tx);
  const rows = await tx.sql(
    `DELETE FROM ${table} WHERE account_id = $1 AND id IN (
       SELECT id FROM ${table} WHERE account_id = $1 ORDER BY id LIMIT ${batch}) RETURNING id`,
    [tx.account.id],
  );
  return rows.length;
}

// An import has as many records of copies as copies, so they are deleted in batches too.
async function forgetSomeCopies(tx: Transaction): Promise<number> {
  const some = `SELECT ctid FROM imported WHERE account_id = $1 LIMIT ${batch} FOR UPDATE`;
  const statement = `DELETE FROM imported WHERE account_id = $1 AND ctid = ANY (ARRAY(${some})) RETURNING 1`;
  return (await tx.sql(statement, [tx.account.id])).length;
}

async function empty(transact: Transact, deleteBatch: (tx: Transaction) => Promise<number>): Promise<void> {
  while ((await transact(deleteBatch)) === batch);
}

async function findInboxIds(sql: Sql, accountId: number): Promise<number[]> {
  const rows = await sql<{ id: number }>('SELECT id FROM inboxes WHERE account_id = $1 ORDER BY id', [accountId]);
  return rows.map(({ id }) => id);
}

// Members without another account lose their access tokens, as when they leave one by one.
async function removeWhenEmpty(tx: Transaction): Promise<boolean> {
  await lockOne(tx.sql, Account, { id: tx.account.id });
  if ((await findInboxIds(tx.sql, tx.account.id)).length > 0) return false;
  const members = await tx.sql<{ id: number }>(
    'SELECT person_id AS id FROM seats WHERE account_id = $1 AND person_id IS NOT NULL AND left_at IS NULL',
    [tx.account.id],
  );
  // Unplaced events refer to no account, so that nothing deletes them with it.
  await tx.sql('DELETE FROM unplaced_events WHERE account_id = $1', [tx.account.id]);
  await tx.sql('DELETE FROM accounts WHERE id = $1', [tx.account.id]);
  await revokeIdleTokens(
    tx.sql,
    members.map(({ id }) => id),
  );
  return true;
}

/**
 * Deletes an account with everything in it, in batches, one transaction each: after a crash, deleting it again continues.
 * Its users stay, without access tokens if they have no other account. Says nothing, since no subscriber is left. Errors:
 * 404.
 */
export async function deleteAccount(outside: Transact<OuterTransaction>, account: Named): Promise<void> {
  const transact = within(outside, account);
  do {
    for (const id of await transact(({ sql }) => findInboxIds(sql, account.id))) await deleteInbox(transact, id);
    await empty(transact, (tx) => deleteSome(tx, 'events'));
    await empty(transact, (tx) => deleteSome(tx, 'contacts'));
    await empty(transact, forgetSomeCopies);
    await empty(transact, (tx) => deleteSomeAnswers(tx.sql, tx.account.id, batch));
    await empty(transact, (tx) => deleteSomeLanes(tx, batch));
  } while (!(await transact(removeWhenEmpty)));
}

/**
 * Deletes a system bot in all accounts. Says conversation_updated for each conversation that it was set on. Errors: 404.
 */
export async function removeSystemBot(transact: Transact<OuterTransaction>, sql: Sql, id: number): Promise<void> {
  while (!(await transact((tx) => deleteSystemBot(tx, id)))) {
    for (const account of await findServedAccounts(sql, id)) await dismissSystemBot(within(transact, account), id);
  }
}
