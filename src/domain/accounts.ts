import { Account } from '../records/account.ts';
import { invalid } from '../errors.ts';
import type { OuterTransaction } from '../events/transaction.ts';
import { sql, type Executor } from '../postgres/sql.ts';
import { lockOne, update } from './small-rows.ts';

/** What to change of an account's model server; the key is sealed. What is undefined stays. */
interface ModelServerChanges {
  baseUrl?: string | undefined;
  model?: string | undefined;
  apiKey?: string | null | undefined;
}

export interface AccountChanges {
  name?: string | undefined;
  /** Null removes the account's own. */
  llm?: ModelServerChanges | null | undefined;
}

/**
 * Changes an account. A stored API key goes with the base URL's origin: it is never sent to a host for which nobody gave it.
 * Errors: 404, 422 for a model server without a base URL or a model.
 */
export async function updateAccount(
  { em, now }: OuterTransaction,
  id: number,
  { name, llm }: AccountChanges,
): Promise<Account> {
  const account = await lockOne(em, Account, { id });
  update(account, { name, ...(llm === undefined ? {} : modelServerAfter(account, llm)) }, now);
  return account;
}

type ModelServerRow = Pick<Account, 'llmBaseUrl' | 'llmModel' | 'llmApiKey'>;

function modelServerAfter(present: ModelServerRow, changes: ModelServerChanges | null): ModelServerRow {
  if (changes === null) return { llmBaseUrl: null, llmModel: null, llmApiKey: null };
  const { baseUrl = present.llmBaseUrl ?? null, model = present.llmModel ?? null } = changes;
  if (baseUrl === null) throw invalid('/llm/base_url', 'required', 'llm needs a base_url');
  if (model === null) throw invalid('/llm/model', 'required', 'llm needs a model');
  const kept = originOf(baseUrl) === originOf(present.llmBaseUrl ?? '') ? (present.llmApiKey ?? null) : null;
  const { apiKey = kept } = changes;
  return { llmBaseUrl: baseUrl, llmModel: model, llmApiKey: apiKey };
}

function originOf(url: string): string | null {
  return URL.parse(url)?.origin ?? null;
}

/** The account's own model server, its key sealed; null when it has none. */
export async function findModelServer(
  executor: Executor,
  accountId: number,
): Promise<{ baseUrl: string; model: string; sealedKey: string | null } | null> {
  const [row] = await sql<{ base_url: string; model: string; sealed_key: string | null }>(
    executor,
    `SELECT llm_base_url AS base_url, llm_model AS model, llm_api_key AS sealed_key FROM accounts
     WHERE id = $1 AND llm_base_url IS NOT NULL`,
    [accountId],
  );
  return row ? { baseUrl: row.base_url, model: row.model, sealedKey: row.sealed_key } : null;
}
