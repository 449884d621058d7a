import type { Conversation } from '../../records/conversations/conversation.ts';
import type { Transaction } from '../../events/transaction.ts';

/**
 * Locks conversations in the order of their ids, without reading them. `ids` is a statement for the ids; `$1` is the
 * account.
 */
export async function holdConversations(tx: Transaction, ids: string, parameters: readonly unknown[]): Promise<void> {
  await tx.sql(`SELECT FROM conversations WHERE account_id = $1 AND id = ANY (ARRAY(${ids})) ORDER BY id FOR UPDATE`, [
    tx.account.id,
    ...parameters,
  ]);
}

/**
 * Locks and reads those of the conversations that nobody else has locked, in one statement. For sweeps: the next sweep
 * finds what this one skips.
 */
export function holdFree(tx: Transaction, found: readonly { id: number }[]): Promise<Conversation[]> {
  const ids = found.map(({ id }) => id);
  return tx.conversations({ ids: 'SELECT unnest($2::bigint[])', parameters: [ids], skipLocked: true, hot: true });
}
