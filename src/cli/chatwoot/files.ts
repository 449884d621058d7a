import { ApiError } from '../../errors.ts';
import { checkFiles, type CheckedFile } from '../../domain/attachments/checked-files.ts';
import type { AttachmentStore, WithConnection } from '../../domain/attachments/store.ts';
import { openGate } from '../../lib/outbound-gate.ts';
import type { ObjectStore } from '../../objects/object-store.ts';
import { sentenceOf } from '../../outbound/failure-sentences.ts';
import {
  createOutboundHttp,
  type OutboundErrorCode,
  type OutboundHttp,
  type OutboundResult,
} from '../../outbound/http.ts';
import type { Attachment } from '../../records/messages/attachment.ts';
import { endIfStopped, waitAfter } from './patience.ts';
import { countOf, textOf, type Foreign } from './values.ts';

/** How files are fetched and stored. */
interface FileCopierOptions {
  store: AttachmentStore;
  /** Object store of the files, closed with the copier; null for the database. */
  objects: ObjectStore | null;
  withConnection: WithConnection;
  accountId: number;
  /** Origin of the Chatwoot server, which may be at a private address if `allowsPrivate` is true. */
  origin: string;
  /** Host, with its port if it has one, that stores Chatwoot's files and may be at a private address; null for none. */
  filesHost: string | null;
  allowsPrivate: boolean;
  allowCidrs: readonly string[];
  /** Pause before a file is requested again, in milliseconds; doubled with each further one. */
  pauseMs: number;
  /** Ends the work. */
  stopped: AbortSignal;
}

/** Outcome of a file: its copy, or the reason why there is none. */
export type CopiedFile = { file: Attachment } | { problem: string; isGone?: boolean };

const everywhere = ['0.0.0.0/0', '::/0'];
const [timeoutMs, connectionsPerOrigin, mostHops] = [120_000, 8, 3];
const redirects = new Set([301, 302, 303, 307, 308]);
// Retries of failures that may pass. After `mostUnanswered` files in a row without an answer the next ones get one try each: a
// store that is down for long must not hold up the messages.
const mostTries = 4;
const mostUnanswered = 5;
const gone = new Set([404, 410]);
const passingStatus = new Set([408, 425, 429]);
const passingFailures = new Set<OutboundErrorCode | null>(['dns', 'connect', 'timeout', 'reset', 'bad_response']);

/** Fetches files of messages without the token: their links carry their own proof, and lead to stores of files. */
export class FileCopier {
  readonly #options: FileCopierOptions;
  readonly #own: OutboundHttp;
  readonly #others: OutboundHttp;
  #unanswered = 0;

  constructor(options: FileCopierOptions) {
    this.#options = options;
    const maxResponseBytes = options.store.bounds.bytes + 1;
    const common = { gate: openGate, timeoutMs, maxResponseBytes, keepsBytes: true, connectionsPerOrigin } as const;
    this.#own = createOutboundHttp({ ...common, allowCidrs: everywhere });
    this.#others = createOutboundHttp({ ...common, allowCidrs: options.allowCidrs });
  }

  /** Copies a file of a message that has `present` already; a sweep deletes the copy if no message gets it. */
  async copyUpTo(present: number, attachment: Foreign): Promise<CopiedFile> {
    const { bounds } = this.#options.store;
    if (present >= bounds.perMessage) return { problem: `a message has ${bounds.perMessage} files at most` };
    const url = textOf(attachment['data_url'], 4096);
    if (url === null) return { problem: 'it has no link' };
    if (countOf(attachment['file_size'], Number.MAX_SAFE_INTEGER) > bounds.bytes)
      return { problem: `it has more than ${bounds.bytes} bytes` };
    const fetched = await this.#download(url);
    if ('problem' in fetched) return fetched;
    const checked = check({ name: nameOf(url), bytes: fetched.bytes }, bounds);
    if ('problem' in checked) return checked;
    const { store, accountId, withConnection } = this.#options;
    const [file] = await store.keep(accountId, [checked.file], withConnection);
    return file ? { file } : { problem: 'it was not kept' };
  }

