import { moment, momentOrNull, type Sql } from '../postgres/sql.ts';
import { prepared } from '../postgres/prepared.ts';

export type NotificationType = 'conversation_assignment' | 'assigned_conversation_new_message' | 'conversation_mention';

/** Notification of an agent about a conversation. */
export interface Notification {
  id: number;
  type: NotificationType;
  conversationId: number;
  /** Name of the conversation's contact; null where it has none. */
  contactName: string | null;
  inboxName: string;
  /** Name of the person, bot or customer who caused it. */
  actorName: string;
  readAt: Date | null;
  createdAt: Date;
  lastActivityAt: Date;
}

interface Row {
  id: number;
  type: NotificationType;
  conversation_id: number;
  contact_name: string | null;
  inbox_name: string;
  actor_name: string;
  read_at: string | null;
  created_at: string;
  last_activity_at: string;
}

/**
 * Statement that notifies agents ($2) and members of teams ($3), but the agent $8, who may see the conversation ($4) of the inbox
 * $5 and the team $6. An unread notification of the type is brought up to date, a read one is unread again.
 */
export const notifyStatement = prepared(`
  INSERT INTO notifications AS n (account_id, agent_id, conversation_id, type, actor_name, created_at, last_activity_at)
  SELECT $1, g.user_id, $4, $7, $9, $10, $10 FROM agents g
  WHERE g.account_id = $1 AND g.user_id IS DISTINCT FROM $8
    AND (g.user_id = ANY ($2::bigint[])
      OR g.user_id IN (SELECT user_id FROM team_members WHERE account_id = $1 AND team_id = ANY ($3::bigint[])))
    AND (g.role = 'administrator'
      OR EXISTS (SELECT FROM inbox_members m WHERE m.account_id = $1 AND m.user_id = g.user_id AND m.inbox_id = $5)
      OR EXISTS (SELECT FROM team_members m WHERE m.account_id = $1 AND m.user_id = g.user_id AND m.team_id = $6))
  ORDER BY g.user_id
  ON CONFLICT (account_id, agent_id, conversation_id, type) DO UPDATE SET actor_name = excluded.actor_name,
    created_at = CASE WHEN n.read_at IS NULL THEN n.created_at ELSE excluded.created_at END, read_at = NULL,
    last_activity_at = excluded.last_activity_at`);

const shown = `n.id, n.type, n.conversation_id, p.name AS contact_name, i.name AS inbox_name, n.actor_name, n.read_at, n.created_at,
  n.last_activity_at FROM notifications n
  JOIN conversations c ON c.account_id = n.account_id AND c.id = n.conversation_id
  JOIN contacts p ON p.account_id = c.account_id AND p.id = c.contact_id
  JOIN inboxes i ON i.account_id = c.account_id AND i.id = c.inbox_id`;

/** Place of an agent's notifications. */
interface OfAgent {
  accountId: number;
  agentId: number;
}

/** Returns notifications of an agent, those with the latest activity first. */
export async function findNotifications(
  sql: Sql,
  { accountId, agentId }: OfAgent,
  { limit, offset }: { limit: number; offset: number },
): Promise<Notification[]> {
  const rows = await sql<Row>(
    `SELECT ${shown} WHERE n.account_id = $1 AND n.agent_id = $2 ORDER BY n.last_activity_at DESC, n.id DESC LIMIT $3 OFFSET $4`,
    [accountId, agentId, limit, offset],
  );
  return rows.map(toNotification);
}

/** Returns a notification of the agent; null when there is none. */
export async function findNotification(
  sql: Sql,
  { accountId, agentId }: OfAgent,
  id: number,
): Promise<Notification | null> {
  const text = `SELECT ${shown} WHERE n.account_id = $1 AND n.agent_id = $2 AND n.id = $3`;
  const [row] = await sql<Row>(text, [accountId, agentId, id]);
  return row ? toNotification(row) : null;
}

/** Counts notifications of an agent: all of them, and the unread ones. */
export async function countNotifications(
  sql: Sql,
  { accountId, agentId }: OfAgent,
): Promise<{ count: number; unread: number }> {
  const [row] = await sql<{ count: number; unread: number }>(
    `SELECT count(*)::int AS count, count(*) FILTER (WHERE read_at IS NULL)::int AS unread FROM notifications
     WHERE account_id = $1 AND agent_id = $2`,
    [accountId, agentId],
  );
  return row ?? { count: 0, unread: 0 };
}

