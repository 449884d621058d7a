import { createHash } from 'node:crypto';
import { cancelBacklog } from '../../deliveries/copies/backlogs.ts';
import { personOf } from '../../deliveries/core/refusal.ts';
import { notFound } from '../../errors.ts';
import type { Transaction } from '../../events/transaction.ts';
import type { SecretBox } from '../../lib/secrets/secret-box.ts';
import type { Manifest } from '../../packages/manifest/manifest.ts';
import type { Sql } from '../../postgres/sql.ts';
import { AgentBot } from '../../records/bots/agent-bot.ts';
import { createRow, deleteRows, findRow, lockIfThere, save, uniqueOr422, update } from '../small-rows.ts';
import { withSecrets } from './bots.ts';
import { holdManifest } from './kind-rules.ts';
import { forgetFailures } from './quarantine.ts';
import { readSettings } from './settings.ts';

/** The settings of a channel, which an account gives for its inbox. */
export interface ChannelSettings {
  config?: Record<string, unknown> | undefined;
  secrets?: Record<string, string | null> | undefined;
}

const ofAccount = (accountId: number) => ({ accountId, kind: 'channel' }) as const;
const pluginPath = '/channel/plugin_id';

/**
 * Creates the channel of a new inbox, which `bindChannel` then names. Errors: 422 for a plugin that is not installed or makes no
 * channels, for settings that it refuses, and for an identity that another inbox of the service has.
 */
export async function createChannel(
  tx: Transaction,
  { secretBox }: { secretBox: SecretBox },
  { name, pluginId, config = {}, secrets }: ChannelSettings & { name: string; pluginId: string },
): Promise<{ channel: AgentBot; manifest: Manifest }> {
  const manifest = await holdManifest(tx, { pluginId, part: 'channel', path: pluginPath });
  const settings = readSettings({ secretBox, manifest, config, secrets, stored: {} });
  const stored = withSecrets({}, settings.secrets);
  const channel = await createRow(tx.sql, AgentBot, {
    ...ofAccount(tx.account.id),
    name,
    pluginId,
    events: [],
    hearsOwn: false,
    hearsNotes: false,
    config: settings.config ?? {},
    secrets: stored,
    channelKey: keyOf(manifest, { secretBox, config: settings.config ?? {}, secrets: stored }),
    createdAt: tx.now,
    updatedAt: tx.now,
  }).catch(refuseTaken(manifest));
  return { channel, manifest };
}

/** Has a channel act in its inbox. */
export async function bindChannel({ sql, account }: Transaction, id: number, inboxId: number): Promise<void> {
  await sql('UPDATE agent_bots SET inbox_ids = ARRAY[$3::bigint] WHERE account_id = $1 AND id = $2', [
    account.id,
    id,
    inboxId,
  ]);
}

async function readChannel(sql: Sql, accountId: number, id: number): Promise<AgentBot> {
  const found = await findRow(sql, AgentBot, { ...ofAccount(accountId), id });
  if (!found) throw notFound('Inbox');
  return found;
}

/**
 * Changes the settings of a channel, and ends a quarantine: it is tried again. Errors: 422 for settings that its plugin refuses, and for
 * an identity that another inbox of the service has.
 */
export async function updateChannel(
  tx: Transaction,
  { secretBox }: { secretBox: SecretBox },
  id: number,
  { config, secrets }: ChannelSettings,
): Promise<void> {
  const { pluginId } = await readChannel(tx.sql, tx.account.id, id);
  const manifest = await holdManifest(tx, { pluginId: pluginId ?? '', part: 'channel', path: pluginPath });
  // After the plugin, as in changes of its version.
  const channel = await lockIfThere(tx.sql, AgentBot, { ...ofAccount(tx.account.id), id });
  if (!channel) throw notFound('Inbox');
  const settings = readSettings({
    secretBox,
    manifest,
    config,
    secrets,
    stored: channel.secrets,
    present: channel.config,
  });
  const changed = {
    ...(settings.config ? { config: settings.config, configFits: true } : {}),
    secrets: withSecrets(channel.secrets, settings.secrets),
    healthError: null,
    checkError: null,
    checkedAt: null,
  };
  const next = { config: settings.config ?? channel.config, secrets: changed.secrets };
  update(channel, { ...changed, channelKey: keyOf(manifest, { secretBox, ...next }) }, tx.now);
  await save(tx.sql, channel).catch(refuseTaken(manifest));
  await tx.sql(forgetFailures('$1'), [id]);
}

/** Deletes the channel of an inbox that is deleted, with its runs and hooks. */
export async function deleteChannel(tx: Transaction, id: number): Promise<void> {
  await cancelBacklog(tx, { kind: 'channel', id }, 'endpoint_gone', personOf(tx.actor));
  await deleteRows(tx.sql, AgentBot, { ...ofAccount(tx.account.id), id });
}

// A hash, so that what is secret stays so.
function keyOf(
  { identity }: Manifest,
  { secretBox, config, secrets }: { secretBox: SecretBox } & Pick<AgentBot, 'config' | 'secrets'>,
): Buffer | null {
  if (identity === null) return null;
  const sealed = Object.hasOwn(secrets, identity) ? secrets[identity] : undefined;
  const value = sealed === undefined ? config[identity] : secretBox.open(sealed);
  return value === undefined || value === null ? null : createHash('sha256').update(JSON.stringify(value)).digest();
}

function refuseTaken({ identity }: Manifest): (error: unknown) => never {
  const sentence = `Another inbox has this ${identity ?? 'identity'} already: only one may use it`;
  return uniqueOr422('agent_bots_channel_key', '/channel', sentence);
}
