import { foundWithBot, toFound, type FoundWithBot } from '../../src/records/bots/bot-to-run.ts';
import type { TestApp } from './app.ts';

/** The conversation and the plugin bot of an event, as a claim of its delivery finds them now. */
export async function findOfEvent(app: TestApp, eventId: number): Promise<FoundWithBot | null> {
  const [row] = await app.query<{ found: unknown }>(
    `SELECT ${foundWithBot} AS found FROM events e JOIN agent_bots p ON p.id = e.bot_id
     CROSS JOIN LATERAL (SELECT e.account_id) d WHERE e.id = $1`,
    [eventId],
  );
  return toFound(row?.found ?? null);
}
