import type { Database } from '../postgres/database.ts';
import { chainAuditLog, deleteOldAuditEntries } from '../domain/audit/chain.ts';
import { deleteUnsentFiles } from '../domain/upkeep/unsent-files.ts';
import { finishBacklogs } from '../domain/upkeep/backlogs.ts';
import { deleteDiscardedObjects } from '../domain/upkeep/discarded-objects.ts';
import { finishErasures } from '../domain/contacts/erasure.ts';
import { callScheduled } from '../domain/bots/schedules.ts';
import { deleteExpiredStorage } from '../domain/upkeep/storage-expiry.ts';
import { mergeStorageChanges } from '../domain/upkeep/storage-totals.ts';
import { deleteExpiredSignIns } from '../domain/people/sign-ins/expiry.ts';
import { deleteReleasedBundles } from '../domain/upkeep/bundles.ts';
import { deleteOldIdempotencyKeys, eraseExcessAnswers } from '../domain/upkeep/idempotency-keys.ts';
import { finishConversationBulkActions } from '../domain/conversations/bulk-actions.ts';
import { mailNotifications } from '../domain/conversations/notifications.ts';
import { finishBulkActions } from '../domain/endpoints/bulk-actions.ts';
import { sendDigests } from '../domain/endpoints/digests.ts';
import { tellExhausted } from '../domain/endpoints/exhaustion.ts';
import { tellFailing } from '../domain/endpoints/notices.ts';
import { tellPaused } from '../domain/endpoints/pauses.ts';
import { finishRecoveries } from '../domain/endpoints/recovery.ts';
import { finishRenames } from '../domain/labels/renames.ts';
import { settleHookRequests } from '../domain/hooks/settle.ts';
import { deleteOldHookRequests } from '../domain/upkeep/hook-requests.ts';
import { deleteOldEvents, deleteOldRuns } from '../domain/upkeep/retention.ts';
import { countActivity, deleteOldCounts } from '../domain/upkeep/activity-counts.ts';
import { checkSla } from '../domain/conversations/deadlines/breaches.ts';
import { mergeCountChanges, recountConversations } from '../domain/upkeep/conversation-counts.ts';
import { wakeDueSnoozes } from '../domain/conversations/deadlines/snoozes.ts';
import type { ObjectStore } from '../objects/object-store.ts';
import type { Alarm } from '../jobs/alarm-clock.ts';
import { oneAtATime } from '../jobs/one-at-a-time.ts';
import type { OutboundGate } from '../lib/outbound-gate.ts';
import type { Clock } from '../lib/ports.ts';

const sweepMs = 10_000;
const pruneMs = 3_600_000;
const recountMs = 24 * 3_600_000;
const retryMs = 60_000;
const countMs = 60_000;
const discardMs = 60_000;

/** Days for which rows are kept. */
interface Retention {
  retentionDays: number;
  runRetentionDays: number;
  reportRetentionDays: number;
}

/**
 * Starts work of other parts of the service: `retry` makes the deliveries that are due, `embed` embeds articles, `checkChannels` makes
 * the checks of channels that are due.
 */
interface Looks {
  retry: () => void;
  embed: () => void;
  checkChannels: () => void;
}

/** The object store of files, where there is one, from which nothing is deleted while the gate is held. */
interface Stores {
  objects?: ObjectStore | null;
  gate: OutboundGate;
}

/** The tasks of the alarm clock, and how often each runs. */
export function alarmsOf(
  database: Database,
  { retry, embed, checkChannels, objects = null, gate, ...retention }: Retention & Looks & Stores,
): Alarm[] {
  // Some have two alarms, and Agenda rings one anew that takes long: at once they would only get in each other's way.
  const wake = oneAtATime(() => wakeDueSnoozes(database));
  const call = oneAtATime(() => callScheduled(database));
  const check = oneAtATime(() => checkSla(database));
  const doDue = (): Promise<void> => {
    // Other systems may take long to answer, and nothing else waits for them.
    checkChannels();
    return doAll([wake(), call(), check()]);
  };
  const discard = oneAtATime(async () => {
    if (gate.heldFor === null) await deleteDiscardedObjects(database, objects);
  });
  return [
    { name: 'wake-snoozed', everyMs: null, ring: wake },
    { name: 'call-scheduled', everyMs: null, ring: call },
    // Snoozes and scheduled calls have alarms at their moments; this one serves those whose alarm was lost. It is one for
    // many works, since each row of Agenda costs three statements whenever it rings.
    { name: 'do-what-is-due', everyMs: sweepMs, ring: doDue },
    { name: 'finish-leftovers', everyMs: sweepMs, ring: () => finishLeftovers(database) },
    // A store that hangs holds up nothing else.
    { name: 'delete-objects', everyMs: discardMs, ring: discard },
    { name: 'embed-articles', everyMs: retryMs, ring: async () => embed() },
    { name: 'retry-deliveries', everyMs: retryMs, ring: async () => retry() },
    { name: 'count-activity', everyMs: countMs, ring: () => countActivity(database) },
    { name: 'recount-conversations', everyMs: recountMs, ring: () => recountConversations(database) },
    { name: 'delete-old-rows', everyMs: pruneMs, ring: () => deleteOldRows(database, retention) },
  ];
}

// Kept apart from due work, which must not wait: the cleanup after requests may take long.
function finishLeftovers(database: Database): Promise<void> {
  const counts = [mergeCountChanges, mergeStorageChanges];
  const works = [
    finishErasures,
    finishRenames,
    finishBacklogs,
    finishRecoveries,
    finishBulkActions,
    finishConversationBulkActions,
    mailNotifications,
    tellFailing,
    tellPaused,
    tellExhausted,
    sendDigests,
    eraseExcessAnswers,
    settleHookRequests,
    chainAuditLog,
    ...counts,
  ];
  return doAll(works.map((work) => work(database)));
}

function deleteOldRows(database: Database, retention: Retention): Promise<void> {
  const { retentionDays, runRetentionDays, reportRetentionDays } = retention;
  const works = [
    deleteExpiredStorage,
    deleteReleasedBundles,
    deleteOldIdempotencyKeys,
    deleteExpiredSignIns,
    deleteUnsentFiles,
    deleteOldHookRequests,
  ];
  return doAll([
    deleteOldEvents(database, retentionDays),
    deleteOldRuns(database, runRetentionDays),
    deleteOldCounts(database, reportRetentionDays),
    deleteOldAuditEntries(database, reportRetentionDays),
    ...works.map((work) => work(database)),
  ]);
}

// Settles all, so that a failure ends no other work; then throws the first error.
async function doAll(works: readonly Promise<unknown>[]): Promise<void> {
  const failed = (await Promise.allSettled(works)).find(({ status }) => status === 'rejected');
  if (failed?.status === 'rejected') throw failed.reason;
}

/**
 * Sets alarms for retries: `ring` gets the moment of the next one. While an earlier alarm is set, a later one can wait: the
 * look that it causes finds out what is due next.
 */
export function ringForRetries(clock: Clock, ring: (moment: Date) => void): (inMs: number) => void {
  let set = 0;
  return (inMs) => {
    const now = clock.now().getTime();
    const moment = Math.ceil((now + inMs) / 1000) * 1000;
    if (set > now && set <= moment) return;
    set = moment;
    ring(new Date(moment));
  };
}
