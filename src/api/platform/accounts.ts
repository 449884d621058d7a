import { createAccount } from '../../domain/people/users.ts';
import { deleteAgent } from '../../domain/people/agent-removal.ts';
import { findAgents, type AgentProfile } from '../../domain/people/agents.ts';
import {
  accountsPerPage,
  deleteAccount,
  listAccounts,
  readAccount,
  renameAccount,
} from '../../domain/platform/accounts.ts';
import { joinAccount } from '../../domain/platform/users.ts';
import { findSeatOf } from '../../domain/people/seats.ts';
import type { Account } from '../../records/account.ts';
import { notFound } from '../../errors.ts';
import { route } from '../../http/route/route.ts';
import { pageMeta } from '../page.ts';
import { unixSeconds } from '../../lib/unix-time.ts';
import type { Shape } from '../../schemas.ts';

const base = '/platform/api/v1/accounts';
const members = `${base}/:id/account_users`;

function presentAccount({ id, name, createdAt, updatedAt }: Account): Shape<'resources/platform-account'> {
  return { id, name, created_at: unixSeconds(createdAt), updated_at: unixSeconds(updatedAt) };
}

function presentMember(agent: AgentProfile): Shape<'resources/account-user'> {
  const { id, accountId, personId, name, email, role, createdAt } = agent;
  const ids = { account_id: accountId, user_id: personId, agent_id: id };
  return { ...ids, name, email, role, created_at: unixSeconds(createdAt) };
}

export const platformAccountRoutes = [
  route(
    ['GET', base],
    { query: 'requests/page.query', reply: 'resources/platform-account-list', role: 'platform' },
    async ({ em, query: { page = 1 } }) => {
      const [accounts, count] = await listAccounts(em, page);
      return { payload: accounts.map(presentAccount), meta: pageMeta(count, page, accountsPerPage) };
    },
  ),
  route(['GET', `${base}/:id`], { reply: 'resources/platform-account', role: 'platform' }, async ({ em, ids }) =>
    presentAccount(await readAccount(em, ids.id ?? 0)),
  ),
  route(
    ['POST', base],
    {
      body: 'requests/platform-account.create',
      reply: 'resources/platform-account',
      role: 'platform',
      status: 201,
    },
    async ({ em, now, body }) => presentAccount(await createAccount(em, body.name, now)),
  ),
  route(
    ['PATCH', `${base}/:id`],
    { body: 'requests/platform-account.update', reply: 'resources/platform-account', role: 'platform' },
    async ({ em, now, ids: { id = 0 }, body: { name } }) =>
      presentAccount(name === undefined ? await readAccount(em, id) : await renameAccount(em, id, name, now)),
  ),
  route(
    ['DELETE', `${base}/:id`],
    {
      reply: 'resources/empty',
      role: 'platform',
      description:
        'Everything of the account goes with it. Its users stay, without access if they have no other account.',
    },
    async ({ em, ids, transactIn }) => {
      const { id, name } = await readAccount(em, ids.id ?? 0);
      await deleteAccount(transactIn, { id, name });
      return {};
    },
  ),
  route(['GET', members], { reply: 'resources/account-user-list', role: 'platform' }, async ({ em, ids }) => {
    const account = await readAccount(em, ids.id ?? 0);
    const agents = await findAgents(em, account.id);
    return { payload: agents.map(presentMember), meta: pageMeta(agents.length, 1, Math.max(1, agents.length)) };
  }),
  route(
    ['POST', members],
    { body: 'requests/account-user.create', reply: 'resources/account-user', role: 'platform', status: 201 },
    async ({ em, ids, body, transactIn }) => {
      const { id, name } = await readAccount(em, ids.id ?? 0);
      const membership = { personId: body.user_id, role: body.role };
      return presentMember(await transactIn({ id, name }, (tx) => joinAccount(tx, membership)));
    },
  ),
  route(
    ['DELETE', members],
    {
      body: 'requests/account-user.delete',
      reply: 'resources/empty',
      role: 'platform',
      description: 'Who has no account left loses every access token.',
    },
    async ({ em, ids, body, transactIn }) => {
      const { id, name } = await readAccount(em, ids.id ?? 0);
      const seat = await findSeatOf(em, id, body.user_id);
      if (!seat) throw notFound('Agent');
      await deleteAgent((work) => transactIn({ id, name }, work), seat.id);
      return {};
    },
  ),
];
