import type { EntityManager } from '@mikro-orm/postgresql';
import { findAgents } from '../../domain/people/agents.ts';
import {
  changeTeamMembers,
  createTeam,
  deleteTeam,
  findTeamMembers,
  listTeams,
  readTeam,
  updateTeam,
} from '../../domain/people/teams.ts';
import type { Team } from '../../records/team.ts';
import { route } from '../../http/route/route.ts';
import { given } from '../given.ts';
import { unixSeconds } from '../../lib/unix-time.ts';
import type { Shape } from '../../schemas.ts';
import { presentAgent } from './agents.ts';

const base = '/api/v1/accounts/:account_id/teams';
const members = `${base}/:id/team_members`;

function presentTeam(team: Team): Shape<'resources/team'> {
  return {
    id: team.id,
    account_id: team.accountId,
    name: team.name,
    description: team.description ?? null,
    allow_auto_assign: team.allowAutoAssign,
    created_at: unixSeconds(team.createdAt),
    updated_at: unixSeconds(team.updatedAt),
  };
}

async function presentMembers(em: EntityManager, accountId: number, teamId: number) {
  const userIds = await findTeamMembers(em, accountId, teamId);
  return (await findAgents(em, accountId, userIds)).map(presentAgent);
}

export const teamRoutes = [
  route(['GET', base], { reply: 'resources/team-list', role: 'agent' }, async ({ em, account }) =>
    (await listTeams(em, account.id)).map(presentTeam),
  ),
  route(['GET', `${base}/:id`], { reply: 'resources/team', role: 'agent' }, async ({ em, account, ids }) =>
    presentTeam(await readTeam(em, account.id, ids.id ?? 0)),
  ),
  route(
    ['POST', base],
    { body: 'requests/team.create', reply: 'resources/team', role: 'administrator', status: 201 },
    async ({ body, transact }) => {
      const team = await transact((tx) =>
        createTeam(tx, {
          name: body.name,
          description: body.description ?? null,
          allowAutoAssign: body.allow_auto_assign ?? true,
        }),
      );
      return presentTeam(team);
    },
  ),
  route(
    ['PATCH', `${base}/:id`],
    { body: 'requests/team.update', reply: 'resources/team', role: 'administrator' },
    async ({ ids, body, transact }) => {
      const { name, description, allow_auto_assign: allowAutoAssign } = body;
      const changes = given({ name, description, allowAutoAssign });
      return presentTeam(await transact((tx) => updateTeam(tx, ids.id ?? 0, changes)));
    },
  ),
  route(
    ['DELETE', `${base}/:id`],
    { reply: 'resources/empty', role: 'administrator', inBatches: true },
    async ({ ids, transact }) => {
      await deleteTeam(transact, ids.id ?? 0);
      return {};
    },
  ),
  route(['GET', members], { reply: 'resources/agent-list', role: 'agent' }, ({ em, account, ids }) =>
    presentMembers(em, account.id, ids.id ?? 0),
  ),
  route(
    ['POST', members],
    { body: 'requests/team.members', reply: 'resources/agent-list', role: 'administrator' },
    async ({ em, account, ids: { id = 0 }, body, transact }) => {
      await transact((tx) => changeTeamMembers(tx, id, { userIds: body.user_ids, change: 'add' }));
      return presentMembers(em, account.id, id);
    },
  ),
  route(
    ['PATCH', members],
    {
      body: 'requests/team.members',
      reply: 'resources/agent-list',
      role: 'administrator',
      summary: 'Replace the members of a team',
    },
    async ({ em, account, ids: { id = 0 }, body, transact }) => {
      await transact((tx) => changeTeamMembers(tx, id, { userIds: body.user_ids, change: 'replace' }));
      return presentMembers(em, account.id, id);
    },
  ),
  route(
    ['DELETE', members],
    { body: 'requests/team.members', reply: 'resources/empty', role: 'administrator' },
    async ({ ids, body, transact }) => {
      await transact((tx) => changeTeamMembers(tx, ids.id ?? 0, { userIds: body.user_ids, change: 'remove' }));
      return {};
    },
  ),
];
