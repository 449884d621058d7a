import type { AgentBot } from '../../records/bots/agent-bot.ts';
import { readStoredManifest, type Manifest } from '../../packages/manifest/manifest.ts';
import type { Sql } from '../../postgres/sql.ts';
import { secretsOf, type Tool } from './tools/tool.ts';

type BotWithSecrets = Pick<AgentBot, 'id' | 'pluginId' | 'secrets' | 'config'>;

/**
 * Returns the names of the secrets that the running versions of plugins ask for, or the tools of their bots name, without a value, by the
 * ids of these bots. Bots that lack none, and those whose plugin has no running version, are left out.
 */
export async function findMissingSecrets(
  sql: Sql,
  bots: readonly BotWithSecrets[],
): Promise<ReadonlyMap<number, readonly string[]>> {
  const plugins = [...new Set(bots.flatMap(({ pluginId }) => pluginId ?? []))];
  if (plugins.length === 0) return new Map();
  const rows = await sql<{ id: string; manifest: string }>(
    `SELECT p.id, b.manifest FROM plugins p JOIN plugin_bundles b ON b.hash = p.active_hash
     WHERE p.id = ANY ($1::text[])`,
    [plugins],
  );
  const manifests = new Map(rows.map(({ id, manifest }) => [id, readStoredManifest(manifest)]));
  return new Map(
    bots.flatMap((bot) => {
      const manifest = manifests.get(bot.pluginId ?? '');
      const missing = manifest ? missingIn(manifest, bot) : [];
      return missing.length === 0 ? [] : [[bot.id, missing] as const];
    }),
  );
}

function missingIn({ permissions }: Manifest, { secrets, config }: BotWithSecrets): string[] {
  const tools = permissions.tools ? ((config['tools'] ?? []) as Tool[]) : [];
  const names = new Set([...permissions.secrets.map(({ name }) => name), ...secretsOf(tools)]);
  return [...names].filter((name) => !Object.hasOwn(secrets, name)).sort();
}
