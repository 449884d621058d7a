import { prepared } from '../../postgres/prepared.ts';
import type { Sql } from '../../postgres/sql.ts';

// A token that was replaced meanwhile is gone: its last use is not that of the new one.
const statement = prepared(`UPDATE agent_bots b SET token_last_used_at = greatest(b.token_last_used_at, u.used_at)
  FROM unnest($1::bigint[], $2::timestamptz[]) AS u (token_id, used_at) JOIN access_tokens k ON k.id = u.token_id
  WHERE b.id = k.agent_bot_id`);

/** Stores in the bots' rows when their access tokens were last used, by the tokens' ids. */
export async function storeTokenUses(sql: Sql, uses: ReadonlyMap<number, Date>): Promise<void> {
  await sql(statement, [[...uses.keys()], [...uses.values()]]);
}
