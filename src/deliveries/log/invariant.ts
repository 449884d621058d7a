/** A rule that always holds in the database: its statement finds violations. */
export interface Invariant {
  id: `L${number}`;
  name: string;
  /** Returns rows that break it, with account and subject; `$1` is the number of failures that a lane is held for. */
  text: string;
}

/** SQL condition: the event, if it is missing, was not deleted for its age, since it is not before what was (`dropped`). */
export const isRecent = (account: string, event: string): string => `NOT EXISTS (
  SELECT FROM event_feed f JOIN event_feed_heads h ON h.account_id = f.account_id
  WHERE f.account_id = ${account} AND f.event_id = ${event} AND f.position <= h.dropped)`;
