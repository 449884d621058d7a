import type { Conversation } from '../../records/conversation.ts';
import { findInboxBots, holdBot, type ServingBot } from '../../records/serving-bot.ts';
import { notFound } from '../../errors.ts';
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

// Nobody deletes it before the conversation or the inbox refers to it.
async function chooseBot(tx: Transaction, id: number): Promise<ServingBot> {
  const bot = await holdBot(tx.em, tx.account.id, id);
  if (!bot) throw notFound('Agent bot');
  return bot;
}

/**
 * Makes a bot, or none, the active one of an inbox. In conversations that people have taken it is silent; what its
 * predecessor did does not bind it. Errors: 404 for an inbox or a bot that the account does not have.
 */
export async function setInboxBot(tx: Transaction, inboxId: number, botId: number | null): Promise<void> {
  if (botId !== null) await chooseBot(tx, botId);
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
  const chosen = botId === null ? null : await chooseBot(tx, botId);
  const previous = conversation.bot?.chosenBy === 'conversation' ? conversation.bot.id : null;
  if (previous === botId) return conversation;
  const bot = chosen ?? (await findInboxBot(tx, conversation.inbox.id));
  Object.assign(conversation, { bot, updatedAt: tx.now });
  undergo(tx, conversation, { kind: 'bot_chosen' });
  tx.record('conversation_updated', { conversation, changed: { agent_bot_id: { previous, current: botId } } });
  return conversation;
}

async function findInboxBot(tx: Transaction, inboxId: number): Promise<ServingBot | null> {
  const bots = await findInboxBots(tx.em, tx.account.id, [inboxId]);
  return bots.get(inboxId) ?? null;
}
