import type { Readable } from 'node:stream';
import { findBotsAtWork } from '../deliveries/log/under-way.ts';
import { findStanding } from '../domain/people/standing.ts';
import { findValidTokens } from '../domain/widget/seen-conversations.ts';
import { ApiError, busy } from '../errors.ts';
import type { SecretBox } from '../lib/secrets/secret-box.ts';
import type { Database } from '../postgres/database.ts';
import { AccountReader } from './account-reader.ts';
import { sealPlace, type Place } from './cursor.ts';
import { EventStream, type Following } from './event-stream.ts';
import type { LiveStream } from './live-stream.ts';
import { Looks } from './looks.ts';
import { presentEvent } from './present.ts';
import { Turns } from './turns.ts';
import { refuseMoreVisitors, type VisitorBounds } from './visitors/bounds.ts';
import { VisitorStream, type Visiting } from './visitors/stream.ts';

export interface StreamsOptions {
  database: Database;
  secretBox: SecretBox;
  /** Streams of one account in this process at most. */
  perAccount: number;
  visitors: VisitorBounds;
  failed: (error: unknown) => void;
  /** Milliseconds between two heartbeats of a stream. */
  heartbeatMs?: number;
  /** Milliseconds between two checks of the followers' rights, and of feeds whose announcement was missed. */
  lookMs?: number;
  /** Milliseconds between two looks at whether bots are at work for contacts who wait. */
  typingMs?: number;
}

// Connections that all streams of the process use at the same time.
const connections = 2;
const retryAfterSeconds = 15;
/** Milliseconds that clients wait before they reconnect. */
const reconnectMs = 1_000;

/** The open streams of events of this process: one reader for each account that anybody follows. */
export class EventStreams {
  readonly #options: StreamsOptions;
  readonly #readers = new Map<number, AccountReader>();
  readonly #turns = new Turns(connections);
  #timers: NodeJS.Timeout[] = [];
  readonly #looks: Looks;
  readonly #typing: Looks;
  #stopped = false;

  constructor(options: StreamsOptions) {
    this.#options = options;
    this.#looks = new Looks(options.failed);
    this.#typing = new Looks(options.failed);
  }

  /** The number of open streams. */
  get size(): number {
    return this.#all().length;
  }

  /** Opens a stream. It ends when the follower loses the token, the seat or the role. Errors: 429, 503. */
  open(following: Following): Readable {
    return this.#open(following.standing.accountId, (reader) => new EventStream(following, () => reader.resume()));
  }

  /** Opens a stream of a contact. It ends with its token. Errors: 429, 503. */
  openToVisitor(visiting: Visiting): Readable {
    const { perAccount, visitors } = this.#options;
    refuseMoreVisitors(visiting, this.#all().filter(isOfVisitor), { perAccount, ...visitors });
    return this.#open(visiting.accountId, (reader) => new VisitorStream(visiting, () => reader.resume()));
  }

  #open(accountId: number, make: (reader: AccountReader) => LiveStream): Readable {
    if (this.#stopped) throw busy();
    const reader = this.#readers.get(accountId) ?? this.#createReader(accountId);
    if (reader.streams.size >= this.#options.perAccount) throw tooMany();
    const stream = make(reader);
    reader.streams.add(stream);
    this.#readers.set(accountId, reader);
    stream.once('close', () => this.#forget(accountId, stream));
    stream.open(reconnectMs, this.#cursorsOf(stream));
    if (this.#timers.length === 0) this.#start();
    reader.poke();
    return stream;
  }

  // Contacts get no cursors: where a feed is tells how much happens in the account. They read their messages anew.
  #cursorsOf(stream: LiveStream): ((place: Place) => string) | null {
    if (isOfVisitor(stream)) return null;
    return (place) => sealPlace(this.#options.secretBox, stream.accountId, place);
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
    await Promise.all([this.#looks.ended, this.#typing.ended]);
  }

  #all(): LiveStream[] {
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

  #forget(accountId: number, stream: LiveStream): void {
    const reader = this.#readers.get(accountId);
    reader?.streams.delete(stream);
    if (reader?.streams.size === 0) this.#readers.delete(accountId);
    if (this.#readers.size === 0) this.#rest();
  }

  #start(): void {
    const { heartbeatMs = 15_000, lookMs = 3_000, typingMs = 400 } = this.#options;
    const beat = (): void => {
      for (const stream of this.#all()) stream.beat(this.#cursorsOf(stream));
    };
    this.#timers = [
      setInterval(beat, heartbeatMs),
      setInterval(() => this.#looks.run(() => this.#look()), lookMs),
      setInterval(() => this.#typing.run(() => this.#lookForBots()), typingMs),
    ];
  }

  #rest(): void {
    for (const timer of this.#timers) clearInterval(timer);
    this.#timers = [];
  }

  // Three statements for all streams, whatever their number: who is silent is sent away too, and what nobody told of is found.
  async #look(): Promise<void> {
    const { database } = this.#options;
    const streams = this.#all();
    const agents = streams.filter((stream) => stream instanceof EventStream);
    const standing = await findStanding(
      database.sql,
      agents.map((stream) => stream.standing),
      database.clock.now(),
    );
    for (const stream of agents) if (!standing.has(stream.standing)) stream.close();
    const visitors = streams.filter(isOfVisitor);
    const valid = await findValidTokens(
      database.sql,
      visitors.map(({ visiting }) => visiting),
    );
    for (const stream of visitors) if (!valid.has(stream.visiting.tokenId)) stream.close();
    const heads = await database.sql<{ account_id: number; position: number }>(
      'SELECT account_id, position FROM event_feed_heads WHERE account_id = ANY ($1)',
      [[...this.#readers.keys()]],
    );
    for (const { account_id: id, position } of heads) {
      const reader = this.#readers.get(id);
      if (reader?.isBehind(position)) reader.poke();
    }
  }

  // A single statement for all contacts who wait for a bot, and none while nobody does.
  async #lookForBots(): Promise<void> {
    const waiting = this.#all()
      .filter(isOfVisitor)
      .flatMap((stream) => (stream.awaited === null ? [] : [{ stream, eventId: stream.awaited }]));
    const asked = waiting.map(({ stream, eventId }) => ({ accountId: stream.accountId, eventId }));
    const atWork = await findBotsAtWork(this.#options.database.sql, asked);
    for (const { stream, eventId } of waiting) {
      stream.showTyping(atWork.get(eventId) ?? false);
      if (!atWork.has(eventId) && stream.awaited === eventId) stream.awaited = null;
    }
  }
}

function isOfVisitor(stream: LiveStream): stream is VisitorStream {
  return stream instanceof VisitorStream;
}

function tooMany(): ApiError {
  return new ApiError(429, 'too_many_streams', 'The account has as many streams of events open as it may have', {
    headers: { 'retry-after': String(retryAfterSeconds) },
  });
}
