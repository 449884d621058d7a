import { PassageEmbedder } from '../../domain/articles/embeddings/embedder.ts';
import { Questions } from '../../domain/articles/embeddings/questions.ts';
import type { Sql } from '../../postgres/sql.ts';
import type { Mechanisms } from './mechanisms.ts';
import { embeddingServerOf, operatorsServer } from './model-servers.ts';

/** Creates the embedders of passages and of questions. Nothing starts yet. */
export function embeddingsOf(mechanisms: Mechanisms): { embedder: PassageEmbedder; questions: Questions } {
  const { config, databases, models, log, warn, gate } = mechanisms;
  const common = {
    serverOf: (sql: Sql, accountId: number) => embeddingServerOf(mechanisms, sql, accountId),
    embed: models.embed,
  };
  const embedder = new PassageEmbedder({
    ...common,
    database: databases.engine,
    gate,
    ownServer: operatorsServer(mechanisms, config.llmEmbeddingModel),
    batch: config.llmEmbeddingBatch,
    inFlight: config.llmEmbeddingInFlight,
    retryMs: config.llmEmbeddingRetryMs,
    changesPerDay: config.llmEmbeddingChanges,
    timeoutMs: config.llmTimeoutMs,
    told: ({ accountId: account, error }) => log.warn({ account, error }, 'articles cannot be embedded'),
    failed: warn,
  });
  const questions = new Questions({
    ...common,
    waitMs: config.llmEmbeddingQueryMs,
    pauseMs: config.llmEmbeddingRetryMs,
    least: config.llmEmbeddingSimilarity / 100,
    compared: config.llmEmbeddingPassages,
    failed: ({ accountId: account, error }) => log.warn({ account, error }, 'questions cannot be embedded'),
  });
  return { embedder, questions };
}
