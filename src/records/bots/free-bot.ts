import { botToRunColumns, toBotToRun, type BotRow, type BotToRun } from './bot-to-run.ts';
import { servingBotColumns, unfitnessOf, type ServingBotRow, type Unfitness } from '../conversations/serving-bot.ts';

/** An automation, a channel, or a bot that is to run for an event without a conversation. */
export interface FreeBot {
  bot: BotToRun;
  /** The inboxes in which an automation may act, null for all; the one of a channel. */
  inboxIds: readonly number[] | null;
  /** Why it is not called, `endpoint_disabled` for one that is off; null when it is. */
  unfit: Unfitness | 'endpoint_disabled' | null;
}

interface FreeRow extends BotRow, ServingBotRow {
  inbox_ids: number[] | null;
  active: boolean;
}

/** SQL of a JSON value for `toFreeBot`, of the bot or automation `p` of a delivery `d`; null when it is not the account's. */
export const freeBot = `
  CASE WHEN p.kind <> 'webhook' AND (p.account_id = d.account_id OR p.account_id IS NULL) THEN (
    SELECT to_json(found) FROM (
      SELECT ${botToRunColumns}, ${servingBotColumns}, b.inbox_ids, b.active
      FROM agent_bots b WHERE b.id = p.id
    ) found) END`;

/** Converts the row that `freeBot` found; null when the bot is gone. */
export function toFreeBot(found: unknown): FreeBot | null {
  const row = found as FreeRow | null;
  if (!row) return null;
  return {
    bot: toBotToRun(row),
    inboxIds: row.inbox_ids,
    unfit: row.active ? unfitnessOf(row) : 'endpoint_disabled',
  };
}
