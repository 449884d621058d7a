import type { AgentBot } from './agent-bot.ts';
import { columns, joins, toConversation, type Row } from '../conversations/rows.ts';
import { partOfRow, partOfRowSql, type BotPart } from './part.ts';
import { versionColumn, versioned, type Presumed } from '../conversations/presumed.ts';

/** A plugin bot, as far as its runs need it. */
export interface BotToRun {
  id: number;
  name: string;
  avatarUrl: string | null;
  /** The plugin that the bot runs. */
  pluginId: string | null;
  /** The part of the plugin that it runs. */
  part: BotPart;
  /** The account's settings of the plugin. */
  config: Record<string, unknown>;
  /** Its secrets by name, sealed. */
  secrets?: Readonly<Record<string, string>>;
  /** Whether it is the platform's; absent for an account's own. */
  isSystem?: boolean;
  /** Whether its account has set a server for it; absent for none. */
  hasServer?: boolean;
  /** The tokens of models that it may use on a day in an account; absent for any number. */
  tokensPerDay?: number | null;
}

/** Returns what the runs of a bot need of its record. */
export function botToRun(bot: AgentBot): BotToRun {
  const { id, name, kind, avatarUrl = null, pluginId = null, config, secrets, tokensPerDay = null } = bot;
  const isSystem = (bot.accountId ?? null) === null;
  return {
    id,
    name,
    avatarUrl,
    pluginId,
    part: partOfRow(kind),
    config,
    secrets,
    isSystem,
    hasServer: Boolean(bot.outgoingUrl),
    tokensPerDay,
  };
}

/** A row of `botToRunColumns`. */
export interface BotRow {
  run_bot_id: number;
  run_bot_name: string;
  run_bot_avatar: string | null;
  run_bot_plugin: string | null;
  run_bot_part: BotPart;
  run_bot_config: Record<string, unknown>;
  run_bot_secrets: Record<string, string>;
  run_bot_is_system: boolean;
  run_bot_has_server: boolean;
  run_bot_tokens_per_day: number | null;
}

/** A conversation and the bot that is to run in it, which may serve it no more. */
export interface FoundWithBot extends Presumed {
  bot: BotToRun;
}

/** SQL of what runs need of the bot `p`. */
export const botToRunColumns = `p.id AS run_bot_id, p.name AS run_bot_name, p.avatar_url AS run_bot_avatar,
  p.plugin_id AS run_bot_plugin, ${partOfRowSql('p.kind')} AS run_bot_part, p.config AS run_bot_config, p.secrets AS run_bot_secrets,
  p.account_id IS NULL AS run_bot_is_system, p.outgoing_url IS NOT NULL AS run_bot_has_server,
  p.tokens_per_day AS run_bot_tokens_per_day`;

/**
 * SQL of a JSON value for `toFound`: the conversation of the event `e` of a delivery `d` to the bot `p`. Null when the bot is
 * no plugin, or not the account's.
 */
export const foundWithBot = `
  CASE WHEN p.kind = 'plugin' AND (p.account_id = d.account_id OR p.account_id IS NULL) THEN (
    SELECT to_json(found) FROM (
      SELECT ${columns}, ${versionColumn} AS run_version, nextval('messages_id_seq') AS run_message_id, ${botToRunColumns}
      FROM (SELECT ${versioned} FROM conversations WHERE account_id = d.account_id AND id = e.conversation_id OFFSET 0) c ${joins}
    ) found) END`;

/** Converts the row that `foundWithBot` found; null when the conversation or the bot is gone. */
export function toFound(found: unknown): FoundWithBot | null {
  const row = found as (Row & BotRow & { run_version: string; run_message_id: number }) | null;
  if (!row) return null;
  const { run_version: version, run_message_id: messageId } = row;
  return { conversation: toConversation(row), version, messageId, bot: toBotToRun(row) };
}

/** Converts a row of `botToRunColumns`. */
export function toBotToRun(row: BotRow): BotToRun {
  return {
    id: row.run_bot_id,
    name: row.run_bot_name,
    avatarUrl: row.run_bot_avatar,
    pluginId: row.run_bot_plugin,
    part: row.run_bot_part,
    config: row.run_bot_config,
    secrets: row.run_bot_secrets,
    isSystem: row.run_bot_is_system,
    hasServer: row.run_bot_has_server,
    tokensPerDay: row.run_bot_tokens_per_day,
  };
}
