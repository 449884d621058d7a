import type { Conversation, Named } from '../../../records/conversations/conversation.ts';
import { forbidden, invalid, notFound } from '../../../errors.ts';
import type { ChangedAttributes } from '../../../events/catalog.ts';
import type { Transaction } from '../../../events/transaction.ts';
import { lockConversation } from '../access.ts';
import { refuseSilentBot } from '../arbiter.ts';
import { countBotChange } from '../bots/loops.ts';
import { giveToBot } from '../bots/serving-bot.ts';
import { notifyAssignee } from '../notifications.ts';
import { undergo } from '../status.ts';

/** An assignment: null unassigns, undefined leaves the present one. */
export interface Assignment {
  assigneeId?: number | null | undefined;
  teamId?: number | null | undefined;
  /** A bot that gets it in place of an agent; null returns it to its inbox's bot. */
  botId?: number | null | undefined;
  /** Whether it is an action of a run: its bot was not silent when its actions began, and may have handed off among them. */
  inRun?: boolean;
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
  { assigneeId, teamId }: Pick<Assignment, 'assigneeId' | 'teamId'>,
): Promise<{ assignee: Named | null; team: Named | null }> {
  const team = teamId ? await findTeam(tx, teamId) : null;
  const assignee = assigneeId ? await findAssignee(tx, inboxId, assigneeId) : null;
  return { assignee, team };
}

async function findTeam(tx: Transaction, id: number): Promise<Named> {
  const [team] = await tx.sql<Named>(findTeamStatement, [tx.account.id, id]);
  if (!team) throw notFound('Team');
  return team;
}

// Administrators may be assigned in every inbox.
async function findAssignee(tx: Transaction, inboxId: number, agentId: number): Promise<Named> {
  const [agent] = await tx.sql<Named & { role: string }>(findAgentStatement, [tx.account.id, agentId]);
  if (!agent) throw notFound('Agent');
  const memberships = await tx.sql(holdMemberStatement, [tx.account.id, inboxId, agentId]);
  if (memberships.length === 0 && agent.role !== 'administrator') {
    throw invalid('/assignee_id', 'assignable', 'The assignee must be a member of the inbox or an administrator');
  }
  return { id: agent.id, name: agent.name };
}

/** New assignee and team of a conversation; null removes the present one, undefined leaves it. */
interface Holders {
  assignee?: Named | null;
  team?: Named | null;
}

/** Assigns a locked conversation to an agent, a team or both. Says conversation_updated. */
export function give(tx: Transaction, conversation: Conversation, next: Holders): void {
  sayGiven(tx, conversation, handOver(tx, conversation, next));
}

function handOver(tx: Transaction, conversation: Conversation, next: Holders): ChangedAttributes {
  const changed: ChangedAttributes = {};
  for (const what of ['assignee', 'team'] as const) {
    const to = next[what];
    if (to === undefined) continue;
    const previous = conversation[what]?.id ?? null;
    const current = to?.id ?? null;
    if (previous !== current) changed[`${what}_id`] = { previous, current };
    conversation[what] = to;
  }
  if (changed.assignee_id) undergo(tx, conversation, { kind: conversation.assignee ? 'assigned' : 'unassigned' });
  return changed;
}

function sayGiven(tx: Transaction, conversation: Conversation, changed: ChangedAttributes): void {
  if (Object.keys(changed).length === 0) return;
  countBotChange(tx, conversation);
  conversation.updatedAt = tx.now;
  tx.record('conversation_updated', { conversation, changed });
  if (changed['assignee_id']) notifyAssignee(tx, conversation, 'conversation_assignment');
}

/**
 * Assigns a conversation to an agent, a team or both; its bot is silent while an agent is assigned. A bot gets it in place of the
 * agent, and may speak there. Says conversation_updated, once. Errors: 404, 403 (`bot_suppressed` for a silent bot, and for a bot
 * that names one), 422 for an agent outside its inbox, and for an agent beside a bot.
 */
export async function assign(tx: Transaction, id: number, assignment: Assignment): Promise<Conversation> {
  const { assigneeId, teamId, botId, inRun = false } = assignment;
  const conversation = await lockConversation(tx, id);
  if (!inRun) refuseSilentBot(tx.actor, conversation);
  const { assignee, team } = await readAssignment(tx, conversation.inbox.id, assignment);
  const changed = handOver(tx, conversation, {
    ...(assigneeId === undefined && !botId ? {} : { assignee }),
    ...(teamId === undefined ? {} : { team }),
  });
  const chosen = botId === undefined ? {} : await giveToBot(tx, conversation, botId);
  if (tx.actor.kind === 'agent_bot' && (botId || chosen.agent_bot_id)) throw forbidden('Bots may not do this');
  if (assigneeId && botId)
    throw invalid('/agent_bot_id', 'beside', 'A person or a bot gets the conversation, not both');
  sayGiven(tx, conversation, { ...changed, ...chosen });
  return conversation;
}
