import { findModelServer } from '../domain/accounts.ts';
import { countTokens } from '../domain/bots/usage.ts';
import type { ModelServer } from '../models/chat.ts';
import type { ModelPorts } from '../runs/doors/chat.ts';
import type { Mechanisms } from './mechanisms.ts';
import type { Metrics } from './metrics.ts';

/** What bots ask with `ctx.llm`: the account's own server, else the operator's. */
export function modelsOf({ config, databases, models, secretBox }: Mechanisms, metrics: Metrics): ModelPorts {
  const { llmBaseUrl: baseUrl, llmModel: model, llmApiKey: apiKey } = config;
  const operators: ModelServer | null = baseUrl && model ? { baseUrl, model, apiKey, isOperators: true } : null;
  return {
    chat: metrics.measuredChat(models.chat),
    runMs: config.llmRunMs,
    maxTokens: config.llmMaxTokens,
    spentToday: (owner, now) => countTokens(databases.engine.em(), owner, now),
    serverOf: async (accountId) => {
      const own = await findModelServer(databases.engine.em(), accountId);
      if (!own) return operators;
      const { sealedKey, ...server } = own;
      return { ...server, apiKey: sealedKey === null ? null : secretBox.open(sealedKey), isOperators: false };
    },
  };
}
