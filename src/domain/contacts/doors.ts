import type { Transaction } from '../../events/transaction.ts';

/**
 * Locks a contact's tokens and its places in inboxes. Requests in the contact's name lock one of them first, before the
 * conversation (deliveries/lanes/lock-order.ts).
 */
export async function lockDoors(tx: Transaction, contactId: number): Promise<void> {
  for (const table of ['contact_tokens', 'contact_inboxes']) {
    const statement = `SELECT FROM ${table} WHERE account_id = $1 AND contact_id = $2 ORDER BY id FOR UPDATE`;
    await tx.sql(statement, [tx.account.id, contactId]);
  }
}
