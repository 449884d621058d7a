import type { BotSilence, Conversation, HumanSilence } from '../../records/conversations/conversation.ts';
import type { MessageDraft } from '../../records/messages/message.ts';
import type { ServingBot, Unfitness } from '../../records/conversations/serving-bot.ts';
import { maxCausationDepth } from '../../deliveries/lanes/enqueue.ts';
import { forbidden } from '../../errors.ts';
import type { EventName } from '../../events/catalog.ts';
import type { BotDecision } from '../../events/outbox.ts';
import type { Actor } from '../../events/transaction.ts';
import { hearsCustomers, stateOf } from './silence.ts';

/** Why a bot neither receives nor sends public messages in a conversation. */
export type SilenceReason = BotSilence | HumanSilence | 'human_assigned' | 'contact_blocked';
/** Why a bot does not receive an event. */
type Deafness = SilenceReason | Unfitness | 'event_not_wanted' | 'own_message' | 'private_note' | 'causation_depth';

/** Why the conversation's bot is silent; null when it is not. */
export function silenceOf(conversation: Conversation): SilenceReason | null {
  const { byBot, byPeople } = stateOf(conversation);
  return obstacleOf(conversation) ?? byBot ?? byPeople;
}

// The reasons for silence that a new session does not end.
function obstacleOf(conversation: Conversation): SilenceReason | null {
  if (conversation.assignee) return 'human_assigned';
  return conversation.contact.blocked ? 'contact_blocked' : null;
}

/** Like silenceOf, for a bot that another may have replaced meanwhile. */
export function silenceOfBot(conversation: Conversation, botId: number): SilenceReason | 'not_serving' | null {
  return conversation.bot?.id === botId ? silenceOf(conversation) : 'not_serving';
}

/** Whether silent bots do not receive the event: they could only answer it. */
export function isForSpeakers(name: string): boolean {
  return name.startsWith('message_') || name === 'webwidget_triggered' || name === 'schedule';
}

const reasons: Record<SilenceReason, string> = {
  handed_off: 'it handed the conversation over to people',
  loop_suspected: 'it wrote too much without a word from the customer',
  bot_failed: 'it failed, and people have the conversation',
  human_replied: 'a person has replied',
  human_opened: 'a person has opened the conversation',
  human_assigned: 'a person is assigned',
  contact_blocked: 'the contact is blocked',
};

/** Refuses a public message where people have the conversation: of its bot, and of an automation. Errors: 403 `bot_suppressed`. */
export function refuseSpeech(actor: Actor, conversation: Conversation): void {
  const silence = silenceOf(conversation);
  if (silence === null || (actor.kind !== 'agent_bot' && actor.kind !== 'automation')) return;
  const speaker = actor.kind === 'agent_bot' ? 'The bot' : 'The automation';
  throw forbidden(`${speaker} must be silent in this conversation: ${reasons[silence]}`, 'bot_suppressed');
}

/** Refuses what a silent bot may not do: speak, assign, change the status. Errors: 403 `bot_suppressed`. */
export function refuseSilentBot(actor: Actor, conversation: Conversation): void {
  if (actor.kind === 'agent_bot') refuseSpeech(actor, conversation);
}

/**
 * Why no bot will answer the customer's next message; null when one will. In a resolved conversation that message begins
 * a new session.
 */
export function whyNoAnswer(
  conversation: Conversation,
): SilenceReason | Unfitness | 'no_bot' | 'event_not_wanted' | null {
  const { bot, status } = conversation;
  if (!bot) return 'no_bot';
  const silence = status === 'resolved' ? obstacleOf(conversation) : silenceOf(conversation);
  return silence ?? bot.unfit ?? (hearsCustomers(bot) ? null : 'event_not_wanted');
}

function deafnessToMessage(bot: ServingBot, conversation: Conversation, message: MessageDraft): Deafness | null {
  if (message.type === 'outgoing' && !message.private && !bot.hearsOwn) return 'own_message';
  if (message.private && !bot.hearsNotes) return 'private_note';
  return silenceOf(conversation);
}

/**
 * The arbiter's decision on an event: which bot serves the conversation (the conversation's own, else its inbox's) and
 * why it does not receive the event, if so. Null when no bot serves.
 */
export function decide(
  name: EventName,
  conversation: Conversation,
  actor: Actor,
  message: MessageDraft | null = null,
): BotDecision | null {
  const { bot } = conversation;
  if (!bot) return null;
  return { botId: bot.id, chosenBy: bot.chosenBy, silence: deafness(bot, name, conversation, { actor, message }) };
}

function deafness(
  bot: ServingBot,
  name: EventName,
  conversation: Conversation,
  { actor, message }: { actor: Actor; message: MessageDraft | null },
): Deafness | null {
  if (!bot.events.includes(name)) return 'event_not_wanted';
  // An unfit bot receives no new events; its pending ones fail, and people get the conversation.
  if (bot.unfit) return bot.unfit;
  // Ends loops in which bots react to what bots caused.
  if (actor.depth > maxCausationDepth) return 'causation_depth';
  if (message) return deafnessToMessage(bot, conversation, message);
  return isForSpeakers(name) ? silenceOf(conversation) : null;
}

/** The private note in a conversation whose bot is in quarantine. */
export function quarantineNote(botName: string): string {
  return `The bot ${botName} is not called at present, since it failed several times running. Please take over.`;
}
