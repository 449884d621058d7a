import type { Attachment } from '../../records/messages/attachment.ts';
import type {
  BotSilence,
  Conversation,
  ConversationStatus,
  HandoffReason,
} from '../../records/conversations/conversation.ts';
import type { Message } from '../../records/messages/message.ts';
import { forbidden, notFound } from '../../errors.ts';
import type { Actor, Transaction } from '../../events/transaction.ts';
import type { Sql } from '../../postgres/sql.ts';
import { lockConversation, mayServeInbox } from './access.ts';
import { decide, refuseSilentBot } from './arbiter.ts';
import { give, readAssignment } from './assignment/assignments.ts';
import { autoAssign } from './assignment/auto-assignment.ts';
import { countHandoff } from './handoff/counted.ts';
import { noteOf, type NoteSummary } from './handoff/note.ts';
import { notifyAssignee } from './notifications.ts';
import { sendInto } from './send.ts';
import { stateOf } from './silence.ts';
import { begin, checkSnooze, undergo } from './status.ts';

/** First message of a conversation. */
interface FirstMessage {
  content: string;
  /** Files that are stored, and belong to no message yet. */
  attachments: readonly Attachment[];
}

export interface NewConversation {
  inboxId: number;
  contactId: number;
  sourceId: string | null;
  status: ConversationStatus | null;
  snoozedUntil: Date | null;
  assigneeId: number | null;
  teamId: number | null;
  /** A first message, sent by the actor. */
  message: FirstMessage | null;
  additionalAttributes: Record<string, unknown>;
  customAttributes: Record<string, unknown>;
}

/** A new conversation of which nothing is said but its place; each has attributes of its own. */
export function plainConversation(inboxId: number, contactId: number): NewConversation {
  return {
    inboxId,
    contactId,
    sourceId: null,
    status: null,
    snoozedUntil: null,
    assigneeId: null,
    teamId: null,
    message: null,
    additionalAttributes: {},
    customAttributes: {},
  };
}

/**
 * Creates a conversation. Without a `status` it is `pending` when a bot will answer, else `open`. Says
 * conversation_created, with a first message message_created, and conversation_updated when its inbox assigns it.
 * Errors: 403 for an agent outside the inbox; 404 for an inbox, contact, team or agent the account does not have; 422
 * for an assignee outside the inbox and a snooze not in the future.
 */
export async function createConversation(
  tx: Transaction,
  input: NewConversation,
): Promise<{ conversation: Conversation; message: Message | null }> {
  checkSnooze(tx, input.status, input.snoozedUntil);
  const [, conversation] = await Promise.all([
    checkSurroundings(tx, input),
    tx.createConversation({
      ...input,
      status: input.status ?? 'open',
      snoozedUntil: input.status === 'snoozed' ? input.snoozedUntil : null,
    }),
  ]);
  if (!conversation) throw notFound('Inbox');
  begin(conversation, tx.actor.kind, { status: input.status, spoken: input.message !== null });
  tx.record('conversation_created', { conversation }, decide('conversation_created', conversation, tx.actor));
  notifyAssignee(tx, conversation, 'conversation_assignment');
  const { message: first } = input;
  const message = first && (await sendInto(tx, conversation, { type: 'outgoing', ...first, isFirst: true }));
  await autoAssign(tx, conversation);
  if (conversation.snoozedUntil) tx.announce('snooze', conversation.snoozedUntil);
  return { conversation, message };
}

// FOR KEY SHARE: inbox and contact must not be deleted before the conversation refers to them.
async function checkSurroundings(tx: Transaction, input: NewConversation): Promise<void> {
  const { account, actor } = tx;
  await needPlace(tx.sql, { accountId: account.id, actor }, { ...input, lock: 'FOR KEY SHARE' });
  await readAssignment(tx, input.inboxId, input);
}

/**
 * Checks that the actor may begin a conversation of the contact in the inbox: without a `lock` before files are stored, and
 * again with it. Errors: 403 for an agent outside the inbox; 404 for an inbox or contact that the account does not have.
 */
