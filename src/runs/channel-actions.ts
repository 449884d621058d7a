import { receiveMessage, type IncomingMessage } from '../domain/channels/incoming.ts';
import { takeReceipt } from '../domain/channels/outgoing.ts';
import type { Transaction } from '../events/transaction.ts';
import type { Action } from '../sandbox/run.ts';
import type { IncomingFiles } from './incoming-files.ts';
import type { ReplyFiles } from './reply-files.ts';

/** Thrown for a receipt of a message that the inbox does not know: the answer that has its id may not be committed yet. */
export class UnknownMessage extends Error {
  override name = 'UnknownMessage';
}

interface Received {
  inboxId: number;
  files: ReplyFiles;
  incoming: IncomingFiles;
  /** The request of a hook that brings it in; null for none. */
  requestId: number | null;
  /** Whether a receipt of an unknown message is left alone. */
  isLastForReceipts: boolean;
}

/**
 * Applies what a channel brings in: messages of customers and receipts, in the channel's order. Returns the ids of the conversations
 * that they concern. Throws UnknownMessage for a receipt of an unknown message, unless it is the last try for receipts.
 */
export async function receive(
  tx: Transaction,
  actions: readonly Action[],
  { inboxId, files, incoming, requestId, isLastForReceipts }: Received,
): Promise<number[]> {
  const concerned: (number | null)[] = [];
  for (const action of actions) {
    if (action.type === 'incoming') {
      concerned.push(await receiveMessage(tx, inboxId, messageOf(action, { files, incoming, requestId })));
      // The next message of a new customer belongs to the conversation that this one began.
      await tx.flush();
    }
    if (action.type === 'status') concerned.push(await takeStatus(tx, action, { inboxId, isLast: isLastForReceipts }));
  }
  return concerned.filter((id) => id !== null);
}

function messageOf(
  action: Extract<Action, { type: 'incoming' }>,
  { files, incoming, requestId }: Pick<Received, 'files' | 'incoming' | 'requestId'>,
): IncomingMessage {
  return {
    sourceId: action.source_id,
    externalId: action.external_id,
    content: action.content,
    profile: { name: action.name ?? null, email: action.email ?? null, phoneNumber: action.phone_number ?? null },
    at: action.at ?? null,
    isEdit: action.edited ?? false,
    isAutomatic: action.automatic ?? false,
    thread: action.thread ?? null,
    mail: action.mail ? { ...action.mail } : null,
    ...filesOf(action, { files, incoming }),
    requestId,
  };
}

function filesOf(
  action: Extract<Action, { type: 'incoming' }>,
  { files, incoming: { missing, awaited, known } }: Pick<Received, 'files' | 'incoming'>,
): Pick<IncomingMessage, 'attachments' | 'missing' | 'awaited' | 'expected'> {
  return {
    attachments: files.get(action) ?? [],
    missing: missing.get(action) ?? [],
    awaited: awaited.get(action) ?? [],
    expected: known.get(action.external_id) ?? [],
  };
}

async function takeStatus(
  tx: Transaction,
  { external_id: externalId, status, reason, message_id: messageId }: Extract<Action, { type: 'status' }>,
  { inboxId, isLast }: { inboxId: number; isLast: boolean },
): Promise<number | null> {
  const receipt = { externalId, status, reason: reason ?? null, messageId: messageId ?? null };
  const conversationId = await takeReceipt(tx, inboxId, receipt);
  if (conversationId !== null || isLast) return conversationId;
  throw new UnknownMessage(`No message of the inbox is known as ${externalId}`);
}
