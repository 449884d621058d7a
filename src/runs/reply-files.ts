import { checkFiles, type AttachmentBounds } from '../domain/attachments/checked-files.ts';
import { discardRows } from '../domain/attachments/rows.ts';
import { findSendable, type AttachmentStore } from '../domain/attachments/store.ts';
import { ApiError } from '../errors.ts';
import { Semaphore } from './semaphore.ts';
import type { Sql } from '../postgres/sql.ts';
import type { Attachment } from '../records/messages/attachment.ts';
import type { Action } from '../sandbox/run.ts';
import { FileError, type FetchFile, type SentFile } from './fetched-file.ts';
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

type ReplyFile = NonNullable<Extract<Action, { type: 'reply' }>['attachments']>[number];

/** Files in memory at once, each of which may be as large as a file of a message. */
const filesAtOnce = 4;
/** The time for all files of a run together. */
const patienceMs = 30_000;

/** Stores the files that bots send, before their replies are committed: no transaction waits for another host. */
export class ReplyFileStore {
  readonly #options: ReplyFileOptions;
  readonly #places = new Semaphore(filesAtOnce);

  constructor(options: ReplyFileOptions) {
    this.#options = options;
  }

  /** Stores the files of a run's replies: all of them, or none. Errors: FileError. */
  async keep(actions: readonly Action[], place: FilePlace): Promise<ReplyFiles> {
    const kept = new Map<Action, Attachment[]>();
    const budget = { bytes: this.#options.runBytes };
    const signal = AbortSignal.timeout(patienceMs);
    try {
      for (const [index, action] of actions.entries()) {
        if (action.type !== 'reply' || !action.attachments) continue;
        checkNumber(action.attachments, this.#options.store.bounds, `Action ${index + 1}`);
        const files: Attachment[] = [];
        kept.set(action, files);
        for (const [at, file] of action.attachments.entries()) {
          const label = `Action ${index + 1}, file ${at + 1}`;
          files.push(await this.#places.use(() => this.#keepOne(file, place, { budget, signal, label })));
        }
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
    if (file.url !== undefined) return this.#options.fetch({ url: file.url, name: file.name ?? null }, signal);
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

/** Stores the files of a run's replies, before the transaction of its effects; the run gives up its place meanwhile. */
export async function filesOfRun(
  { input, bot, result }: Pick<Run, 'input' | 'bot' | 'result'>,
  store: Pick<ReplyFileStore, 'keep'> | undefined,
): Promise<ReplyFiles | FileError> {
  if (!result.actions.some((action) => action.type === 'reply' && action.attachments)) return new Map();
  if (!store) return new FileError('attachment_failed', 'This service stores no files of bots');
  const goOn = input.onWait?.();
  const place = { accountId: input.account.id, botId: bot.id, conversationId: input.event.conversationId };
  try {
    return await store.keep(result.actions, place);
  } catch (error) {
    if (error instanceof FileError) return error;
    throw error;
  } finally {
    goOn?.();
  }
}

function checkNumber(files: readonly ReplyFile[], { perMessage }: AttachmentBounds, label: string): void {
  if (files.length > perMessage)
    throw new FileError('attachment_failed', `${label}: A message may have ${perMessage} files`);
}

function faultOf(error: unknown, label: string): unknown {
  if (error instanceof FileError) return new FileError(error.outcome, `${label}: ${error.message}`);
  if (!(error instanceof ApiError)) return error;
  const outcome = error.status === 503 ? 'attachment_unavailable' : 'attachment_failed';
  return new FileError(outcome, `${label}: ${error.message}`);
}
