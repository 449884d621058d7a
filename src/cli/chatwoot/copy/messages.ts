import type { MessageBatch } from '../../../domain/imports/conversations.ts';
import type { ForeignMessage } from '../../../domain/imports/messages.ts';
import { importAuthor } from '../../../domain/imports/settings.ts';
import type { Attachment } from '../../../records/attachment.ts';
import type { CopiedSettings, Copying } from '../copying.ts';
import { nameOf } from '../files.ts';
import { messagesAfter } from '../pages.ts';
import { toMessage } from '../read/message.ts';
import { idOf, isLonger, recordOf, textOf, type Foreign } from '../values.ts';

/** A conversation whose messages are read. */
export interface Source {
  /** Its id there. */
  foreignId: number;
  /** The last message that was copied, by its id there. */
  after: number;
  /** The time of messages without one. */
  otherwise: Date;
}

/** Reads the messages of a conversation that were not copied yet, in batches, with their authors and files. */
export async function* readMessages(
  copying: Copying,
  settings: CopiedSettings,
  source: Source,
): AsyncGenerator<MessageBatch> {
  const path = `${copying.account}/conversations/${source.foreignId}/messages`;
  for await (const { records, isLast } of messagesAfter(copying.client, path, source.after)) {
    await addAuthors(copying, settings, records);
    const messages: ForeignMessage[] = [];
    for (const given of records) messages.push(...(await readOne(copying, settings, { given, source })));
    yield { messages, isLast };
  }
}

// Whoever wrote, and is no agent there any more, is named by a seat that nobody has.
async function addAuthors(
  { transact, importId }: Copying,
  { authors }: CopiedSettings,
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

async function readOne(
  copying: Copying,
  { authors }: CopiedSettings,
  { given, source }: { given: Foreign; source: Source },
): Promise<ForeignMessage[]> {
  const { reporter, clock } = copying;
  const { otherwise, foreignId: conversationId } = source;
  const name = `message ${idOf(given['id'])} of conversation ${conversationId}`;
  const files = await copyFiles(copying, given, name);
  const read = toMessage(given, authors, { now: clock.now(), otherwise, ...files });
  for (const problem of read?.problems ?? []) reporter.remark(name, problem);
  return read ? [read.message] : [];
}

const fileTypes = new Set(['image', 'audio', 'video', 'file']);
const mostListed = 50;

async function copyFiles(
  copying: Copying,
  given: Foreign,
  name: string,
): Promise<{ files: Attachment[]; missing: Foreign[] }> {
  const [copied, missing]: [Attachment[], Foreign[]] = [[], []];
  for (const attachment of attachmentsOf(given)) {
    const file = await copyFile(copying, attachment, { present: copied.length, name });
    if (file) copied.push(file);
    else missing.push(wordsOf(attachment));
  }
  return { files: copied, missing };
}

function attachmentsOf({ attachments, content_attributes: attributes }: Foreign): Foreign[] {
  const isDeleted = recordOf(attributes)['deleted'] === true;
  return Array.isArray(attachments) && !isDeleted ? attachments.slice(0, mostListed).map(recordOf) : [];
}

async function copyFile(
  { files, reporter }: Copying,
  attachment: Foreign,
  { present, name }: { present: number; name: string },
): Promise<Attachment | null> {
  if (files === null || !isFile(attachment)) return null;
  const result = await files.copyUpTo(present, attachment);
  if ('file' in result) reporter.count('files', 'created');
  else reporter.leaveOut('files', `a file of ${name}`, result.problem);
  return 'file' in result ? result.file : null;
}

function isFile({ file_type: type }: Foreign): boolean {
  return fileTypes.has(textOf(type, 32) ?? '');
}

/** What is kept of an attachment that is no file, or was not copied: links to files end with their server. */
function wordsOf(attachment: Foreign): Foreign {
  const { file_type: type, fallback_title: fallback, data_url: link } = attachment;
  const url = isLonger(link, 2048) ? null : textOf(link, 2048);
  const title = textOf(fallback, 255) ?? (isFile(attachment) && url !== null ? textOf(nameOf(url), 255) : null);
  const more = isFile(attachment) ? {} : { ...(url === null ? {} : { url }), ...placeOf(attachment) };
  return { file_type: textOf(type, 32), ...(title === null ? {} : { title }), ...more };
}

function placeOf({ file_type: type, coordinates_lat: lat, coordinates_long: long }: Foreign): object {
  return type === 'location' && typeof lat === 'number' && typeof long === 'number' ? { lat, long } : {};
}
