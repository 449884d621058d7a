import type { BotSilence, Conversation, ServingBot } from '../entities/conversation.ts';
import type { Message } from '../entities/message.ts';
import type { EventName } from '../events/catalog.ts';
import type { BotDecision } from '../events/outbox.ts';
import type { Actor } from '../events/transaction.ts';

/** Why a bot neither hears nor says anything public in a conversation now. */
export type SilenceReason = BotSilence | 'human_assigned' | 'contact_blocked';
/** Why a bot does not get one event. */
type Deafness = SilenceReason | 'event_not_wanted' | 'own_message' | 'private_note' | 'causation_depth';

// A bot that answers what bots cause would otherwise never come to an end.
const maxCausationDepth = 5;

/** Why the conversation's bot is silent, or null while it serves. */
export function silenceOf(conversation: Conversation): SilenceReason | null {
  if (conversation.assignee) return 'human_assigned';
  if (conversation.contact.blocked) return 'contact_blocked';
  return conversation.botSilence;
}

/** Like silenceOf, for a bot that may meanwhile have been replaced by another. */
export function silenceOfBot(conversation: Conversation, botId: number): SilenceReason | 'not_serving' | null {
  return conversation.bot?.id === botId ? silenceOf(conversation) : 'not_serving';
}

/** Whether a silent bot is not told of the event: it could only answer it. */
export function isForSpeakers(name: string): boolean {
  return name.startsWith('message_') || name === 'webwidget_triggered';
}

/** Whether a bot will answer the customer's next message. */
export function botWillAnswer(conversation: Conversation): boolean {
  return conversation.bot !== null && silenceOf(conversation) === null;
}

function deafnessToMessage(bot: ServingBot, conversation: Conversation, message: Message): Deafness | null {
  if (message.type === 'outgoing' && !message.private && !bot.hearsOwn) return 'own_message';
  if (message.private && !bot.hearsNotes) return 'private_note';
  return silenceOf(conversation);
}

/**
 * Who serves the conversation, and whether it gets the event: the conversation's bot, else its inbox's, else nobody.
 * Null when nobody serves it.
 */
export function decide(
  name: EventName,
  conversation: Conversation,
  actor: Actor,
  message: Message | null = null,
): BotDecision | null {
  const { bot } = conversation;
  if (!bot) return null;
  return { botId: bot.id, chosenBy: bot.chosenBy, silence: deafness(bot, name, conversation, { actor, message }) };
}

function deafness(
  bot: ServingBot,
  name: EventName,
  conversation: Conversation,
  { actor, message }: { actor: Actor; message: Message | null },
): Deafness | null {
  if (!bot.events.includes(name)) return 'event_not_wanted';
  if (actor.depth > maxCausationDepth) return 'causation_depth';
  if (message) return deafnessToMessage(bot, conversation, message);
  return isForSpeakers(name) ? silenceOf(conversation) : null;
}
