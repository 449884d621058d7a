import type { Clock } from '../../lib/ports.ts';
import type { Sql } from '../../postgres/sql.ts';

const freshMs = 1_000;
const maxAccounts = 10_000;

interface Known {
  bytes: number;
  readAt: number;
}

/**
 * Bounds the bytes of requests that wait in each account. They are read once a second, and what this process adds meanwhile is
 * counted: processes together may go beyond the bound by what comes within a second.
 */
export class WaitingBytes {
  readonly #most: number;
  readonly #clock: Clock;
  readonly #known = new Map<number, Known>();

  constructor(most: number, clock: Clock) {
    this.#most = most;
    this.#clock = clock;
  }

  /** Whether the account has room for a request of so many bytes, which then counts. */
  async admits(sql: Sql, accountId: number, bytes: number): Promise<boolean> {
    const now = this.#clock.now().getTime();
    let known = this.#known.get(accountId);
    if (!known || now - known.readAt >= freshMs) {
      if (!known && this.#known.size >= maxAccounts) this.#known.clear();
      // Taken before the read: who comes meanwhile is counted, and does not read too.
      const read = { bytes: known?.bytes ?? 0, readAt: now };
      this.#known.set(accountId, read);
      const before = read.bytes;
      read.bytes += (await readWaiting(sql, accountId)) - before;
      known = read;
    }
    if (known.bytes + bytes > this.#most) return false;
    known.bytes += bytes;
    return true;
  }
}

async function readWaiting(sql: Sql, accountId: number): Promise<number> {
  const [row] = await sql<{ bytes: number }>(
    'SELECT coalesce(sum(stored_bytes), 0)::bigint AS bytes FROM hook_requests WHERE account_id = $1 AND NOT is_settled',
    [accountId],
  );
  return row?.bytes ?? 0;
}
