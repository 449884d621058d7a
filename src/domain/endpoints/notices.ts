import { system, transact, type Transaction } from '../../events/transaction.ts';
import type { Database } from '../../postgres/database.ts';
import { moment, type Sql } from '../../postgres/sql.ts';
import { sweep } from '../upkeep/sweep.ts';
import { noteForDigest } from './digests.ts';

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
const findStatement = `
  SELECT w.id, a.id AS account_id, a.name AS account_name FROM webhooks w JOIN accounts a ON a.id = w.account_id
  WHERE ${hasFailed} AND w.id > $1 ORDER BY w.id LIMIT $2`;
// A webhook that fails again before anybody was told that it recovered has failed since then.
const tellStatement = `
  WITH told AS (
    UPDATE webhooks w SET failing_told_at = now() WHERE w.id = $1 AND w.account_id = $2 AND ${hasFailed}
    RETURNING w.id, w.account_id, w.name, w.url, w.consecutive_failures, w.failing_since
  ), noted AS (
    INSERT INTO webhook_notices AS n (account_id, webhook_id, failing_since) SELECT account_id, id, failing_since FROM told
    ON CONFLICT (account_id, webhook_id) DO UPDATE SET failing_since = coalesce(n.failing_since, excluded.failing_since)
  )
  SELECT id, name, url, consecutive_failures, failing_since FROM told`;

const pageSize = 100;

interface FoundRow {
  id: number;
  account_id: number;
  account_name: string;
}

interface FailingRow {
  id: number;
  name: string | null;
  url: string;
  consecutive_failures: number;
  failing_since: string;
}

/**
 * Says webhook_failing of webhooks that have failed without a success for an hour, once for each of these times, and notifies
 * their administrators.
 */
export function tellFailing(database: Database): Promise<number> {
  return sweep<FoundRow>(database, {
    name: 'telling of failing webhooks',
    nameOf: ({ id }) => `webhook ${id}`,
    page: (after) => database.sql<FoundRow>(findStatement, [after?.id ?? 0, pageSize]),
    pageSize,
    atOnce: 1,
    work: async ([found]) => (found ? tell(database, found) : 0),
  });
}

// The update decides which of several processes sends the notice.
function tell(database: Database, { id, account_id: accountId, account_name: name }: FoundRow): Promise<number> {
  const account = { id: accountId, name };
  return transact(database, { account, actor: system }, async (tx) => {
    const [row] = await tx.sql<FailingRow>(tellStatement, [id, accountId]);
    if (!row) return 0;
    const { consecutive_failures: failures, failing_since: since, ...webhook } = row;
    tx.record('webhook_failing', { webhook, failing: { since: moment(since), failures }, account });
    const reason = `Every attempt has failed for an hour, ${failures} by now`;
    tx.announce('notice', { what: 'failing', account, webhook, reason });
    await noteForDigest(tx);
    return 1;
  });
}

const recoveredStatement = `
  WITH told AS (
    SELECT account_id, webhook_id, failing_since FROM webhook_notices
    WHERE account_id = $1 AND webhook_id = $2 AND failing_since IS NOT NULL FOR UPDATE
  ), forgotten AS (
    UPDATE webhook_notices n SET failing_since = NULL FROM told
    WHERE n.account_id = told.account_id AND n.webhook_id = told.webhook_id
  )
  SELECT w.id, w.name, w.url, told.failing_since FROM told
  JOIN webhooks w ON w.account_id = told.account_id AND w.id = told.webhook_id`;

/** Says webhook_recovered of a webhook whose receiver has answered, if it was said to fail. */
export async function tellRecovered(tx: Transaction, id: number): Promise<void> {
  const { account } = tx;
  const [row] = await tx.sql<Omit<FailingRow, 'consecutive_failures'>>(recoveredStatement, [account.id, id]);
  if (!row) return;
  const { failing_since: since, ...webhook } = row;
  tx.record('webhook_recovered', { webhook, failing: { since: moment(since), failures: 0 }, account });
  await noteForDigest(tx);
}
