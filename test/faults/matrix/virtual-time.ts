import { setTimeout as sleep } from 'node:timers/promises';
import { rowsOf } from '../helpers.ts';

const deadlock = '40P01';
const marginSeconds = 0.05;

/**
 * Moves every deadline of an attempt or probe so many seconds nearer, which is what a jump of the database's clock by so
 * many seconds does to them. What is being delivered is left alone.
 */
export async function pass(url: string, seconds: number): Promise<void> {
  const by = 'make_interval(secs => $1)';
  await change(
    url,
    `WITH moved AS (
       UPDATE deliveries SET next_attempt_at = next_attempt_at - ${by} WHERE state = 'pending' AND lease_token IS NULL
     ), probes AS (
       UPDATE webhooks SET circuit_probe_at = circuit_probe_at - ${by} WHERE circuit_probe_at IS NOT NULL
     )
     UPDATE lanes SET due_at = due_at - ${by} WHERE lease_token IS NULL`,
    [seconds],
  );
}

/** Ends all leases. Only for when no process is alive that holds one. */
export async function expireLeases(url: string): Promise<void> {
  await change(url, 'UPDATE lanes SET due_at = now() WHERE lease_token IS NOT NULL', []);
}

/** Seconds until the next attempt or probe is due, of those that are not; null when there is none. */
export async function nextWaitSeconds(url: string): Promise<number | null> {
  const [row] = await rowsOf<{ seconds: number | null }>(
    url,
    `SELECT extract(epoch FROM min(at) - now())::float AS seconds FROM (
       SELECT due_at AS at FROM lanes WHERE lease_token IS NULL
       UNION ALL SELECT circuit_probe_at FROM webhooks) waits WHERE at > now()`,
  );
  return row?.seconds == null ? null : row.seconds + marginSeconds;
}

// The engine locks these rows in another order.
async function change(url: string, text: string, parameters: readonly unknown[]): Promise<void> {
  for (;;) {
    try {
      await rowsOf(url, text, parameters);
      return;
    } catch (error) {
      if ((error as { code?: string }).code !== deadlock) throw error;
      await sleep(marginSeconds * 1000);
    }
  }
}
