import type { ServingBot } from './serving-bot.ts';

export type ConversationStatus = 'open' | 'resolved' | 'pending' | 'snoozed';
export type Priority = 'urgent' | 'high' | 'medium' | 'low';
/** How a bot ended its part in a conversation: it gave it away, was stopped in a loop, or could not answer. */
export type BotSilence = 'handed_off' | 'loop_suspected' | 'bot_failed';
/** How people took a conversation from its bot. */
export type HumanSilence = 'human_replied' | 'human_opened';

export interface Named {
  id: number;
  name: string;
}

/** A conversation with all that its answers and events tell of its surroundings. */
export interface Conversation {
  id: number;
  account: Named;
  /** `greets`: it may answer a customer by itself; `autoAssigns`: it may name an assignee by itself. */
  inbox: Named & { channelType: string; greets: boolean; autoAssigns: boolean };
  contact: Named & {
    email: string | null;
    phoneNumber: string | null;
    identifier: string | null;
    avatarUrl: string | null;
    blocked: boolean;
  };
  status: ConversationStatus;
  priority: Priority | null;
  assignee: Named | null;
  team: Named | null;
  bot: ServingBot | null;
  /** Binds the bot `botSilenceOf` alone, which may have been replaced since; null as long as that is. */
  botSilence: BotSilence | null;
  botSilenceOf: number | null;
  /** Binds every bot. */
  humanSilence: HumanSilence | null;
  /** Public messages of bots since the customer last spoke. */
  botStreak: number;
  labels: string[];
  sourceId: string | null;
  snoozedUntil: Date | null;
  waitingSince: Date | null;
  slaPolicyId: number | null;
  /** Null when the policy demands none, and once it was given or missed. */
  firstResponseDueAt: Date | null;
  /** Like firstResponseDueAt. */
  resolutionDueAt: Date | null;
  unreadCount: number;
  eventSequence: number;
  additionalAttributes: Record<string, unknown>;
  customAttributes: Record<string, unknown>;
  createdAt: Date;
  updatedAt: Date;
  lastActivityAt: Date;
}
