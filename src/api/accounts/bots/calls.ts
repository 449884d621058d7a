import { readOwnAgentBot } from '../../../domain/bots/bots.ts';
import { countTrial } from '../../../domain/bots/evals/last-results.ts';
import { invalid } from '../../../errors.ts';
import { doors } from '../../../http/route/admission/doors.ts';
import { botToRun } from '../../../records/bots/bot-to-run.ts';

export const callRoutes = [
  doors.account(
    ['POST', '/api/v1/accounts/:account_id/agent_bots/:id/calls', 'Call a model or the knowledge base as an agent bot'],
    {
      body: 'requests/bot.call',
      largeBody: true,
      reply: 'resources/bot-call',
      role: 'administrator',
      audit: false,
      keyed: false,
      description:
        'Answers what `ctx.llm.chat` or `ctx.kb.search` of the bot would answer now. The tokens count in its usage and in its `tokens_per_day`.',
    },
    {
      prepare: async ({ services, read, account, params, body: { name, input } }) => {
        const bot = await read((sql) => readOwnAgentBot(sql, account.id, params.id));
        if (bot.kind !== 'plugin') throw invalid('', 'kind', 'Only bots inside the service make calls');
        return services.callAsBot({ accountId: account.id, bot: botToRun(bot), name, input });
      },
      handle: async ({ account, params, transact }, { output, error, tokens }) => {
        await transact((tx) => countTrial(tx, { accountId: account.id, botId: params.id }, tokens));
        const { promptTokens, completionTokens } = tokens;
        return { output, error, usage: { prompt_tokens: promptTokens, completion_tokens: completionTokens } };
      },
    },
  ),
];
