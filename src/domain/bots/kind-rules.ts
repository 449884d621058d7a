import type { OuterTransaction } from '../../events/transaction.ts';
import { invalid, type ApiError } from '../../errors.ts';
import type { Random } from '../../lib/ports.ts';
import type { SecretBox } from '../../lib/secrets/secret-box.ts';
import type { Manifest, PluginManifest } from '../../packages/manifest/manifest.ts';
import { partOf } from '../../packages/manifest/parts.ts';
import type { Sql } from '../../postgres/sql.ts';
import type { BotPart } from '../../records/bots/part.ts';
import { findPlugin, holdPlugin, type Plugin } from '../plugins/rows.ts';

/** The URL of a body. Errors: 422 for null: only a webhook bot that is new can be without a server. */
export function urlOf({ outgoing_url: url }: { outgoing_url?: string | null }): string | undefined {
  if (url === null) throw invalid('/outgoing_url', 'type', 'The URL of a server cannot be taken away: set another one');
  return url;
}

/** The transaction that creates or changes a bot, and the services that make secrets and seal them. */
export interface BotChange {
  services: { secretBox: SecretBox; random: Random };
  tx: OuterTransaction;
}

/** Throws 422 if the body chooses events, which a manifest does for bots of a plugin. */
export function refuseHearing(body: object): void {
  const field = ['events', 'hear_own'].find((name) => Object.hasOwn(body, name));
  const sentence = 'Only bots of the kind webhook choose what they are told of: the manifest says it for a plugin';
  if (field !== undefined) throw invalid(`/${field}`, 'kind', sentence);
}

// The sentence names the operations that create what it makes.
function otherKind({ id, parts }: PluginManifest, path: string): ApiError {
  return invalid(path, 'kind', `The plugin \`${id}\` makes ${parts.map(({ kind }) => makers[kind]).join('; and ')}`);
}

const makers = {
  bot: 'bots: create one with POST …/agent_bots',
  automation: 'automations: create one with POST …/automations',
  channel: 'channels: create an inbox with POST …/inboxes',
} as const;

/** Throws 422 if a change names a plugin: a bot keeps the one that it was created with. */
export function refusePlugin(body: object): void {
  if (!Object.hasOwn(body, 'plugin_id')) return;
  throw invalid('/plugin_id', 'fixed', 'The plugin of a bot cannot be changed: create another bot');
}

/** Throws 422 if the plugin may not forward events to a server: its bots have none. */
export function checkForwards({ id, permissions }: Manifest, path: '/outgoing_url' | '/format'): void {
  const field = { '/outgoing_url': 'an outgoing_url', '/format': 'a format' }[path];
  const sentence = `Only bots of the kind webhook, and of plugins that forward, have ${field}; \`${id}\` does not`;
  if (!permissions.forward) throw invalid(path, 'kind', sentence);
}

/** Returns the refusal of `tokens_per_day` for bots on a server of their own. */
export function noTokens(): ApiError {
  return invalid('/tokens_per_day', 'kind', 'Only bots inside the service ask language models');
}

/** Returns the refusal of `secrets` for bots on a server of their own. */
export function noSecrets(): ApiError {
  return invalid('/secrets', 'kind', 'Only bots of the kind plugin have secrets');
}

/** A part of a plugin, and the place in the body that names the plugin. */
interface WantedPart {
  pluginId: string;
  part: BotPart;
  path: string;
}

/**
 * Locks the plugin, so that its version stays the one that judges the settings until they are stored, and returns the manifest
 * of its part. Errors: 422 at `path` for a plugin that is not installed, is disabled, or has no such part.
 */
export async function holdManifest({ sql }: OuterTransaction, wanted: WantedPart): Promise<Manifest> {
  return manifestIn(await holdPlugin(sql, wanted.pluginId), wanted);
}

/** Returns the manifest of a part of the plugin. Errors: as for holdManifest. */
export async function findManifest(sql: Sql, wanted: WantedPart): Promise<Manifest> {
  return manifestIn(await findPlugin(sql, wanted.pluginId), wanted);
}

function manifestIn(plugin: Plugin | null, { pluginId, part, path }: WantedPart): Manifest {
  if (!plugin?.active || !plugin.isPresent) throw notInstalled(path, pluginId);
  if (!plugin.enabled) throw invalid(path, 'enabled', `The plugin \`${pluginId}\` is disabled`);
  const manifest = partOf(plugin.active.manifest, part);
  if (!manifest) throw otherKind(plugin.active.manifest, path);
  return manifest;
}

function notInstalled(path: string, pluginId: string): ApiError {
  return invalid(path, 'installed', `There is no installed plugin \`${pluginId}\``);
}
