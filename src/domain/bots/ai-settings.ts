import { aiPluginId } from '../../deliveries/core/endpoint.ts';
import type { AgentBot } from '../../records/bots/agent-bot.ts';
import { invalid } from '../../errors.ts';
import type { Shape } from '../../schemas.ts';

/** True for bots of the kind `ai`. */
export function isAiBot({ pluginId }: Pick<AgentBot, 'pluginId'>): boolean {
  return pluginId === aiPluginId;
}

type Body = Shape<'requests/agent-bot.update'>;

/** The fields of a bot's record that are settings of the plugin of AI bots. */
export const aiFields = [
  'system_prompt',
  'temperature',
  'max_exchanges',
  'handoff_keywords',
  'greeting_message',
  'handoff_message',
  'outage_message',
  'knowledge',
  'tools',
] as const satisfies readonly (keyof Body)[];

/** The setting `knowledge` of the plugin: which articles its bots may search. */
export interface KnowledgeScope {
  scope: 'all' | 'selected' | 'none';
  tags: string[];
  languages: string[];
}

/**
 * The settings that the fields of AI bots in a body stand for, undefined ones to be removed; undefined when it has none. Errors: 422 for such fields on
 * another bot.
 */
export function aiSettingsOf(body: Body, isAi: boolean): Record<string, unknown> | undefined {
  const given = aiFields.filter((field) => body[field] !== undefined);
  const [first] = given;
  if (first === undefined) return undefined;
  if (!isAi) throw invalid(`/${first}`, 'kind', `Only bots of the kind ai have ${first}`);
  // A text that is null is one that the plugin has by itself: the setting is absent then.
  const values = given.map((field) => [
    field,
    field === 'knowledge' ? scopeOf(body.knowledge) : (body[field] ?? undefined),
  ]);
  return Object.fromEntries(values) as Record<string, unknown>;
}

function scopeOf(knowledge: Body['knowledge']): KnowledgeScope {
  if (knowledge === true) throw invalid('/knowledge', 'type', '`knowledge` must be an object, null or false');
  if (!knowledge) return { scope: knowledge === false ? 'none' : 'all', tags: [], languages: [] };
  const { tags = [], languages = [] } = knowledge;
  return { scope: 'selected', tags, languages };
}
