import { deliveryEvents } from '../../events/catalog.ts';
import { system, transact, type Transaction } from '../../events/transaction.ts';
import type { Database } from '../../postgres/database.ts';
import { sweep } from '../upkeep/sweep.ts';

const noteStatement = `
  INSERT INTO webhook_digests AS d (account_id, since) VALUES ($1, now())
  ON CONFLICT (account_id) DO UPDATE SET since = coalesce(d.since, excluded.since)`;

/** Has the next digest of the account tell of what is recorded in this transaction. */
export async function noteForDigest(tx: Transaction): Promise<void> {
  await tx.sql(noteStatement, [tx.account.id]);
}

const isDue = `d.since IS NOT NULL AND (d.mailed_at IS NULL OR d.mailed_at < now() - interval '1 day')`;
const findStatement = `
  SELECT a.id, a.name FROM webhook_digests d JOIN accounts a ON a.id = d.account_id
  WHERE ${isDue} AND d.account_id > $1 ORDER BY d.account_id LIMIT $2`;
const takeStatement = `
  WITH due AS (SELECT account_id, since FROM webhook_digests d WHERE d.account_id = $1 AND ${isDue} FOR UPDATE)
  UPDATE webhook_digests d SET since = NULL, mailed_at = now() FROM due WHERE d.account_id = due.account_id
  RETURNING due.since`;
// Found among the few events that are about neither a conversation nor a contact.
const readStatement = `
  SELECT e.name, (e.account_payload ->> 'webhook_id')::bigint AS id, min(e.account_payload #>> '{webhook,name}') AS called,
    sum(1 + coalesce((e.account_payload ->> 'omitted')::bigint, 0))::bigint AS count, max(e.created_at) AS last_at
  FROM events e WHERE e.lone_account_id = $1 AND e.created_at >= $2 AND e.name = ANY ($3) AND NOT e.is_test
  GROUP BY e.name, 2 ORDER BY 2, last_at, e.name LIMIT $4`;

const pageSize = 100;
/** Lines of one mail; beyond that the console tells the rest. */
const maxLines = 200;

interface Account {
  id: number;
  name: string;
}

interface TalliedRow {
  name: string;
  id: number;
  called: string | null;
  count: number;
}

/** Announces the digests that are due: to each account one a day at most, with all that was told of its webhooks since. */
export function sendDigests(database: Database): Promise<number> {
  return sweep<Account>(database, {
    name: 'sending digests of webhooks',
    nameOf: ({ id }) => `account ${id}`,
    page: (after) => database.sql<Account>(findStatement, [after?.id ?? 0, pageSize]),
    pageSize,
    atOnce: 1,
    work: async ([account]) => (account ? send(database, account) : 0),
  });
}

// The update decides which of several processes sends it.
function send(database: Database, account: Account): Promise<number> {
  return transact(database, { account, actor: system }, async (tx) => {
    const [due] = await tx.sql<{ since: string }>(takeStatement, [account.id]);
    if (!due) return 0;
    const rows = await tx.sql<TalliedRow>(readStatement, [account.id, due.since, deliveryEvents, maxLines]);
    if (rows.length === 0) return 0;
    tx.announce('digest', { account, lines: rows.map(lineOf) });
    return 1;
  });
}

function lineOf({ name, id, called, count }: TalliedRow): string {
  const webhook = called === null ? `Webhook ${id}` : `Webhook ${id} (${called})`;
  if (name === 'webhook_failing') return `${webhook}: every attempt has failed for an hour.`;
  if (name === 'webhook_recovered') return `${webhook}: deliveries arrive again.`;
  return `${webhook}: ${count} ${count === 1 ? 'delivery was' : 'deliveries were'} given up.`;
}
