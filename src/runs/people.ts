import { ApiError, notFound } from '../errors.ts';
import type { Transaction } from '../events/transaction.ts';
import { lockConversation } from '../domain/conversations/access.ts';
import { readAssignment } from '../domain/conversations/assignment/assignments.ts';
import type { Named } from '../records/conversations/conversation.ts';

/** The id of the team with a name, whatever its case. Errors: 404. */
export async function teamCalled(tx: Transaction, name: string): Promise<number> {
  const [team] = await tx.sql<{ id: number }>(
    'SELECT id FROM teams WHERE account_id = $1 AND lower(name) = lower($2) ORDER BY name = $2 DESC, id LIMIT 1',
    [tx.account.id, name],
  );
  if (!team) throw notFound('Team');
  return team.id;
}

/** The team and the agent that a bot names, as far as the conversation can be assigned to them, and which are missing. */
export async function findPeople(
  tx: Transaction,
  conversationId: number,
  { team, assignee }: { team: string | number | undefined; assignee: number | undefined },
): Promise<{ to: { team?: Named | null; assignee?: Named | null }; missing: string[] }> {
  const { inbox } = await lockConversation(tx, conversationId);
  const missing: string[] = [];
  const to: { team?: Named | null; assignee?: Named | null } = {};
  const find = async (what: string, read: () => Promise<void>) => {
    try {
      await read();
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      missing.push(what);
    }
  };
  if (team !== undefined) {
    await find(`the team ${team}`, async () => {
      const teamId = typeof team === 'string' ? await teamCalled(tx, team) : team;
      to.team = (await readAssignment(tx, inbox.id, { teamId })).team;
    });
  }
  if (assignee !== undefined) {
    await find(`the agent ${assignee}`, async () => {
      to.assignee = (await readAssignment(tx, inbox.id, { assigneeId: assignee })).assignee;
    });
  }
  return { to, missing };
}
