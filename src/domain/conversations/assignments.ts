import type { Conversation, Named } from '../../records/conversation.ts';
import { invalid, notFound } from '../../errors.ts';
import type { ChangedAttributes } from '../../events/catalog.ts';
import type { Transaction } from '../../events/transaction.ts';
import { sql } from '../../postgres/sql.ts';
import { lockConversation } from './access.ts';
import { refuseSilentBot } from './arbiter.ts';
import { undergo } from './status.ts';

/** An assignment: null unassigns, undefined leaves the present one. */
export interface Assignment {
  assigneeId?: number | null | undefined;
  teamId?: number | null | undefined;
}

// FOR KEY SHARE: a team, agent or membership must not be deleted before the conversation refers to it.
const findTeamStatement = 'SELECT id, name FROM teams WHERE account_id = $1 AND id = $2 FOR KEY SHARE';
const findAgentStatement = `SELECT s.id, s.name, g.role FROM agents g JOIN seats s ON s.account_id = g.account_id AND s.id = g.user_id
  WHERE g.account_id = $1 AND g.user_id = $2 FOR KEY SHARE OF g`;
const holdMemberStatement = `SELECT FROM inbox_members WHERE account_id = $1 AND inbox_id = $2 AND user_id = $3
  FOR KEY SHARE`;

/**
 * Reads the agent and the team of an assignment. Errors: 404, 422 for an agent to whom conversations of the inbox may not
 * be assigned.
 */
export async function readAssignment(
  tx: Transaction,
  inboxId: number,
  { assigneeId, teamId }: Assignment,
): Promise<{ assignee: Named | null; team: Named | null }> {
  const team = teamId ? await findTeam(tx, teamId) : null;
  const assignee = assigneeId ? await findAssignee(tx, inboxId, assigneeId) : null;
  return { assignee, team };
}

async function findTeam(tx: Transaction, id: number): Promise<Named> {
  const [team] = await sql<Named>(tx.connection, findTeamStatement, [tx.account.id, id]);
  if (!team) throw notFound('Team');
  return team;
}

// Administrators may be assigned in every inbox.
async function findAssignee(tx: Transaction, inboxId: number, agentId: number): Promise<Named> {
  const [agent] = await sql<Named & { role: string }>(tx.connection, findAgentStatement, [tx.account.id, agentId]);
  if (!agent) throw notFound('Agent');
  const memberships = await sql(tx.connection, holdMemberStatement, [tx.account.id, inboxId, agentId]);
  if (memberships.length === 0 && agent.role !== 'administrator') {
    throw invalid('/assignee_id', 'assignable', 'The assignee must be a member of the inbox or an administrator');
  }
  return { id: agent.id, name: agent.name };
}

/** Gives a locked conversation to an agent, a team or both; null takes it from them, undefined leaves the present one. */
export function give(
  tx: Transaction,
  conversation: Conversation,
  next: { assignee?: Named | null; team?: Named | null },
): void {
  const changed: ChangedAttributes = {};
  for (const what of ['assignee', 'team'] as const) {
    const to = next[what];
    if (to === undefined) continue;
    const previous = conversation[what]?.id ?? null;
    const current = to?.id ?? null;
    if (previous !== current) changed[`${what}_id`] = { previous, current };
    conversation[what] = to;
  }
  if (Object.keys(changed).length === 0) return;
  if (changed.assignee_id) undergo(tx, conversation, { kind: conversation.assignee ? 'assigned' : 'unassigned' });
  conversation.updatedAt = tx.now;
  tx.record('conversation_updated', { conversation, changed });
}

/**
 * Assigns a conversation to an agent, a team or both; its bot is silent while an agent is assigned. Says
 * conversation_updated. Errors: 404, 403 (`bot_suppressed` for a silent bot), 422 for an agent outside its inbox.
 */
export async function assign(tx: Transaction, id: number, assignment: Assignment): Promise<Conversation> {
  const conversation = await lockConversation(tx, id);
  refuseSilentBot(tx.actor, conversation);
  const { assignee, team } = await readAssignment(tx, conversation.inbox.id, assignment);
  give(tx, conversation, {
    ...(assignment.assigneeId === undefined ? {} : { assignee }),
    ...(assignment.teamId === undefined ? {} : { team }),
  });
  return conversation;
}
