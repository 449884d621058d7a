import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from '../../postgres/sql.ts';

/** A folder of the installation that claims a plugin id. */
export interface PluginClaim<Source extends string> {
  id: string;
  source: Source;
  /** Whether its package could be read. */
  isRead: boolean;
  /** Whether it is the only folder that claims the id. */
  isAlone: boolean;
}

// A package that is alone with its id gets it. Of two, the one whose row is there already keeps it.
const statement = `
  INSERT INTO plugin_claims (id, source)
  SELECT DISTINCT ON (id) id, source FROM unnest($1::text[], $2::text[]) AS found (id, source)
  ORDER BY id, source DESC
  ON CONFLICT (id) DO UPDATE SET source = excluded.source, claimed_at = now()
  WHERE plugin_claims.source <> excluded.source AND excluded.id = ANY ($3::text[])`;

/**
 * Stores which folder each plugin id belongs to, and returns the stored owners. An id belongs to the first folder that
 * claimed it, as long as that folder exists; of two new folders to the one in `plugins`.
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
