import { createRow } from '../small-rows.ts';
import { isDeepStrictEqual } from 'node:util';
import type { Conversation, ConversationStatus, Priority } from '../../records/conversations/conversation.ts';
import { Contact } from '../../records/contacts/contact.ts';
import type { Transaction } from '../../events/transaction.ts';
import { lockImported, noteImported, type Imported } from './imports.ts';
import { importMessages, type ForeignMessage } from './messages.ts';
import { noteMissingMessages } from './missing-messages.ts';

/** A conversation to copy, with the ids that inbox, contact, team and assignee have here. */
export interface ForeignConversation {
  foreignId: number;
  /** Value that changes with the conversation in the source. */
  version: string;
  inboxId: number;
  /** Null if its contact is unknown: it gets a contact of its own. */
  contactId: number | null;
  status: ConversationStatus;
  /** The end of a snooze, and null in all other states. */
  snoozedUntil: Date | null;
  priority: Priority | null;
  assigneeId: number | null;
  teamId: number | null;
  /** Titles of labels; titles that the account does not have are left out. */
  labels: readonly string[];
  unreadCount: number;
  waitingSince: Date | null;
  additionalAttributes: Record<string, unknown>;
  customAttributes: Record<string, unknown>;
  createdAt: Date;
  updatedAt: Date;
  lastActivityAt: Date;
}

/** Messages of a conversation in the order of their ids in the source; few enough for one statement. */
export interface MessageBatch {
  messages: readonly ForeignMessage[];
  /** Source id of the message up to which all are copied after this batch; null if there is none. */
  upTo: number | null;
  /** Whether there are no more messages. */
  isLast: boolean;
  /** Source id of a message that is left out for now. */
  postponed?: number;
}

/**
 * Outcome of a conversation: created, unchanged, updated, kept because agents work on it here, deleted here, or homeless for
 * want of its inbox or contact; and the number of added messages.
 */
export interface ConversationOutcome {
  outcome: 'created' | 'unchanged' | 'updated' | 'kept' | 'deleted' | 'homeless';
  messages: number;
}

/**
 * Copies a conversation with some of its messages, each once, unchanged. Later changes in the source are copied only until the
 * conversation has an event here: afterwards only messages are added. Says nothing: webhooks, bots and readers of the feed must
 * not take old events for new ones, and the first event of the conversation is the first that happens here.
 */
export async function importConversation(
  tx: Transaction,
  importId: number,
  given: ForeignConversation,
  batch: MessageBatch,
): Promise<ConversationOutcome> {
  const { foreignId } = given;
  const known = (await lockImported(tx, importId, { kind: 'conversation', foreignIds: [foreignId] })).get(foreignId);
  const { conversation, outcome } = await (known ? renew(tx, given, known) : create(tx, given));
  if (!conversation) return { outcome, messages: 0 };
  const cursor = known?.cursor ?? 0;
  const fresh = batch.messages.filter((message) => message.foreignId > cursor);
  await importMessages(tx, conversation, { importId, foreignId, messages: fresh });
  if (batch.postponed !== undefined && batch.postponed > cursor)
    await noteMissingMessages(tx, importId, [{ foreignId: batch.postponed, foreignConversationId: foreignId }]);
  await noteImported(tx, importId, 'conversation', [
    {
      foreignId,
      localId: conversation.id,
      version: given.version,
      cursor: batch.upTo ?? cursor,
      complete: batch.isLast,
    },
  ]);
  return { outcome: outcome === 'unchanged' && fresh.length > 0 ? 'updated' : outcome, messages: fresh.length };
}

interface Held {
  conversation: Conversation | null;
  outcome: ConversationOutcome['outcome'];
}

async function create(tx: Transaction, given: ForeignConversation): Promise<Held> {
  const { inboxId, additionalAttributes, customAttributes } = given;
  if (!(await isThere(tx, given))) return { conversation: null, outcome: 'homeless' };
  const contactId = given.contactId ?? (await addUnknownContact(tx, given));
  const sourceId = await findSource(tx, { inboxId, contactId });
  const conversation = await tx.createConversation({
    inboxId,
    contactId,
    sourceId,
    additionalAttributes,
    customAttributes,
    status: given.status,
    snoozedUntil: given.snoozedUntil,
    assigneeId: given.assigneeId,
    teamId: given.teamId,
  });
  if (!conversation) return { conversation: null, outcome: 'homeless' };
  const { priority, unreadCount, waitingSince, createdAt, updatedAt, lastActivityAt } = given;
  Object.assign(conversation, { priority, unreadCount, waitingSince, createdAt, updatedAt, lastActivityAt });
  await tx.flush();
  await label(tx, conversation, given.labels);
  return { conversation, outcome: 'created' };
}

