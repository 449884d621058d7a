import { scheduleCall } from '../domain/bots/schedules.ts';
import { blockContact } from '../domain/contacts/contacts.ts';
import { lockConversation } from '../domain/conversations/access.ts';
import { silenceOfBot } from '../domain/conversations/arbiter.ts';
import { assign } from '../domain/conversations/assignment/assignments.ts';
import { setConversationBot } from '../domain/conversations/bots/serving-bot.ts';
import { changeLabels } from '../domain/conversations/labels.ts';
import { handOff, toggleStatus } from '../domain/conversations/lifecycle.ts';
import { send } from '../domain/conversations/send.ts';
import { updateConversation } from '../domain/conversations/updates.ts';
import { ApiError } from '../errors.ts';
import type { Transaction } from '../events/transaction.ts';
import type { Conversation } from '../records/conversations/conversation.ts';
import type { Action } from '../sandbox/run.ts';
import { fromUnixSeconds } from '../lib/unix-time.ts';
import { isClosedSince } from './conduct.ts';
import { findPeople, teamCalled } from './people.ts';
import type { ReplyFiles } from './reply-files.ts';
import type { Run } from './run.ts';

/**
 * Whether a run's actions are dropped. A replaced bot may do nothing. A silent one, and one whose event is older than a
 * person's decision to close the conversation, may still write notes and set labels, priority and attributes.
 */
export function isSuperseded(
  conversation: Conversation,
  { bot, result, input }: Pick<Run, 'bot' | 'result' | 'input'>,
): boolean {
  const silence = silenceOfBot(conversation, bot.id);
  if (silence === 'not_serving') return true;
  return (silence !== null || isClosedSince(conversation, input.body)) && result.actions.some(isPublic);
}

// Neither seen by the customer nor a step towards or away from people: what a silent bot may still do.
const quiet: ReadonlySet<Action['type']> = new Set(['note', 'label', 'priority', 'attributes']);

function isPublic({ type }: Action): boolean {
  return !quiet.has(type);
}

/** Whether an action sends a public message. */
export function speaks(action: Action): boolean {
  return action.type === 'reply' || (action.type === 'handoff' && action.message !== undefined);
}

/** Actions of channels, which are applied by channel-actions.ts. */
type ChannelAction = Extract<Action, { type: 'incoming' | 'status' | 'sent' | 'refused' | 'later' | 'webhook' }>;
type OwnAction = Exclude<Action, ChannelAction>;

type Apply<Type extends OwnAction['type']> = (
  tx: Transaction,
  id: number,
  action: Extract<Action, { type: Type }>,
  files: ReplyFiles,
) => Promise<unknown>;

const unchanged = {
  priority: undefined,
  slaPolicyId: undefined,
  additionalAttributes: undefined,
  customAttributes: undefined,
};

const verbs: { [Type in OwnAction['type']]: Apply<Type> } = {
  reply: (tx, id, action, files) => {
    const { content, content_type: contentType = 'text', content_attributes: contentAttributes = {} } = action;
    const attachments = files.get(action) ?? [];
    return send(tx, id, { type: 'outgoing', content, contentType, contentAttributes, attachments });
  },
  note: (tx, id, { content }) => send(tx, id, { type: 'outgoing', content, private: true }),
  handoff: applyHandoff,
  resolve: (tx, id) => toggleStatus(tx, id, { status: 'resolved', snoozedUntil: null }),
  open: (tx, id) => toggleStatus(tx, id, { status: 'open', snoozedUntil: null, inRun: true }),
  snooze: (tx, id, { until }) => toggleStatus(tx, id, { status: 'snoozed', snoozedUntil: fromUnixSeconds(until) }),
  assign: async (tx, id, { team, assignee }) =>
    assign(tx, id, {
      assigneeId: assignee,
      teamId: typeof team === 'string' ? await teamCalled(tx, team) : team,
      inRun: true,
    }),
  label: (tx, id, { add = [], remove = [] }) => changeLabels(tx, id, { add, remove }),
  priority: (tx, id, { priority }) => updateConversation(tx, id, { ...unchanged, priority }),
  attributes: (tx, id, { attributes }) => updateConversation(tx, id, { ...unchanged, customAttributes: attributes }),
  mute: async (tx, id) => {
    const { contact } = await lockConversation(tx, id);
    await blockContact(tx, contact.id);
    contact.blocked = true;
  },
  sla: (tx, id, { sla_policy_id: slaPolicyId }) => updateConversation(tx, id, { ...unchanged, slaPolicyId }),
  bot: (tx, id, { agent_bot_id: botId }) => setConversationBot(tx, id, botId),
  schedule: (tx, id, { at, name, data }) => scheduleCall(tx, id, { at: fromUnixSeconds(at), name, data }),
};

