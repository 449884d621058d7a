import {
  addMissingMessage,
  findMissingMessages,
  forgetMissingMessage,
  type MissingMessage,
} from '../../../domain/imports/missing-messages.ts';
import { isStatementTimeout } from '../../../postgres/errors.ts';
import { NoAnswer } from '../client.ts';
import { attempt, type CopiedSettings, type Copying } from '../copying.ts';
import { endIfStopped } from '../patience.ts';
import { readLeftOut } from './messages.ts';
import { readOneMessage } from './one-message.ts';

const pageSize = 100;

/** Writes messages that the database did not store in time, in this run or an earlier one; reports those that still fail. */
export async function copyMissingMessages(copying: Copying, settings: CopiedSettings): Promise<void> {
  const { transact, importId, reporter } = copying;
  let after = 0;
  for (;;) {
    const page = await transact((tx) =>
      findMissingMessages(tx.sql, { accountId: tx.account.id, importId }, { after, limit: pageSize }),
    );
    for (const missing of page) {
      const leaveOut = (why: string): void => reporter.leaveOut('messages', nameOf(missing), why);
      await attempt(() => copyOne(copying, settings, missing), leaveOut).catch((error: unknown) => {
        leaveOut(sentenceOf(error));
      });
      after = missing.foreignId;
    }
    if (page.length < pageSize) return;
  }
}

function nameOf({ foreignId, foreignConversationId }: MissingMessage): string {
  return `message ${foreignId} of conversation ${foreignConversationId}`;
}

// Returns a sentence for an error that concerns this message alone; rethrows all others, which end the import.
function sentenceOf(error: unknown): string {
  if (isStatementTimeout(error)) return 'the database did not store it in the time that a statement has';
  if (error instanceof NoAnswer && error.status !== null) return error.message;
  throw error;
}

async function copyOne(copying: Copying, settings: CopiedSettings, missing: MissingMessage): Promise<void> {
  const { transact, importId, reporter, clock, stopped } = copying;
  const given = await readOneMessage(copying, missing);
  const source = { foreignId: missing.foreignConversationId, after: 0, otherwise: clock.now() };
  const batch = await readLeftOut(copying, settings, { given, source });
  endIfStopped(stopped);
  const [message] = batch.messages;
  if (!message) {
    await transact((tx) => forgetMissingMessage(tx, importId, missing.foreignId));
    return reporter.remark(nameOf(missing), 'it was deleted there');
  }
  const isAdded = await transact((tx) => addMissingMessage(tx, importId, missing, message));
  if (!isAdded) return;
  reporter.count('messages', 'created');
  batch.tell();
}
