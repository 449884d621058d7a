import { announce } from '../../events/announcements.ts';
import type { Database } from '../../postgres/database.ts';
import { moment } from '../../postgres/sql.ts';
import { sweep } from '../upkeep/sweep.ts';

interface Plan {
  kind: 'webhook' | 'bot';
  find: string;
  tell: string;
}

const isUntold = `e.paused_at < now() - interval '1 day' AND (e.pause_told_at IS NULL OR e.pause_told_at < e.paused_at)`;
const planOf = (kind: Plan['kind'], table: string, { url, isOn }: { url: string; isOn: string }): Plan => ({
  kind,
  find: `SELECT e.id FROM ${table} e WHERE ${isUntold} AND ${isOn} AND e.id > $1 ORDER BY e.id LIMIT $2`,
  tell: `UPDATE ${table} e SET pause_told_at = now() WHERE e.id = $1 AND ${isUntold} AND ${isOn}
    RETURNING e.id, e.name, ${url} AS url, e.paused_at, e.account_id,
      (SELECT a.name FROM accounts a WHERE a.id = e.account_id) AS account_name`,
});
const plans: readonly Plan[] = [
  planOf('webhook', 'webhooks', { url: 'e.url', isOn: 'e.active' }),
  planOf('bot', 'agent_bots', { url: 'e.outgoing_url', isOn: 'e.disabled_reason IS NULL' }),
];

const pageSize = 100;

interface Found {
  id: number;
}

interface PausedRow extends Found {
  name: string | null;
  url: string | null;
  paused_at: string;
  /** Null for a system bot. */
  account_id: number | null;
  account_name: string | null;
}

/** Announces each webhook and bot that has been paused for a day, once for each pause; returns how many. */
export async function tellPaused(database: Database): Promise<number> {
  let count = 0;
  for (const plan of plans)
    count += await sweep<Found>(database, {
      name: 'telling of long pauses',
      nameOf: ({ id }) => `${plan.kind} ${id}`,
      page: (after) => database.sql<Found>(plan.find, [after?.id ?? 0, pageSize]),
      pageSize,
      atOnce: 1,
      work: async ([found]) => (found ? tell(database, plan, found.id) : 0),
    });
  return count;
}

// The update decides which of several processes tells.
async function tell(database: Database, plan: Plan, endpointId: number): Promise<number> {
  const [row] = await database.sql<PausedRow>(plan.tell, [endpointId]);
  if (!row) return 0;
  const { account_id: accountId, account_name: accountName, paused_at: since, ...endpoint } = row;
  const account = accountId === null ? null : { id: accountId, name: accountName ?? '' };
  announce(database, 'paused', { kind: plan.kind, ...endpoint, account, since: moment(since) });
  return 1;
}
