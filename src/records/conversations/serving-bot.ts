import { prepared } from '../../postgres/prepared.ts';
import type { Sql } from '../../postgres/sql.ts';
import type { Named } from './conversation.ts';

/**
 * Why a plugin's bot cannot run: its plugin is not there, is disabled, or has a version that refuses the bot's settings.
 */
export type PluginObstacle = 'plugin_missing' | 'plugin_disabled' | 'config_invalid';
/** Why a bot cannot answer in any conversation. */
export type Unfitness = PluginObstacle | 'bot_quarantined' | 'bot_disabled';

/** The bot that serves a conversation: the conversation's own, else its inbox's. */
export interface ServingBot extends Named {
  chosenBy: 'conversation' | 'inbox';
  kind: 'webhook' | 'plugin';
  events: string[];
  hearsOwn: boolean;
  hearsNotes: boolean;
  /** Null when the bot can answer. */
  unfit: Unfitness | null;
}

/** SQL for the PluginObstacle of a row of agent_bots; NULL for none. */
export function obstacleOf(bot: string): string {
  return `coalesce(${bot}.plugin_obstacle, CASE WHEN NOT ${bot}.config_fits THEN 'config_invalid' END)`;
}

/** The columns of a serving bot, from `b` (agent_bots). */
export const servingBotColumns = `
  b.id AS bot_id, b.name AS bot_name, b.kind AS bot_kind, b.events AS bot_events, b.hears_own, b.hears_notes,
  ${obstacleOf('b')} AS bot_obstacle, b.disabled_reason IS NOT NULL AS bot_disabled,
  b.quarantined_at IS NOT NULL AND (b.quarantined_until IS NULL OR b.quarantined_until > now()) AS bot_quarantined`;

/** A row with these columns; all are null where no bot serves. */
export interface ServingBotRow {
  bot_id: number | null;
  bot_name: string | null;
  bot_kind: 'webhook' | 'plugin' | 'automation' | 'channel' | null;
  bot_events: string[] | null;
  hears_own: boolean | null;
  hears_notes: boolean | null;
  bot_obstacle: PluginObstacle | null;
  bot_disabled: boolean | null;
  bot_quarantined: boolean | null;
}

/** The serving bot of a row; null where none serves. */
export function toServingBot(row: ServingBotRow, chosenBy: ServingBot['chosenBy']): ServingBot | null {
  if (row.bot_id === null || row.bot_kind === null || row.bot_kind === 'automation' || row.bot_kind === 'channel')
    return null;
  return {
    id: row.bot_id,
    name: row.bot_name ?? '',
    chosenBy,
    kind: row.bot_kind,
    events: row.bot_events ?? [],
    hearsOwn: row.hears_own ?? false,
    hearsNotes: row.hears_notes ?? false,
    unfit: unfitnessOf(row),
  };
}

/** Why the bot of a row cannot answer in any conversation; null when it can. */
export function unfitnessOf(row: ServingBotRow): Unfitness | null {
  if (row.bot_obstacle) return row.bot_obstacle;
  if (row.bot_disabled) return 'bot_disabled';
  return row.bot_quarantined ? 'bot_quarantined' : null;
}

const holdStatement = prepared(`SELECT ${servingBotColumns} FROM agent_bots b
  WHERE b.id = $2 AND (b.account_id = $1 OR b.account_id IS NULL) AND b.kind IN ('webhook', 'plugin') FOR KEY SHARE OF b`);

/**
 * A bot that the account may set on a conversation, its own or a system bot, locked against deletion until the transaction
 * ends; null when there is none.
 */
export async function holdBot(sql: Sql, accountId: number, id: number): Promise<ServingBot | null> {
  const [row] = await sql<ServingBotRow>(holdStatement, [accountId, id]);
  return row ? toServingBot(row, 'conversation') : null;
}

/** The bots of inboxes, by inbox id; inboxes without a bot have no entry. */
export async function findInboxBots(
  sql: Sql,
  accountId: number,
  inboxIds: readonly number[],
): Promise<Map<number, ServingBot>> {
  const rows = await sql<ServingBotRow & { inbox_id: number }>(
    `SELECT i.id AS inbox_id, ${servingBotColumns} FROM inboxes i JOIN agent_bots b ON b.id = i.agent_bot_id
     WHERE i.account_id = $1 AND i.id = ANY ($2)`,
    [accountId, inboxIds],
  );
  return new Map(
    rows.flatMap((row) => {
      const bot = toServingBot(row, 'inbox');
      return bot ? [[row.inbox_id, bot]] : [];
    }),
  );
}
