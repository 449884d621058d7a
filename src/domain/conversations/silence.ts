import type { BotSilence, Conversation, ConversationStatus, HumanSilence } from '../../records/conversation.ts';
import type { Actor } from '../../events/transaction.ts';

/** All that a conversation's silence depends on. */
export interface SilenceState {
  status: ConversationStatus;
  /** How the bot that serves now ended its part; what another bot did does not bind it. */
  byBot: BotSilence | null;
  /** How people took the conversation; it binds every bot. */
  byPeople: HumanSilence | null;
  /** Public messages of bots since the customer last spoke. */
  streak: number;
  /** Whether a person is assigned: the bot is silent as long. */
  assigned: boolean;
  /** Whether the contact is blocked: the bot is silent as long, and nothing is reopened. */
  blocked: boolean;
  /** Whether a bot serves, and whether it can answer at all; null when none serves. */
  bot: 'able' | 'unable' | null;
}

/** What happens to a conversation. Changes of assignee and bot are told once they are made, all others before. */
export type SilenceChange =
  /** It begins, in the status that was asked for if any; `spoken`: with a first message of the actor. */
  | { kind: 'begun'; status: ConversationStatus | null; spoken: boolean }
  /** The actor sets the status, be it to what it is. */
  | { kind: 'status'; to: ConversationStatus }
  /** Its snooze is over. */
  | { kind: 'woken' }
  /** The customer wrote, whoever handed the message in. */
  | { kind: 'customer_spoke' }
  /** The actor sends a public message. */
  | { kind: 'spoke' }
  /** The actor writes a private note. */
  | { kind: 'noted' }
  | { kind: 'assigned' }
  | { kind: 'unassigned' }
  /** Another bot, or none, was chosen for this conversation. */
  | { kind: 'bot_chosen' }
  /** The bot chosen for this conversation is no more. */
  | { kind: 'bot_removed' }
  /** The bot's part is over: it gave the conversation away, or had to be stopped. */
  | { kind: 'bot_ended'; reason: BotSilence };

/** What a change makes of the silence, and the status that the conversation has then. */
export type NextSilence = Pick<SilenceState, 'status' | 'byBot' | 'byPeople' | 'streak'>;

type ActorKind = Actor['kind'];
type ChangeOf<Kind extends SilenceChange['kind']> = Extract<SilenceChange, { kind: Kind }>;
type Rule<Kind extends SilenceChange['kind']> = (
  state: SilenceState,
  actor: ActorKind,
  change: ChangeOf<Kind>,
) => Partial<NextSilence>;

// The conversation is the bot's: nothing that was done before counts any more.
const given = { byBot: null, byPeople: null, streak: 0 } as const;

function isSilent({ byBot, byPeople, assigned, blocked }: SilenceState): boolean {
  return assigned || blocked || byBot !== null || byPeople !== null;
}

const begun: Rule<'begun'> = (state, actor, { status, spoken }) => {
  // Who speaks first has taken the conversation before its bot could, unless that person gives it to the bot expressly.
  const taken = spoken && actor === 'user' && status !== 'pending';
  const byPeople = taken ? 'human_replied' : state.byPeople;
  const answered = state.bot === 'able' && !isSilent({ ...state, byPeople });
  return { byPeople, status: status ?? (answered ? 'pending' : 'open') };
};

// Taken out of the bot's queue: by a person for people, by a bot for people too.
function opened({ byBot, byPeople }: SilenceState, actor: ActorKind): Partial<NextSilence> {
  if (actor === 'user') return { byPeople: byPeople ?? 'human_opened' };
  return actor === 'agent_bot' ? { byBot: byBot ?? 'handed_off' } : {};
}

const status: Rule<'status'> = (state, actor, { to }) => {
  if (to === 'pending' && actor === 'user') return { ...given, status: to };
  if (state.status === 'resolved' && to !== 'resolved') return { ...given, status: to };
  const opens = to === 'open' && (state.status === 'pending' || state.status === 'snoozed');
  return { status: to, ...(opens ? opened(state, actor) : {}) };
};

// In the queue of a bot that will not answer: nobody would see what the customer writes.
function isStranded({ status: present, bot, byBot, byPeople }: SilenceState): boolean {
  if (present !== 'pending' || bot === null) return false;
  return bot === 'unable' || byBot !== null || byPeople !== null;
}

const customerSpoke: Rule<'customer_spoke'> = (state) => {
  if (state.blocked) return { streak: 0 };
  if (state.status === 'resolved') {
    return { ...given, status: state.bot === 'able' && !state.assigned ? 'pending' : 'open' };
  }
  return state.status === 'snoozed' || isStranded(state) ? { streak: 0, status: 'open' } : { streak: 0 };
};

const spoke: Rule<'spoke'> = (state, actor) => {
  if (actor === 'agent_bot') return { streak: state.streak + 1 };
  if (actor !== 'user') return {};
  return {
    // Also where no bot serves yet: one that comes later must not talk over this person.
    byPeople: state.byPeople ?? 'human_replied',
    status: state.status === 'pending' ? 'open' : state.status,
  };
};

// With nobody assigned any more the bot goes on, unless it gave the conversation away itself.
const unassigned: Rule<'unassigned'> = ({ byBot }) => (byBot === 'handed_off' ? { byPeople: null } : { ...given });

const botChosen: Rule<'bot_chosen'> = ({ assigned, bot }, actor) => {
  const isGiven = actor === 'user' && bot !== null && !assigned;
  return isGiven ? { ...given } : { byBot: null, streak: 0 };
};

const rules: { [Kind in SilenceChange['kind']]: Rule<Kind> } = {
  begun,
  status,
  // Nobody decided that now, so it takes the conversation from nobody.
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
    status: state.status === 'resolved' ? 'resolved' : 'open',
  }),
};

/**
 * The silence that a change by an actor leads to: the one place that decides when a bot falls silent and when it may
 * speak again. A bot never makes it smaller, whatever it does.
 */
export function nextSilence(state: SilenceState, actor: ActorKind, change: SilenceChange): NextSilence {
  const { status: before, byBot, byPeople, streak } = state;
  const rule = rules[change.kind] as Rule<SilenceChange['kind']>;
  const next = { status: before, byBot, byPeople, streak, ...rule(state, actor, change) };
  if (actor !== 'agent_bot') return next;
  return {
    ...next,
    byBot: byBot ?? next.byBot,
    byPeople: byPeople ?? next.byPeople,
    streak: Math.max(streak, next.streak),
  };
}

/** The silence of a conversation as it stands for the bot that serves now. */
export function stateOf(conversation: Conversation): SilenceState {
  const { bot, botSilence, botSilenceOf, humanSilence, botStreak, status: present, assignee, contact } = conversation;
  const able = bot?.unfit === null ? 'able' : 'unable';
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

/** Gives a locked conversation the silence that a change led to; its status stays for the caller to move. */
export function keepSilence(conversation: Conversation, { byBot, byPeople, streak }: NextSilence): void {
  conversation.botSilence = conversation.bot && byBot;
  conversation.botSilenceOf = byBot && conversation.bot ? conversation.bot.id : null;
  conversation.humanSilence = byPeople;
  conversation.botStreak = streak;
}
