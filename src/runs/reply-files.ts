import { checkFiles, type AttachmentBounds } from '../domain/attachments/checked-files.ts';
import { discardRows } from '../domain/attachments/rows.ts';
import { findSendable, type AttachmentStore } from '../domain/attachments/store.ts';
import { ApiError } from '../errors.ts';
import { safeName } from '../lib/text/file-name.ts';
import { Semaphore } from './semaphore.ts';
import type { Sql } from '../postgres/sql.ts';
import type { Attachment } from '../records/messages/attachment.ts';
import type { Action } from '../sandbox/run.ts';
import { FileError, nameIn, type FetchFile, type SentFile } from './fetched-file.ts';
import type { IncomingFiles, InlineFile, RemoteFile } from './incoming-files.ts';
import type { Run } from './run.ts';

/** The files of replies that are stored and belong to no message yet, by the action that sends them. */
export type ReplyFiles = ReadonlyMap<Action, readonly Attachment[]>;

/** The bot and the conversation that files are sent by and into. */
interface FilePlace {
  accountId: number;
  botId: number;
  /** Null for an event without a conversation. */
  conversationId: number | null;
}

interface ReplyFileOptions {
  fetch: FetchFile;
  store: Pick<AttachmentStore, 'bounds' | 'keep' | 'read'>;
  sql: Sql;
  /** Bytes of all files of a run together. */
  runBytes: number;
  /** Called with errors of the clean-up, after which a sweep deletes the files. */
  failed: (error: unknown) => void;
}

type ReplyFile = NonNullable<Extract<Action, { type: 'reply' }>['attachments']>[number] &
  Pick<RemoteFile, 'headers'> & {
    /** The content of a file that came with a request. */
    bytes?: Buffer;
  };

/** Files in memory at once, each of which may be as large as a file of a message. */
const filesAtOnce = 4;
/** The time for all files of a run together. */
const patienceMs = 30_000;

/** Stores the files that bots send, and that channels bring in, before their messages are committed: no transaction waits for another host. */
export class ReplyFileStore {
  readonly #options: ReplyFileOptions;
  readonly #places = new Semaphore(filesAtOnce);

  constructor(options: ReplyFileOptions) {
    this.#options = options;
  }

