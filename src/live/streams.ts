import type { Readable } from 'node:stream';
import { findStanding } from '../domain/people/standing.ts';
import { ApiError, busy } from '../errors.ts';
import type { SecretBox } from '../lib/secret-box.ts';
import type { Database } from '../postgres/database.ts';
import { sql } from '../postgres/sql.ts';
import { AccountReader } from './account-reader.ts';
import { sealPlace } from './cursor.ts';
import { EventStream, type Following } from './event-stream.ts';
import { presentEvent } from './present.ts';
import { Turns } from './turns.ts';

export interface StreamsOptions {
  database: Database;
  secretBox: SecretBox;
  /** Streams of one account in this process at most. */
  perAccount: number;
  failed: (error: unknown) => void;
  /** Milliseconds between two heartbeats of a stream. */
  heartbeatMs?: number;
  /** Milliseconds between two looks at who may still follow, and at feeds that nobody told of. */
  lookMs?: number;
}

// Connections that all streams of the process use at the same time.
const connections = 2;
const retryAfterSeconds = 15;
/** What clients wait before they come back, in milliseconds. */
const reconnectMs = 1_000;

/** The open streams of events of this process: one reader for each account that anybody follows. */
export class EventStreams {
  readonly #options: StreamsOptions;
  readonly #readers = new Map<number, AccountReader>();
  readonly #turns = new Turns(connections);
  #timers: NodeJS.Timeout[] = [];
  #looking: Promise<void> | null = null;
  #stopped = false;

  constructor(options: StreamsOptions) {
    this.#options = options;
  }

  /** The number of open streams. */
  get size(): number {
    return this.#all().length;
  }

  /** Opens a stream. It ends when the follower loses the token, the seat or the role. Errors: 429, 503. */
  open(following: Following): Readable {
    if (this.#stopped) throw busy();
    const { accountId } = following.standing;
    const reader = this.#readers.get(accountId) ?? this.#createReader(accountId);
    if (reader.streams.size >= this.#options.perAccount) throw tooMany();
    const stream = new EventStream(following, () => reader.resume());
    reader.streams.add(stream);
    this.#readers.set(accountId, reader);
    stream.once('close', () => this.#forget(accountId, stream));
    stream.open(reconnectMs, (place) => sealPlace(this.#options.secretBox, accountId, place));
    if (this.#timers.length === 0) this.#start();
    reader.poke();
    return stream;
  }

  /** Announces that the accounts' feeds may be longer; null stands for any account. */
  poke(accounts: readonly number[] | null): void {
    for (const id of accounts ?? this.#readers.keys()) this.#readers.get(id)?.poke();
  }

  /** Ends all streams: the clients come back, to another process or after the restart. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#rest();
    for (const stream of this.#all()) stream.close();
    await this.#looking;
  }

  #all(): EventStream[] {
    return [...this.#readers.values()].flatMap(({ streams }) => [...streams]);
  }

  #createReader(accountId: number): AccountReader {
    const { database, secretBox, failed } = this.#options;
    return new AccountReader({
      accountId,
      database,
      failed,
      inTurn: (read) => this.#turns.run(read),
      write: (event, { dropped }) => {
        const { cursor, json } = presentEvent(secretBox, { accountId, dropped }, event);
        return Buffer.from(`id: ${cursor}\nevent: ${event.name}\ndata: ${json}\n\n`);
      },
    });
  }

  #forget(accountId: number, stream: EventStream): void {
    const reader = this.#readers.get(accountId);
    reader?.streams.delete(stream);
    if (reader?.streams.size === 0) this.#readers.delete(accountId);
    if (this.#readers.size === 0) this.#rest();
  }

  #start(): void {
    const { heartbeatMs = 15_000, lookMs = 3_000, secretBox } = this.#options;
    const beat = (): void => {
      for (const stream of this.#all()) stream.beat((place) => sealPlace(secretBox, stream.standing.accountId, place));
    };
    const look = (): void => {
      this.#looking ??= this.#look()
        .catch(this.#options.failed)
        .finally(() => (this.#looking = null));
    };
    this.#timers = [setInterval(beat, heartbeatMs), setInterval(look, lookMs)];
  }

  #rest(): void {
    for (const timer of this.#timers) clearInterval(timer);
    this.#timers = [];
  }

  // Two statements for all streams, whatever their number: who is silent is sent away too, and what nobody told of is found.
  async #look(): Promise<void> {
    const { database } = this.#options;
    const streams = this.#all();
    const standing = await findStanding(
      database.em(),
      streams.map((stream) => stream.standing),
    );
    for (const stream of streams) if (!standing.has(stream.standing)) stream.close();
    const heads = await sql<{ account_id: number; position: number }>(
      database.em(),
      'SELECT account_id, position FROM event_feed_heads WHERE account_id = ANY ($1)',
      [[...this.#readers.keys()]],
    );
    for (const { account_id: id, position } of heads) {
      const reader = this.#readers.get(id);
      if (reader?.isBehind(position)) reader.poke();
    }
  }
}

function tooMany(): ApiError {
  return new ApiError(429, 'too_many_streams', 'The account has as many streams of events open as it may have', {
    headers: { 'retry-after': String(retryAfterSeconds) },
  });
}
