import { Readable } from 'node:stream';
import type { Place } from './cursor.ts';
import type { FeedEvent } from './read-page.ts';
import type { ToldVisitor } from './visitors/events.ts';

/** An event as it goes down the streams of its account: bytes that they share. */
export interface WrittenEvent extends FeedEvent {
  /** For agents. */
  bytes: Buffer;
  /** The agents who may see its conversation; administrators see every event. */
  viewers: ReadonlySet<number> | undefined;
  /** The contact who is told of it, and in which words; nothing where none of those who follow is. */
  visitor?: ToldVisitor | undefined;
}

// Bytes that wait for a slow reader; later events stay in the database.
const waitingBytes = 64 * 1024;

/**
 * Server-sent events for one reader. It takes events while there is room, and is behind when there is none: the account's
 * reader (account-reader.ts) goes on with it when the client has read the waiting ones.
 */
export abstract class LiveStream extends Readable {
  abstract readonly accountId: number;
  /** Everything up to this position was taken, or was not wanted. */
  place: Place;
  readonly #makesRoom: () => void;
  #hasRoom = true;
  #isStuck = false;
  #isClosed = false;
  #told: number;

  /** Calls `makesRoom` when the client has read all waiting bytes. */
  constructor(place: Place, makesRoom: () => void) {
    super({ highWaterMark: waitingBytes });
    this.place = place;
    this.#makesRoom = makesRoom;
    this.#told = place.position;
  }

  /** Whether it takes events. */
  get hasRoom(): boolean {
    return this.#hasRoom && !this.#isClosed;
  }

  /** Returns the bytes of an event for this reader; null for an event that it does not get. */
  protected abstract bytesOf(event: WrittenEvent): Buffer | null;

  /**
   * Tells the client when to come back after a break, and with which cursor, should there be no event until then:
   * `cursorOf` names the place. Without it the client begins anew.
   */
  open(reconnectMs: number, cursorOf: ((place: Place) => string) | null): void {
    const id = cursorOf ? `id: ${cursorOf(this.place)}\n` : '';
    this.send(Buffer.from(`retry: ${reconnectMs}\n${id}\n`));
  }

  /** Takes the events behind its place, as far as there is room, and then is at `reached`. */
  give(events: readonly WrittenEvent[], reached: Place): void {
    for (const event of events) {
      if (event.position <= this.place.position) continue;
      if (!this.hasRoom) return;
      const bytes = this.bytesOf(event);
      this.place = { ...reached, position: event.position };
      if (bytes) this.send(bytes);
    }
    if (this.hasRoom && reached.position > this.place.position) this.place = reached;
  }

  /** Shows the client that the stream lives, and where it is. Cuts a client that has read nothing since the last time. */
  beat(cursorOf: ((place: Place) => string) | null): void {
    if (!this.hasRoom) {
      if (this.#isStuck) this.destroy();
      this.#isStuck = true;
      return;
    }
    const isNew = this.#told !== this.place.position;
    const id = isNew && cursorOf ? `id: ${cursorOf(this.place)}\n` : '';
    this.send(Buffer.from(`: heartbeat\n${id}\n`));
  }

  /** Ends the stream after its pending bytes; a client that reads nothing is cut off. */
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

  /** Sends the bytes, which contain everything up to the place. */
  protected send(bytes: Buffer): void {
    this.#told = this.place.position;
    this.#hasRoom = this.push(bytes);
  }
}
