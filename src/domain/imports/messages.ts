import type { Conversation } from '../../records/conversation.ts';
import { insertMessages, type MessageDraft } from '../../records/message.ts';
import type { Transaction } from '../../events/transaction.ts';
import { sql } from '../../postgres/sql.ts';
import { writeSet } from '../../postgres/write-set.ts';
import { holdFiles } from '../attachments/rows.ts';
import { nextSilence, stateOf } from '../conversations/silence.ts';
import { keepSilence } from '../conversations/status.ts';
import { noteMissingFiles } from './missing-files.ts';

/** A message to be copied, with its time; a contact who sent it is that of the conversation, and its files are stored, and belong to no message yet. */
export interface ForeignMessage extends MessageDraft {
  /** Its id there. */
  foreignId: number;
  /** Which of its files are missing, by their places in its list there. */
  missingFiles?: readonly number[];
}

/** Messages of one conversation, few enough for one statement, and where they are from. */
interface ForeignMessages {
  importId: number;
  /** The conversation's id there. */
  foreignId: number;
  messages: readonly ForeignMessage[];
}

/**
 * Adds messages of old to a locked conversation, in the given order, as they were. Says nothing, changes neither counters nor
 * status, and asks no bot. Where people have answered there, bots that are set here later do not interrupt them.
 */
export async function importMessages(
  tx: Transaction,
  conversation: Conversation,
  { importId, foreignId: foreignConversationId, messages }: ForeignMessages,
): Promise<void> {
  if (messages.length === 0) return;
  const files = messages.flatMap(({ attachments }) => attachments);
  if (files.length > 0) await holdFiles(tx, files);
  const ids = await sql<{ id: number }>(
    tx.connection,
    `SELECT nextval('messages_id_seq') AS id FROM generate_series(1, $1::int)`,
    [messages.length],
  );
  const added = messages.map(({ sender, ...draft }, index) => ({
    ...draft,
    sender: sender.kind === 'contact' ? { ...sender, id: conversation.contact.id } : sender,
    id: (ids[index] as { id: number }).id,
    conversationId: conversation.id,
  }));
  const statement = writeSet(tx.account.id, insertMessages(added, { areOld: true }));
  if (statement) await sql(tx.connection, statement.text, statement.parameters);
  const missing = added.flatMap(({ id: messageId, foreignId, missingFiles: positions = [] }) =>
    positions.length > 0 ? [{ messageId, foreignId, foreignConversationId, positions }] : [],
  );
  await noteMissingFiles(tx, importId, missing);
  if (messages.some(isAnswer)) takeForPeople(conversation);
}

function isAnswer({ sender, private: isNote, type }: ForeignMessage): boolean {
  return type === 'outgoing' && !isNote && sender.kind === 'user';
}

// A resolved conversation begins anew with the customer's next word, and a pending one is a bot's.
function takeForPeople(conversation: Conversation): void {
  const { status, eventSequence } = conversation;
  if (eventSequence > 0 || status === 'resolved' || status === 'pending') return;
  keepSilence(conversation, nextSilence(stateOf(conversation), 'user', { kind: 'spoke' }));
}
