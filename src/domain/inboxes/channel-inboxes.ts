import { invalid } from '../../errors.ts';
import type { Transaction } from '../../events/transaction.ts';
import type { SecretBox } from '../../lib/secrets/secret-box.ts';
import type { Sql } from '../../postgres/sql.ts';
import { AgentBot } from '../../records/bots/agent-bot.ts';
import { Inbox } from '../../records/inbox.ts';
import { bindChannel, createChannel, updateChannel, type ChannelSettings } from '../bots/channels.ts';
import { createHook } from '../hooks/hooks.ts';
import { findRows, readOne } from '../small-rows.ts';
import { createInbox, type InboxSettings } from './inboxes.ts';

/** The channel type of inboxes that a plugin connects. */
export const pluginChannel = 'Channel::Plugin';

interface Services {
  secretBox: SecretBox;
}

/** A new inbox that a plugin connects. */
export interface NewChannelInbox extends ChannelSettings {
  name: string;
  pluginId: string;
  identifier: string;
  settings: Partial<InboxSettings>;
  /** The token of the URL to which the other system sends its requests. */
  token: string;
}

/**
 * Creates an inbox with its channel, and a hook for the first `hooks` of the plugin. Errors: 422 for invalid settings, a plugin that is not
 * installed or makes no channels, and an identity that another inbox of the service has.
 */
export async function createChannelInbox(
  tx: Transaction,
  services: Services,
  { name, pluginId, identifier, settings, token, config, secrets }: NewChannelInbox,
): Promise<Inbox> {
  const { channel, manifest } = await createChannel(tx, services, { name, pluginId, config, secrets });
  const inbox = await createInbox(tx.sql, {
    accountId: tx.account.id,
    name,
    channelType: pluginChannel,
    identifier,
    agentBotId: null,
    channel: { channelId: channel.id, pluginId },
    now: tx.now,
    settings,
  });
  await bindChannel(tx, channel.id, inbox.id);
  const owner = { kind: 'channel', id: channel.id, inboxId: inbox.id } as const;
  const [handler] = Object.keys(manifest.hooks);
  if (handler !== undefined) await createHook(tx, { name, owner, handler, token });
  return inbox;
}

/** Changes the settings of the inbox's channel. Errors: 404; 422 for an inbox without a channel, and as for updateChannel. */
export async function updateChannelOf(
  tx: Transaction,
  services: Services,
  inboxId: number,
  settings: ChannelSettings,
): Promise<void> {
  const { channelId } = await readOne(tx.sql, Inbox, { id: inboxId, accountId: tx.account.id });
  if (!channelId) throw invalid('/channel', 'channel', 'No plugin connects this inbox: it has no settings');
  await updateChannel(tx, services, channelId, settings);
}

/** The channel of an inbox; `lastFour` ends the URL of its first hook, null without one. */
export interface FoundChannel {
  bot: AgentBot;
  lastFour: string | null;
}

/** Returns the channels of inboxes of one account, by the inboxes' ids; inboxes without one have no entry. */
export async function findChannels(sql: Sql, inboxes: readonly Inbox[]): Promise<ReadonlyMap<number, FoundChannel>> {
  const ids = inboxes.flatMap(({ channelId }) => channelId ?? []);
  const accountId = inboxes[0]?.accountId;
  if (ids.length === 0 || accountId === undefined) return new Map();
  const bots = await findRows(sql, AgentBot, { accountId, id: ids }, { orderBy: { id: 'asc' } });
  const hooks = await sql<{ agent_bot_id: number; last_four: string }>(
    `SELECT DISTINCT ON (agent_bot_id) agent_bot_id, last_four FROM hooks
     WHERE account_id = $1 AND agent_bot_id = ANY ($2) ORDER BY agent_bot_id, id`,
    [accountId, ids],
  );
  const byId = new Map(bots.map((bot) => [bot.id, bot]));
  const endings = new Map(hooks.map(({ agent_bot_id: id, last_four: lastFour }) => [id, lastFour]));
  return new Map(
    inboxes.flatMap(({ id, channelId }) => {
      const bot = channelId ? byId.get(channelId) : undefined;
      return bot ? [[id, { bot, lastFour: endings.get(bot.id) ?? null }] as const] : [];
    }),
  );
}
