import { isForSpeakers, quarantineNote, silenceOfBot } from '../domain/conversations/arbiter.ts';
import type { BotSilence, Conversation } from '../records/conversations/conversation.ts';
import type { BotToRun } from '../records/bots/bot-to-run.ts';
import type { FreeBot } from '../records/bots/free-bot.ts';
import type { Unfitness } from '../records/conversations/serving-bot.ts';
import { system, type Actor } from '../events/transaction.ts';

/** Why a bot is not called for an event that waited for it; null when it is. */
export function whyUnheard(conversation: Conversation, botId: number, event: string): string | null {
  const silence = silenceOfBot(conversation, botId);
  return silence === 'not_serving' || (silence !== null && isForSpeakers(event)) ? silence : null;
}

const notes: Partial<Record<Unfitness, (name: string) => string>> = {
  bot_quarantined: quarantineNote,
  plugin_disabled: (name) => `The bot ${name} is not called, since its plugin is disabled. Please take over.`,
  config_invalid: (name) =>
    `The bot ${name} is not called, since its plugin has a version that refuses its settings. Please take over.`,
};

/** Why a bot that has an event to handle is not called, with the note for people; null when it is called. */
export function noteOfUnfit(unfit: Unfitness | null, name: string): { why: Unfitness; note: string } | null {
  const note = unfit && notes[unfit]?.(name);
  return note ? { why: unfit, note } : null;
}

/**
 * The note for people when the plugin of a bot was disabled while it ran, which stops what the run was about to do; null when
 * it was not.
 */
export function noteOfStop({ bot }: Conversation, { id, name }: Pick<BotToRun, 'id' | 'name'>): string | null {
  return bot?.id === id && bot.unfit === 'plugin_disabled' ? (noteOfUnfit(bot.unfit, name)?.note ?? null) : null;
}

/** The bot as the author of what its run does; `depth` is that of the event it was called for. */
export function actorOf({ id, name, avatarUrl }: BotToRun, depth: number): Actor {
  return { kind: 'agent_bot', id, name, role: null, email: null, avatarUrl: avatarUrl ?? null, depth: depth + 1 };
}

/** The author of what the run of a plugin does; `depth` is that of the event it was called for. */
export function authorOf({ bot, inboxIds }: Pick<FreeBot, 'bot' | 'inboxIds'>, depth: number): Actor {
  // A channel writes nothing itself: it brings in what customers write.
  if (bot.part === 'channel') return { ...system, depth };
  return bot.part === 'automation' ? { ...actorOf(bot, depth), kind: 'automation', inboxIds } : actorOf(bot, depth);
}

/** How people get the conversation after a run that failed. */
export function endAfter(outcome: string, bot: BotToRun): { botId: number; silence: BotSilence; note: string } {
  return {
    botId: bot.id,
    silence: outcome === 'loop_suspected' ? 'loop_suspected' : 'bot_failed',
    note: `The bot ${bot.name} could not answer (${outcome}). Please take over.`,
  };
}

/** Where the bodies of events have the status of their conversation at that moment. */
interface EventWithStatus {
  status?: string;
  conversation?: { status: string } | null;
  current_conversation?: { status: string } | null;
}

/** Whether a person has resolved or snoozed the conversation since the event with this body (JSON text). */
export function isClosedSince({ closedBy, status }: Conversation, body: string): boolean {
  if (closedBy !== 'user') return false;
  const { conversation, current_conversation: current, status: own } = JSON.parse(body) as EventWithStatus;
  return (conversation?.status ?? current?.status ?? own) !== status;
}
