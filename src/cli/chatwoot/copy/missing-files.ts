import { addMissingFiles, findMissingFiles, type MissingFiles } from '../../../domain/imports/missing-files.ts';
import type { Attachment } from '../../../records/messages/attachment.ts';
import { NoAnswer } from '../client.ts';
import { attempt, type Copying } from '../copying.ts';
import type { FileCopier } from '../files.ts';
import { endIfStopped } from '../patience.ts';
import { placeholderOf } from '../read/message.ts';
import type { Foreign } from '../values.ts';
import { acceptedSentence, attachmentsOf, isFile, wordsOf } from './attachments.ts';
import { readOneMessage } from './one-message.ts';

const pageSize = 100;

/** Requests the files again that earlier runs could not fetch, and reports those that are still missing. */
export async function copyMissingFiles(copying: Copying): Promise<void> {
  const { files, transact, importId, reporter } = copying;
  if (files === null) return;
  let after = 0;
  for (;;) {
    const page = await transact((tx) =>
      findMissingFiles(tx.sql, { accountId: tx.account.id, importId }, { after, limit: pageSize }),
    );
    for (const missing of page) {
      const leaveOut = (why: string): void => reporter.leaveOut('files', nameOf(missing), why);
      await attempt(() => copyOne({ ...copying, files }, missing), leaveOut).catch((error: unknown) => {
        if (!(error instanceof NoAnswer) || error.status === null) throw error;
        leaveOut(error.message);
      });
      after = missing.messageId;
    }
    if (page.length < pageSize) return;
  }
}

function nameOf({ foreignId, foreignConversationId }: MissingFiles): string {
  return `a file of message ${foreignId} of conversation ${foreignConversationId}`;
}

async function copyOne(copying: Copying & { files: FileCopier }, missing: MissingFiles): Promise<void> {
  const { transact, reporter, stopped } = copying;
  const listed = attachmentsOf(await readOneMessage(copying, missing));
  const { files, positions, problems, accepted } = await copyAgain(copying, listed, missing);
  endIfStopped(stopped);
  const wordsWithout = (absent: readonly number[]): Foreign[] =>
    listed.filter((attachment, index) => absent.includes(index) || !isFile(attachment)).map(wordsOf);
  const found = {
    files,
    positions,
    words: wordsWithout([...positions, ...accepted.map(({ position }) => position)]),
    placeholder: placeholderOf(wordsWithout(missing.positions)),
  };
  const isAdded = await transact((tx) => addMissingFiles(tx, missing, found));
  if (!isAdded) return;
  reporter.count('files', 'created', files.length);
  for (const problem of problems) reporter.leaveOut('files', nameOf(missing), problem);
  for (const { problem } of accepted) reporter.remark(nameOf(missing), acceptedSentence(problem));
  if (listed.length === 0) reporter.remark(nameOf(missing), 'it was deleted there');
}

interface CopiedAgain {
  files: Attachment[];
  /** Positions of the files that are still missing. */
  positions: number[];
  problems: string[];
  /** Files that are accepted as missing (`--accept-missing`). */
  accepted: { position: number; problem: string }[];
}

async function copyAgain(
  { files: copier, acceptsMissing }: Copying & { files: FileCopier },
  listed: readonly Foreign[],
  { positions: asked }: MissingFiles,
): Promise<CopiedAgain> {
  const copied: CopiedAgain = { files: [], positions: [], problems: [], accepted: [] };
  const present = listed.filter((attachment, index) => isFile(attachment) && !asked.includes(index)).length;
  for (const position of asked) {
    const attachment = listed[position];
    if (attachment === undefined) continue;
    const result = await copier.copyUpTo(present + copied.files.length, attachment);
    if ('file' in result) copied.files.push(result.file);
    else if (acceptsMissing && result.isGone) copied.accepted.push({ position, problem: result.problem });
    else {
      copied.positions.push(position);
      copied.problems.push(result.problem);
    }
  }
  return copied;
}
