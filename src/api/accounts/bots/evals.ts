import { readOwnAgentBot } from '../../../domain/bots/bots.ts';
import { isAiBot } from '../../../domain/bots/ai-settings.ts';
import { changesSince } from '../../../domain/bots/evals/difference.ts';
import { judge } from '../../../domain/bots/evals/judge.ts';
import { countTrial, keepEvals, readLastEvals } from '../../../domain/bots/evals/last-results.ts';
import { invalid } from '../../../errors.ts';
import { doors } from '../../../http/route/admission/doors.ts';
import { unixSeconds } from '../../../lib/unix-time.ts';
import type { AgentBot } from '../../../records/bots/agent-bot.ts';
import { botToRun } from '../../../records/bots/bot-to-run.ts';
import { presentAiFields } from './ai-bots.ts';

const base = '/api/v1/accounts/:account_id/agent_bots/:id';

export const evalRoutes = [
  doors.account(
    ['POST', `${base}/try`, 'Try an agent bot'],
    {
      body: 'requests/bot.try',
      largeBody: true,
      reply: 'resources/bot-trial',
      role: 'administrator',
      audit: false,
      keyed: false,
      description:
        'Runs the bot as it is configured for a message of no conversation: it asks its model, searches the articles and sends its requests, and nothing is written but the tokens, which count in its usage.',
    },
    {
      prepare: async ({ services, read, account, params, body }) => {
        const bot = await read((sql) => readOwnAgentBot(sql, account.id, params.id));
        if (bot.kind !== 'plugin') throw invalid('', 'kind', 'Only bots inside the service can be tried');
        const { events, hearsOwn, hearsNotes } = bot;
        const { expect, ...asked } = body;
        const hearing = { events, hearsOwn, hearsNotes };
        const trial = await services.tryBot({ ...asked, account, bot: botToRun(bot), hearing });
        return { ...trial, ...judge(trial, expect, answersFromArticles(bot)) };
      },
      handle: async ({ account, params, transact }, trial) => {
        const { prompt_tokens: promptTokens = 0, completion_tokens: completionTokens = 0 } = trial.usage ?? {};
        const whose = { accountId: account.id, botId: params.id };
        await transact((tx) => countTrial(tx, whose, { promptTokens, completionTokens }));
        return trial;
      },
    },
  ),
  doors.account(
    ['POST', `${base}/evals`, 'Keep the evals of an agent bot'],
    {
      body: 'requests/bot.evals',
      largeBody: true,
      reply: 'resources/bot-evals-kept',
      role: 'administrator',
      audit: false,
      status: 201,
      description: 'Replaces `last_evals` of its usage, and compares these results with those before.',
    },
    async ({ sql, account, params, body: { results }, transact }) => {
      const { id: botId } = await readOwnAgentBot(sql, account.id, params.id);
      return transact(async (tx) => {
        const whose = { accountId: account.id, botId };
        const last = await readLastEvals(tx.sql, whose);
        await keepEvals(tx, whose, results);
        const changes = last ? changesSince(last.results, results) : [];
        return { ran_at: unixSeconds(tx.now), results, last_ran_at: last && unixSeconds(last.ranAt), changes };
      });
    },
  ),
];

/** Whether only what cites an article counts as an answer. */
function answersFromArticles(bot: AgentBot): boolean {
  return isAiBot(bot) && presentAiFields(bot).knowledge !== false;
}
