import { announce } from '../../events/announcements.ts';
import type { Database } from '../../postgres/database.ts';
import type { Sql } from '../../postgres/sql.ts';
import { sweep } from '../upkeep/sweep.ts';

/** Whom notices go to. */
export interface Recipient {
  name: string;
  address: string;
}

const administrators = `
  SELECT s.name, s.email AS address FROM agents a JOIN seats s ON s.account_id = a.account_id AND s.id = a.user_id
  WHERE a.account_id = $1 AND a.role = 'administrator' AND s.person_id IS NOT NULL ORDER BY s.id LIMIT 100`;

/** The administrators of the account who have accepted their invitation. */
export function findAdministrators(sql: Sql, accountId: number): Promise<Recipient[]> {
  return sql<Recipient>(administrators, [accountId]);
}

// During a pause nothing is tried, and nothing ages.
const hasFailed = `w.active AND w.paused_at IS NULL AND w.failing_since < now() - interval '1 hour'
  AND (w.failing_told_at IS NULL OR w.failing_told_at < w.failing_since)`;
const findStatement = `SELECT w.id FROM webhooks w WHERE ${hasFailed} AND w.id > $1 ORDER BY w.id LIMIT $2`;
const tellStatement = `
  UPDATE webhooks w SET failing_told_at = now() FROM accounts a WHERE w.id = $1 AND a.id = w.account_id AND ${hasFailed}
  RETURNING w.id, w.name, w.url, w.consecutive_failures, a.id AS account_id, a.name AS account_name`;

const pageSize = 100;

interface FailingRow {
  id: number;
  name: string | null;
  url: string;
  consecutive_failures: number;
  account_id: number;
  account_name: string;
}

/** Notifies the administrators of webhooks that have failed without a success for an hour, once for each of these times. */
export function tellFailing(database: Database): Promise<number> {
  return sweep<{ id: number }>(database, {
    name: 'telling of failing webhooks',
    nameOf: ({ id }) => `webhook ${id}`,
    page: (after) => database.sql<{ id: number }>(findStatement, [after?.id ?? 0, pageSize]),
    pageSize,
    atOnce: 1,
    work: async ([found]) => (found ? tell(database, found.id) : 0),
  });
}

// The update decides which of several processes sends the notice.
async function tell(database: Database, id: number): Promise<number> {
  const [row] = await database.sql<FailingRow>(tellStatement, [id]);
  if (!row) return 0;
  const { account_id: accountId, account_name: name, consecutive_failures: failures, ...webhook } = row;
  const reason = `Every attempt has failed for an hour, ${failures} by now`;
  announce(database, 'notice', { what: 'failing', account: { id: accountId, name }, webhook, reason });
  return 1;
}
