import { findConversation, saveConversation, type Conversation } from '../../records/conversation.ts';
import { notFound } from '../../errors.ts';
import { record } from '../../events/outbox.ts';
import type { Transaction } from '../../events/transaction.ts';
import { sql } from '../../postgres/sql.ts';
import { lockConversation } from './access.ts';
import { whyNoAnswer } from './arbiter.ts';
import { undergo } from './status.ts';

/** Who answers the customer's next message in a conversation, and, when nobody's bot does, why not. */
export interface BotExplanation {
  bot: Conversation['bot'];
  answers: boolean;
  reason: ReturnType<typeof whyNoAnswer>;
}

/** Explains who serves a conversation. */
export function explainBot(conversation: Conversation): BotExplanation {
  const reason = whyNoAnswer(conversation);
  return { bot: conversation.bot, answers: reason === null, reason };
}

// Locked against its deletion; the account's own or a system bot.
async function holdBot(tx: Transaction, id: number): Promise<void> {
  const found = await sql(
    tx.em,
    'SELECT FROM agent_bots WHERE id = $2 AND (account_id = $1 OR account_id IS NULL) FOR KEY SHARE',
    [tx.account.id, id],
  );
  if (found.length === 0) throw notFound('Agent bot');
}

/**
 * Makes a bot, or none, the active one of an inbox. In conversations that people have taken it is silent; what its
 * predecessor did does not bind it. Errors: 404 for an inbox or a bot that the account does not have.
 */
export async function setInboxBot(tx: Transaction, inboxId: number, botId: number | null): Promise<void> {
  if (botId !== null) await holdBot(tx, botId);
  const found = await sql(
    tx.em,
    `UPDATE inboxes SET agent_bot_id = $3::bigint,
       updated_at = CASE WHEN agent_bot_id IS DISTINCT FROM $3 THEN $4 ELSE updated_at END
     WHERE account_id = $1 AND id = $2 RETURNING id`,
    [tx.account.id, inboxId, botId, tx.now],
  );
  if (found.length === 0) throw notFound('Inbox');
}

/**
 * Makes a bot serve one conversation instead of its inbox's bot; null gives it back to that one. Who serves then has a
 * new start there, unless a person is assigned. Says conversation_updated. Errors: 404, 403 for a conversation that the
 * actor may not see.
 */
export async function setConversationBot(tx: Transaction, id: number, botId: number | null): Promise<Conversation> {
  const conversation = await lockConversation(tx, id);
  if (botId !== null) await holdBot(tx, botId);
  const previous = conversation.bot?.chosenBy === 'conversation' ? conversation.bot.id : null;
  if (previous === botId) return conversation;
  const scope = [tx.account.id, id];
  await sql(tx.em, 'UPDATE conversations SET agent_bot_id = $3 WHERE account_id = $1 AND id = $2', [...scope, botId]);
  const served = await findConversation(tx.em, tx.account.id, id);
  Object.assign(conversation, { bot: served?.bot ?? null, updatedAt: tx.now });
  undergo(tx, conversation, { kind: 'bot_chosen' });
  record(tx, 'conversation_updated', { conversation, changed: { agent_bot_id: { previous, current: botId } } });
  await saveConversation(tx.em, conversation);
  return conversation;
}
