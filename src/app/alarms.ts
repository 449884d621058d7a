import type { Database } from '../postgres/database.ts';
import { finishBacklogs } from '../domain/upkeep/backlogs.ts';
import { finishErasures } from '../domain/contacts/erasure.ts';
import { deleteOldIdempotencyKeys } from '../domain/upkeep/idempotency-keys.ts';
import { finishRenames } from '../domain/labels/renames.ts';
import { deleteOldEvents } from '../domain/upkeep/retention.ts';
import { checkSla } from '../domain/conversations/breaches.ts';
import { mergeCountChanges, recountConversations } from '../domain/upkeep/conversation-counts.ts';
import { wakeDueSnoozes } from '../domain/conversations/snoozes.ts';
import type { Alarm } from '../jobs/alarm-clock.ts';

const sweepMs = 5_000;
const pruneMs = 3_600_000;
const recountMs = 24 * 3_600_000;

/** The recurring tasks of the alarm clock, and how often each runs. */
export function alarmsOf(database: Database, { retentionDays }: { retentionDays: number }): Alarm[] {
  return [
    { name: 'wake-snoozed', everyMs: sweepMs, ring: () => wakeDueSnoozes(database) },
    { name: 'finish-erasures', everyMs: sweepMs, ring: () => finishErasures(database) },
    { name: 'finish-label-renames', everyMs: sweepMs, ring: () => finishRenames(database) },
    { name: 'finish-backlogs', everyMs: sweepMs, ring: () => finishBacklogs(database) },
    { name: 'merge-conversation-counts', everyMs: sweepMs, ring: () => mergeCountChanges(database) },
    { name: 'check-sla', everyMs: sweepMs, ring: () => checkSla(database) },
    { name: 'recount-conversations', everyMs: recountMs, ring: () => recountConversations(database) },
    { name: 'delete-old-events', everyMs: pruneMs, ring: () => deleteOldEvents(database, retentionDays) },
    { name: 'delete-old-idempotency-keys', everyMs: pruneMs, ring: () => deleteOldIdempotencyKeys(database) },
  ];
}
