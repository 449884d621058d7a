import {
  importConversation,
  type ConversationOutcome,
  type ForeignConversation,
  type MessageBatch,
} from '../../../domain/imports/conversations.ts';
import { ApiError } from '../../../errors.ts';
import { isStatementTimeout } from '../../../postgres/errors.ts';
import type { Copying } from '../copying.ts';
import type { ReadBatch } from './messages.ts';

/** Writes a conversation with some of its messages, and counts the messages in the report. */
export async function writeBatch(
  copying: Copying,
  conversation: ForeignConversation,
  batch: ReadBatch,
): Promise<ConversationOutcome['outcome']> {
  const { written, told } = await writeWithFiles(copying, conversation, batch);
  copying.reporter.count('messages', 'created', written.messages);
  told.tell();
  return written.outcome;
}

// Files that waited too long for their message (because this machine slept, say) are deleted by a sweep: copy them once more.
async function writeWithFiles(
  copying: Copying,
  conversation: ForeignConversation,
  batch: ReadBatch,
): Promise<{ written: ConversationOutcome; told: ReadBatch }> {
  try {
    return { written: await writeSome(copying, conversation, batch), told: batch };
  } catch (error) {
    const hasFiles = batch.messages.some(({ attachments }) => attachments.length > 0);
    if (!hasFiles || !(error instanceof ApiError) || error.status !== 409) throw error;
  }
  const again = await batch.again();
  return { written: await writeSome(copying, conversation, again), told: again };
}

// A batch that exceeds the statement timeout is written in halves. A message that exceeds it alone is postponed to the end of
// the import.
async function writeSome(
  copying: Copying,
  conversation: ForeignConversation,
  batch: MessageBatch,
): Promise<ConversationOutcome> {
  try {
    return await copying.transact((tx) => importConversation(tx, copying.importId, conversation, batch));
  } catch (error) {
    if (!isStatementTimeout(error) || batch.messages.length === 0) throw error;
  }
  const [first, ...others] = batch.messages;
  if (first && others.length === 0)
    return writeSome(copying, conversation, { ...batch, messages: [], postponed: first.foreignId });
  return writeHalves(copying, conversation, batch);
}

async function writeHalves(
  copying: Copying,
  conversation: ForeignConversation,
  batch: MessageBatch,
): Promise<ConversationOutcome> {
  const { messages } = batch;
  const middle = Math.ceil(messages.length / 2);
  const [earlier, later] = [messages.slice(0, middle), messages.slice(middle)];
  const upTo = earlier.at(-1)?.foreignId ?? null;
  const first = await writeSome(copying, conversation, { messages: earlier, upTo, isLast: false });
  const second = await writeSome(copying, conversation, { ...batch, messages: later });
  return { outcome: first.outcome, messages: first.messages + second.messages };
}