// An identifier that admits must not be copied: conversations show theirs to all agents who see them.
async function findSource(tx: Transaction, place: { inboxId: number; contactId: number }): Promise<string | null> {
  const [row] = await tx.sql<{ source_id: string }>(
    `SELECT source_id FROM contact_inboxes WHERE account_id = $1 AND inbox_id = $2 AND contact_id = $3 AND NOT admits
     ORDER BY id DESC LIMIT 1`,
    [tx.account.id, place.inboxId, place.contactId],
  );
  return row?.source_id ?? null;
}

async function addUnknownContact(tx: Transaction, { createdAt }: ForeignConversation): Promise<number> {
  const contact = await createRow(tx.sql, Contact, {
    name: 'Unknown',
    accountId: tx.account.id,
    createdAt,
    updatedAt: tx.now,
  });
  return contact.id;
}

// Inbox and contact must not be deleted before the commit.
async function isThere(
  tx: Transaction,
  { inboxId, contactId }: { inboxId: number; contactId: number | null },
): Promise<boolean> {
  const rows = await tx.sql<{ inbox: number | null; contact: number | null }>(
    `SELECT (SELECT id FROM inboxes WHERE account_id = $1 AND id = $2 FOR KEY SHARE) AS inbox,
       (SELECT id FROM contacts WHERE account_id = $1 AND id = $3 AND deletion_requested_at IS NULL FOR KEY SHARE) AS contact`,
    [tx.account.id, inboxId, contactId],
  );
  return rows[0]?.inbox != null && (contactId === null || rows[0].contact != null);
}

async function renew(tx: Transaction, given: ForeignConversation, known: Imported): Promise<Held> {
  const conversation = await tx.conversation(known.localId);
  if (!conversation) return { conversation: null, outcome: 'deleted' };
  if (known.version === given.version) return { conversation, outcome: 'unchanged' };
  // Each event carries the state of its time: a change without an event would contradict them.
  if (conversation.eventSequence > 0) return { conversation, outcome: 'kept' };
  return { conversation, outcome: (await change(tx, conversation, given)) ? 'updated' : 'unchanged' };
}

async function change(tx: Transaction, conversation: Conversation, given: ForeignConversation): Promise<boolean> {
  const { status, snoozedUntil, priority, unreadCount, waitingSince, updatedAt, lastActivityAt } = given;
  const { additionalAttributes, customAttributes } = given;
  const assignee = given.assigneeId === null ? null : { id: given.assigneeId, name: '' };
  const team = given.teamId === null ? null : { id: given.teamId, name: '' };
  const isRelabelled = await label(tx, conversation, given.labels);
  const before = stateOf(conversation);
  Object.assign(conversation, { status, snoozedUntil, priority, unreadCount, waitingSince, updatedAt, lastActivityAt });
  Object.assign(conversation, { additionalAttributes, customAttributes, assignee, team });
  return isRelabelled || !isDeepStrictEqual(before, stateOf(conversation));
}

function stateOf({ status, snoozedUntil, priority, assignee, team, ...rest }: Conversation): unknown[] {
  const { unreadCount, waitingSince, additionalAttributes, customAttributes, lastActivityAt } = rest;
  const owners = [assignee?.id ?? null, team?.id ?? null];
  return [
    status,
    snoozedUntil,
    priority,
    owners,
    unreadCount,
    waitingSince,
    additionalAttributes,
    customAttributes,
    lastActivityAt,
  ];
}

// Labels are locked in the order of their ids: none must be deleted before the commit.
const labelStatement = `
  WITH held AS MATERIALIZED (
    SELECT id FROM labels WHERE account_id = $1 AND title = ANY ($3) ORDER BY id FOR KEY SHARE
  ), gone AS (
    DELETE FROM conversation_labels WHERE account_id = $1 AND conversation_id = $2 AND label_id NOT IN (SELECT id FROM held)
    RETURNING label_id
  ), added AS (
    INSERT INTO conversation_labels (account_id, conversation_id, label_id) SELECT $1, $2, id FROM held
    ON CONFLICT DO NOTHING RETURNING label_id
  )
  SELECT label_id FROM gone UNION ALL SELECT label_id FROM added`;

async function label(tx: Transaction, { id }: Conversation, titles: readonly string[]): Promise<boolean> {
  return (await tx.sql(labelStatement, [tx.account.id, id, titles])).length > 0;
}
