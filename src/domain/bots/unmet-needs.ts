import type { AgentBot } from '../../records/bots/agent-bot.ts';
import { hookSecrets } from '../../packages/manifest/hooks.ts';
import { readStoredManifest, type Manifest } from '../../packages/manifest/manifest.ts';
import { partOf } from '../../packages/manifest/parts.ts';
import type { Sql } from '../../postgres/sql.ts';
import { partOfRow } from '../../records/bots/part.ts';
import { findApprovedHosts } from './tools/checks.ts';
import { secretsOf, type Tool } from './tools/tool.ts';
import { readTemplate } from './tools/url-template.ts';

type Bot = Pick<AgentBot, 'id' | 'kind' | 'accountId' | 'pluginId' | 'secrets' | 'config'>;

/** Needs of a bot that its account has not met, each list sorted. */
export interface UnmetNeeds {
  /** Names of the secrets that its plugin asks for or its tools name, and that have no value. */
  secrets: readonly string[];
  /** Hosts of its tools that the account has not approved, or approves no more. */
  hosts: readonly string[];
}

/** Returns the unmet needs of bots by their ids. Bots that need nothing more, and those whose plugin has no running version, are left out. */
export async function findUnmetNeeds(sql: Sql, bots: readonly Bot[]): Promise<ReadonlyMap<number, UnmetNeeds>> {
  const plugins = [...new Set(bots.flatMap(({ pluginId }) => pluginId ?? []))];
  if (plugins.length === 0) return new Map();
  const rows = await sql<{ id: string; manifest: string }>(
    `SELECT p.id, b.manifest FROM plugins p JOIN plugin_bundles b ON b.hash = p.active_hash
     WHERE p.id = ANY ($1::text[])`,
    [plugins],
  );
  const manifests = new Map(rows.map(({ id, manifest }) => [id, readStoredManifest(manifest)]));
  const hooks = await findChannelHandlers(sql, bots);
  const found = new Map<number, UnmetNeeds>();
  for (const bot of bots) {
    const plugin = manifests.get(bot.pluginId ?? '');
    const manifest = plugin && partOf(plugin, partOfRow(bot.kind));
    if (!manifest) continue;
    const tools = toolsOf(manifest, bot);
    const needs = {
      secrets: missingSecrets(manifest, bot, { tools, handlers: hooks.get(bot.id) }),
      hosts: await unapprovedHosts(sql, bot, tools),
    };
    if (needs.secrets.length + needs.hosts.length > 0) found.set(bot.id, needs);
  }
  return found;
}

function toolsOf({ permissions }: Manifest, { config }: Bot): Tool[] {
  return permissions.tools ? ((config['tools'] ?? []) as Tool[]) : [];
}

interface Uses {
  tools: readonly Tool[];
  /** The handlers for which a channel has hooks; undefined for bots, whose hooks are made once they have the secrets. */
  handlers: ReadonlySet<string> | undefined;
}

// A channel with hooks of one provider needs no secret of another.
function missingSecrets({ permissions, hooks }: Manifest, { secrets }: Bot, { tools, handlers }: Uses): string[] {
  const used = Object.fromEntries(Object.entries(hooks).filter(([name]) => handlers?.has(name) ?? true));
  const names = new Set([...permissions.secrets.map(({ name }) => name), ...hookSecrets(used), ...secretsOf(tools)]);
  return [...names].filter((name) => !Object.hasOwn(secrets, name)).sort();
}

async function findChannelHandlers(sql: Sql, bots: readonly Bot[]): Promise<ReadonlyMap<number, ReadonlySet<string>>> {
  const rows = await sql<{ bot: number; handlers: string[] }>(
    `SELECT agent_bot_id AS bot, array_agg(DISTINCT handler) AS handlers FROM hooks
     WHERE owner_kind = 'channel' AND account_id = ANY ($1::bigint[]) AND agent_bot_id = ANY ($2::bigint[]) GROUP BY agent_bot_id`,
    [[...new Set(bots.flatMap(({ accountId }) => accountId ?? []))], bots.map(({ id }) => id)],
  );
  return new Map(rows.map(({ bot, handlers }) => [bot, new Set(handlers)]));
}

async function unapprovedHosts(sql: Sql, { accountId = null }: Bot, tools: readonly Tool[]): Promise<string[]> {
  if (accountId === null || tools.length === 0) return [];
  const approved = await findApprovedHosts(sql, accountId);
  const hosts = tools.map(({ url }) => readTemplate(url)).flatMap((read) => ('problem' in read ? [] : read.host));
  return [...new Set(hosts)].filter((host) => !approved.includes(host)).sort();
}