export async function needPlace(
  sql: Sql,
  { accountId, actor }: { accountId: number; actor: Actor },
  { inboxId, contactId, lock = '' }: { inboxId: number; contactId: number; lock?: '' | 'FOR KEY SHARE' },
): Promise<void> {
  const [found] = await sql<{ inbox_id: number | null; contact_id: number | null }>(
    `SELECT (SELECT id FROM inboxes WHERE account_id = $1 AND id = $2 ${lock}) AS inbox_id,
       (SELECT id FROM contacts WHERE account_id = $1 AND id = $3 AND deletion_requested_at IS NULL ${lock})
         AS contact_id`,
    [accountId, inboxId, contactId],
  );
  if (!found?.inbox_id) throw notFound('Inbox');
  if (!found.contact_id) throw notFound('Contact');
  if (actor.role === 'agent' && !(await mayServeInbox(sql, accountId, actor.id, inboxId))) {
    throw forbidden('You are not a member of this inbox');
  }
}

/** New status, with the end of a snooze. */
interface StatusChange {
  status: ConversationStatus;
  snoozedUntil: Date | null;
  /** Whether it is an action of a run, whose record counts the handoff. */
  inRun?: boolean;
}

/**
 * Sets a conversation's status. `pending` from a person, even if unchanged, returns the conversation to its bot. `open` from its
 * bot hands it off, with a note that sums it up, and counts in the bot's usage. Says conversation_status_changed, and
 * message_created for the note. Errors: 404, 403 (`bot_suppressed` for a silent bot), 422 for a snooze without an end or with
 * one that is not in the future.
 */
export async function toggleStatus(
  tx: Transaction,
  id: number,
  { status, snoozedUntil, inRun = false }: StatusChange,
): Promise<Conversation> {
  checkSnooze(tx, status, snoozedUntil);
  const conversation = await lockConversation(tx, id);
  refuseSilentBot(tx.actor, conversation);
  const { status: before, byBot } = stateOf(conversation);
  undergo(tx, conversation, { kind: 'status', to: status }, snoozedUntil);
  if (byBot === null && stateOf(conversation).byBot === 'handed_off') {
    if (!inRun) countHandoff(tx);
    await explainHandoff(tx, conversation);
  }
  if (before !== 'open') await autoAssign(tx, conversation);
  return conversation;
}

// A bot that opens a conversation hands it off. If it has just written a note, that note is the explanation.
async function explainHandoff(tx: Transaction, conversation: Conversation): Promise<void> {
  conversation.waitingSince ??= tx.now;
  const isTold = tx.unwritten.some(({ conversationId, private: isNote, sender }) => {
    return conversationId === conversation.id && isNote && sender.kind === 'agent_bot';
  });
  if (isTold) return;
  const draft = { words: `Handed off by ${tx.actor.name}`, summary: { passages: [] } };
  await sendInto(tx, conversation, await noteOf(tx, conversation, draft));
}

/** How a bot's part in a conversation ends. */
export interface BotEnding {
  /** Reason why the bot may not speak any more. */
  silence: BotSilence;
  /** The conversation's `handoff_reason`, where it does not follow from the silence. */
  cause?: HandoffReason;
  /** The private note for the agents. */
  note: string | null;
  /** Values that sum up the conversation in the note: see noteOf. */
  summary?: NoteSummary;
  /** Team or agent who gets the conversation, if known. */
  to?: Parameters<typeof give>[2];
}

/**
 * Hands a conversation off to agents: its bot is silent until the next session, the status becomes `open` (a resolved one stays
 * resolved, unless the bot was in a loop), and `note` becomes a private note.
 */
export async function handOff(
  tx: Transaction,
  id: number,
  { silence, cause, note, summary, to = {} }: BotEnding,
): Promise<Conversation> {
  const conversation = await lockConversation(tx, id);
  const isFirst = stateOf(conversation).byBot === null;
  undergo(tx, conversation, { kind: 'bot_ended', reason: silence, ...(cause ? { cause } : {}) });
  conversation.waitingSince ??= tx.now;
  give(tx, conversation, to);
  // The first handoff of a session has summed it up; a note that the bot itself writes is always added.
  if (note !== null && (isFirst || !summary))
    await sendInto(tx, conversation, await noteOf(tx, conversation, { words: note, summary }));
  await autoAssign(tx, conversation);
  return conversation;
}

/** Opens a conversation whose snooze has ended; false when it was opened or snoozed anew meanwhile. */
export async function wake(tx: Transaction, id: number): Promise<boolean> {
  const conversation = await tx.conversation(id);
  if (conversation?.status !== 'snoozed' || !conversation.snoozedUntil || conversation.snoozedUntil > tx.now)
    return false;
  undergo(tx, conversation, { kind: 'woken' });
  await autoAssign(tx, conversation);
  return true;
}
