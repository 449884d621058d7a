import { updateAccount, type AccountChanges } from '../../domain/accounts.ts';
import { readAccount } from '../../domain/platform/accounts.ts';
import type { Account } from '../../records/account.ts';
import { invalid } from '../../errors.ts';
import { doors } from '../../http/route/admission/doors.ts';
import type { OutsideServices, Services } from '../../http/route/call.ts';
import { unixSeconds, unixSecondsOrNull } from '../../lib/unix-time.ts';
import type { Shape } from '../../schemas.ts';

const path = '/api/v1/accounts/:account_id';

/** An account in REST answers. */
export function presentAccount(account: Account): Shape<'resources/account'> {
  const { id, name, createdAt, updatedAt } = account;
  return {
    id,
    name,
    llm: presentModelServer(account),
    embeddings: presentEmbeddings(account),
    approved_hosts: account.approvedHosts,
    created_at: unixSeconds(createdAt),
    updated_at: unixSeconds(updatedAt),
  };
}

function presentModelServer(account: Account): Shape<'resources/account'>['llm'] {
  const { llmBaseUrl: baseUrl, llmModel: model, llmApiKey: key, llmEmbeddingModel: embeddingModel } = account;
  if (!baseUrl || !model) return null;
  const embedding = embeddingModel ? { embedding_model: embeddingModel } : {};
  return { base_url: baseUrl, model, ...embedding, has_api_key: (key ?? null) !== null };
}

function presentEmbeddings({ passagesError, passagesErrorSince, questionsError, questionsErrorSince }: Account) {
  const error = passagesError ?? questionsError ?? null;
  const since = (passagesError ? passagesErrorSince : questionsErrorSince) ?? null;
  if (error === null) return { state: 'ok' as const, last_error: null, since: null };
  return { state: 'failing' as const, last_error: error, since: unixSecondsOrNull(since) };
}

type Body = Shape<'requests/account.update'>;

/** Checks the URL of a model server. Errors: 422 for a URL that may not be called. */
export async function checkModelServer({ outbound }: OutsideServices, { llm }: Body): Promise<void> {
  if (!llm?.base_url) return;
  const problem = await outbound.checkUrl(llm.base_url, { httpsOnly: false });
  if (problem) throw invalid('/llm/base_url', problem.rule, problem.message);
}

/** The changes in the body, the key sealed. */
export function readAccountChanges(
  { secretBox }: Services,
  { name, llm, approved_hosts: approvedHosts }: Body,
): AccountChanges {
  if (!llm) return { name, llm, approvedHosts };
  const { base_url: baseUrl, model, api_key: key, embedding_model: embeddingModel } = llm;
  return { name, approvedHosts, llm: { baseUrl, model, apiKey: key && secretBox.seal(key), embeddingModel } };
}

export const accountRoutes = [
  doors.account(
    ['GET', path, 'Get the account'],
    { reply: 'resources/account', record: true, role: 'administrator' },
    async ({ sql, account }) => presentAccount(await readAccount(sql, account.id)),
  ),
  doors.account(
    ['PATCH', path, 'Update the account'],
    { body: 'requests/account.update', reply: 'resources/account', role: 'administrator' },
    {
      prepare: ({ services, body }) => checkModelServer(services, body),
      handle: async ({ services, account, body, transact }) =>
        presentAccount(await transact((tx) => updateAccount(tx, account.id, readAccountChanges(services, body)))),
    },
  ),
];
