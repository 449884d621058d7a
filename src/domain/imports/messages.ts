import type { Conversation } from '../../records/conversations/conversation.ts';
import { insertMessages, type MessageDraft } from '../../records/messages/message.ts';
import type { Transaction } from '../../events/transaction.ts';
import { writeSet } from '../../postgres/write-set.ts';
import { holdFiles } from '../attachments/rows.ts';
import { nextSilence, stateOf } from '../conversations/silence.ts';
import { keepSilence } from '../conversations/status.ts';
import { noteMissingFiles } from './missing-files.ts';

/** A message to copy, with its time. A contact as sender is the conversation's; its files are stored, without a message yet. */
export interface ForeignMessage extends MessageDraft {
  /** Id in the source. */
  foreignId: number;
  /** Positions of its missing files in its list in the source. */
  missingFiles?: readonly number[];
  /** Source id of the message of the conversation that it answers. */
  repliesTo?: number;
}

/** Messages of one conversation, few enough for one statement, with their source. */
interface ForeignMessages {
  importId: number;
  /** Source id of the conversation. */
  foreignId: number;
  messages: readonly ForeignMessage[];
}

/**
 * Adds old messages to a locked conversation, in their order, unchanged. Says nothing, changes neither counters nor status, and
 * calls no bot. If agents have answered there, bots that are set here later do not interrupt them.
 */
export async function importMessages(
  tx: Transaction,
  conversation: Conversation,
  { importId, foreignId: foreignConversationId, messages }: ForeignMessages,
): Promise<void> {
  if (messages.length === 0) return;
  const files = messages.flatMap(({ attachments }) => attachments);
  if (files.length > 0) await holdFiles(tx, files);
  const ids = await tx.sql<{ id: number }>(`SELECT nextval('messages_id_seq') AS id FROM generate_series(1, $1::int)`, [
    messages.length,
  ]);
  const targets = await findTargets(tx, conversation, messages);
  for (const [index, { foreignId }] of messages.entries()) targets.set(foreignId, (ids[index] as { id: number }).id);
  const added = messages.map(({ sender, repliesTo, contentAttributes, ...draft }, index) => ({
    ...draft,
    externalError: null,
    contentAttributes: withTarget(contentAttributes, targets.get(repliesTo ?? 0)),
    sender: sender.kind === 'contact' ? { ...sender, id: conversation.contact.id } : sender,
    id: (ids[index] as { id: number }).id,
    conversationId: conversation.id,
  }));
  const statement = writeSet(tx.account.id, insertMessages(added, { areOld: true }));
  if (statement) await tx.sql(statement.text, statement.parameters);
  const missing = added.flatMap(({ id: messageId, foreignId, missingFiles: positions = [] }) =>
    positions.length > 0 ? [{ messageId, foreignId, foreignConversationId, positions }] : [],
  );
  await noteMissingFiles(tx, importId, missing);
  if (messages.some(isAnswer)) takeForPeople(conversation);
}

// Without a target the answered message was left out so far: it has no id here.
function withTarget(attributes: Record<string, unknown>, target: number | undefined): Record<string, unknown> {
  return target === undefined ? attributes : { ...attributes, in_reply_to: target };
}

/** Returns the ids here of messages that were copied before and are answered by some of these, by their source ids. */
async function findTargets(
  tx: Transaction,
  { id }: Conversation,
  messages: readonly ForeignMessage[],
): Promise<Map<number, number>> {
  const own = new Set(messages.map(({ foreignId }) => foreignId));
  const wanted = messages.flatMap(({ repliesTo }) =>
    repliesTo === undefined || own.has(repliesTo) ? [] : [String(repliesTo)],
  );
  if (wanted.length === 0) return new Map();
  const rows = await tx.sql<{ id: number; foreign_id: string }>(
    `SELECT id, content_attributes #>> '{chatwoot,id}' AS foreign_id FROM messages
     WHERE account_id = $1 AND conversation_id = $2 AND content_attributes #>> '{chatwoot,id}' = ANY ($3)`,
    [tx.account.id, id, wanted],
  );
  return new Map(rows.map((row) => [Number(row.foreign_id), row.id]));
}

function isAnswer({ sender, private: isNote, type }: ForeignMessage): boolean {
  return type === 'outgoing' && !isNote && sender.kind === 'user';
}

// A resolved conversation begins anew with the customer's next message, and a pending one is a bot's.
function takeForPeople(conversation: Conversation): void {
  const { status, eventSequence } = conversation;
  if (eventSequence > 0 || status === 'resolved' || status === 'pending') return;
  keepSilence(conversation, nextSilence(stateOf(conversation), 'user', { kind: 'spoke' }));
}
