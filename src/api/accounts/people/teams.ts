import type { Sql } from '../../../postgres/sql.ts';
import { findAgents } from '../../../domain/people/agents.ts';
import {
  changeTeamMembers,
  createTeam,
  deleteTeam,
  findTeamMembers,
  listTeams,
  readTeam,
  updateTeam,
} from '../../../domain/people/teams.ts';
import type { Team } from '../../../records/team.ts';
import { doors } from '../../../http/route/admission/doors.ts';
import { withoutUndefined } from '../../../lib/without-undefined.ts';
import { unixSeconds } from '../../../lib/unix-time.ts';
import type { Shape } from '../../../schemas.ts';
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

async function presentMembers(sql: Sql, accountId: number, teamId: number) {
  const userIds = await findTeamMembers(sql, accountId, teamId);
  return (await findAgents(sql, accountId, userIds)).map(presentAgent);
}

export const teamRoutes = [
  doors.account(
    ['GET', base, 'List teams'],
    { reply: 'resources/team-list', role: 'agent' },
    async ({ sql, account }) => (await listTeams(sql, account.id)).map(presentTeam),
  ),
  doors.account(
    ['GET', `${base}/:id`, 'Get a team'],
    { reply: 'resources/team', record: true, role: 'agent' },
    async ({ sql, account, params }) => presentTeam(await readTeam(sql, account.id, params.id)),
  ),
  doors.account(
    ['POST', base, 'Create a team'],
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
  doors.account(
    ['PATCH', `${base}/:id`, 'Update a team'],
    { body: 'requests/team.update', reply: 'resources/team', role: 'administrator' },
    async ({ params, body, transact }) => {
      const { name, description, allow_auto_assign: allowAutoAssign } = body;
      const changes = withoutUndefined({ name, description, allowAutoAssign });
      return presentTeam(await transact((tx) => updateTeam(tx, params.id, changes)));
    },
  ),
  doors.account(
    ['DELETE', `${base}/:id`, 'Delete a team'],
    { reply: 'resources/empty', role: 'administrator', inBatches: true },
    ({ params, transact }) => deleteTeam(transact, params.id),
  ),
  doors.account(
    ['GET', members, 'List team members'],
    { reply: 'resources/agent-list', role: 'agent' },
    ({ sql, account, params }) => presentMembers(sql, account.id, params.id),
  ),
  doors.account(
    ['POST', members, 'Add team members'],
    {
      body: 'requests/team.members',
      reply: 'resources/agent-list',
      role: 'administrator',
      audit: { action: 'team_member.created', members: 'added' },
    },
    async ({ sql, account, params: { id }, body, transact }) => {
      await transact((tx) => changeTeamMembers(tx, id, { userIds: body.user_ids, change: 'add' }));
      return presentMembers(sql, account.id, id);
    },
  ),
  doors.account(
    ['PATCH', members, 'Replace the members of a team'],
    {
      body: 'requests/team.members',
      reply: 'resources/agent-list',
      role: 'administrator',
      audit: { action: 'team_member.updated', members: 'replaced' },
    },
    async ({ sql, account, params: { id }, body, transact }) => {
      await transact((tx) => changeTeamMembers(tx, id, { userIds: body.user_ids, change: 'replace' }));
      return presentMembers(sql, account.id, id);
    },
  ),
  doors.account(
    ['DELETE', members, 'Remove team members'],
    {
      body: 'requests/team.members',
      reply: 'resources/empty',
      role: 'administrator',
      audit: { action: 'team_member.deleted', members: 'removed' },
    },
    ({ params, body, transact }) =>
      transact((tx) => changeTeamMembers(tx, params.id, { userIds: body.user_ids, change: 'remove' })),
  ),
];
