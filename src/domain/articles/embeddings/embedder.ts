import type { OutboundGate } from '../../../lib/outbound-gate.ts';
import { ModelError, type ModelServer } from '../../../models/chat.ts';
import type { Embed } from '../../../models/embed.ts';
import type { Database } from '../../../postgres/database.ts';
import { isLockTimeout, isOutage } from '../../../postgres/errors.ts';
import type { Sql } from '../../../postgres/sql.ts';
import { plainText } from '../plain-text.ts';
import {
  beginAgain,
  beginSpace,
  claimTask,
  deleteVectors,
  findUnembedded,
  keepEmbeddingHealth,
  keepVectors,
  noticeSpace,
  releaseTask,
  setBackTask,
  settleTask,
  untilNextTask,
  type EmbeddedPassage,
  type EmbeddingTask,
  type Unembedded,
} from './tasks.ts';
import { toStored } from './vectors.ts';

export interface EmbedderOptions {
  database: Database;
  /** While it is held, passages wait. */
  gate: OutboundGate;
  /** Returns the server and the model for an account's embeddings, read anew each time; null for none. */
  serverOf: (sql: Sql, accountId: number) => Promise<ModelServer | null>;
  /** Server of accounts that set none of their own. */
  ownServer: ModelServer | null;
  embed: Embed;
  /** Passages in one request to the server. */
  batch: number;
  /** Accounts that are worked on at the same time. */
  inFlight: number;
  /** The first pause after a failure, in milliseconds. */
  retryMs: number;
  /** Most times within a day that all passages of an account are embedded anew because its model's vectors changed. */
  changesPerDay: number;
  /** Timeout of a request to a server, in milliseconds. */
  timeoutMs: number;
  /** Called once for an account whose passages failed several times in a row. */
  told: (problem: { accountId: number; error: string }) => void;
  failed: (error: unknown) => void;
}

/** Failures in a row before the operator is informed. */
const tellAfter = 3;
const maxPauseMs = 3_600_000;
const maxLookMs = 60_000;
// Time for reading and writing beside the request itself.
const leaseMarginMs = 30_000;
const deletedAtOnce = 1000;
/** Characters of a passage that a model gets, about 500 tokens: smaller models accept no more. */
const maxTextChars = 2000;
/** A text that every working server accepts. */
const plainest = 'Hello';

/** Returns the name of a space of comparable vectors: those of one server and model. */
export function spaceOf({ baseUrl, model }: ModelServer): string {
  return `${baseUrl} ${model}`;
}

/**
 * Embeds the passages of articles after their commit, one batch of an account after the other; when poked, and when an account
 * that failed is due again. No transaction is open during a request to a server. Tasks of a process that died are taken again
 * when their lease has ended.
 */
