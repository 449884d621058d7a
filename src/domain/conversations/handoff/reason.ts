import type { BotSilence, HandoffReason } from '../../../records/conversations/conversation.ts';
import type { Actor } from '../../../events/transaction.ts';
import type { NextSilence, SilenceChange, SilenceState } from '../silence.ts';

/** A change of a conversation: its state before, the silence and the status that follow, and who made it. */
interface Change {
  before: SilenceState;
  next: NextSilence;
  change: SilenceChange;
  actor: Actor['kind'];
}

/**
 * The reason of a conversation's handoff after a change; `present` is the one so far. Pure. The first reason of a session
 * stays, until the next session begins or a person sets `pending`.
 */
export function handoffReasonAfter(present: HandoffReason | null, made: Change): HandoffReason | null {
  const { before, next, change } = made;
  if (isSessionBegun(made) || isGivenBack(made)) return null;
  // Nobody looks into a bot's queue: the customer's message opened the conversation, because the bot cannot answer.
  const isStranded = change.kind === 'customer_spoke' && before.status === 'pending' && next.status === 'open';
  if (isStranded && before.bot === 'unable') return present ?? 'bot_unreachable';
  if (before.byBot !== null || next.byBot === null) return present;
  // A bot that opens a conversation hands it off as well.
  return change.kind === 'bot_ended' ? (change.cause ?? causes[change.reason]) : 'plugin';
}

const causes: Readonly<Record<BotSilence, HandoffReason>> = {
  handed_off: 'plugin',
  loop_suspected: 'loop',
  bot_failed: 'bot_unreachable',
};

function isSessionBegun({ before, next, change }: Change): boolean {
  return before.status === 'resolved' && next.status !== 'resolved' && change.kind !== 'bot_ended';
}

function isGivenBack({ change, actor }: Change): boolean {
  return change.kind === 'status' && change.to === 'pending' && actor === 'user';
}