  /**
   * Stores the files of a run's messages: of replies all of them, or none; of customers' messages those that can be had. Errors:
   * FileError.
   */
  async keep(actions: readonly Action[], place: FilePlace, incoming?: IncomingFiles): Promise<ReplyFiles> {
    const kept = new Map<Action, Attachment[]>();
    const budget = { bytes: this.#options.runBytes };
    const signal = AbortSignal.timeout(patienceMs);
    try {
      for (const [index, action] of actions.entries()) {
        if ((action.type !== 'reply' && action.type !== 'incoming') || !action.attachments) continue;
        checkNumber(action.attachments, this.#options.store.bounds, `Action ${index + 1}`);
        const files: Attachment[] = [];
        kept.set(action, files);
        const keepOne = (file: ReplyFile, at: number): Promise<Attachment> => {
          const label = `Action ${index + 1}, file ${at + 1}`;
          return this.#places.use(() => this.#keepOne(file, place, { budget, signal, label }));
        };
        await keepEach(action, files, { incoming, keepOne });
      }
    } catch (error) {
      await this.discard(kept, place.accountId);
      throw error;
    }
    return kept;
  }

  /** Deletes those of the files that became none of a message. */
  async discard(files: ReplyFiles, accountId: number): Promise<void> {
    const all = [...files.values()].flat();
    if (all.length > 0) await discardRows(this.#options.sql, accountId, all).catch(this.#options.failed);
  }

  async #keepOne(
    file: ReplyFile,
    place: FilePlace,
    { budget, signal, label }: { budget: { bytes: number }; signal: AbortSignal; label: string },
  ): Promise<Attachment> {
    const { store, sql } = this.#options;
    try {
      const sent = await this.#bytesOf(file, place, signal);
      budget.bytes -= sent.bytes.length;
      if (budget.bytes < 0)
        throw new FileError(
          'attachment_failed',
          `The files of a run may have ${this.#options.runBytes} bytes together`,
        );
      const checked = checkFiles([sent], store.bounds, '/attachments');
      const [attachment] = await store.keep(place.accountId, checked, (work) => work(sql));
      return attachment as Attachment;
    } catch (error) {
      throw faultOf(error, label);
    }
  }

  async #bytesOf(file: ReplyFile, place: FilePlace, signal: AbortSignal): Promise<SentFile> {
    const { url, name = null, headers, bytes } = file;
    if (bytes) return { name: name ?? 'file', bytes };
    if (url !== undefined) return this.#options.fetch({ url, name, ...(headers ? { headers } : {}) }, signal);
    const id = file.file ?? 0;
    const { store, sql } = this.#options;
    const found = await findSendable(sql, { ...place, id });
    if (!found) {
      const rule = 'a file of a public message of this conversation, or one that the bot has sent';
      throw new FileError('attachment_failed', `${id} is not ${rule}`);
    }
    const chunks: Buffer[] = [];
    for await (const chunk of await store.read(found, { from: 0, to: found.size - 1 }, (work) => work(sql)))
      chunks.push(chunk as Buffer);
    return { name: file.name ?? found.name, bytes: Buffer.concat(chunks) };
  }
}

type Incoming = Extract<Action, { type: 'incoming' }>;

interface Keeping {
  incoming: IncomingFiles | undefined;
  keepOne: (file: ReplyFile, at: number) => Promise<Attachment>;
}

async function keepEach(
  action: Incoming | Extract<Action, { type: 'reply' }>,
  files: Attachment[],
  keeping: Keeping,
): Promise<void> {
  for (const [at, file] of (action.attachments ?? []).entries()) {
    const kept =
      action.type === 'reply' ? await keeping.keepOne(file, at) : await keepIfThere({ action, file, at }, keeping);
    if (kept) files.push(kept);
  }
  if (action.type === 'incoming' && keeping.incoming) missOthers(action, keeping.incoming);
}

// A run that is repeated may name fewer files than the message awaits.
function missOthers(action: Incoming, { known, missing }: IncomingFiles): void {
  const count = action.attachments?.length ?? 0;
  const others = (known.get(action.external_id) ?? []).filter((at) => at >= count);
  if (others.length === 0) return;
  const why = 'The channel names it no more';
  missing.set(action, [...(missing.get(action) ?? []), ...others.map((at) => ({ name: `number ${at + 1}`, why }))]);
}

type ChannelFile = Partial<RemoteFile> & InlineFile & { file_name?: string };

// The message of a customer comes in without a file that cannot be had.
async function keepIfThere(
  { action, file, at }: { action: Incoming; file: ChannelFile; at: number },
  { incoming, keepOne }: Keeping,
): Promise<Attachment | null> {
  if (!incoming) return null;
  const wanted = incoming.known.get(action.external_id);
  if (wanted && !wanted.includes(at)) return null;
  // Secrets in the opened URL must not become a name.
  const name = safeName(file.file_name ?? nameIn(file.url ?? ''));
  try {
    return await keepOne({ ...(await contentOf(file, incoming)), name }, at);
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    if (error.outcome === 'attachment_unavailable' && !incoming.isLast) {
      incoming.awaited.set(action, [...(incoming.awaited.get(action) ?? []), { at, name }]);
      incoming.trouble = error.message;
      return null;
    }
    const why = error.message.replace(/^Action \d+, file \d+: /, '');
    incoming.missing.set(action, [...(incoming.missing.get(action) ?? []), { name, why }]);
    return null;
  }
}

async function contentOf(file: ChannelFile, { open, read }: IncomingFiles): Promise<Pick<ReplyFile, 'url' | 'bytes'>> {
  if (file.url !== undefined) return open({ url: file.url, headers: file.headers ?? {} });
  const bytes = await read(file);
  if (bytes) return { bytes };
  throw new FileError('attachment_failed', 'It is not base64');
}

/** Stores the files of a run's messages, before the transaction of its effects; the run gives up its place meanwhile. */
export async function filesOfRun(
  { input, bot, result }: Pick<Run, 'input' | 'bot' | 'result'>,
  store: Pick<ReplyFileStore, 'keep'> | undefined,
  incoming?: IncomingFiles,
): Promise<ReplyFiles | FileError> {
  const hasFiles = (action: Action): boolean =>
    (action.type === 'reply' || action.type === 'incoming') && action.attachments !== undefined;
  if (!result.actions.some(hasFiles)) return new Map();
  if (!store) return new FileError('attachment_failed', 'This service stores no files of bots');
  const goOn = input.onWait?.();
  const place = { accountId: input.account.id, botId: bot.id, conversationId: input.event.conversationId };
  try {
    return await store.keep(result.actions, place, incoming);
  } catch (error) {
    if (error instanceof FileError) return error;
    throw error;
  } finally {
    goOn?.();
  }
}

function checkNumber(files: readonly unknown[], { perMessage }: AttachmentBounds, label: string): void {
  if (files.length > perMessage)
    throw new FileError('attachment_failed', `${label}: A message may have ${perMessage} files`);
}

function faultOf(error: unknown, label: string): unknown {
  if (error instanceof FileError) return new FileError(error.outcome, `${label}: ${error.message}`);
  if (!(error instanceof ApiError)) return error;
  const outcome = error.status === 503 ? 'attachment_unavailable' : 'attachment_failed';
  return new FileError(outcome, `${label}: ${error.message}`);
}
