import type { Sql } from '../../../postgres/sql.ts';
import { findModelServer } from '../../../domain/accounts.ts';
import { hasArticles } from '../../../domain/articles/articles.ts';
import type { Services } from '../../../http/route/call.ts';
import type { Actor } from '../../../events/transaction.ts';
import type { AgentBot } from '../../../records/bots/agent-bot.ts';
import { nothingThere } from '../../../runs/doors/search.ts';
import { presentAgentBot } from './agent-bot-records.ts';
import { presentAiFields } from './ai-bots.ts';
import { isAiBot } from '../../../domain/bots/ai-settings.ts';
import type { Shape } from '../../../schemas.ts';

const nothingAtAll = 'It has neither a model nor a knowledge base to answer with';

/**
 * A bot in REST answers to an account, with its settings for administrators. AI bots tell at once when they have nothing to answer from: what runs
 * show of it would come with the first customer, and stay until the next.
 */
export async function presentWithHealth(
  { sql, services, actor }: { sql: Sql; services: Services; actor: Pick<Actor, 'role'> },
  bot: AgentBot,
): Promise<Shape<'resources/agent-bot'>> {
  const record = await present({ sql, services }, bot);
  return actor.role === 'administrator' ? record : { ...record, ...hiddenSettings };
}

// A URL may carry a token of its server, as webhooks' URLs may.
const hiddenSettings = { outgoing_url: null, config: {}, ...presentAiFields(null) };

async function present(
  { sql, services }: { sql: Sql; services: Services },
  bot: AgentBot,
): Promise<Shape<'resources/agent-bot'>> {
  const { accountId = null } = bot;
  if (accountId === null || !isAiBot(bot)) return presentAgentBot(bot);
  const problem = await findProblem({ sql, services }, accountId, bot);
  // The stored error is from the last run, and may be mended since.
  const isMended = problem === null && (bot.healthError === nothingThere || bot.healthError === nothingAtAll);
  const healthError = problem ?? (isMended ? null : bot.healthError);
  return presentAgentBot(bot, healthError ?? null);
}

async function findProblem(
  { sql, services }: { sql: Sql; services: Services },
  accountId: number,
  bot: AgentBot,
): Promise<string | null> {
  const { knowledge } = presentAiFields(bot);
  if (knowledge === false) {
    const hasModel = services.hasModel || (await findModelServer(sql, accountId)) !== null;
    return hasModel ? null : nothingAtAll;
  }
  const { tags = [], languages = [] } = typeof knowledge === 'object' && knowledge !== null ? knowledge : {};
  return (await hasArticles(sql, accountId, { tags, languages })) ? null : nothingThere;
}
