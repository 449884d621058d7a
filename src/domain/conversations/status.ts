import type { Conversation, ConversationStatus, HandoffReason } from '../../records/conversations/conversation.ts';
import { invalid } from '../../errors.ts';
import type { ChangedAttributes } from '../../events/catalog.ts';
import type { Actor, Transaction } from '../../events/transaction.ts';
import { unixSecondsOrNull } from '../../lib/unix-time.ts';
import { decide, refuseSilentBot } from './arbiter.ts';
import { countBotChange, forgetBotChanges } from './bots/loops.ts';
import { handoffReasonAfter } from './handoff/reason.ts';
import { nextSilence, stateOf, type NextSilence, type SilenceChange } from './silence.ts';
import { meetResolution } from './deadlines/first-response.ts';

/** Checks that a snooze has an end, in the future. Errors: 422. */
export function checkSnooze(tx: Transaction, status: ConversationStatus | null, until: Date | null): void {
  if (status !== 'snoozed') return;
  if (!until) throw invalid('/snoozed_until', 'required', '`snoozed_until` is missing: a snooze needs its end');
  if (until <= tx.now) throw invalid('/snoozed_until', 'future', '`snoozed_until` must lie in the future');
}

/** Where a conversation moves to; `until` is the end of a snooze. */
interface Move {
  status: ConversationStatus;
  until: Date | null;
  handoffReason: HandoffReason | null;
}

function change(
  tx: Transaction,
  conversation: Conversation,
  { status, until, handoffReason }: Move,
): ChangedAttributes {
  const previous = { ...conversation };
  const snoozedUntil = status === 'snoozed' ? (until ?? previous.snoozedUntil) : null;
  const changed: ChangedAttributes = {};
  if (status !== previous.status) changed.status = { previous: previous.status, current: status };
  if (snoozedUntil?.getTime() !== previous.snoozedUntil?.getTime()) {
    const [before, after] = [previous.snoozedUntil, snoozedUntil].map(unixSecondsOrNull);
    changed.snoozed_until = { previous: before, current: after };
    if (snoozedUntil) tx.announce('snooze', snoozedUntil);
  }
  if (handoffReason !== previous.handoffReason)
    changed.handoff_reason = { previous: previous.handoffReason, current: handoffReason };
  Object.assign(conversation, { status, snoozedUntil, handoffReason });
  if (changed.status) conversation.closedBy = status === 'resolved' || status === 'snoozed' ? tx.actor.kind : null;
  return changed;
}

function move(tx: Transaction, conversation: Conversation, to: Move): void {
  const previous = conversation.status;
  const { status } = to;
  const changed = change(tx, conversation, to);
  if (Object.keys(changed).length === 0) return;
  countBotChange(tx, conversation);
  conversation.updatedAt = tx.now;
  if (status === previous) return tx.record('conversation_updated', { conversation, changed });
  if (status === 'resolved') endWaiting(tx, conversation);
  tx.record('conversation_status_changed', { conversation, changed });
  if (status === 'resolved') sayToBot(tx, conversation, 'conversation_resolved');
  if (previous === 'resolved') conversation.sessionBeganAt = tx.now;
  if (previous === 'resolved') sayToBot(tx, conversation, 'conversation_opened');
}

/**
 * Applies what the actor does to a locked conversation: computes the next silence, status and reason of handoff and stores
 * them. Says conversation_status_changed when the status changes, and to the bot conversation_resolved, or
 * conversation_opened after `resolved`; conversation_updated when only the end of a snooze or the reason changes. `until` is
 * the end of a snooze. Errors: 403 for a silent bot whose change would move the status, and for a bot in a loop.
 */
export function undergo(
  tx: Transaction,
  conversation: Conversation,
  what: SilenceChange,
  until: Date | null = null,
): void {
  const before = stateOf(conversation);
  const next = nextSilence(before, tx.actor.kind, what);
  const { status } = next;
  if (status !== before.status) refuseSilentBot(tx.actor, conversation);
  const isGivenBack = before.byBot !== null && next.byBot === null;
  if (what.kind === 'customer_spoke' || isGivenBack) forgetBotChanges(conversation);
  const made = { before, next, change: what, actor: tx.actor.kind };
  keepSilence(conversation, next);
  move(tx, conversation, { status, until, handoffReason: handoffReasonAfter(conversation.handoffReason, made) });
}

/** Begins a new conversation: with the status asked for, else with the one that its bot and its first message give it. */
export function begin(
  conversation: Conversation,
  actor: Actor['kind'],
  asked: { status: ConversationStatus | null; spoken: boolean },
): void {
  const next = nextSilence(stateOf(conversation), actor, { kind: 'begun', ...asked });
  keepSilence(conversation, next);
  conversation.status = next.status;
}

/** Stores a silence in a conversation; the caller changes the status. */
export function keepSilence(
  conversation: Conversation,
  { byBot, byPeople, streak }: Omit<NextSilence, 'status'>,
): void {
  conversation.botSilence = conversation.bot && byBot;
  conversation.botSilenceOf = byBot && conversation.bot ? conversation.bot.id : null;
  conversation.humanSilence = byPeople;
  conversation.botStreak = streak;
}

function endWaiting(tx: Transaction, conversation: Conversation): void {
  conversation.waitingSince = null;
  meetResolution(conversation, tx.now);
}

function sayToBot(tx: Transaction, conversation: Conversation, name: 'conversation_opened' | 'conversation_resolved') {
  const decision = decide(name, conversation, tx.actor);
  if (decision) tx.record(name, { conversation }, decision);
}
