import type { ErrorDetail } from '../../errors.ts';
import { openConfig, type PluginManifest } from '../../packages/manifest/manifest.ts';
import { partOf } from '../../packages/manifest/parts.ts';
import type { Sql } from '../../postgres/sql.ts';
import { partOfRowSql, type BotPart } from '../../records/bots/part.ts';

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
  part: BotPart;
  /** Another one after each change of the settings. */
  version: string;
}

/** Finds the bots of the plugin whose settings a manifest refuses, with every problem of each, by their ids. */
export type FindMisfits = (sql: Sql) => Promise<Misfit[]>;

/** A version of a plugin, as far as it judges settings. */
interface Judge {
  hash: string;
  manifest: PluginManifest;
}

/** Searches of versions that were made before a transaction, by the versions' hashes: within it they are short. */
export type Judged = ReadonlyMap<string, FindMisfits>;

/** Makes the searches of these versions. Not within a transaction: the settings of many bots take long. */
export async function judge(sql: Sql, versions: readonly Judge[]): Promise<Judged> {
  const judged = new Map<string, FindMisfits>();
  for (const { hash, manifest } of versions) {
    const findMisfits = misfitsOf(manifest);
    await findMisfits(sql);
    judged.set(hash, findMisfits);
  }
  return judged;
}

/** The search of a version: the one that was made before, where there is one. */
export function searchOf({ hash, manifest }: Judge, judged?: Judged): FindMisfits {
  return judged?.get(hash) ?? misfitsOf(manifest);
}

const pageSize = 500;
const botsStatement = `SELECT id, account_id, name, ${partOfRowSql('kind')} AS part, md5(config::text) AS version FROM agent_bots
  WHERE plugin_id = $1 AND id > $2 ORDER BY id LIMIT ${pageSize}`;
const settingsStatement = 'SELECT id, config FROM agent_bots WHERE id = ANY ($1)';

/**
 * Returns a search that validates the settings of a bot once, and again only when they have changed: after a search outside
 * of the transaction, that within it is short.
 */
function misfitsOf(manifest: PluginManifest): FindMisfits {
  const known = new Map<number, { version: string; problems: ErrorDetail[] }>();

  const validate = async (sql: Sql, bots: readonly Row[]): Promise<void> => {
    const changed = new Map(bots.flatMap((bot) => (known.get(bot.id)?.version === bot.version ? [] : [[bot.id, bot]])));
    if (changed.size === 0) return;
    const rows = await sql<{ id: number; config: unknown }>(settingsStatement, [[...changed.keys()]]);
    // Settings that are newer than the version are validated again, since they have another version by then.
    for (const { id, config } of rows) {
      const { version = '', part = 'bot' } = changed.get(id) ?? {};
      const judging = partOf(manifest, part);
      known.set(id, { version, problems: judging ? openConfig(judging, config).problems : [] });
    }
  };

  return async (sql) => {
    const misfits: Misfit[] = [];
    for (let after = 0; ;) {
      const bots = await sql<Row>(botsStatement, [manifest.id, after]);
      await validate(sql, bots);
      for (const { id, account_id: accountId, name } of bots) {
        const problems = known.get(id)?.problems ?? [];
        if (problems.length > 0) misfits.push({ id, accountId, name, problems });
      }
      const last = bots.at(-1);
      if (!last || bots.length < pageSize) return misfits;
      after = last.id;
    }
  };
}
