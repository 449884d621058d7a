import { Readable } from 'node:stream';
import type { Standing } from '../domain/people/standing.ts';
import type { Place } from './cursor.ts';
import type { FeedEvent } from './read-page.ts';

/** Who follows, from where, and which events. */
export interface Following {
  standing: Standing;
  place: Place;
  types: ReadonlySet<string> | null;
  conversationId: number | null;
}

/** An event as it goes down a stream: bytes that all streams of the account share. */
export interface WrittenEvent extends FeedEvent {
  bytes: Buffer;
  /** The agents who may see its conversation; administrators see every event. */
  viewers: ReadonlySet<number> | undefined;
}

// Bytes that wait for a slow reader; what is behind them stays in the database.
const waitingBytes = 64 * 1024;

/**
 * One reader's server-sent events. It takes events while there is room, and is behind when there is none: the account's
 * reader (account-reader.ts) goes on with it when the client has read what waits.
 */
export class EventStream extends Readable {
  readonly standing: Standing;
  /** Everything up to this position was taken, or was not wanted. */
  place: Place;
  readonly #types: Following['types'];
  readonly #conversationId: Following['conversationId'];
  readonly #makesRoom: () => void;
  #hasRoom = true;
  #isStuck = false;
  #isClosed = false;
  #told: number;

  /** `makesRoom` is called when the client has read what waited. */
  constructor({ standing, place, types, conversationId }: Following, makesRoom: () => void) {
    super({ highWaterMark: waitingBytes });
    this.standing = standing;
    this.place = place;
    this.#types = types;
    this.#conversationId = conversationId;
    this.#makesRoom = makesRoom;
    this.#told = place.position;
  }

  /** Whether it takes events. */
  get hasRoom(): boolean {
    return this.#hasRoom && !this.#isClosed;
  }

  /**
   * Tells the client when to come back after a break, and with which cursor, should there be no event until then:
   * `cursorOf` names the place.
   */
  open(reconnectMs: number, cursorOf: (place: Place) => string): void {
    this.#write(Buffer.from(`retry: ${reconnectMs}\nid: ${cursorOf(this.place)}\n\n`), this.place.position);
  }

  /** Takes the events behind its place, as far as there is room, and then is at `reached`. */
  give(events: readonly WrittenEvent[], reached: Place): void {
    for (const event of events) {
      if (event.position <= this.place.position) continue;
      if (!this.hasRoom) return;
      if (this.#wants(event)) this.#write(event.bytes, event.position);
      this.place = { ...reached, position: event.position };
    }
    if (this.hasRoom && reached.position > this.place.position) this.place = reached;
  }

  /** Shows the client that the stream lives, and where it is. Cuts a client that has read nothing since the last time. */
  beat(cursorOf: (place: Place) => string): void {
    if (!this.hasRoom) {
      if (this.#isStuck) this.destroy();
      this.#isStuck = true;
      return;
    }
    const isNew = this.#told !== this.place.position;
    const id = isNew ? `id: ${cursorOf(this.place)}\n` : '';
    this.#write(Buffer.from(`: heartbeat\n${id}\n`), this.place.position);
  }

  /** Ends the stream, with what it has taken; a client that reads nothing is cut. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    if (this.#hasRoom) this.push(null);
    else this.destroy();
  }

  override _read(): void {
    this.#isStuck = false;
    if (this.#hasRoom) return;
    this.#hasRoom = true;
    this.#makesRoom();
  }

  #wants({ name, conversationId, viewers }: WrittenEvent): boolean {
    if (this.#types && !this.#types.has(name)) return false;
    if (this.#conversationId !== null && this.#conversationId !== conversationId) return false;
    return this.standing.role === 'administrator' || (viewers?.has(this.standing.agentId) ?? false);
  }

  #write(bytes: Buffer, position: number): void {
    this.#told = position;
    this.#hasRoom = this.push(bytes);
  }
}
