import type { Parts } from './compose.ts';

/** Ends deliveries, sweeps and alarms of this process; resolves when those in progress have ended. Later calls share its end. */
export function stopBackground({ phase, engine, embedder, feed, alarms }: Parts): Promise<void> {
  phase.backgroundStop ??= Promise.all([engine.stop(), embedder.stop(), feed.stop()]).then(() => alarms.stop());
  return phase.backgroundStop;
}

/** Rests a process whose database a newer release has migrated: it reads on until it is replaced. */
export function retire(parts: Parts, migrations: readonly string[]): void {
  parts.log.warn({ migrations }, 'a newer release has migrated the database: replace this process, it refuses writes');
  stopBackground(parts).catch(parts.warn);
}