export class PassageEmbedder {
  readonly #options: EmbedderOptions;
  readonly #stopping = new AbortController();
  #running: Promise<void> | null = null;
  #isPoked = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: EmbedderOptions) {
    this.#options = options;
  }

  /** Lease that covers one request. */
  get #leaseSeconds(): number {
    return (this.#options.timeoutMs + leaseMarginMs) / 1000;
  }

  /** Makes tasks due after a change of the service's own server, and begins. */
  async start(): Promise<void> {
    const { database, ownServer } = this.#options;
    await noticeSpace(database.sql, ownServer && spaceOf(ownServer));
    this.poke();
  }

  /** Looks for work, at once or after the present look. */
  poke(): void {
    this.#isPoked = true;
    if (this.#stopping.signal.aborted || this.#options.gate.heldFor !== null) return;
    this.#running ??= this.#work().finally(() => {
      this.#running = null;
      // A poke near the end of a look may announce passages that the look did not see.
      if (this.#isPoked) this.poke();
    });
  }

  /** Ends the requests under way. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    clearTimeout(this.#timer);
    await this.#running;
  }

  async #work(): Promise<void> {
    try {
      while (this.#isPoked && !this.#stopping.signal.aborted) {
        this.#isPoked = false;
        await Promise.all(Array.from({ length: this.#options.inFlight }, () => this.#embedAll()));
      }
      await this.#lookAgain();
    } catch (error) {
      if (!this.#stopping.signal.aborted) this.#options.failed(error);
    }
  }

  async #lookAgain(): Promise<void> {
    const ms = await untilNextTask(this.#options.database.sql);
    clearTimeout(this.#timer);
    if (ms === null || this.#stopping.signal.aborted) return;
    this.#timer = setTimeout(() => this.poke(), Math.min(maxLookMs, Math.max(0, ms) + 1));
    this.#timer.unref();
  }

  async #embedAll(): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      const task = await claimTask(this.#options.database.sql, this.#leaseSeconds);
      if (!task) return;
      await this.#embedSome(task).catch((error: unknown) => this.#setBack(task, error));
    }
  }

  async #embedSome(task: EmbeddingTask): Promise<void> {
    const { database, serverOf, batch } = this.#options;
    const sql = database.sql;
    const server = await serverOf(sql, task.account_id);
    const space = server && spaceOf(server);
    if (space !== task.space) return beginSpace(sql, task, space);
    if (!server) {
      if ((await deleteVectors(sql, task, deletedAtOnce)) < deletedAtOnce) await settleTask(sql, task);
      else await beginSpace(sql, task, null);
      return;
    }
    const passages = await findUnembedded(sql, task, batch);
    if (passages.length > 0) await this.#embedThese(server, task, passages);
    else await settleTask(sql, task);
    if (task.is_told) await keepEmbeddingHealth(sql, task.account_id, { of: 'passages', error: null });
  }

  /** Embeds all passages at once; if the server refuses that, one after the other, each stored before the next. */
  async #embedThese(server: ModelServer, task: EmbeddingTask, passages: readonly Unembedded[]): Promise<void> {
    const together = await unlessRefused(this.#ask(server, task, passages.map(textOf)));
    if (together) return void (await this.#keep(task, passages, together));
    // Texts are at fault, unless the server refuses this plain one as well: then it refuses everything.
    await this.#ask(server, task, [plainest]);
    if (passages.length === 1) return void (await this.#keep(task, passages, []));
    for (const passage of passages) {
      const vectors = await unlessRefused(this.#ask(server, task, [textOf(passage)]));
      const goesOn = passage !== passages.at(-1);
      if (!(await this.#keep(task, [passage], vectors ?? [], goesOn))) return;
    }
  }

  /**
   * Stores the vectors of passages; passages without one are those that the server does not accept. With `goesOn` the task stays
   * taken. Returns false if another process has taken it meanwhile.
   */
  async #keep(
    task: EmbeddingTask,
    passages: readonly Unembedded[],
    vectors: readonly (readonly number[])[],
    goesOn = false,
  ): Promise<boolean> {
    // Later vectors of the task must have as many dimensions as these.
    task.dimensions ??= vectors[0]?.length ?? null;
    task.failures = 0;
    const stored = passages.map((one, at) => storedOf(one, vectors[at]));
    return keepVectors(this.#options.database.sql, task, {
      passages: stored,
      leaseSeconds: goesOn ? this.#leaseSeconds : 0,
    });
  }

  async #ask(server: ModelServer, { dimensions }: EmbeddingTask, texts: readonly string[]): Promise<number[][]> {
    const vectors = await this.#options.embed(server, texts, this.#stopping.signal);
    const length = vectors[0]?.length;
    if (dimensions !== null && length !== dimensions) throw new OtherDimensions(length ?? 0, dimensions);
    return vectors;
  }

  async #setBack(task: EmbeddingTask, error: unknown): Promise<void> {
    if (isOutage(error)) throw error;
    const { database, retryMs, told, failed } = this.#options;
    const sql = database.sql;
    if (this.#stopping.signal.aborted) return releaseTask(sql, task);
    const isLast = task.failures + 1 >= tellAfter;
    // The model behind the name has changed: stored vectors cannot be compared with questions any more.
    if (isLast && error instanceof OtherDimensions) return this.#beginAgain(task, error);
    await setBackTask(sql, task, { pauseMs: retryMs, maxMs: maxPauseMs });
    if (!(error instanceof ModelError) && !isLockTimeout(error)) failed(error);
    if (!isLast) return;
    const sentence = error instanceof ModelError ? error.message : 'The passages could not be embedded: see the log';
    await keepEmbeddingHealth(sql, task.account_id, { of: 'passages', error: sentence });
    if (task.failures + 1 === tellAfter) told({ accountId: task.account_id, error: sentence });
  }

  // Limited, because a server that alternates between models would have all passages embedded forever.
  async #beginAgain(task: EmbeddingTask, error: OtherDimensions): Promise<void> {
    const { database, changesPerDay, told } = this.#options;
    const { account_id: accountId } = task;
    if (await beginAgain(database.sql, task, changesPerDay)) return;
    const sentence = changesTooOften(changesPerDay, error);
    await keepEmbeddingHealth(database.sql, accountId, { of: 'passages', error: sentence });
    told({ accountId, error: sentence });
  }
}

function changesTooOften(most: number, { message }: Error): string {
  return `${message}. It has changed more than ${most} times within a day: articles are embedded again a day after the first change, or when the account's \`llm\` is set`;
}

/** Thrown for vectors that cannot be compared with the stored ones. */
class OtherDimensions extends ModelError {
  constructor(length: number, before: number) {
    super('bad_answer', `The model answers vectors of ${length} numbers, and answered vectors of ${before} before`);
  }
}

async function unlessRefused<Result>(asked: Promise<Result>): Promise<Result | null> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof ModelError && error.code === 'refused') return null;
    throw error;
  }
}

function textOf({ title, heading, text }: Unembedded): string {
  const parts = [title, ...(heading === null ? [] : [heading]), text].map((part) => plainText(part).trim());
  // No server accepts an empty text.
  const whole = parts.filter((part) => part !== '').join('\n') || title || '-';
  return whole.slice(0, maxTextChars).toWellFormed();
}

function storedOf({ id }: Unembedded, vector: readonly number[] | null | undefined): EmbeddedPassage {
  if (!vector) return { id, signs: null, numbers: null };
  const { signs, numbers } = toStored(vector);
  return { id, signs, numbers: numbers.toString('base64') };
}
