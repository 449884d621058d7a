import type { Quarantine } from '../domain/bots/quarantine.ts';
import type { SandboxLog } from '../sandbox/parent/pool.ts';

/** Logs that a quarantine begins, and the outcome that it begins with. */
export function tellQuarantine(
  log: SandboxLog,
  failure: { account: number; bot: number; outcome: string },
  { until }: Quarantine,
): void {
  const fields = { ...failure, until: until?.toISOString() ?? 'released' };
  log.warn(fields, 'this bot failed several times running and is not called for now');
}
