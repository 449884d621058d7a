import type { Conversation, Named } from '../../../records/conversations/conversation.ts';
import type { Transaction } from '../../../events/transaction.ts';
import { whyNoAnswer } from '../arbiter.ts';
import { notifyAssignee } from '../notifications.ts';

// The lock serializes concurrent assignments in an inbox, so that its members take turns.
const lockStatement = `SELECT FROM inboxes WHERE account_id = $1 AND id = $2 AND enable_auto_assignment FOR NO KEY UPDATE`;

// The extra microsecond orders two assignments within one tick of the clock, so that they do not choose the same agent.
const takeTurnStatement = `
  WITH next AS (
    SELECT m.user_id AS id, s.name FROM inbox_members m
    JOIN agents g ON g.account_id = m.account_id AND g.user_id = m.user_id AND g.availability = 'online'
    JOIN seats s ON s.account_id = m.account_id AND s.id = m.user_id AND s.person_id IS NOT NULL
    WHERE m.account_id = $1 AND m.inbox_id = $2 AND ($3::bigint IS NULL OR EXISTS (
      SELECT FROM team_members tm JOIN teams t ON t.account_id = tm.account_id AND t.id = tm.team_id
      WHERE tm.account_id = $1 AND tm.team_id = $3 AND tm.user_id = m.user_id AND t.allow_auto_assign))
    ORDER BY m.last_assigned_at NULLS FIRST, m.user_id LIMIT 1
    FOR NO KEY UPDATE OF m FOR KEY SHARE OF g
  )
  UPDATE inbox_members m SET last_assigned_at = greatest($4::timestamptz, (
    SELECT max(last_assigned_at) + interval '1 microsecond' FROM inbox_members WHERE account_id = $1 AND inbox_id = $2))
  FROM next WHERE m.account_id = $1 AND m.inbox_id = $2 AND m.user_id = next.id
  RETURNING next.id, next.name`;

/**
 * Assigns a locked conversation that has just become open, with neither an assignee nor a bot that answers, to the online
 * member of its inbox (and of its team, if the team allows it) whose last turn is longest ago. Says conversation_updated.
 * Does nothing when the inbox does not assign or no member is online; agents with an open invitation get nothing.
 */
export async function autoAssign(tx: Transaction, conversation: Conversation): Promise<void> {
  const { inbox, status, assignee: present } = conversation;
  if (!inbox.autoAssigns || status !== 'open' || present || whyNoAnswer(conversation) === null) return;
  const assignee = await takeTurn(tx, conversation);
  if (!assignee) return;
  Object.assign(conversation, { assignee, updatedAt: tx.now });
  tx.record('conversation_updated', {
    conversation,
    changed: { assignee_id: { previous: null, current: assignee.id } },
  });
  notifyAssignee(tx, conversation, 'conversation_assignment');
}

async function takeTurn(tx: Transaction, { inbox, team }: Conversation): Promise<Named | null> {
  const locked = await tx.sql(lockStatement, [tx.account.id, inbox.id]);
  if (locked.length === 0) return null;
  const [next] = await tx.sql<Named>(takeTurnStatement, [tx.account.id, inbox.id, team?.id ?? null, tx.now]);
  return next ?? null;
}
