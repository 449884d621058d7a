import type { Place } from '../cursor.ts';
import { LiveStream, type WrittenEvent } from '../live-stream.ts';
import { writeTyping } from './events.ts';

/** A contact who follows its conversation in an inbox, from where, by which of its tokens, and from which address. */
export interface Visiting {
  accountId: number;
  inboxId: number;
  contactId: number;
  tokenId: number;
  address: string;
  place: Place;
  /** The event of the contact's last message, while its bot is still to answer it; else null. */
  awaited: number | null;
}

/** A stream for a contact: what is public in its conversations of one inbox, and whether a bot is at work for it. */
export class VisitorStream extends LiveStream {
  readonly visiting: Visiting;
  /** See Visiting. */
  awaited: number | null;
  #isTyping = false;

  /** `makesRoom` is called when the client has read what waited. */
  constructor(visiting: Visiting, makesRoom: () => void) {
    super(visiting.place, makesRoom);
    this.visiting = visiting;
    this.awaited = visiting.awaited;
  }

  get accountId(): number {
    return this.visiting.accountId;
  }

  protected override bytesOf({ id, visitor }: WrittenEvent): Buffer | null {
    const { contactId, inboxId } = this.visiting;
    if (visitor?.contactId !== contactId || visitor.inboxId !== inboxId) return null;
    if (visitor.asks) this.awaited = id;
    return visitor.bytes;
  }

  /** Tells the client whether a bot is at work, where that has changed. */
  showTyping(isTyping: boolean): void {
    if (isTyping === this.#isTyping || !this.hasRoom) return;
    this.#isTyping = isTyping;
    this.send(writeTyping(isTyping));
  }
}
