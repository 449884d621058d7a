import type { Decision } from '../domain/platform/home.ts';
import type { Parts } from './compose.ts';

const sentences = {
  copy: 'this database is a copy of an installation that lives elsewhere: nothing is sent. Keep it so, or start with --adopt, or call `npx switchboard neutralize`',
  off: 'OUTBOUND is off: nothing is sent',
};

/** Logs whether this process sends; once it does, what has waited is due. */
export function followDecision(parts: Parts, { heldFor, differences }: Decision): void {
  const { log, phase, servesEngine, engine, embedder } = parts;
  if (heldFor !== null) return log.warn({ reason: heldFor, differences }, sentences[heldFor]);
  if (!phase.started) return;
  log.info('this service sends from now on');
  if (!servesEngine) return;
  engine.poke();
  embedder.poke();
}
