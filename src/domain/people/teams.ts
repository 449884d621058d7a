import { Team } from '../../records/team.ts';
import type { Transaction, Transact } from '../../events/transaction.ts';
import type { Sql } from '../../postgres/sql.ts';
import { checkAgents } from './agents.ts';
import { detachAndRemove } from '../conversations/assignment/detach.ts';
import {
  checkRoom,
  createRow,
  deleteRows,
  findRows,
  lockOne,
  readOne,
  save,
  uniqueOr422,
  update,
} from '../small-rows.ts';

export interface NewTeam {
  name: string;
  description: string | null;
  allowAutoAssign: boolean;
}

// The list has no pages.
const maxTeamsPerAccount = 500;

/** The teams of the account, by name. */
export function listTeams(sql: Sql, accountId: number): Promise<Team[]> {
  return findRows(sql, Team, { accountId }, { orderBy: { name: 'asc' } });
}

/** A team of the account. Errors: 404. */
export function readTeam(sql: Sql, accountId: number, id: number): Promise<Team> {
  return readOne(sql, Team, { id, accountId });
}

function lockTeam(tx: Transaction, id: number): Promise<Team> {
  return lockOne(tx.sql, Team, { id, accountId: tx.account.id });
}

const refuseName = uniqueOr422('teams_name_unique', '/name', 'Another team of this account has this name');

/** Creates a team. Errors: 422 for a name in use, and when the account has too many teams. */
export async function createTeam(tx: Transaction, input: NewTeam): Promise<Team> {
  await checkRoom(tx, Team, { most: maxTeamsPerAccount, plural: 'teams' });
  return createRow(tx.sql, Team, { ...input, accountId: tx.account.id, createdAt: tx.now, updatedAt: tx.now }).catch(
    refuseName,
  );
}

/** Changes a team. Errors: 404, 422 for a name in use. */
export async function updateTeam(tx: Transaction, id: number, input: Partial<NewTeam>): Promise<Team> {
  const team = await lockTeam(tx, id);
  if (update(team, input, tx.now)) await save(tx.sql, team).catch(refuseName);
  return team;
}

/** Deletes a team and removes it from its conversations. Says conversation_updated for each. Errors: 404. */
export function deleteTeam(transact: Transact, id: number): Promise<void> {
  return detachAndRemove(transact, id, {
    referring: 'SELECT id FROM conversations WHERE account_id = $1 AND team_id = $2',
    detach: (_, conversations) =>
      conversations
        .filter(({ team }) => team?.id === id)
        .map((conversation) => {
          conversation.team = null;
          return { conversation, changed: { team_id: { previous: id, current: null } } };
        }),
    lock: (tx) => lockTeam(tx, id),
    remove: (tx) => deleteRows(tx.sql, Team, { id, accountId: tx.account.id }),
  });
}

/** Whether the agents are added to the members, removed from them, or replace them. */
export type MemberChange = 'add' | 'remove' | 'replace';

/** Changes the members of a team. Errors: 404 for the team, and for a user who is not an agent of the account. */
export async function changeTeamMembers(
  tx: Transaction,
  id: number,
  { userIds, change }: { userIds: readonly number[]; change: MemberChange },
): Promise<void> {
  await lockTeam(tx, id);
  await checkAgents(tx.sql, tx.account.id, userIds);
  const scope = [tx.account.id, id, userIds];
  if (change !== 'add') {
    const meant = change === 'remove' ? 'user_id = ANY ($3)' : 'NOT (user_id = ANY ($3))';
    await tx.sql(`DELETE FROM team_members WHERE account_id = $1 AND team_id = $2 AND ${meant}`, scope);
  }
  if (change === 'remove') return;
  await tx.sql(
    `INSERT INTO team_members (account_id, team_id, user_id) SELECT $1, $2, user_id FROM unnest($3::bigint[]) AS user_id
     ORDER BY user_id ON CONFLICT DO NOTHING`,
    scope,
  );
}

/** The ids of a team's members. Errors: 404. */
export async function findTeamMembers(sql: Sql, accountId: number, id: number): Promise<number[]> {
  await readTeam(sql, accountId, id);
  const rows = await sql<{ user_id: number }>(
    'SELECT user_id FROM team_members WHERE account_id = $1 AND team_id = $2',
    [accountId, id],
  );
  return rows.map((row) => row.user_id);
}
