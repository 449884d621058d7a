import { createHash } from 'node:crypto';
import type { ForeignConversation } from '../../../domain/imports/conversations.ts';
import type { ConversationStatus } from '../../../records/conversations/conversation.ts';
import type { CopiedSettings } from '../copying.ts';
import { titlesOf } from './settings.ts';
import {
  countOf,
  idOf,
  momentOf,
  oneOf,
  pastOf,
  pastOrNull,
  readAttributes,
  recordOf,
  textOf,
  type Foreign,
} from '../values.ts';

/** A conversation that can be stored, and sentences about values that were changed for it. */
export interface ReadConversation {
  conversation: Omit<ForeignConversation, 'contactId'>;
  problems: string[];
}

const statuses: readonly ConversationStatus[] = ['open', 'resolved', 'pending', 'snoozed'];
/** A snooze without an end lasts until the customer writes, which ends every snooze. */
const endless = new Date(Date.UTC(9999, 11, 31));
const mostUnread = 1_000_000;

/** Reads a conversation of an inbox that was copied; returns a sentence with the reason if it cannot be stored. */
export function toConversation(given: Foreign, settings: CopiedSettings, now: Date): ReadConversation | string {
  const foreignId = idOf(given['id']);
  if (foreignId === null) return 'it has no id';
  const inboxId = settings.inboxes.get(idOf(given['inbox_id']) ?? 0);
  if (inboxId === undefined) return 'its inbox was not copied, or was deleted here';
  const problems: string[] = [];
  const state = stateOf(given, now, problems);
  const conversation = {
    foreignId,
    inboxId,
    version: versionOf(given),
    ...state,
    priority: oneOf(given['priority'], ['urgent', 'high', 'medium', 'low']),
    ...ownersOf(given, { settings, inboxId, problems }),
    labels: titlesOf(given['labels']),
    unreadCount: countOf(given['unread_count'], mostUnread),
    waitingSince: state.status === 'resolved' ? null : pastOrNull(given['waiting_since'], now),
    additionalAttributes: { ...readAttributes(given, 'additional_attributes', problems), chatwoot_id: foreignId },
    customAttributes: readAttributes(given, 'custom_attributes', problems),
    ...timesOf(given, now),
  };
  return { problems, conversation };
}

function ownersOf(
  { meta }: Foreign,
  { settings, inboxId, problems }: { settings: CopiedSettings; inboxId: number; problems: string[] },
): Pick<ForeignConversation, 'assigneeId' | 'teamId'> {
  const { assignee, team } = recordOf(meta);
  const { agents, teams, assignable } = settings;
  const foreignId = idOf(recordOf(assignee)['id']);
  const assigneeId = foreignId === null ? null : (agents.get(foreignId) ?? null);
  const mayHave = assigneeId !== null && assignable.get(inboxId)?.has(assigneeId) === true;
  if (foreignId !== null && !mayHave)
    problems.push(
      `its assignee ${assigneeId === null ? 'is no agent here' : 'is no member of the inbox'}: nobody is assigned`,
    );
  return { assigneeId: mayHave ? assigneeId : null, teamId: teams.get(idOf(recordOf(team)['id']) ?? 0) ?? null };
}

function timesOf(given: Foreign, now: Date): Pick<ForeignConversation, 'createdAt' | 'updatedAt' | 'lastActivityAt'> {
  const createdAt = pastOf(given['created_at'], now, now);
  const lastActivityAt = pastOf(given['last_activity_at'] ?? given['timestamp'], now, createdAt);
  return { createdAt, lastActivityAt, updatedAt: pastOf(given['updated_at'], now, lastActivityAt) };
}

function stateOf(given: Foreign, now: Date, problems: string[]): Pick<ForeignConversation, 'status' | 'snoozedUntil'> {
  const status = oneOf(given['status'], statuses);
  if (status === null) problems.push(`its status ${textOf(given['status'], 64) ?? 'is missing'}: it is open`);
  if (status !== 'snoozed') return { status: status ?? 'open', snoozedUntil: null };
  const until = momentOf(given['snoozed_until']);
  if (until === null) return { status, snoozedUntil: endless };
  return until > now ? { status, snoozedUntil: until } : { status: 'open', snoozedUntil: null };
}

/** Returns a value that changes with the conversation: its update time, or a digest of its state if Chatwoot has no time. */
function versionOf({ updated_at: updatedAt, ...given }: Foreign): string {
  if (typeof updatedAt === 'number') return String(updatedAt);
  const { status, priority, labels, meta, snoozed_until: until, custom_attributes: custom } = given;
  const { assignee, team } = recordOf(meta);
  const state = [status, priority, labels, recordOf(assignee)['id'], recordOf(team)['id'], until, custom];
  const text = JSON.stringify([...state, given['last_activity_at'], given['unread_count']]);
  return createHash('sha256').update(text).digest('base64url');
}

/** Returns the highest id among the messages that a conversation is listed with; null if there is none. */
export function lastMessageOf({ messages }: Foreign): number | null {
  const ids = Array.isArray(messages) ? messages.flatMap((message) => idOf(recordOf(message)['id']) ?? []) : [];
  return ids.length === 0 ? null : Math.max(...ids);
}
