import type { Conversation, ConversationStatus } from '../../records/conversation.ts';
import { invalid } from '../../errors.ts';
import type { ChangedAttributes } from '../../events/catalog.ts';
import type { Transaction } from '../../events/transaction.ts';
import { unixSecondsOrNull } from '../../lib/unix-time.ts';
import { decide, refuseSilentBot } from './arbiter.ts';
import { keepSilence, nextSilence, stateOf, type SilenceChange } from './silence.ts';
import { settleResolution } from './promises.ts';

/** Refuses (422) a snooze without a moment, or with one that is not in the future. */
export function checkSnooze(tx: Transaction, status: ConversationStatus | null, until: Date | null): void {
  if (status !== 'snoozed') return;
  if (!until) throw invalid('/snoozed_until', 'required', '`snoozed_until` is missing: a snooze needs its end');
  if (until <= tx.now) throw invalid('/snoozed_until', 'future', '`snoozed_until` must lie in the future');
}

function changeStatus(
  tx: Transaction,
  conversation: Conversation,
  { status, snoozedUntil }: { status: ConversationStatus; snoozedUntil: Date | null },
): ChangedAttributes {
  const previous = { status: conversation.status, snoozedUntil: conversation.snoozedUntil };
  const changed: ChangedAttributes = {};
  if (status !== previous.status) changed.status = { previous: previous.status, current: status };
  if (snoozedUntil?.getTime() !== previous.snoozedUntil?.getTime()) {
    const [before, after] = [previous.snoozedUntil, snoozedUntil].map(unixSecondsOrNull);
    changed.snoozed_until = { previous: before, current: after };
    if (snoozedUntil) tx.announceSnooze(snoozedUntil);
  }
  Object.assign(conversation, { status, snoozedUntil });
  return changed;
}

function moveTo(tx: Transaction, conversation: Conversation, status: ConversationStatus, until: Date | null): void {
  const previous = conversation.status;
  const snoozedUntil = status === 'snoozed' ? (until ?? conversation.snoozedUntil) : null;
  const changed = changeStatus(tx, conversation, { status, snoozedUntil });
  if (Object.keys(changed).length === 0) return;
  conversation.updatedAt = tx.now;
  if (status === previous) return tx.record('conversation_updated', { conversation, changed });
  if (status === 'resolved') settle(tx, conversation);
  tx.record('conversation_status_changed', { conversation, changed });
  if (status === 'resolved') sayToBot(tx, conversation, 'conversation_resolved');
  if (previous === 'resolved') sayToBot(tx, conversation, 'conversation_opened');
}

/**
 * Lets a locked conversation undergo what the transaction's actor does to it: gives it the silence and the status that
 * follow. Says of the status: conversation_status_changed, and to its bot conversation_resolved or, when it was
 * resolved, conversation_opened; nothing when nothing changes. `until` is the moment a snooze ends. Errors: 403 for a silent bot that would move the status.
 */
export function undergo(
  tx: Transaction,
  conversation: Conversation,
  change: SilenceChange,
  until: Date | null = null,
): void {
  const next = nextSilence(stateOf(conversation), tx.actor.kind, change);
  if (next.status !== conversation.status) refuseSilentBot(tx.actor, conversation);
  keepSilence(conversation, next);
  moveTo(tx, conversation, next.status, until);
}

function settle(tx: Transaction, conversation: Conversation): void {
  conversation.waitingSince = null;
  settleResolution(conversation, tx.now);
}

function sayToBot(tx: Transaction, conversation: Conversation, name: 'conversation_opened' | 'conversation_resolved') {
  const decision = decide(name, conversation, tx.actor);
  if (decision) tx.record(name, { conversation }, decision);
}
