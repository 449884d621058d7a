import type { Database } from '../../postgres/database.ts';
import { sweep } from './sweep.ts';

/** A bot with changes of its storage that are not in its total yet. */
interface Changed {
  bot: number;
  account: number;
}

const pageSize = 500;
const mergedAtOnce = 10_000;

const findStatement = `
  SELECT DISTINCT agent_bot_id AS bot, account_id AS account FROM bot_storage_changes
  WHERE (agent_bot_id, account_id) > ($1, $2) ORDER BY 1, 2 LIMIT ${pageSize}`;
// Merging here lets writers insert changes only, without waiting for each other at a total.
const mergeStatement = `
  WITH taken AS (
    DELETE FROM bot_storage_changes WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM bot_storage_changes WHERE agent_bot_id = $1 AND account_id = $2 LIMIT ${mergedAtOnce}
      FOR UPDATE SKIP LOCKED))
    RETURNING bytes
  ), merged AS (
    INSERT INTO bot_storage_totals AS kept (account_id, agent_bot_id, bytes)
    SELECT $2, $1, sum(bytes) FROM taken HAVING count(*) > 0
    ON CONFLICT ON CONSTRAINT bot_storage_totals_whose DO UPDATE SET bytes = kept.bytes + excluded.bytes
  )
  SELECT count(*) AS taken FROM taken`;

/** Adds changes to the totals of what bots store, so that reading a total sums few rows; returns the number of totals. */
export function mergeStorageChanges(database: Database): Promise<number> {
  return sweep<Changed>(database, {
    name: 'adding up what bots store',
    nameOf: ({ bot, account }) => `bot ${bot} in account ${account}`,
    page: (after) => database.sql<Changed>(findStatement, [after?.bot ?? 0, after?.account ?? 0]),
    pageSize,
    atOnce: 1,
    work: async ([changed]) => {
      if (!changed) return 0;
      let taken: number;
      do {
        const [row] = await database.sql<{ taken: number }>(mergeStatement, [changed.bot, changed.account]);
        taken = row?.taken ?? 0;
      } while (taken === mergedAtOnce);
      return 1;
    },
  });
}
