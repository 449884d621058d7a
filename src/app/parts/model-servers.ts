import { findModelServer } from '../../domain/accounts.ts';
import { countTokens } from '../../domain/bots/usage.ts';
import type { ModelServer } from '../../models/chat.ts';
import type { Sql } from '../../postgres/sql.ts';
import type { ModelPorts } from '../../runs/doors/chat.ts';
import type { Mechanisms } from './mechanisms.ts';
import type { Metrics } from './metrics.ts';

/** Creates the ports of `ctx.llm`: the account's own server, else the operator's. Accounts never see a system bot's prompt. */
export function modelsOf(mechanisms: Mechanisms, metrics: Metrics): ModelPorts {
  const { config, databases, models } = mechanisms;
  const operators = operatorsServer(mechanisms, config.llmModel);
  return {
    chat: metrics.measuredChat(models.chat),
    runMs: config.llmRunMs,
    maxTokens: config.llmMaxTokens,
    spentToday: (owner, now) => countTokens(databases.engine.sql, owner, now),
    serverOf: async ({ accountId, isSystemBot }) => {
      if (isSystemBot) return operators;
      const own = await findModelServer(databases.engine.sql, accountId);
      return own ? accountsServer(mechanisms, own, own.model) : operators;
    },
  };
}

/** The server and the model for embeddings of an account: its own, else the operator's; null where there is none. */
export async function embeddingServerOf(
  mechanisms: Mechanisms,
  sql: Sql,
  accountId: number,
): Promise<ModelServer | null> {
  const own = await findModelServer(sql, accountId);
  if (!own) return operatorsServer(mechanisms, mechanisms.config.llmEmbeddingModel);
  return own.embeddingModel === null ? null : accountsServer(mechanisms, own, own.embeddingModel);
}

/** The operator's server with one of its models; null where there is none. */
export function operatorsServer({ config }: Mechanisms, model: string | null): ModelServer | null {
  const { llmBaseUrl: baseUrl, llmApiKey: apiKey } = config;
  return baseUrl && model ? { baseUrl, model, apiKey, isOperators: true } : null;
}

function accountsServer(
  { secretBox }: Mechanisms,
  { baseUrl, sealedKey }: { baseUrl: string; sealedKey: string | null },
  model: string,
): ModelServer {
  return { baseUrl, model, apiKey: sealedKey === null ? null : secretBox.open(sealedKey), isOperators: false };
}
