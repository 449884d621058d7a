/**
 * THE lock order. A transaction that waits for several of these rows takes them from the top down; any other order can
 * deadlock.
 *
 *   0. by what a contact comes in: its tokens, then its places in inboxes
 *   1. conversations, by id
 *   2. their contact
 *   3. the endpoint: the row of a webhook or a bot
 *   4. the endpoint's recoveries, bulk actions, then backlog tasks; in a claim, which waits for nothing else, the buckets of its webhooks
 *   5. lanes, by subject, then by endpoint, the live one before those beside it (`laneOrder`)
 *   6. deliveries, each under the lock of its lane
 *   7. counts of conversations, by kind: only in the sweep that merges changes, in a transaction of its own
 *
 * A transaction that locks in another order must not wait, and skips locked rows (SKIP LOCKED): claims lock lanes in the
 * order of their due times, and heads without their lanes; batches of renewals and results lock the lanes of many
 * endpoints without their conversations; waking, cancelling and pruning find lanes by endpoint. Attempts, and changes of
 * counts, are only inserted.
 * Events are inserted, and later rewritten or deleted under the lock of their conversation.
 */
export function laneOrder(alias: string): string {
  return `${liveLaneOrder(alias)}, ${alias}.side`;
}

/** The order among live lanes. */
export function liveLaneOrder(alias: string): string {
  return ['subject_kind', 'subject_id', 'endpoint_kind', 'endpoint_id']
    .map((column) => `${alias}.${column}`)
    .join(', ');
}
