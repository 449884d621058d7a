import type { Conversation } from '../../../records/conversations/conversation.ts';
import { findInboxBots, holdBot, type ServingBot } from '../../../records/conversations/serving-bot.ts';
import { notFound } from '../../../errors.ts';
import type { ChangedAttributes } from '../../../events/catalog.ts';
import type { Transaction } from '../../../events/transaction.ts';
import { lockConversation } from '../access.ts';
import { whyNoAnswer } from '../arbiter.ts';
import { undergo } from '../status.ts';

/** Which bot answers the customer's next message in a conversation, or why none does. */
export interface BotExplanation {
  bot: Conversation['bot'];
  answers: boolean;
  reason: ReturnType<typeof whyNoAnswer>;
}

/** Explains which bot serves a conversation. */
export function explainBot(conversation: Conversation): BotExplanation {
  const reason = whyNoAnswer(conversation);
  return { bot: conversation.bot, answers: reason === null, reason };
}

// Locked, so that nobody deletes the bot before the conversation or the inbox refers to it.
async function chooseBot(tx: Transaction, id: number): Promise<ServingBot> {
  const bot = await holdBot(tx.sql, tx.account.id, id);
  if (!bot) throw notFound('Agent bot');
  return bot;
}

/**
 * Sets the bot of an inbox; null for none. It is silent in conversations that people have taken, but not because of what
 * its predecessor did. Errors: 404 for an inbox or a bot that the account does not have.
 */
export async function setInboxBot(tx: Transaction, inboxId: number, botId: number | null): Promise<void> {
  if (botId !== null) await chooseBot(tx, botId);
  const found = await tx.sql(
    `UPDATE inboxes SET agent_bot_id = $3::bigint,
       updated_at = CASE WHEN agent_bot_id IS DISTINCT FROM $3 THEN $4 ELSE updated_at END
     WHERE account_id = $1 AND id = $2 RETURNING id`,
    [tx.account.id, inboxId, botId, tx.now],
  );
  if (found.length === 0) throw notFound('Inbox');
}

/**
 * Sets the bot of one conversation, in place of its inbox's; null removes it again. Either bot starts there without
 * silence, unless a person is assigned. Says conversation_updated. Errors: 404, 403 when the actor may not see the
 * conversation.
 */
export async function setConversationBot(tx: Transaction, id: number, botId: number | null): Promise<Conversation> {
  const conversation = await lockConversation(tx, id);
  const changed = await choose(tx, conversation, botId);
  if (!changed) return conversation;
  undergo(tx, conversation, { kind: 'bot_chosen' });
  conversation.updatedAt = tx.now;
  tx.record('conversation_updated', { conversation, changed });
  return conversation;
}

/**
 * Sets the bot of a locked conversation that nobody is assigned to any more; it starts there without silence even if it was the
 * one before. Returns what changed, for the caller to say. Errors: 404.
 */
export async function giveToBot(
  tx: Transaction,
  conversation: Conversation,
  botId: number | null,
): Promise<ChangedAttributes> {
  const changed = await choose(tx, conversation, botId);
  if (changed || botId !== null) undergo(tx, conversation, { kind: 'bot_chosen' });
  return changed ?? {};
}

async function choose(
  tx: Transaction,
  conversation: Conversation,
  botId: number | null,
): Promise<ChangedAttributes | null> {
  const chosen = botId === null ? null : await chooseBot(tx, botId);
  const previous = conversation.bot?.chosenBy === 'conversation' ? conversation.bot.id : null;
  if (previous === botId) return null;
  conversation.bot = chosen ?? (await findInboxBot(tx, conversation.inbox.id));
  return { agent_bot_id: { previous, current: botId } };
}

async function findInboxBot(tx: Transaction, inboxId: number): Promise<ServingBot | null> {
  const bots = await findInboxBots(tx.sql, tx.account.id, [inboxId]);
  return bots.get(inboxId) ?? null;
}
