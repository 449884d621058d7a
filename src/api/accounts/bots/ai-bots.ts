import type { AgentBot } from '../../../records/bots/agent-bot.ts';
import { invalid } from '../../../errors.ts';
import type { Shape } from '../../../schemas.ts';

/** The plugin that bots of the kind `ai` are installations of. */
export const aiPluginId = 'ai-bot';

/** True for bots of the kind `ai`. */
export function isAiBot({ pluginId }: Pick<AgentBot, 'pluginId'>): boolean {
  return pluginId === aiPluginId;
}

type Body = Shape<'requests/agent-bot.update'>;
type Knowledge = Body['knowledge'];
type Presented = Pick<Shape<'resources/agent-bot'>, (typeof fields)[number]>;

const fields = [
  'system_prompt',
  'temperature',
  'max_exchanges',
  'handoff_keywords',
  'handoff_message',
  'knowledge',
] as const satisfies readonly (keyof Body)[];

/**
 * The settings that the fields of AI bots in a body stand for; undefined when it has none. Errors: 422 for such fields on
 * another bot.
 */
export function aiSettingsOf(body: Body, isAi: boolean): Record<string, unknown> | undefined {
  const given = fields.filter((field) => body[field] !== undefined);
  const [first] = given;
  if (first === undefined) return undefined;
  if (!isAi) throw invalid(`/${first}`, 'kind', `Only bots of the kind ai have ${first}`);
  const values = given.map((field) => [field, field === 'knowledge' ? scopeOf(body.knowledge) : body[field]]);
  return Object.fromEntries(values) as Record<string, unknown>;
}

/** The fields of AI bots in the record of a bot; all null on others, and where its settings are not shown. */
export function presentAiFields(bot: Pick<AgentBot, 'pluginId' | 'config'> | null): Presented {
  if (!bot || !isAiBot(bot)) return Object.fromEntries(fields.map((field) => [field, null])) as unknown as Presented;
  // What a later version of the plugin has set is there from the next change on.
  const { knowledge, ...config } = bot.config as Partial<Omit<Presented, 'knowledge'> & { knowledge: Scope }>;
  return {
    system_prompt: config.system_prompt ?? null,
    temperature: config.temperature ?? null,
    max_exchanges: config.max_exchanges ?? null,
    handoff_keywords: config.handoff_keywords ?? null,
    handoff_message: config.handoff_message ?? null,
    knowledge: knowledge ? knowledgeOf(knowledge) : null,
  };
}

/** The setting `knowledge` of the plugin. */
interface Scope {
  scope: 'all' | 'selected' | 'none';
  tags: string[];
  languages: string[];
}

function scopeOf(knowledge: Knowledge): Scope {
  if (knowledge === true) throw invalid('/knowledge', 'type', '`knowledge` must be an object, null or false');
  if (!knowledge) return { scope: knowledge === false ? 'none' : 'all', tags: [], languages: [] };
  const { tags = [], languages = [] } = knowledge;
  return { scope: 'selected', tags, languages };
}

function knowledgeOf({ scope, tags, languages }: Scope): Presented['knowledge'] {
  if (scope === 'all') return null;
  return scope === 'none' ? false : { tags, languages };
}
