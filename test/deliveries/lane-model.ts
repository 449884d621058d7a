/** A delivery as its row keeps it; times in milliseconds. */
export interface ModelDelivery {
  /** The lane's order is that of its events. */
  eventId: number;
  state: 'pending' | 'delivered' | 'exhausted' | 'cancelled';
  dueAt: number;
  failures: number;
  claims: number;
  attempt: number;
}

// What no older one holds back: all up to the first that has not failed often enough, and all when there is none such.
function free(lane: readonly ModelDelivery[], holdAttempts: number): ModelDelivery[] {
  const pending = lane.filter(({ state }) => state === 'pending').toSorted((one, other) => one.eventId - other.eventId);
  const holder = pending.findIndex(({ failures }) => failures < holdAttempts);
  return holder === -1 ? pending : pending.slice(0, holder + 1);
}

/** What a lane that is claimed now delivers: what the statement of a claim says in SQL. */
export function headOf(lane: readonly ModelDelivery[], now: number, holdAttempts: number): ModelDelivery | null {
  return free(lane, holdAttempts).find(({ dueAt }) => dueAt <= now) ?? null;
}

/** When a lane that is given back is due again, null for never. */
export function dueAtOf(lane: readonly ModelDelivery[], holdAttempts: number): number | null {
  const times = free(lane, holdAttempts).map(({ dueAt }) => dueAt);
  return times.length > 0 ? Math.min(...times) : null;
}
