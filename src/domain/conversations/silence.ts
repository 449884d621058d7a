import type {
  BotSilence,
  Conversation,
  ConversationStatus,
  HandoffReason,
  HumanSilence,
} from '../../records/conversations/conversation.ts';
import type { ServingBot } from '../../records/conversations/serving-bot.ts';
import type { Actor } from '../../events/transaction.ts';

/** Values on which the silence of a conversation's bot depends. */
export interface SilenceState {
  status: ConversationStatus;
  /** How the serving bot ended its part; endings of other bots do not count. */
  byBot: BotSilence | null;
  /** How agents took the conversation over; this silences every bot. */
  byPeople: HumanSilence | null;
  /** Public messages of bots and automations since the customer's last message. */
  streak: number;
  /** Whether an agent is assigned, which silences the bot. */
  assigned: boolean;
  /** Whether the contact is blocked, which silences the bot and prevents reopening. */
  blocked: boolean;
  /** Whether the serving bot can answer at all; null when no bot serves. */
  bot: 'able' | 'unable' | null;
}

/** A change of a conversation. Changes of assignee and bot are passed after the change, all others before. */
export type SilenceChange =
  /** It is created, with the requested status if any; `spoken` with a first message of the actor. */
  | { kind: 'begun'; status: ConversationStatus | null; spoken: boolean }
  /** The actor sets the status, perhaps to the present one. */
  | { kind: 'status'; to: ConversationStatus }
  /** Its snooze has ended. */
  | { kind: 'woken' }
  /** The customer wrote, even if another actor submitted the message. */
  | { kind: 'customer_spoke' }
  /** The actor sends a public message. */
  | { kind: 'spoke' }
  /** The actor writes a private note. */
  | { kind: 'noted' }
  | { kind: 'assigned' }
  | { kind: 'unassigned' }
  /** Another bot, or none, was set on this conversation. */
  | { kind: 'bot_chosen' }
  /** The bot set on this conversation was deleted. */
  | { kind: 'bot_removed' }
  /** The bot's part ended: it handed the conversation over, with a `cause` if it named one, or was stopped. */
  | { kind: 'bot_ended'; reason: BotSilence; cause?: HandoffReason };

/** The silence and the status after a change. */
export type NextSilence = Pick<SilenceState, 'status' | 'byBot' | 'byPeople' | 'streak'>;

type ActorKind = Actor['kind'];
type ChangeOf<Kind extends SilenceChange['kind']> = Extract<SilenceChange, { kind: Kind }>;
type Rule<Kind extends SilenceChange['kind']> = (
  state: SilenceState,
  actor: ActorKind,
  change: ChangeOf<Kind>,
) => Partial<NextSilence>;

// The conversation is the bot's: earlier reasons for silence are void.
const given = { byBot: null, byPeople: null, streak: 0 } as const;

const begun: Rule<'begun'> = (state, actor, { status, spoken }) => {
  // A person who sends the first message takes the conversation before the bot could, unless the status asked for is `pending`.
  const taken = spoken && actor === 'user' && status !== 'pending';
  const byPeople = taken ? 'human_replied' : state.byPeople;
  const answered = state.bot === 'able' && !isSilent({ ...state, byPeople });
  return { byPeople, status: status ?? (answered ? 'pending' : 'open') };
};

const status: Rule<'status'> = (state, actor, { to }) => {
  if (to === 'pending' && actor === 'user') return { ...given, status: to };
  if (state.status === 'resolved' && to !== 'resolved') return { ...given, status: to };
  const opens = to === 'open' && (state.status === 'pending' || state.status === 'snoozed');
  return { status: to, ...(opens ? opened(state, actor) : {}) };
};

const customerSpoke: Rule<'customer_spoke'> = (state) => {
  if (state.blocked) return { streak: 0 };
  if (state.status === 'resolved') {
    return { ...given, status: state.bot === 'able' && !state.assigned ? 'pending' : 'open' };
  }
  return state.status === 'snoozed' || isStranded(state) ? { streak: 0, status: 'open' } : { streak: 0 };
};

