import { Account } from '../records/account.ts';
import { invalid, notFound } from '../errors.ts';
import type { OuterTransaction } from '../events/transaction.ts';
import type { Sql } from '../postgres/sql.ts';
import { findRow, save, update } from './small-rows.ts';

/** Changes of an account's model server, with the key sealed. Undefined leaves a field unchanged. */
interface ModelServerChanges {
  baseUrl?: string | undefined;
  model?: string | undefined;
  apiKey?: string | null | undefined;
  /** Null for none. */
  embeddingModel?: string | null | undefined;
}

const largestPort = 65_535;

export interface AccountChanges {
  name?: string | undefined;
  /** Null removes the account's own. */
  llm?: ModelServerChanges | null | undefined;
  /** Hosts that tools of its bots may call; replaces all of them. */
  approvedHosts?: readonly string[] | undefined;
}

/**
 * Changes an account. A stored API key belongs to the base URL's origin: it is never sent to another host. Errors: 404, 422 for
 * a model server without a base URL or a model, and for a host with no such port.
 */
export async function updateAccount(
  tx: OuterTransaction,
  id: number,
  { name, llm, approvedHosts }: AccountChanges,
): Promise<Account> {
  const hosts = approvedHosts && readHosts(approvedHosts);
  const account = await lockAccount(tx, id);
  const isChanged = update(
    account,
    { name, approvedHosts: hosts, ...(llm === undefined ? {} : modelServerAfter(account, llm)) },
    tx.now,
  );
  if (isChanged) await save(tx.sql, account);
  if (llm !== undefined) await reviseEmbeddings(tx, id);
  return account;
}

// The port of https is left out, as URLs leave it out.
function readHosts(given: readonly string[]): string[] {
  const wrong = given.findIndex((host) => Number(host.split(':')[1] ?? 1) > largestPort);
  if (wrong !== -1) throw invalid(`/approved_hosts/${wrong}`, 'port', `${given[wrong]} has no such port`);
  return [...new Set(given.map((host) => host.replace(/:443$/, '')))];
}

// Before its embedding task. Not FOR UPDATE: writers of articles refer to the account while they hold the task.
async function lockAccount(tx: OuterTransaction, id: number): Promise<Account> {
  await tx.sql('SELECT FROM accounts WHERE id = $1 FOR NO KEY UPDATE', [id]);
  const account = await findRow(tx.sql, Account, { id });
  if (!account) throw notFound(Account.noun);
  return account;
}

// Makes the embedding task due, since another server, model or key may apply now. Taking the task from the process that has
// it keeps that process from settling it with the earlier settings.
async function reviseEmbeddings(tx: OuterTransaction, id: number): Promise<void> {
  await tx.sql(
    'UPDATE accounts SET questions_error = NULL, questions_error_since = NULL WHERE id = $1 AND questions_error IS NOT NULL',
    [id],
  );
  await tx.sql(
    'UPDATE embedding_tasks SET due_at = now(), claim = claim + 1, failures = 0, changes = 0, changes_since = NULL WHERE account_id = $1',
    [id],
  );
  tx.announce('articles', null);
}

type ModelServerRow = Pick<Account, 'llmBaseUrl' | 'llmModel' | 'llmApiKey' | 'llmEmbeddingModel'>;

const noServer = { llmBaseUrl: null, llmModel: null, llmApiKey: null, llmEmbeddingModel: null };

function modelServerAfter(before: ModelServerRow, changes: ModelServerChanges | null): ModelServerRow {
  if (changes === null) return noServer;
  const present = withNulls(before);
  const { baseUrl = present.llmBaseUrl, model = present.llmModel } = changes;
  if (baseUrl === null) throw invalid('/llm/base_url', 'required', 'llm needs a base_url');
  if (model === null) throw invalid('/llm/model', 'required', 'llm needs a model');
  const kept = originOf(baseUrl) === originOf(present.llmBaseUrl ?? '') ? present.llmApiKey : null;
  const { apiKey = kept, embeddingModel = present.llmEmbeddingModel } = changes;
  return { llmBaseUrl: baseUrl, llmModel: model, llmApiKey: apiKey, llmEmbeddingModel: embeddingModel };
}

function withNulls({ llmBaseUrl = null, llmModel = null, llmApiKey = null, llmEmbeddingModel = null }: ModelServerRow) {
  return { llmBaseUrl, llmModel, llmApiKey, llmEmbeddingModel };
}

function originOf(url: string): string | null {
  return URL.parse(url)?.origin ?? null;
}

/** An account's own model server; its key is sealed. */
export interface OwnModelServer {
  baseUrl: string;
  model: string;
  sealedKey: string | null;
  /** Null for none. */
  embeddingModel: string | null;
}

/** Returns the account's own model server; null when it has none. */
export async function findModelServer(sql: Sql, accountId: number): Promise<OwnModelServer | null> {
  const [row] = await sql<{
    base_url: string;
    model: string;
    sealed_key: string | null;
    embedding_model: string | null;
  }>(
    `SELECT llm_base_url AS base_url, llm_model AS model, llm_api_key AS sealed_key, llm_embedding_model AS embedding_model
     FROM accounts WHERE id = $1 AND llm_base_url IS NOT NULL`,
    [accountId],
  );
  if (!row) return null;
  const { base_url: baseUrl, model, sealed_key: sealedKey, embedding_model: embeddingModel } = row;
  return { baseUrl, model, sealedKey, embeddingModel };
}
