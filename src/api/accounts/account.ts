import { updateAccount, type AccountChanges } from '../../domain/accounts.ts';
import { readAccount } from '../../domain/platform/accounts.ts';
import type { Account } from '../../records/account.ts';
import { invalid } from '../../errors.ts';
import { doors } from '../../http/route/doors.ts';
import type { OutsideServices, Services } from '../../http/route/call.ts';
import { unixSeconds } from '../../lib/unix-time.ts';
import type { Shape } from '../../schemas.ts';

const path = '/api/v1/accounts/:account_id';

/** An account in REST answers. */
export function presentAccount(account: Account): Shape<'resources/account'> {
  const { id, name, llmBaseUrl: baseUrl, llmModel: model, llmApiKey: key, createdAt, updatedAt } = account;
  const llm = baseUrl && model ? { base_url: baseUrl, model, has_api_key: (key ?? null) !== null } : null;
  return { id, name, llm, created_at: unixSeconds(createdAt), updated_at: unixSeconds(updatedAt) };
}

type Body = Shape<'requests/account.update'>;

/** Checks the URL of a model server. Errors: 422 for a URL that may not be called. */
export async function checkModelServer({ outbound }: OutsideServices, { llm }: Body): Promise<void> {
  if (!llm?.base_url) return;
  const problem = await outbound.checkUrl(llm.base_url, { httpsOnly: false });
  if (problem) throw invalid('/llm/base_url', problem.rule, problem.message);
}

/** The changes in the body, the key sealed. */
export function readAccountChanges({ secretBox }: Services, { name, llm }: Body): AccountChanges {
  if (!llm) return { name, llm };
  const { base_url: baseUrl, model, api_key: key } = llm;
  return { name, llm: { baseUrl, model, apiKey: key && secretBox.seal(key) } };
}

export const accountRoutes = [
  doors.account(
    ['GET', path, 'Get the account'],
    { reply: 'resources/account', record: true, role: 'administrator' },
    async ({ em, account }) => presentAccount(await readAccount(em, account.id)),
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
