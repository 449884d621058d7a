import type { AgentBot } from './agent-bot.ts';

/** A row of agent_bots is one of these: it serves conversations, hears what happens in an account, or connects an inbox. */
export type BotPart = 'bot' | 'automation' | 'channel';

/** Returns the part of its plugin that runs for a row of agent_bots. */
export function partOfRow(kind: AgentBot['kind']): BotPart {
  return kind === 'automation' || kind === 'channel' ? kind : 'bot';
}

/** SQL of `partOfRow` for a column. */
export function partOfRowSql(column: string): string {
  return `CASE WHEN ${column} IN ('automation', 'channel') THEN ${column} ELSE 'bot' END`;
}

/**
 * SQL of a field of the part that runs for a row of agent_bots, from the text of a stored plugin.json: those of several parts
 * are in `parts`.
 */
export function fieldOfPart(manifest: string, kind: string, field: string): string {
  return `coalesce((SELECT part -> '${field}' FROM json_array_elements(${manifest}::json -> 'parts') part
    WHERE part ->> 'kind' = ${partOfRowSql(kind)}), ${manifest}::json -> '${field}')`;
}
