import { prepared } from '../postgres/prepared.ts';
import { sql, type Executor } from '../postgres/sql.ts';
import { columns, joins, toConversation, type Row } from './conversation-rows.ts';
import type { Conversation } from './conversation.ts';

/** A plugin bot, as far as its runs need it. */
export interface BotToRun {
  id: number;
  name: string;
  avatarUrl: string | null;
  /** The plugin that the bot runs. */
  pluginId: string | null;
  /** The account's settings of the plugin. */
  config: Record<string, unknown>;
  /** Its secrets by name, sealed. */
  secrets?: Readonly<Record<string, string>>;
  /** Whether its account has set a server for it; absent for none. */
  hasServer?: boolean;
}

interface BotRow {
  run_bot_id: number;
  run_bot_name: string;
  run_bot_avatar: string | null;
  run_bot_plugin: string | null;
  run_bot_config: Record<string, unknown>;
  run_bot_secrets: Record<string, string>;
  run_bot_has_server: boolean;
}

const statement = prepared(`
  SELECT ${columns}, r.id AS run_bot_id, r.name AS run_bot_name, r.avatar_url AS run_bot_avatar,
    r.plugin_id AS run_bot_plugin, r.config AS run_bot_config, r.secrets AS run_bot_secrets,
    r.outgoing_url IS NOT NULL AS run_bot_has_server
  FROM conversations c ${joins} JOIN agent_bots r ON r.id = $3 AND (r.account_id = $1 OR r.account_id IS NULL)
  WHERE c.account_id = $1 AND c.id = $2`);

/** A conversation and the bot that is to run in it, which may serve it no more; null when either is gone. */
export async function findWithBot(
  executor: Executor,
  accountId: number,
  { conversationId, botId }: { conversationId: number; botId: number },
): Promise<{ conversation: Conversation; bot: BotToRun } | null> {
  const [row] = await sql<Row & BotRow>(executor, statement, [accountId, conversationId, botId]);
  return row ? { conversation: toConversation(row), bot: toBot(row) } : null;
}

function toBot(row: BotRow): BotToRun {
  return {
    id: row.run_bot_id,
    name: row.run_bot_name,
    avatarUrl: row.run_bot_avatar,
    pluginId: row.run_bot_plugin,
    config: row.run_bot_config,
    secrets: row.run_bot_secrets,
    hasServer: row.run_bot_has_server,
  };
}
