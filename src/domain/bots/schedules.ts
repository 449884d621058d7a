import { ApiError } from '../../errors.ts';
import type { ScheduledCall } from '../../events/catalog.ts';
import { system, transact, type Transaction } from '../../events/transaction.ts';
import type { Database } from '../../postgres/database.ts';
import type { Conversation } from '../../records/conversations/conversation.ts';
import { decide } from '../conversations/arbiter.ts';
import { holdFree } from '../conversations/hold.ts';
import { sweep } from '../upkeep/sweep.ts';

/** Calls that one bot may have waiting in one conversation. */
const maxCalls = 20;

/**
 * Has the acting bot called at a moment; a waiting call with the same name in the conversation is replaced. Errors: 422 when
 * the bot has too many calls waiting there.
 */
export async function scheduleCall(tx: Transaction, conversationId: number, call: ScheduledCall): Promise<void> {
  const whose = [tx.account.id, conversationId, tx.actor.id];
  await tx.sql(
    `INSERT INTO bot_schedules (account_id, conversation_id, agent_bot_id, name, data, at, created_at)
     VALUES ($1, $2, $3, $4, $5::json, $6, $7) ON CONFLICT (account_id, conversation_id, agent_bot_id, name)
     DO UPDATE SET data = excluded.data, at = excluded.at, created_at = excluded.created_at`,
    [...whose, call.name, JSON.stringify(call.data), call.at, tx.now],
  );
  const waiting = await tx.sql(
    `SELECT FROM bot_schedules WHERE account_id = $1 AND conversation_id = $2 AND agent_bot_id = $3 LIMIT ${maxCalls + 1}`,
    whose,
  );
  if (waiting.length > maxCalls) {
    throw new ApiError(422, 'too_many_schedules', `A bot may have ${maxCalls} calls waiting in a conversation`);
  }
  tx.announce('call', call.at);
}

/** Calls a bot as it asked, unless it no longer serves the conversation; an automation in any case. Says schedule. */
export function sayScheduled(
  tx: Transaction,
  conversation: Conversation,
  { botId, isAutomation = false, scheduled }: { botId: number; isAutomation?: boolean; scheduled: ScheduledCall },
): void {
  if (isAutomation) return tx.record('schedule', { conversation, scheduled }, null, botId);
  if (conversation.bot?.id !== botId) return;
  tx.record('schedule', { conversation, scheduled }, decide('schedule', conversation, tx.actor));
}

interface DueCall {
  id: number;
  account_id: number;
  account_name: string;
  conversation_id: number;
}

const pageSize = 200;

/**
 * Calls bots whose moment has come; returns how many. A bot that no longer serves the conversation, or must be silent in
 * it, is not called. One call that fails does not hold back the others.
 */
export function callScheduled(database: Database): Promise<number> {
  return sweep<DueCall>(database, {
    name: 'calling bots as scheduled',
    nameOf: ({ id, account_id: accountId }) => `call ${id} of account ${accountId}`,
    page: (after) => findDue(database, after),
    pageSize,
    atOnce: pageSize,
    together: ({ account_id: accountId }) => accountId,
    work: (calls) => callSome(database, calls),
  });
}

function findDue(database: Database, after: DueCall | null): Promise<DueCall[]> {
  return database.sql<DueCall>(
    `SELECT s.id, s.account_id, a.name AS account_name, s.conversation_id FROM bot_schedules s
     JOIN accounts a ON a.id = s.account_id WHERE s.at <= $1 AND s.id > $2 ORDER BY s.id LIMIT ${pageSize}`,
    [database.clock.now(), after?.id ?? 0],
  );
}

async function callSome(database: Database, calls: readonly DueCall[]): Promise<number> {
  const [first] = calls;
  if (!first) return 0;
  const account = { id: first.account_id, name: first.account_name };
  return transact(database, { account, actor: system }, async (tx) => {
    const held = await holdFree(
      tx,
      calls.map(({ conversation_id: id }) => ({ id })),
    );
    const conversations = new Map(held.map((conversation) => [conversation.id, conversation]));
    // Only calls that are still due: another process may have made one, or the bot may have chosen another moment.
    const due = await tx.sql<{
      agent_bot_id: number;
      is_automation: boolean;
      conversation_id: number;
      name: string;
      data: unknown;
      at: string;
    }>(
      `DELETE FROM bot_schedules WHERE account_id = $1 AND id = ANY ($2) AND at <= $3 AND conversation_id = ANY ($4)
       RETURNING agent_bot_id, conversation_id, name, data, at,
         EXISTS (SELECT FROM agent_bots b WHERE b.id = agent_bot_id AND b.kind = 'automation') AS is_automation`,
      [tx.account.id, calls.map(({ id }) => id), tx.now, [...conversations.keys()]],
    );
    for (const { agent_bot_id: botId, is_automation: isAutomation, conversation_id: id, name, data, at } of due) {
      const conversation = conversations.get(id);
      if (conversation)
        sayScheduled(tx, conversation, { botId, isAutomation, scheduled: { name, data, at: new Date(at) } });
    }
    return due.length;
  });
}