  async close(): Promise<void> {
    await Promise.all([this.#own.close(), this.#others.close(), this.#options.objects?.close()]);
  }

  async #download(link: string): Promise<Fetched> {
    const { stopped } = this.#options;
    for (let tries = 1; ; tries += 1) {
      const answer = await this.#follow(link);
      // Before the answer is judged: one that was cut off would count as a file that cannot be fetched.
      endIfStopped(stopped);
      if (answer === null) return { problem: 'its link leads on and on' };
      if ('privateHost' in answer) return { problem: privateSentence(answer.privateHost) };
      const isOver = !mayPass(answer, this.#options.store.bounds.bytes);
      if (isOver) this.#unanswered = 0;
      if (isOver || tries >= this.#tries()) return this.#read(answer, isOver);
      await waitAfter(answer, tries, this.#options);
    }
  }

  #tries(): number {
    return this.#unanswered < mostUnanswered ? mostTries : 1;
  }

  /** Follows redirects; returns the last answer, or null if there are too many. */
  async #follow(link: string): Promise<OutboundResult | { privateHost: string } | null> {
    let url = link;
    for (let hop = 0; hop <= mostHops; hop += 1) {
      const target = URL.parse(url);
      const answer = await (this.#mayBePrivate(target) ? this.#own : this.#others).request(url, {
        method: 'GET',
        headers: {},
        signal: this.#options.stopped,
      });
      const { status, headers } = answer;
      const next = status !== null && redirects.has(status) ? URL.parse(headers['location'] ?? '', url) : null;
      if (answer.errorCode === 'blocked_address' && target) return { privateHost: target.host };
      if (!next) return answer;
      url = next.href;
    }
    return null;
  }

  // Other links in a message may be chosen by anybody, and must not reach into the network.
  #mayBePrivate(target: URL | null): boolean {
    const { origin, filesHost, allowsPrivate } = this.#options;
    return target !== null && ((allowsPrivate && target.origin === origin) || target.host === filesHost);
  }

  #read({ status, ok, bytes, bodyCut, errorCode }: OutboundResult, isOver: boolean): Fetched {
    const most = this.#options.store.bounds.bytes;
    if (!isOver) this.#unanswered += 1;
    if (status === null) return { problem: sentenceOf(errorCode ?? 'connect') };
    if (!ok || !bytes) return { problem: `its link answers ${status}`, isGone: gone.has(status) };
    if (bytes.length > most) return { problem: `it has more than ${most} bytes` };
    return bodyCut ? { problem: 'it broke off' } : { bytes };
  }
}

function privateSentence(host: string): string {
  return `${host} is at a private address: give --files-host ${host} if their server keeps its files there`;
}

function mayPass({ status, bytes, bodyCut, errorCode }: OutboundResult, mostBytes: number): boolean {
  if (status === null) return passingFailures.has(errorCode);
  return status >= 500 || passingStatus.has(status) || (bodyCut && (bytes?.length ?? 0) <= mostBytes);
}

type Fetched = { bytes: Buffer } | { problem: string; isGone?: boolean };

function check(
  file: { name: string; bytes: Buffer },
  bounds: AttachmentStore['bounds'],
): { file: CheckedFile } | { problem: string } {
  try {
    const [checked] = checkFiles([file], bounds);
    return checked ? { file: checked } : { problem: 'it was not kept' };
  } catch (error) {
    if (error instanceof ApiError) return { problem: error.message };
    throw error;
  }
}

/** Returns the name of a file, which is the last segment of its link. */
export function nameOf(url: string): string {
  const step = URL.parse(url)?.pathname.split('/').at(-1) ?? '';
  try {
    return decodeURIComponent(step) || 'file';
  } catch {
    return step || 'file';
  }
}
