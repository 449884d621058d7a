import { isAiBot, type aiFields, type KnowledgeScope } from '../../../domain/bots/ai-settings.ts';
import type { AgentBot } from '../../../records/bots/agent-bot.ts';
import type { Shape } from '../../../schemas.ts';

type Presented = Pick<Shape<'resources/agent-bot'>, (typeof aiFields)[number]>;

const noAiFields: Presented = {
  system_prompt: null,
  temperature: null,
  max_exchanges: null,
  handoff_keywords: null,
  greeting_message: null,
  handoff_message: null,
  outage_message: null,
  knowledge: null,
  tools: null,
};

/** The fields of AI bots in the record of a bot; all null on others, and where its settings are not shown. */
export function presentAiFields(bot: Pick<AgentBot, 'pluginId' | 'config'> | null): Presented {
  if (!bot || !isAiBot(bot)) return { ...noAiFields };
  // Settings that only a newer version of the plugin knows may be missing until the next change.
  const { knowledge, ...config } = bot.config as Partial<Omit<Presented, 'knowledge'> & { knowledge: KnowledgeScope }>;
  return {
    system_prompt: config.system_prompt ?? null,
    temperature: config.temperature ?? null,
    max_exchanges: config.max_exchanges ?? null,
    handoff_keywords: config.handoff_keywords ?? null,
    greeting_message: config.greeting_message ?? null,
    handoff_message: config.handoff_message ?? null,
    outage_message: config.outage_message ?? null,
    knowledge: knowledge ? knowledgeOf(knowledge) : null,
    tools: config.tools ?? null,
  };
}

function knowledgeOf({ scope, tags, languages }: KnowledgeScope): Presented['knowledge'] {
  if (scope === 'all') return null;
  return scope === 'none' ? false : { tags, languages };
}
