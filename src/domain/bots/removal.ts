import { deleteRows } from '../small-rows.ts';
import { AgentBot } from '../../records/bots/agent-bot.ts';
import type { Conversation, Named } from '../../records/conversations/conversation.ts';
import { findInboxBots } from '../../records/conversations/serving-bot.ts';
import type { OuterTransaction, Transact, Transaction } from '../../events/transaction.ts';
import type { Sql } from '../../postgres/sql.ts';
import { lockOwnBot } from './bots.ts';
import { cancelBacklog, isOwed } from '../../deliveries/copies/backlogs.ts';
import { personOf } from '../../deliveries/core/refusal.ts';
import { detachAndRemove, type Change, type Detachment } from '../conversations/assignment/detach.ts';
import { undergo } from '../conversations/status.ts';

/**
 * Deletes a bot of the account: its pending deliveries are cancelled, its messages keep no author. Says
 * conversation_updated for each conversation that it was set on. Errors: 404, 403 for a system bot.
 */
export function deleteAgentBot(transact: Transact, id: number): Promise<void> {
  return dismiss(transact, id, {
    lock: (tx) => lockOwnBot(tx.sql, tx.account.id, id),
    remove: (tx) => deleteRows(tx.sql, AgentBot, { id, accountId: tx.account.id }),
  });
}

function dismiss(transact: Transact, id: number, { lock, remove }: Pick<Detachment, 'lock' | 'remove'>): Promise<void> {
  return detachAndRemove(transact, id, {
    referring: 'SELECT id FROM conversations WHERE account_id = $1 AND agent_bot_id = $2',
    detach: (tx, conversations) => detachConversations(tx, id, conversations),
    lock,
    remove: async (tx) => {
      await detachInboxes(tx, id);
      await remove(tx);
    },
  });
}

// The bot of the inbox, if it has one, serves the conversations from now on.
async function detachConversations(
  tx: Transaction,
  id: number,
  conversations: readonly Conversation[],
): Promise<Change[]> {
  const served = conversations.filter(({ bot }) => bot?.chosenBy === 'conversation' && bot.id === id);
  const inboxIds = [...new Set(served.map(({ inbox }) => inbox.id))];
  const bots = await findInboxBots(tx.sql, tx.account.id, inboxIds);
  return served.map((conversation) => {
    conversation.bot = bots.get(conversation.inbox.id) ?? null;
    undergo(tx, conversation, { kind: 'bot_removed' });
    return { conversation, changed: { agent_bot_id: { previous: id, current: null } } };
  });
}

async function detachInboxes(tx: Transaction, id: number): Promise<void> {
  const scope = [tx.account.id, id];
  await tx.sql('UPDATE inboxes SET agent_bot_id = NULL WHERE account_id = $1 AND agent_bot_id = $2', scope);
  for (const table of ['bot_storage', 'bot_schedules']) {
    await tx.sql(`DELETE FROM ${table} WHERE account_id = $1 AND agent_bot_id = $2`, scope);
  }
  await cancelBacklog(tx, { kind: 'bot', id }, 'endpoint_gone', personOf(tx.actor));
}

/**
 * Removes a system bot from an account: its pending deliveries there are cancelled. Says conversation_updated for each
 * conversation that it was set on.
 */
export function dismissSystemBot(transact: Transact, id: number): Promise<void> {
  return dismiss(transact, id, {
    lock: (tx) => lockOwnBot(tx.sql, null, id),
    remove: () => Promise.resolve(),
  });
}

/** Deletes a system bot; returns false, without deleting, while it still serves in some account. Errors: 404. */
export async function deleteSystemBot({ sql }: OuterTransaction, id: number): Promise<boolean> {
  await lockOwnBot(sql, null, id);
  if ((await findServedAccounts(sql, id)).length > 0) return false;
  await deleteRows(sql, AgentBot, { id, accountId: null });
  return true;
}

/** The accounts in which a bot serves, or has pending deliveries whose cancellation has not been requested. */
export function findServedAccounts(sql: Sql, id: number): Promise<Named[]> {
  return sql<Named>(
    `SELECT id, name FROM accounts a WHERE EXISTS (SELECT FROM inboxes WHERE account_id = a.id AND agent_bot_id = $1)
       OR EXISTS (SELECT FROM conversations WHERE account_id = a.id AND agent_bot_id = $1)
       OR ${isOwed({ kind: 'bot', id: '$1', accountId: 'a.id' })}
     ORDER BY id`,
    [id],
  );
}
