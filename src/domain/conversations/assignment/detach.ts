import type { Conversation } from '../../../records/conversations/conversation.ts';
import type { ChangedAttributes } from '../../../events/catalog.ts';
import type { Transact, Transaction } from '../../../events/transaction.ts';

/** A changed conversation, and the change. */
export interface Change {
  conversation: Conversation;
  changed: ChangedAttributes;
}

/** How conversations let go of a row that is to be deleted. */
export interface Detachment {
  /** Statement for the ids of the conversations that refer to the row; `$1` is the account, `$2` the row's id. */
  referring: string;
  /** Removes the reference from locked conversations; returns those that still had it. */
  detach: (tx: Transaction, conversations: readonly Conversation[]) => Change[] | Promise<Change[]>;
  /** Locks the row that is to be deleted, so that no conversation can refer to it again. Errors: 404. */
  lock: (tx: Transaction) => Promise<unknown>;
  remove: (tx: Transaction) => Promise<unknown>;
}

// Conversations that one transaction changes, so that none is locked for long.
const batch = 200;

/** Dates the changes of locked conversations. Says conversation_updated for each. */
export function updateConversations(tx: Transaction, changes: readonly Change[]): void {
  for (const { conversation, changed } of changes) {
    conversation.updatedAt = tx.now;
    tx.record('conversation_updated', { conversation, changed });
  }
}

async function detachBatch(tx: Transaction, id: number, { referring, detach }: Detachment): Promise<boolean> {
  const conversations = await tx.conversations({ ids: `${referring} LIMIT ${batch}`, parameters: [id] });
  const changes = await detach(tx, conversations);
  updateConversations(tx, changes);
  return changes.length === batch;
}

/**
 * Deletes a row that conversations refer to: removes the references in batches, one transaction each, then deletes the row
 * in a transaction that finds none left. Says conversation_updated for each conversation. After a crash, deleting the row
 * again continues.
 */
export async function detachAndRemove(transact: Transact, id: number, detachment: Detachment): Promise<void> {
  const removeWhenFree = async (tx: Transaction): Promise<boolean> => {
    await detachment.lock(tx);
    const referring = await tx.sql(`${detachment.referring} LIMIT 1`, [tx.account.id, id]);
    if (referring.length > 0) return false;
    await detachment.remove(tx);
    return true;
  };
  while (!(await transact(removeWhenFree))) {
    let more = true;
    while (more) more = await transact((tx) => detachBatch(tx, id, detachment));
  }
}
