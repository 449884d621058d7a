import { createAccount } from '../../domain/people/users.ts';
import { deleteAgent } from '../../domain/people/agent-removal.ts';
import { findAgents, type AgentProfile } from '../../domain/people/agents.ts';
import { deleteAccount, listAccounts, readAccount } from '../../domain/platform/accounts.ts';
import { joinAccount } from '../../domain/platform/users.ts';
import { findSeatOf } from '../../domain/people/seats.ts';
import { updateAccount } from '../../domain/accounts.ts';
import { notFound } from '../../errors.ts';
import { within } from '../../events/transaction.ts';
import { doors } from '../../http/route/admission/doors.ts';
import { presentPage, presentWhole } from '../page.ts';
import { checkModelServer, presentAccount, readAccountChanges } from '../accounts/account.ts';
import { unixSeconds } from '../../lib/unix-time.ts';
import type { Shape } from '../../schemas.ts';

const base = '/platform/api/v1/accounts';
const members = `${base}/:id/account_users`;

function presentMember(agent: AgentProfile): Shape<'resources/account-user'> {
  const { id, accountId, personId, name, email, role, createdAt } = agent;
  const ids = { account_id: accountId, user_id: personId, agent_id: id };
  return { ...ids, name, email, role, created_at: unixSeconds(createdAt) };
}

export const platformAccountRoutes = [
  doors.platform(
    ['GET', base, 'List accounts'],
    { query: 'requests/page.query', reply: 'resources/platform-account-list', paged: true, role: 'platform' },
    async ({ sql, query: { page = 1 } }) => presentPage(await listAccounts(sql, page), presentAccount),
  ),
  doors.platform(
    ['GET', `${base}/:id`, 'Get an account'],
    { reply: 'resources/platform-account', record: true, role: 'platform' },
    async ({ sql, params }) => presentAccount(await readAccount(sql, params.id)),
  ),
  doors.platform(
    ['POST', base, 'Create an account'],
    { body: 'requests/platform-account.create', reply: 'resources/platform-account', role: 'platform', status: 201 },
    {
      prepare: ({ services, body }) => checkModelServer(services, body),
      handle: async ({ services, body, transact }) =>
        presentAccount(
          await transact(async (tx) => {
            const { id } = await createAccount(tx.sql, body.name, tx.now);
            return updateAccount(tx, id, readAccountChanges(services, body));
          }),
        ),
    },
  ),
  doors.platform(
    ['PATCH', `${base}/:id`, 'Update an account'],
    { body: 'requests/platform-account.update', reply: 'resources/platform-account', role: 'platform' },
    {
      prepare: ({ services, body }) => checkModelServer(services, body),
      handle: async ({ services, params, body, transact }) =>
        presentAccount(await transact((tx) => updateAccount(tx, params.id, readAccountChanges(services, body)))),
    },
  ),
  doors.platform(
    ['DELETE', `${base}/:id`, 'Delete an account'],
    {
      reply: 'resources/empty',
      role: 'platform',
      inBatches: true,
      description:
        'Everything of the account goes with it. Its users stay, without access if they have no other account.',
    },
    async ({ sql, params, transact }) => {
      const { id, name } = await readAccount(sql, params.id);
      return deleteAccount(transact, { id, name });
    },
  ),
  doors.platform(
    ['GET', members, 'List account users'],
    { reply: 'resources/account-user-list', role: 'platform' },
    async ({ sql, params }) => {
      const account = await readAccount(sql, params.id);
      return presentWhole(await findAgents(sql, account.id), presentMember);
    },
  ),
  doors.platform(
    ['POST', members, 'Create an account user'],
    {
      body: 'requests/account-user.create',
      reply: 'resources/account-user',
      role: 'platform',
      audit: { action: 'account_user.created' },
      status: 201,
    },
    async ({ sql, params, body, transact }) => {
      const { id, name } = await readAccount(sql, params.id);
      const membership = { personId: body.user_id, role: body.role };
      return presentMember(await transact((tx) => joinAccount(tx.in({ id, name }), membership)));
    },
  ),
  doors.platform(
    ['DELETE', members, 'Remove account users'],
    {
      body: 'requests/account-user.delete',
      reply: 'resources/empty',
      role: 'platform',
      inBatches: true,
      audit: { action: 'account_user.deleted' },
      description: 'Who has no account left loses every access token.',
    },
    async ({ sql, params, body, transact }) => {
      const { id, name } = await readAccount(sql, params.id);
      const seat = await findSeatOf(sql, id, body.user_id);
      if (!seat) throw notFound('Agent');
      return deleteAgent(within(transact, { id, name }), seat.id);
    },
  ),
];
