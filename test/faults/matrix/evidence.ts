/**
 * How a write ended for who made it: `acknowledged` by a 2xx; `unknown` after a 5xx or a broken connection; `prevented`,
 * because the fault made sure that it could not be committed.
 */
export type Outcome = 'acknowledged' | 'unknown' | 'prevented';

/** A line of a producer's log. A conversation's lines are in the order in which they were written, one after the other. */
export interface Write {
  /** The message's text, which no other message has. */
  key: string;
  conversation: number;
  outcome: Outcome;
}

/**
 * What a receiver did with an arrival: `accepted`, a 2xx in full or more than full; `cut`, a 2xx whose connection it broke
 * off; `refused`, any other answer; null, none.
 */
export type Reply = 'accepted' | 'cut' | 'refused' | null;

/** A line of a receiver's log; lines are in the order of arrival. */
export interface Arrival {
  webhookId: string;
  /** The message's text; null for an event of another kind. */
  key: string | null;
  event: string;
  /** Null for events of no conversation. */
  conversation: number | null;
  sequence: number;
  /** The number of the attempt, as its header says. */
  attempt: number;
  /** When it came and when it was replied to, in milliseconds of the harness's monotonic clock. */
  at: number;
  repliedAt: number | null;
  reply: Reply;
}

/** A receiver's log. */
export interface ReceiverLog {
  name: string;
  arrivals: readonly Arrival[];
}

/** Something that was done to the service, and from when to when. */
export interface Disturbance {
  what: string;
  from: number;
  until: number;
}

/** All that a verdict is made from. */
export interface Evidence {
  writes: readonly Write[];
  /** The texts that a reader of the feed found at the end. */
  committed: ReadonlySet<string>;
  receivers: readonly ReceiverLog[];
  disturbances: readonly Disturbance[];
  /** Deliveries with an attempt that the service gave up as overdue, by webhook-id. */
  overdue: ReadonlySet<string>;
  /** Failed attempts after which a later event of the conversation may overtake. */
  holdAttempts: number;
  /** The most deliveries that one disturbance can interrupt at one receiver. */
  mostInFlight: number;
}
