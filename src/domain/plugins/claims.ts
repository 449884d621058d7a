import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from '../../postgres/sql.ts';

/** A folder of the installation that stands for a plugin's id. */
export interface PluginClaim<Source extends string> {
  id: string;
  source: Source;
  /** Whether its package can be run. */
  isRead: boolean;
  /** Whether it is the only folder that claims the id. */
  isAlone: boolean;
}

// The package that is alone with its id has it. Of two, the one keeps it that was there first: a row that is there stays.
const statement = `
  INSERT INTO plugin_claims (id, source)
  SELECT DISTINCT ON (id) id, source FROM unnest($1::text[], $2::text[]) AS found (id, source)
  ORDER BY id, source DESC
  ON CONFLICT (id) DO UPDATE SET source = excluded.source, claimed_at = now()
  WHERE plugin_claims.source <> excluded.source AND excluded.id = ANY ($3::text[])`;

/**
 * Records which folder each plugin's id belongs to, and answers it. An id belongs to the folder that had it first, as long
 * as that folder is there; of two new ones to the one in `plugins`.
 */
export async function claimPlugins<Source extends string>(
  em: EntityManager,
  claims: readonly PluginClaim<Source>[],
): Promise<Map<string, Source>> {
  const good = claims.filter(({ isRead }) => isRead);
  const alone = good.filter(({ isAlone }) => isAlone).map(({ id }) => id);
  await sql(em, statement, [good.map(({ id }) => id), good.map(({ source }) => source), alone]);
  const owners = await sql<{ id: string; source: Source }>(em, 'SELECT id, source FROM plugin_claims');
  return new Map(owners.map(({ id, source }) => [id, source]));
}
