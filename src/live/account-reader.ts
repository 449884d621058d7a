import { findViewers } from '../domain/conversations/access.ts';
import { findStanding } from '../domain/people/standing.ts';
import { findValidTokens } from '../domain/widget/seen-conversations.ts';
import type { Database } from '../postgres/database.ts';
import type { Place } from './cursor.ts';
import { EventStream } from './event-stream.ts';
import type { LiveStream, WrittenEvent } from './live-stream.ts';
import { readPage, type FeedEvent, type FeedPage, type Kept } from './read-page.ts';
import { tellVisitors, type ToldVisitor } from './visitors/events.ts';
import { VisitorStream } from './visitors/stream.ts';

/** Dependencies of an account's reader. */
export interface ReaderOptions {
  accountId: number;
  database: Database;
  /** Runs a read when it is its turn: all accounts of the process share few connections. */
  inTurn: <Result>(read: () => Promise<Result>) => Promise<Result>;
  /** The bytes of an event on a stream. */
  write: (event: FeedEvent, kept: Kept) => Buffer;
  failed: (error: unknown) => void;
}

const pageSize = 200;

/**
 * Reads an account's feed for all its streams in this process: pages of what is new, and in between pages for those that are
 * behind, each page for every stream that is within it.
 */
export class AccountReader {
  /** The streams it reads for. */
  readonly streams = new Set<LiveStream>();
  readonly #options: ReaderOptions;
  #head = Infinity;
  #isPoked = false;
  #isReading = false;

  constructor(options: ReaderOptions) {
    this.#options = options;
  }

  /** Announces that there may be new events. */
  poke(): void {
    this.#isPoked = true;
    this.resume();
  }

  /** Goes on with the streams that are behind and have room. */
  resume(): void {
    if (!this.#isReading) void this.#read();
  }

  /** Whether the feed goes beyond the position that was read. */
  isBehind(head: number): boolean {
    return head !== this.#head;
  }

  async #read(): Promise<void> {
    this.#isReading = true;
    try {
      for (;;) {
        // New events go first: who is far behind does not hold up the others.
        if (this.#isPoked) await this.#readFor((positions) => Math.max(...positions));
        const isLate = this.#ready().some(({ place }) => place.position < this.#head);
        if (isLate) await this.#readFor((positions) => Math.min(...positions));
        else if (!this.#isPoked) break;
      }
    } catch (error) {
      // The next look (streams.ts) finds this reader behind, and pokes it.
      this.#head = Infinity;
      this.#options.failed(error);
    }
    this.#isReading = false;
  }

  #ready(): LiveStream[] {
    return [...this.streams].filter(({ hasRoom }) => hasRoom);
  }

  /** Reads one page behind the place that is chosen among those of the streams with room, and gives it to them. */
  async #readFor(choose: (positions: number[]) => number): Promise<void> {
    this.#isPoked = false;
    const ready = this.#ready();
    if (ready.length === 0) return;
    const after = choose(ready.map(({ place }) => place.position));
    const { accountId, database, inTurn } = this.#options;
    const concerned = ready.filter(({ place }) => place.position >= after);
    const { page, written } = await inTurn(async () => {
      const read = await readPage(database.sql, { accountId, after, limit: pageSize });
      return { page: read, written: await this.#prepare(read, concerned) };
    });
    this.#head = page.kept.head;
    const reached: Place = { position: page.reached, floor: page.kept.dropped };
    for (const stream of concerned) {
      // Events between were deleted: the client learns it when it comes back with its cursor.
      if (isTooLate(stream.place, page.kept)) stream.close();
      else stream.give(written, reached);
    }
  }

  // Finds the viewers after the events were read: a client that lost a token or a seat before the events were committed must
  // not get them.
  async #prepare({ events, kept }: FeedPage, streams: readonly LiveStream[]): Promise<WrittenEvent[]> {
    if (events.length === 0) return [];
    const agents = streams.filter((stream) => stream instanceof EventStream);
    const visitors = streams.filter((stream) => stream instanceof VisitorStream);
    const viewers = await this.#findViewers(events, agents);
    const told = await this.#tellVisitors(events, visitors);
    const { write } = this.#options;
    return events.map((event) => ({
      ...event,
      bytes: agents.length > 0 ? write(event, kept) : nothing,
      viewers: event.conversationId === null ? undefined : viewers.get(event.conversationId),
      visitor: told.get(event.position),
    }));
  }

  async #findViewers(events: readonly FeedEvent[], streams: readonly EventStream[]) {
    const { accountId, database } = this.#options;
    const standing = await findStanding(
      database.sql,
      streams.map((stream) => stream.standing),
      database.clock.now(),
    );
    for (const stream of streams) if (!standing.has(stream.standing)) stream.close();
    const agents = new Set([...standing].filter(({ role }) => role === 'agent').map(({ agentId }) => agentId));
    const conversations = new Set(events.flatMap(({ conversationId }) => conversationId ?? []));
    const asked = { agents: [...agents], conversations: [...conversations] };
    return findViewers(database.sql, accountId, asked);
  }

  async #tellVisitors(
    events: readonly FeedEvent[],
    streams: readonly VisitorStream[],
  ): Promise<ReadonlyMap<number, ToldVisitor>> {
    if (streams.length === 0) return new Map();
    const { accountId, database } = this.#options;
    const contacts = [...new Set(streams.map(({ visiting }) => visiting.contactId))];
    const told = await tellVisitors(database.sql, { accountId, links: database.fileLinks }, { events, contacts });
    const listeners = new Set([...told.values()].map(({ contactId }) => contactId));
    const concerned = streams.filter(({ visiting }) => listeners.has(visiting.contactId));
    const valid = await findValidTokens(
      database.sql,
      concerned.map(({ visiting }) => visiting),
    );
    for (const stream of concerned) if (!valid.has(stream.visiting.tokenId)) stream.close();
    return told;
  }
}

const nothing = Buffer.alloc(0);

function isTooLate({ position, floor }: Place, { dropped }: Kept): boolean {
  return position < dropped && floor < dropped;
}
