/** A delivery's row; times in milliseconds. */
export interface ModelDelivery {
  /** The lane's order is that of its events. */
  eventId: number;
  state: 'pending' | 'delivered' | 'exhausted' | 'cancelled';
  dueAt: number;
  failures: number;
  claims: number;
  attempt: number;
}

// Deliveries that no older one holds back: all up to the first that has failed fewer times than the limit.
function free(lane: readonly ModelDelivery[], holdAttempts: number): ModelDelivery[] {
  const pending = lane.filter(({ state }) => state === 'pending').toSorted((one, other) => one.eventId - other.eventId);
  const holder = pending.findIndex(({ failures }) => failures < holdAttempts);
  return holder === -1 ? pending : pending.slice(0, holder + 1);
}

/** The head of a lane that is claimed now; a model of the claim's SQL. */
export function headOf(lane: readonly ModelDelivery[], now: number, holdAttempts: number): ModelDelivery | null {
  return free(lane, holdAttempts).find(({ dueAt }) => dueAt <= now) ?? null;
}

/** When a released lane is due again; null for never. */
export function dueAtOf(lane: readonly ModelDelivery[], holdAttempts: number): number | null {
  const times = free(lane, holdAttempts).map(({ dueAt }) => dueAt);
  return times.length > 0 ? Math.min(...times) : null;
}
