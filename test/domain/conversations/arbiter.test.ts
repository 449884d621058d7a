import { expect } from 'chai';
import { decide, whyNoAnswer } from '../../../src/domain/conversations/arbiter.ts';
import { system, type Actor } from '../../../src/events/transaction.ts';
import type {
  BotSilence,
  Conversation,
  ConversationStatus,
  HumanSilence,
} from '../../../src/records/conversations/conversation.ts';
import type { MessageDraft } from '../../../src/records/messages/message.ts';
import type { ServingBot } from '../../../src/records/conversations/serving-bot.ts';

const botId = 7;
const all = [
  'message_created',
  'message_updated',
  'conversation_opened',
  'conversation_resolved',
  'webwidget_triggered',
];
const able: ServingBot = {
  id: botId,
  name: 'Bot',
  chosenBy: 'inbox',
  kind: 'webhook',
  events: all,
  hearsOwn: true,
  hearsNotes: true,
  unfit: null,
};

/** Which bot serves. */
const sources: Readonly<Record<string, ServingBot | null>> = {
  'no bot': null,
  'the bot of the inbox': able,
  'a bot of the conversation': { ...able, chosenBy: 'conversation' },
  'a plugin': { ...able, kind: 'plugin', hearsOwn: false, hearsNotes: false },
  'a bot without its plugin': { ...able, kind: 'plugin', unfit: 'plugin_missing' },
  'a bot in quarantine': { ...able, kind: 'plugin', unfit: 'bot_quarantined' },
  'a bot that is switched off': { ...able, unfit: 'bot_disabled' },
  'a bot that hears resolutions alone': { ...able, events: ['conversation_resolved'] },
};
const statuses: readonly ConversationStatus[] = ['open', 'pending', 'resolved', 'snoozed'];
/** Who ended the bot's part, and how. */
const endings: readonly { byBot?: [BotSilence, of: number]; byPeople?: HumanSilence }[] = [
  {},
  { byBot: ['handed_off', botId] },
  { byBot: ['handed_off', botId + 1] },
  { byBot: ['loop_suspected', botId] },
  { byBot: ['bot_failed', botId] },
  { byPeople: 'human_replied' },
  { byPeople: 'human_opened' },
  { byBot: ['handed_off', botId], byPeople: 'human_replied' },
];

type Kind = { name: Parameters<typeof decide>[0]; by: Actor['kind']; message?: 'incoming' | 'outgoing' | 'note' };
/** What happens. */
const kinds: Readonly<Record<string, Kind>> = {
  'the customer writes': { name: 'message_created', by: 'contact', message: 'incoming' },
  'the bot answers': { name: 'message_created', by: 'agent_bot', message: 'outgoing' },
  'an agent answers': { name: 'message_created', by: 'user', message: 'outgoing' },
  'the service greets': { name: 'message_created', by: 'system', message: 'outgoing' },
  'an agent writes a note': { name: 'message_created', by: 'user', message: 'note' },
  'the customer’s message is edited': { name: 'message_updated', by: 'user', message: 'incoming' },
  'the bot’s message is edited': { name: 'message_updated', by: 'agent_bot', message: 'outgoing' },
  'it is reopened': { name: 'conversation_opened', by: 'user' },
  'it is resolved': { name: 'conversation_resolved', by: 'user' },
  'a widget is opened': { name: 'webwidget_triggered', by: 'contact' },
};

interface Case {
  bot: ServingBot | null;
  assigned: boolean;
  blocked: boolean;
  ending: (typeof endings)[number];
  kind: Kind;
  depth: number;
}

/** The reasons, each with when it holds; the first one that holds is told. Independent of the code on purpose. */
const reasons: readonly [reason: string, holds: (one: Case) => boolean][] = [
  ['event_not_wanted', ({ bot, kind }) => !bot!.events.includes(kind.name)],
  ['plugin_missing', ({ bot }) => bot!.unfit === 'plugin_missing'],
  ['bot_quarantined', ({ bot }) => bot!.unfit === 'bot_quarantined'],
  ['bot_disabled', ({ bot }) => bot!.unfit === 'bot_disabled'],
  ['causation_depth', ({ depth }) => depth > 5],
  ['own_message', ({ bot, kind }) => kind.message === 'outgoing' && !bot!.hearsOwn],
  ['private_note', ({ bot, kind }) => kind.message === 'note' && !bot!.hearsNotes],
  // Silent bots hear of the end and the beginning of sessions all the same.
  ['none', ({ kind }) => kind.name === 'conversation_opened' || kind.name === 'conversation_resolved'],
  ['human_assigned', ({ assigned }) => assigned],
  ['contact_blocked', ({ blocked }) => blocked],
  ...(['handed_off', 'loop_suspected', 'bot_failed'] as const).map((reason): [string, (one: Case) => boolean] => [
    reason,
    ({ ending: { byBot } }) => byBot?.[0] === reason && byBot[1] === botId,
  ]),
  ['human_replied', ({ ending }) => ending.byPeople === 'human_replied'],
  ['human_opened', ({ ending }) => ending.byPeople === 'human_opened'],
  ['none', () => true],
];

