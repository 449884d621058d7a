import type { Transaction } from '../../events/transaction.ts';

/**
 * Gives what imports know of a contact to another one: what is still copied of it, such as its conversations, is that one's
 * from then on. Its values stay as they are here.
 */
export async function moveCopies(tx: Transaction, { from, to }: { from: number; to: number }): Promise<void> {
  await tx.sql(
    `UPDATE imported SET local_id = $3, version = NULL WHERE account_id = $1 AND kind = 'contact' AND local_id = $2`,
    [tx.account.id, from, to],
  );
}

/** Forgets what imports read of conversations that are erased with their contact. That they were copied stays known. */
export async function forgetCopiedConversations(tx: Transaction, conversationIds: readonly number[]): Promise<void> {
  if (conversationIds.length === 0) return;
  await tx.sql(
    `UPDATE imported SET version = NULL WHERE account_id = $1 AND kind = 'conversation' AND local_id = ANY ($2)`,
    [tx.account.id, conversationIds],
  );
}

/** Forgets what imports read of a contact that is erased. That it was copied stays known, so that it does not come back. */
export async function forgetCopies(tx: Transaction, contactId: number): Promise<void> {
  await tx.sql(`UPDATE imported SET version = NULL WHERE account_id = $1 AND kind = 'contact' AND local_id = $2`, [
    tx.account.id,
    contactId,
  ]);
}