/** Marks unread notifications of an agent as read: one, those of a conversation, or all. */
export async function markNotificationsRead(
  sql: Sql,
  { accountId, agentId }: OfAgent,
  { id = null, conversationId = null, now }: { id?: number | null; conversationId?: number | null; now: Date },
): Promise<void> {
  await sql(
    `UPDATE notifications SET read_at = $5 WHERE account_id = $1 AND agent_id = $2 AND read_at IS NULL
       AND ($3::bigint IS NULL OR id = $3) AND ($4::bigint IS NULL OR conversation_id = $4)`,
    [accountId, agentId, id, conversationId, now],
  );
}

/** Notification that its agent is to be told of by mail. */
export interface NotificationToMail {
  id: number;
  account: { id: number; name: string };
}

const mailAfter = `interval '2 minutes'`;
const mailPause = `interval '15 minutes'`;
// Agents who are online see it in the console. A mail about a conversation is sent to an agent every 15 minutes at most.
const toMail = `n.read_at IS NULL AND (n.mailed_at IS NULL OR n.mailed_at < n.created_at)
  AND n.type <> 'assigned_conversation_new_message' AND n.created_at < $1::timestamptz - ${mailAfter}
  AND EXISTS (SELECT FROM agents g WHERE g.account_id = n.account_id AND g.user_id = n.agent_id AND g.availability <> 'online')
  AND NOT EXISTS (SELECT FROM notifications o WHERE o.account_id = n.account_id AND o.agent_id = n.agent_id
    AND o.conversation_id = n.conversation_id AND o.mailed_at > $1::timestamptz - ${mailPause})`;

/** Returns notifications that are to be mailed, after an id, in the order of their ids. */
export async function findNotificationsToMail(
  sql: Sql,
  { now, after, limit }: { now: Date; after: number; limit: number },
): Promise<NotificationToMail[]> {
  const rows = await sql<{ id: number; account_id: number; name: string }>(
    `SELECT n.id, n.account_id, a.name FROM notifications n JOIN accounts a ON a.id = n.account_id
     WHERE ${toMail} AND n.id > $2 ORDER BY n.id LIMIT $3`,
    [now, after, limit],
  );
  return rows.map(({ id, account_id: accountId, name }) => ({ id, account: { id: accountId, name } }));
}

/** Marks a notification as mailed; returns its agent's address and what it is about, or null when it is not to be mailed any more. */
export async function takeNotificationToMail(
  sql: Sql,
  { accountId, id, now }: { accountId: number; id: number; now: Date },
): Promise<{ email: string; notification: Notification } | null> {
  const [row] = await sql<{ agent_id: number; email: string }>(
    `UPDATE notifications n SET mailed_at = $1 FROM seats s
     WHERE n.account_id = $2 AND n.id = $3 AND ${toMail} AND s.account_id = n.account_id AND s.id = n.agent_id
       AND s.left_at IS NULL AND s.person_id IS NOT NULL
     RETURNING n.agent_id, s.email`,
    [now, accountId, id],
  );
  const notification = row && (await findNotification(sql, { accountId, agentId: row.agent_id }, id));
  return notification ? { email: row.email, notification } : null;
}

/** Returns notifications without activity for `days`, in the order of their ids. */
export function findOldNotifications(
  sql: Sql,
  days: number,
  { after, limit }: { after: number; limit: number },
): Promise<{ id: number }[]> {
  return sql<{ id: number }>(
    `SELECT id FROM notifications WHERE last_activity_at < now() - make_interval(days => $1) AND id > $2 ORDER BY id + 0 LIMIT $3`,
    [days, after, limit],
  );
}

/** Deletes notifications; returns how many. */
export async function deleteNotifications(sql: Sql, ids: readonly number[]): Promise<number> {
  return (await sql('DELETE FROM notifications WHERE id = ANY ($1) RETURNING id', [ids])).length;
}

function toNotification(row: Row): Notification {
  return {
    id: row.id,
    type: row.type,
    conversationId: row.conversation_id,
    contactName: row.contact_name,
    inboxName: row.inbox_name,
    actorName: row.actor_name,
    readAt: momentOrNull(row.read_at),
    createdAt: moment(row.created_at),
    lastActivityAt: moment(row.last_activity_at),
  };
}