const spoke: Rule<'spoke'> = (state, actor) => {
  if (actor === 'agent_bot' || actor === 'automation') return { streak: state.streak + 1 };
  if (actor !== 'user') return {};
  return {
    // Also while no bot serves: one that is set later must not interrupt this person.
    byPeople: state.byPeople ?? 'human_replied',
    status: state.status === 'pending' ? 'open' : state.status,
  };
};

// When nobody is assigned any more the bot continues, unless it handed the conversation over itself.
const unassigned: Rule<'unassigned'> = ({ byBot }) => (byBot === 'handed_off' ? { byPeople: null } : { ...given });

const botChosen: Rule<'bot_chosen'> = ({ assigned, bot }, actor) => {
  const isGiven = actor === 'user' && bot !== null && !assigned;
  return isGiven ? { ...given } : { byBot: null, streak: 0 };
};

const rules: { [Kind in SilenceChange['kind']]: Rule<Kind> } = {
  begun,
  status,
  // The end of a snooze is nobody's decision, so it does not take the conversation from anybody.
  woken: () => ({ status: 'open' }),
  customer_spoke: customerSpoke,
  spoke,
  noted: () => ({}),
  assigned: () => ({}),
  unassigned,
  bot_chosen: botChosen,
  bot_removed: () => ({ byBot: null, streak: 0 }),
  bot_ended: (state, _, { reason }) => ({
    byBot: state.byBot ?? reason,
    // Agents look after a loop; nobody waits for a bot that failed where all is resolved.
    status: state.status === 'resolved' && reason !== 'loop_suspected' ? 'resolved' : 'open',
  }),
};

/**
 * The silence after a change by an actor. This is the only place that decides when a bot falls silent and when it may speak
 * again. A bot's own changes never lessen its silence, and those of automations never that which agents have caused.
 */
export function nextSilence(state: SilenceState, actor: ActorKind, change: SilenceChange): NextSilence {
  const { status: before, byBot, byPeople, streak } = state;
  const rule = rules[change.kind] as Rule<SilenceChange['kind']>;
  const next = { status: before, byBot, byPeople, streak, ...rule(state, actor, change) };
  if (actor === 'automation') return { ...next, byPeople: byPeople ?? next.byPeople };
  if (actor !== 'agent_bot') return next;
  return {
    ...next,
    byBot: byBot ?? next.byBot,
    byPeople: byPeople ?? next.byPeople,
    streak: Math.max(streak, next.streak),
  };
}

/** The state of a conversation, as it concerns the bot that serves now. */
export function stateOf(conversation: Conversation): SilenceState {
  const { bot, botSilence, botSilenceOf, humanSilence, botStreak, status: present, assignee, contact } = conversation;
  const able = bot?.unfit === null && hearsCustomers(bot) ? 'able' : 'unable';
  return {
    status: present,
    byBot: bot !== null && bot.id === botSilenceOf ? botSilence : null,
    byPeople: humanSilence,
    streak: botStreak,
    assigned: assignee !== null,
    blocked: contact.blocked,
    bot: bot && able,
  };
}

/** Returns whether a bot receives the customers' messages, without which it cannot answer. */
export function hearsCustomers({ events }: Pick<ServingBot, 'events'>): boolean {
  return events.includes('message_created');
}

// Pending with a bot that will not answer: nobody would see the customer's message.
function isStranded({ status: present, bot, byBot, byPeople }: SilenceState): boolean {
  if (present !== 'pending' || bot === null) return false;
  return bot === 'unable' || byBot !== null || byPeople !== null;
}

// The conversation leaves the bot's queue: an agent takes it over, or the bot hands it off.
function opened({ byBot, byPeople }: SilenceState, actor: ActorKind): Partial<NextSilence> {
  if (actor === 'user') return { byPeople: byPeople ?? 'human_opened' };
  return actor === 'agent_bot' ? { byBot: byBot ?? 'handed_off' } : {};
}

function isSilent({ byBot, byPeople, assigned, blocked }: SilenceState): boolean {
  return assigned || blocked || byBot !== null || byPeople !== null;
}
