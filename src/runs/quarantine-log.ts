import type { Quarantine } from '../domain/bots/quarantine.ts';
import type { SandboxLog } from '../sandbox/parent/pool.ts';

/** Logs the beginning of a quarantine, and the outcome that caused it. */
export function tellQuarantine(
  log: SandboxLog,
  failure: { account: number; bot: number; outcome: string },
  { until }: Quarantine,
): void {
  const fields = { ...failure, until: until?.toISOString() ?? 'released' };
  log.warn(fields, 'this bot failed several times running and is not called for now');
}
