import type { Sql } from '../../../postgres/sql.ts';
import { findModelServer } from '../../../domain/accounts.ts';
import { hasArticles } from '../../../domain/articles/articles.ts';
import { findUnmetNeeds, type UnmetNeeds } from '../../../domain/bots/unmet-needs.ts';
import type { Services } from '../../../http/route/call.ts';
import type { Actor } from '../../../events/transaction.ts';
import type { AgentBot } from '../../../records/bots/agent-bot.ts';
import { nothingThere } from '../../../runs/doors/search.ts';
import { presentAgentBot, type BotFindings } from './agent-bot-records.ts';
import { presentAiFields } from './ai-bots.ts';
import { isAiBot } from '../../../domain/bots/ai-settings.ts';
import type { Shape } from '../../../schemas.ts';

const nothingAtAll = 'It has neither a model nor a knowledge base to answer with';

/** The database, the services and the caller that the records of bots depend on. */
interface Reading {
  sql: Sql;
  services: Services;
  actor: Pick<Actor, 'role'>;
}

/**
 * A bot in REST answers to an account, with its settings for administrators. AI bots tell at once when they have nothing to answer from, and bots of
 * plugins which secrets and approved hosts they lack: what runs show of it would come with the first customer, and stay until the next.
 */
export async function presentWithHealth(
  reading: Reading,
  bot: AgentBot,
  needs?: ReadonlyMap<number, UnmetNeeds>,
): Promise<Shape<'resources/agent-bot'>> {
  const found = needs ?? (await findUnmetNeeds(reading.sql, [bot]));
  const findings = { ...(await findHealth(reading, bot)), unmet: found.get(bot.id) };
  const record = presentAgentBot(bot, findings);
  return reading.actor.role === 'administrator' ? record : { ...record, ...hiddenSettings };
}

/** Like presentWithHealth, for the bots of a list. */
export async function presentAllWithHealth(
  reading: Reading,
  bots: readonly AgentBot[],
): Promise<Shape<'resources/agent-bot'>[]> {
  const needs = await findUnmetNeeds(reading.sql, bots);
  const records: Shape<'resources/agent-bot'>[] = [];
  for (const bot of bots) records.push(await presentWithHealth(reading, bot, needs));
  return records;
}

// A URL may carry a token of its server, as webhooks' URLs may.
const hiddenSettings = { outgoing_url: null, config: {}, ...presentAiFields(null) };

async function findHealth({ sql, services }: Reading, bot: AgentBot): Promise<Pick<BotFindings, 'healthError'>> {
  const { accountId = null } = bot;
  if (accountId === null || !isAiBot(bot)) return {};
  const problem = await findProblem({ sql, services }, accountId, bot);
  // The stored error is from the last run, and may be mended since.
  const isMended = problem === null && (bot.healthError === nothingThere || bot.healthError === nothingAtAll);
  return { healthError: problem ?? (isMended ? null : (bot.healthError ?? null)) };
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
