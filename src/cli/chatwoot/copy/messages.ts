import type { MessageBatch } from '../../../domain/imports/conversations.ts';
import type { ForeignMessage } from '../../../domain/imports/messages.ts';
import { importAuthor } from '../../../domain/imports/settings.ts';
import type { Attachment } from '../../../records/messages/attachment.ts';
import type { CopiedSettings, Copying } from '../copying.ts';
import { messagesAfter } from '../pages.ts';
import { toMessage } from '../read/message.ts';
import { idOf, recordOf, textOf, type Foreign } from '../values.ts';
import { acceptedSentence, attachmentsOf, isFile, wordsOf } from './attachments.ts';

/** A conversation whose messages are read. */
export interface Source {
  /** Its id there. */
  foreignId: number;
  /** The last message that was copied, by its id there. */
  after: number;
  /** The time of messages without one. */
  otherwise: Date;
}

/** Messages that were read, with their files stored. */
export interface ReadBatch extends MessageBatch {
  /** Reports their files, and the values that were changed; to be called once their outcome is known. */
  tell: () => void;
  /** Reads the messages again, with new copies of their files, after a sweep has deleted the first ones. */
  again: () => Promise<ReadBatch>;
}

// Files that belong to no message for an hour are swept: those that are stored wait for no more than these.
const [filesTogether, filesWaitMs] = [20, 15 * 60_000];

/** Reads the messages of a conversation that were not copied yet, in batches, with their authors and files. */
export async function* readMessages(
  copying: Copying,
  settings: CopiedSettings,
  source: Source,
): AsyncGenerator<ReadBatch> {
  const path = `${copying.account}/conversations/${source.foreignId}/messages`;
  for await (const { records, isLast } of messagesAfter(copying.client, path, source.after)) {
    await addAuthors(copying, settings, records);
    let rest = records;
    do {
      const batch = await readSome(copying, settings, { records: rest, isLast, source, isBounded: true });
      rest = rest.slice(batch.taken);
      yield batch;
    } while (rest.length > 0);
  }
}

/** Reads a message that was left out before, with its author and its files. */
export async function readLeftOut(
  copying: Copying,
  settings: CopiedSettings,
  { given, source }: { given: Foreign; source: Source },
): Promise<ReadBatch> {
  const records = [given];
  await addAuthors(copying, settings, records);
  return readSome(copying, settings, { records, isLast: true, source, isBounded: false });
}

interface Some {
  records: Foreign[];
  isLast: boolean;
  source: Source;
  /** Whether to stop where the files are enough to be written; else all are taken. */
  isBounded: boolean;
}

/** Reads messages, and says how many were taken. */
async function readSome(
  copying: Copying,
  settings: CopiedSettings,
  { records, isLast, source, isBounded }: Some,
): Promise<ReadBatch & { taken: number }> {
  const begun = copying.clock.now().getTime();
  const read: ReadOne[] = [];
  let files = 0;
  for (const given of records) {
    const one = await readOne(copying, settings, { given, source });
    read.push(one);
    files += one.message?.attachments.length ?? 0;
    const hasWaited = files > 0 && copying.clock.now().getTime() - begun > filesWaitMs;
    if (isBounded && (files >= filesTogether || hasWaited)) break;
  }
  const own = records.slice(0, read.length);
  const isEnd = isLast && own.length === records.length;
  return {
    messages: read.flatMap(({ message }) => message ?? []),
    upTo: idOf(own.at(-1)?.['id']),
    isLast: isEnd,
    taken: own.length,
    tell: () => {
      for (const { tell } of read) tell();
    },
    again: () => readSome(copying, settings, { records: own, isLast: isEnd, source, isBounded: false }),
  };
}

/** Adds the authors of the records: former agents get a seat that nobody has, to name them. */
export async function addAuthors(
  { transact, importId }: Copying,
  { authors }: Pick<CopiedSettings, 'authors'>,
  records: readonly Foreign[],
): Promise<void> {
  for (const record of records) {
    const { id, type, name } = recordOf(record['sender']);
    const foreignId = idOf(id);
    const isAgent = textOf(type, 32)?.toLowerCase() === 'user';
    if (foreignId === null || !isAgent || authors.has(foreignId)) continue;
    const author = { name: textOf(name, 255) ?? 'Former agent', email: `agent-${foreignId}@chatwoot.invalid` };
    const { localId } = await transact((tx) => importAuthor(tx, { importId, foreignId }, author));
    authors.set(foreignId, localId);
  }
}

interface ReadOne {
  message: ForeignMessage | null;
  tell: () => void;
}

async function readOne(
  copying: Copying,
  { authors }: CopiedSettings,
  { given, source }: { given: Foreign; source: Source },
): Promise<ReadOne> {
  const { reporter, clock } = copying;
  const { otherwise, foreignId: conversationId } = source;
  const name = `message ${idOf(given['id'])} of conversation ${conversationId}`;
  const { files, missing, positions, problems, accepted } = await copyFiles(copying, given);
  const read = toMessage(given, authors, { now: clock.now(), otherwise, files, missing });
  const tell = (): void => {
    if (files.length > 0) reporter.count('files', 'created', files.length);
    for (const problem of problems) reporter.leaveOut('files', `a file of ${name}`, problem);
    for (const problem of accepted) reporter.remark(`a file of ${name}`, acceptedSentence(problem));
    for (const problem of read?.problems ?? []) reporter.remark(name, problem);
  };
  return { message: read && { ...read.message, missingFiles: positions }, tell };
}

interface CopiedFiles {
  files: Attachment[];
  missing: Foreign[];
  /** Which are asked for again, by their places in the list there. */
  positions: number[];
  problems: string[];
  /** Why files that are missed no longer were not copied. */
  accepted: string[];
}

async function copyFiles({ files, acceptsMissing }: Copying, given: Foreign): Promise<CopiedFiles> {
  const copied: CopiedFiles = { files: [], missing: [], positions: [], problems: [], accepted: [] };
  for (const [position, attachment] of attachmentsOf(given).entries()) {
    const result = files && isFile(attachment) ? await files.copyUpTo(copied.files.length, attachment) : null;
    if (result && 'file' in result) {
      copied.files.push(result.file);
      continue;
    }
    copied.missing.push(wordsOf(attachment));
    const isAccepted = acceptsMissing && result?.isGone === true;
    if (isFile(attachment) && !isAccepted) copied.positions.push(position);
    if (result) copied[isAccepted ? 'accepted' : 'problems'].push(result.problem);
  }
  return copied;
}
