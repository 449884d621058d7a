import type { ServingBot } from './serving-bot.ts';

export type ConversationStatus = 'open' | 'resolved' | 'pending' | 'snoozed';
export type Priority = 'urgent' | 'high' | 'medium' | 'low';
/** How a bot ended its part in a conversation: it handed it over, was stopped in a loop, or failed to answer. */
export type BotSilence = 'handed_off' | 'loop_suspected' | 'bot_failed';
/** The reason of a handoff. */
export type HandoffReason =
  | 'keyword'
  | 'max_exchanges'
  | 'requested_by_model'
  | 'plugin'
  | 'model_failed'
  | 'no_answer'
  | 'budget'
  | 'bot_unreachable'
  | 'loop';
/** How people took a conversation from its bot. */
export type HumanSilence = 'human_replied' | 'human_opened';

export interface Named {
  id: number;
  name: string;
}

/** A conversation, with what its answers and events show of inbox, contact, assignee, team and bot. */
export interface Conversation {
  id: number;
  account: Named;
  /**
   * `greets`: it may answer customers automatically; `autoAssigns`: it may assign conversations automatically; `channelId`: the
   * channel that sends its messages, null for none.
   */
  inbox: Named & { channelType: string; greets: boolean; autoAssigns: boolean; channelId: number | null };
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
  /** Silences only the bot `botSilenceOf`, which may have been replaced since. */
  botSilence: BotSilence | null;
  botSilenceOf: number | null;
  /** Silences every bot. */
  humanSilence: HumanSilence | null;
  /** Public messages of bots since the customer's last message. */
  botStreak: number;
  /** Notes and changes of bots in a row, and when the last one was: see bot-loops.ts. */
  botChanges: number;
  botChangedAt: Date | null;
  /** Why people got it from its bot; null again with the next session, and when a person sets `pending`. */
  handoffReason: HandoffReason | null;
  /** The kind of actor that resolved or snoozed it; null while it is neither. */
  closedBy: 'user' | 'agent_bot' | 'automation' | 'contact' | 'system' | null;
  /** When its present session began; null in its first one. */
  sessionBeganAt: Date | null;
  labels: string[];
  sourceId: string | null;
  snoozedUntil: Date | null;
  waitingSince: Date | null;
  slaPolicyId: number | null;
  /** Null without a promise, and once the promise was met or broken. */
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

/** Fields of a conversation that `keepSilence` sets. */
export type SilenceColumn = Extract<keyof Conversation, `${string}ilence${string}` | 'botStreak'>;
