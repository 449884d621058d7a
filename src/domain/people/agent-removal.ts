import { Agent } from '../../records/agent.ts';
import type { Transaction, Transact } from '../../events/transaction.ts';
import { checkNotLastAdministrator } from './agents.ts';
import { detachAndRemove } from '../conversations/assignment/detach.ts';
import { closeInvitations } from './invitations.ts';
import { leaveSeat, revokeIdleTokens } from './seats.ts';
import { unassign } from '../conversations/assignment/unassign.ts';
import { deleteRows, lockOne, readOne, save } from '../small-rows.ts';

/**
 * Removes an agent from the account, its teams and inboxes, and unassigns the agent's conversations. Says
 * conversation_updated for each. Errors: 404, 422 for the last administrator.
 */
export async function deleteAgent(transact: Transact, userId: number): Promise<void> {
  await transact((tx) => shutOut(tx, userId));
  await detachAndRemove(transact, userId, {
    referring: 'SELECT id FROM conversations WHERE account_id = $1 AND assignee_id = $2',
    ...unassign(userId),
    lock: (tx) => lockOne(tx.sql, Agent, { accountId: tx.account.id, userId }),
    remove: (tx) => removeMembership(tx, userId),
  });
}

// Revoked first, because unassigning may take several transactions: from now on the agent sees no conversation.
async function shutOut(tx: Transaction, userId: number): Promise<void> {
  const agent = await readOne(tx.sql, Agent, { accountId: tx.account.id, userId });
  if (agent.role === 'administrator') await checkNotLastAdministrator(tx, userId);
  agent.role = 'agent';
  await save(tx.sql, agent);
  const scope = [tx.account.id, userId];
  await tx.sql('DELETE FROM inbox_members WHERE account_id = $1 AND user_id = $2', scope);
  await tx.sql('DELETE FROM team_members WHERE account_id = $1 AND user_id = $2', scope);
  await tx.sql(`DELETE FROM macros WHERE account_id = $1 AND created_by_id = $2 AND visibility = 'personal'`, scope);
  await closeInvitations(tx, userId);
}

// The seat stays to name the author of messages and notes. A person without any account loses the access tokens.
async function removeMembership(tx: Transaction, userId: number): Promise<void> {
  await tx.sql('DELETE FROM notifications WHERE account_id = $1 AND agent_id = $2', [tx.account.id, userId]);
  const personId = await leaveSeat(tx, userId);
  await deleteRows(tx.sql, Agent, { accountId: tx.account.id, userId });
  if (personId !== null) await revokeIdleTokens(tx.sql, [personId]);
}