// People get the conversation also when the bot names a team or an agent that is not there (any more).
async function applyHandoff(
  tx: Transaction,
  id: number,
  { message, priority, reason, cause, passages = [], note, team, assignee }: Extract<Action, { type: 'handoff' }>,
): Promise<void> {
  // A line that hands over is no reply: it counts in no session.
  const isLine = { contentAttributes: { handoff: true } };
  if (message !== undefined) await send(tx, id, { type: 'outgoing', content: message, ...isLine });
  if (priority) await updateConversation(tx, id, { ...unchanged, priority });
  const { to, missing } = await findPeople(tx, id, { team, assignee });
  const notes = [
    note ?? `Handed off: ${reason}`,
    ...missing.map((what) => `The bot named ${what}, which cannot be assigned here.`),
  ];
  await handOff(tx, id, {
    silence: 'handed_off',
    ...(cause ? { cause } : {}),
    note: notes.join('\n'),
    ...(note === undefined ? { summary: { passages } } : {}),
    to,
  });
}

const endings: Partial<Record<Action['type'], number>> = { handoff: 1, open: 1, resolve: 1, snooze: 1 };

/** Returns when an action is applied, among those of its run. An agent is assigned last: that silences the bot for all others. */
function orderOf(action: Action): number {
  return action.type === 'assign' && action.assignee !== undefined ? 2 : (endings[action.type] ?? 0);
}

/** Where the actions of a run are applied. */
interface ActionPlace {
  /** The conversation of the event; null for an event without one. */
  conversationId: number | null;
  /** Whether actions may name other conversations. */
  mayLeave: boolean;
}

/**
 * Applies a bot's actions by the same domain verbs as every other caller, in the caller's transaction. Replies come first, with
 * everything else that does not end the bot's part; then what does. Otherwise the order is the bot's. `files` are those of
 * its replies. Errors: those of the verbs, 422 `no_conversation` for an action without one.
 */
export async function applyActions(
  tx: Transaction,
  place: ActionPlace,
  actions: readonly Action[],
  files: ReplyFiles,
): Promise<void> {
  const own = actions.filter((action): action is OwnAction => Object.hasOwn(verbs, action.type));
  const ordered = own.toSorted((one, other) => orderOf(one) - orderOf(other));
  const aims = ordered.map((action) => aimOf(action, place));
  // In the order of their ids, as all that lock several.
  const foreign = new Set(aims.filter((id) => id !== place.conversationId));
  for (const id of [...foreign].toSorted((one, other) => one - other)) await lockConversation(tx, id);
  for (const [index, action] of ordered.entries()) {
    const verb = verbs[action.type] as Apply<OwnAction['type']>;
    await verb(tx, aims[index] as number, action, files);
  }
}

// The conversation that an action is for.
function aimOf(action: Action, { conversationId, mayLeave }: ActionPlace): number {
  const { conversation_id: named } = action as { conversation_id?: number };
  if (named !== undefined && named !== conversationId && !mayLeave) {
    const sentence = 'A bot acts in the conversation of its event only: `conversation_id` names another one';
    throw new ApiError(422, 'foreign_conversation', sentence);
  }
  const aim = named ?? conversationId;
  if (aim !== null) return aim;
  throw new ApiError(422, 'no_conversation', `The event has no conversation: \`${action.type}\` needs one`);
}
