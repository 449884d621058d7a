import type { Standing } from '../domain/people/standing.ts';
import type { Place } from './cursor.ts';
import { LiveStream, type WrittenEvent } from './live-stream.ts';

/** The follower of a stream, the place where it begins, and the events that it wants. */
export interface Following {
  standing: Standing;
  place: Place;
  types: ReadonlySet<string> | null;
  conversationId: number | null;
}

/** A stream of an account's events, for one of its agents. */
export class EventStream extends LiveStream {
  readonly standing: Standing;
  readonly #types: Following['types'];
  readonly #conversationId: Following['conversationId'];

  /** Calls `makesRoom` when the client has read all waiting bytes. */
  constructor({ standing, place, types, conversationId }: Following, makesRoom: () => void) {
    super(place, makesRoom);
    this.standing = standing;
    this.#types = types;
    this.#conversationId = conversationId;
  }

  get accountId(): number {
    return this.standing.accountId;
  }

  protected override bytesOf(event: WrittenEvent): Buffer | null {
    return this.#wants(event) ? event.bytes : null;
  }

  #wants({ name, conversationId, viewers }: WrittenEvent): boolean {
    if (this.#types && !this.#types.has(name)) return false;
    if (this.#conversationId !== null && this.#conversationId !== conversationId) return false;
    return this.standing.role === 'administrator' || (viewers?.has(this.standing.agentId) ?? false);
  }
}
