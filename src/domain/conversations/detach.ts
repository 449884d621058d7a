import type { Conversation } from '../../records/conversation.ts';
import type { ChangedAttributes } from '../../events/catalog.ts';
import type { Transact, Transaction } from '../../events/transaction.ts';
import { sql } from '../../postgres/sql.ts';

/** A conversation after a change, and what the change was. */
export interface Change {
  conversation: Conversation;
  changed: ChangedAttributes;
}

/** How conversations let go of something that is to be deleted. */
export interface Detachment {
  /** Statement for the ids of the conversations that refer to it; `$1` is the account, `$2` its id. */
  referring: string;
  /** Takes it off locked conversations; answers those that had not let go of it meanwhile. */
  detach: (tx: Transaction, conversations: readonly Conversation[]) => Change[] | Promise<Change[]>;
  /** Holds what is to be deleted, so that nothing comes to refer to it. Errors: 404. */
  lock: (tx: Transaction) => Promise<unknown>;
  remove: (tx: Transaction) => Promise<unknown>;
}

// One transaction changes no more, so that no conversation is locked for long.
const batch = 200;

/** Says conversation_updated for each of these locked conversations. */
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
 * Deletes what conversations refer to: takes it off them, a batch to a transaction, and removes it in the one that finds
 * none left. Says conversation_updated for each. After a crash in between, deleting it again goes on from there.
 */
export async function detachAndRemove(transact: Transact, id: number, detachment: Detachment): Promise<void> {
  const removeWhenFree = async (tx: Transaction): Promise<boolean> => {
    await detachment.lock(tx);
    const referring = await sql(tx.em, `${detachment.referring} LIMIT 1`, [tx.account.id, id]);
    if (referring.length > 0) return false;
    await detachment.remove(tx);
    return true;
  };
  while (!(await transact(removeWhenFree))) {
    let more = true;
    while (more) more = await transact((tx) => detachBatch(tx, id, detachment));
  }
}