function expected(one: Case): string | null {
  const reason = reasons.find(([, holds]) => holds(one))?.[0];
  return reason === 'none' ? null : (reason ?? null);
}

/** Whether the customer's next message will be answered; in a resolved conversation it begins a session. */
function expectedAnswer({ bot, assigned, blocked, ending }: Case, status: ConversationStatus): string | null {
  if (!bot) return 'no_bot';
  const session = status === 'resolved' ? {} : ending;
  const silent = expected({
    bot: able,
    assigned,
    blocked,
    ending: session,
    kind: kinds['the customer writes']!,
    depth: 0,
  });
  return silent ?? bot.unfit ?? (bot.events.includes('message_created') ? null : 'event_not_wanted');
}

const conversationOf = (one: Case, status: ConversationStatus): Conversation => ({
  id: 1,
  account: { id: 1, name: 'Account' },
  inbox: { id: 4, name: 'Inbox', channelType: 'Channel::Api', greets: false, autoAssigns: false, channelId: null },
  contact: {
    id: 2,
    name: 'Carla',
    email: null,
    phoneNumber: null,
    identifier: null,
    avatarUrl: null,
    blocked: one.blocked,
  },
  status,
  priority: null,
  assignee: one.assigned ? { id: 3, name: 'Hanna' } : null,
  team: null,
  bot: one.bot,
  botSilence: one.ending.byBot?.[0] ?? null,
  botSilenceOf: one.ending.byBot?.[1] ?? null,
  humanSilence: one.ending.byPeople ?? null,
  botChanges: 0,
  botChangedAt: null,
  botStreak: 0,
  handoffReason: null,
  closedBy: null,
  sessionBeganAt: null,
  labels: [],
  sourceId: null,
  snoozedUntil: null,
  waitingSince: null,
  slaPolicyId: null,
  firstResponseDueAt: null,
  resolutionDueAt: null,
  unreadCount: 0,
  eventSequence: 0,
  additionalAttributes: {},
  customAttributes: {},
  createdAt: new Date(0),
  updatedAt: new Date(0),
  lastActivityAt: new Date(0),
});

function draftOf({ message, by }: Kind): MessageDraft | null {
  if (!message) return null;
  return {
    type: message === 'incoming' ? 'incoming' : 'outgoing',
    content: 'Hello',
    contentType: 'text',
    contentAttributes: {},
    private: message === 'note',
    status: 'sent',
    sourceId: null,
    sender: { kind: by, id: 1, name: 'Somebody', email: null, avatarUrl: null },
    attachments: [],
    createdAt: new Date(0),
  };
}

type State = Pick<Case, 'ending' | 'assigned' | 'blocked' | 'depth'> & { status: ConversationStatus };
const booleans = [false, true];

/** Every state of a conversation, at every depth that makes a difference. */
const states: readonly State[] = endings.flatMap((ending) =>
  statuses.flatMap((status) =>
    booleans.flatMap((assigned) =>
      booleans.flatMap((blocked) => [0, 5, 6].map((depth) => ({ ending, status, assigned, blocked, depth }))),
    ),
  ),
);

describe('the arbiter', () => {
  for (const [source, bot] of Object.entries(sources)) {
    for (const [what, kind] of Object.entries(kinds)) {
      it(`${source}, ${what}: in every status, whoever has the conversation`, () => {
        expect(states).to.have.lengthOf(8 * 4 * 2 * 2 * 3);
        for (const { status, ...state } of states) {
          const one: Case = { bot, kind, ...state };
          const conversation = conversationOf(one, status);
          const told = JSON.stringify({ ...one, bot: source, status });
          const decision = decide(
            kind.name,
            conversation,
            { ...system, kind: kind.by, depth: one.depth },
            draftOf(kind),
          );
          const wanted = bot && { botId, chosenBy: bot.chosenBy, silence: expected(one) };
          expect(decision, told).to.deep.equal(wanted);
          expect(whyNoAnswer(conversation), told).to.equal(expectedAnswer(one, status));
        }
      });
    }
  }
});
