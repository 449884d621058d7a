import type { ErrorDetail } from '../../errors.ts';
import { openConfig, type Manifest } from '../../packages/manifest.ts';
import { sql, type Executor } from '../../postgres/sql.ts';

/** A bot whose settings a version refuses: its runs with that version would not begin. */
export interface Misfit {
  id: number;
  /** Null for a system bot. */
  accountId: number | null;
  name: string;
  problems: ErrorDetail[];
}

interface Row {
  id: number;
  account_id: number | null;
  name: string;
  config: Record<string, unknown>;
}

const pageSize = 500;

/** The bots of the plugin whose settings the manifest refuses, with every problem of each, by their ids. */
export async function findMisfits(executor: Executor, manifest: Manifest): Promise<Misfit[]> {
  const misfits: Misfit[] = [];
  for (let after = 0; ;) {
    const bots = await sql<Row>(
      executor,
      'SELECT id, account_id, name, config FROM agent_bots WHERE plugin_id = $1 AND id > $2 ORDER BY id LIMIT $3',
      [manifest.id, after, pageSize],
    );
    for (const { id, account_id: accountId, name, config } of bots) {
      const { problems } = openConfig(manifest, config);
      if (problems.length > 0) misfits.push({ id, accountId, name, problems });
    }
    const last = bots.at(-1);
    if (!last || bots.length < pageSize) return misfits;
    after = last.id;
  }
}
