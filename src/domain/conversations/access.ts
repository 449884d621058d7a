import { findConversation, readerWith } from '../../records/conversations/rows.ts';
import type { Conversation } from '../../records/conversations/conversation.ts';
import { forbidden, notFound, type ApiError } from '../../errors.ts';
import type { Actor, Transaction } from '../../events/transaction.ts';
import { prepared } from '../../postgres/prepared.ts';
import type { Sql } from '../../postgres/sql.ts';

/** Returns whether the actor may see every conversation of the account. */
export function seesEverything({ kind, role }: Actor): boolean {
  return kind === 'system' || role === 'administrator';
}

/**
 * Returns the SQL condition for the conversations that an actor may see, on `c` (conversations) with `$1` the account and `$2`
 * the actor: administrators and the service see all, agents those of their inboxes and teams, bots those they serve, automations
 * those of their inboxes, contacts their own.
 */
export function visibleConversations(actor: Actor): string {
  if (actor.kind === 'agent_bot') {
    return `(c.agent_bot_id = $2 OR c.agent_bot_id IS NULL AND c.inbox_id IN (
      SELECT id FROM inboxes WHERE account_id = $1 AND agent_bot_id = $2))`;
  }
  if (actor.kind === 'automation') {
    return `EXISTS (SELECT FROM agent_bots b WHERE b.account_id = $1 AND b.id = $2
      AND (b.inbox_ids IS NULL OR c.inbox_id = ANY (b.inbox_ids)))`;
  }
  if (actor.kind === 'contact') return 'c.contact_id = $2';
  if (seesEverything(actor)) return '($2::bigint IS NULL OR true)';
  return visibleToAgent;
}

const visibleTo = (agent: string) =>
  `(c.inbox_id IN (SELECT inbox_id FROM inbox_members WHERE account_id = $1 AND user_id = ${agent})
  OR c.team_id IN (SELECT team_id FROM team_members WHERE account_id = $1 AND user_id = ${agent}))`;
const visibleToAgent = visibleTo('$2');
const readAsAgent = readerWith(visibleToAgent);
const agentSees = prepared(`SELECT FROM conversations c WHERE c.account_id = $1 AND c.id = $3 AND ${visibleToAgent}`);

async function maySee(sql: Sql, actor: Actor, conversation: Conversation): Promise<boolean> {
  if (seesEverything(actor)) return true;
  if (actor.kind === 'agent_bot') return conversation.bot?.id === actor.id;
  if (actor.kind === 'automation') return isAmong(actor, conversation);
  if (actor.kind === 'contact') return conversation.contact.id === actor.id;
  const rows = await sql(
    `SELECT FROM (SELECT $3::bigint AS inbox_id, $4::bigint AS team_id) c WHERE ${visibleConversations(actor)}`,
    [conversation.account.id, actor.id, conversation.inbox.id, conversation.team?.id ?? null],
  );
  return rows.length > 0;
}

function isAmong({ inboxIds }: Actor, { inbox }: Conversation): boolean {
  return inboxIds?.includes(inbox.id) ?? true;
}

async function admit(sql: Sql, actor: Actor, conversation: Conversation | null): Promise<Conversation> {
  if (!conversation) return missing();
  if (!(await maySee(sql, actor, conversation))) throw unseen();
  return conversation;
}

// Visibility depends on inbox and team alone: it is computed once for each pair, not for each conversation.
const viewers = `
  WITH asked AS (SELECT id, inbox_id, team_id FROM conversations WHERE account_id = $1 AND id = ANY ($3)),
  places AS (SELECT DISTINCT inbox_id, team_id FROM asked),
  seen AS (
    SELECT c.inbox_id, c.team_id, json_agg(agent.id) AS agents FROM places c CROSS JOIN unnest($2::bigint[]) AS agent (id)
    WHERE ${visibleTo('agent.id')} GROUP BY c.inbox_id, c.team_id
  )
  SELECT asked.id, seen.agents FROM asked JOIN seen
    ON seen.inbox_id = asked.inbox_id AND seen.team_id IS NOT DISTINCT FROM asked.team_id`;

/** Returns which of the agents may see each of the conversations; leaves out conversations that none of them sees. */
export async function findViewers(
  sql: Sql,
  accountId: number,
  { agents, conversations }: { agents: readonly number[]; conversations: readonly number[] },
): Promise<Map<number, ReadonlySet<number>>> {
  if (agents.length === 0 || conversations.length === 0) return new Map();
  const rows = await sql<{ id: number; agents: number[] }>(viewers, [accountId, agents, conversations]);
  return new Map(rows.map((row) => [row.id, new Set(row.agents)]));
}

/** Returns whether the account has the conversation, regardless of who may see it. */
export async function conversationExists(sql: Sql, accountId: number, id: number): Promise<boolean> {
  return (await sql('SELECT FROM conversations WHERE account_id = $1 AND id = $2', [accountId, id])).length > 0;
}

/** Checks that the account has all of these conversations. Errors: 404. */
export async function checkConversations({ sql, account }: Transaction, ids: readonly number[]): Promise<void> {
  const found = await sql('SELECT id FROM conversations WHERE account_id = $1 AND id = ANY ($2)', [account.id, ids]);
  if (found.length < new Set(ids).size) return missing();
}

function missing(): never {
  throw notFound('Conversation');
}

function unseen(): ApiError {
  return forbidden('You may not see this conversation: it belongs to none of your inboxes and teams');
}

/** Reads a conversation. Errors: 404, 403 when the actor may not see it. */
export async function readConversation(sql: Sql, accountId: number, actor: Actor, id: number): Promise<Conversation> {
  if (actor.kind !== 'user' || seesEverything(actor)) {
    return admit(sql, actor, await findConversation(sql, accountId, id));
  }
  const read = await readAsAgent(sql, [accountId, actor.id, id]);
  if (!read) return missing();
  if (!read.meets) throw unseen();
  return read.conversation;
}

/** Like readConversation, with the conversation locked until the transaction ends. */
export async function lockConversation(tx: Transaction, id: number): Promise<Conversation> {
  if (seesEverything(tx.actor)) return (await tx.conversation(id)) ?? missing();
  if (tx.actor.kind !== 'user' || tx.holds(id)) return admit(tx.sql, tx.actor, await tx.conversation(id));
  // In the same round trip, but as a statement of its own: the locking one has a snapshot from before it waited.
  const parameters = [tx.account.id, tx.actor.id, id];
  const [conversation, seen] = await Promise.all([tx.conversation(id), tx.sql(agentSees, parameters)]);
  if (!conversation) return missing();
  if (seen.length === 0) throw unseen();
  return conversation;
}

/**
 * Returns whether conversations of the inbox may be assigned to the agent: to its members and to all administrators of the
 * account. False for null.
 */
export async function mayServeInbox(
  sql: Sql,
  accountId: number,
  userId: number | null,
  inboxId: number,
): Promise<boolean> {
  const rows = await sql(
    `SELECT FROM agents WHERE account_id = $1 AND user_id = $2 AND (role = 'administrator' OR EXISTS (
       SELECT FROM inbox_members WHERE account_id = $1 AND user_id = $2 AND inbox_id = $3))`,
    [accountId, userId, inboxId],
  );
  return rows.length > 0;
}
