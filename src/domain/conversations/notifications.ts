import { notFound } from '../../errors.ts';
import { system, transact, type Actor, type Transaction } from '../../events/transaction.ts';
import type { Database } from '../../postgres/database.ts';
import type { Sql } from '../../postgres/sql.ts';
import type { Conversation } from '../../records/conversations/conversation.ts';
import {
  countNotifications,
  findNotification,
  findNotifications,
  findNotificationsToMail,
  markNotificationsRead,
  notifyStatement,
  takeNotificationToMail,
  type Notification,
  type NotificationToMail,
  type NotificationType,
} from '../../records/notifications.ts';
import { sweep } from '../upkeep/sweep.ts';
import { checkConversations } from './access.ts';

/** Notifies the assignee of a conversation, unless it is the actor. */
export function notifyAssignee(
  tx: Transaction,
  conversation: Conversation,
  type: Exclude<NotificationType, 'conversation_mention'>,
): void {
  if (conversation.assignee) notify(tx, conversation, { type, agentIds: [conversation.assignee.id], teamIds: [] });
}

/** Notifies agents and members of teams that a note mentions, of those who may see the conversation. */
export function notifyMentioned(tx: Transaction, conversation: Conversation, content: string): void {
  const { agentIds, teamIds } = mentionsIn(content);
  if (agentIds.length + teamIds.length === 0) return;
  notify(tx, conversation, { type: 'conversation_mention', agentIds, teamIds });
}

interface Notice {
  type: NotificationType;
  agentIds: readonly number[];
  teamIds: readonly number[];
}

function notify(tx: Transaction, { id, inbox, team }: Conversation, { type, agentIds, teamIds }: Notice): void {
  const { kind, id: actorId, name } = tx.actor;
  const notThem = kind === 'user' ? actorId : null;
  if (teamIds.length === 0 && agentIds.every((agent) => agent === notThem)) return;
  const place = [id, inbox.id, team?.id ?? null];
  const parameters = [tx.account.id, agentIds, teamIds, ...place, type, notThem, name, tx.now];
  tx.atCommit({ text: notifyStatement, parameters });
}

// Linear at any length: no part can match what another one matches.
const mention = /\[@[^[\]\n]{1,200}\]\(mention:\/\/(user|team)\/(\d{1,15})\/[^()\s]{0,600}\)/g;
const maxMentions = 50;

function mentionsIn(content: string): Pick<Notice, 'agentIds' | 'teamIds'> {
  const found = Array.from(content.matchAll(mention).take(maxMentions), ([, kind, id]) => ({ kind, id: Number(id) }));
  const idsOf = (wanted: string) => found.flatMap(({ kind, id }) => (kind === wanted ? [id] : []));
  return { agentIds: idsOf('user'), teamIds: idsOf('team') };
}

/** Page of an agent's notifications. */
export interface NotificationPage {
  rows: Notification[];
  count: number;
  unread: number;
  page: number;
  perPage: number;
}

const perPage = 15;

/** Returns a page of the actor's notifications, those with the latest activity first. */
export async function listNotifications(
  sql: Sql,
  accountId: number,
  actor: Actor,
  page: number,
): Promise<NotificationPage> {
  const scope = { accountId, agentId: agentOf(actor) };
  const [rows, counts] = await Promise.all([
    findNotifications(sql, scope, { limit: perPage, offset: (page - 1) * perPage }),
    countNotifications(sql, scope),
  ]);
  return { rows, ...counts, page, perPage };
}

/** Returns how many notifications of the actor are unread. */
export async function countUnreadNotifications(sql: Sql, accountId: number, actor: Actor): Promise<number> {
  return (await countNotifications(sql, { accountId, agentId: agentOf(actor) })).unread;
}

/** Marks a notification of the actor as read. Errors: 404. */
export async function readNotification(tx: Transaction, id: number): Promise<Notification> {
  const scope = { accountId: tx.account.id, agentId: agentOf(tx.actor) };
  await markNotificationsRead(tx.sql, scope, { id, now: tx.now });
  const notification = await findNotification(tx.sql, scope, id);
  if (!notification) throw notFound('Notification');
  return notification;
}

/** Marks the actor's notifications as read: all, or those about a conversation. Errors: 404 for one that the account does not have. */
export async function readNotifications(tx: Transaction, conversationId: number | null): Promise<void> {
  if (conversationId !== null) await checkConversations(tx, [conversationId]);
  const scope = { accountId: tx.account.id, agentId: agentOf(tx.actor) };
  await markNotificationsRead(tx.sql, scope, { conversationId, now: tx.now });
}

const pageSize = 100;

/** Mails agents who are away about assignments and mentions that stay unread; returns how many mails were announced. */
export function mailNotifications(database: Database): Promise<number> {
  const now = database.clock.now();
  return sweep<NotificationToMail>(database, {
    name: 'mailing notifications',
    nameOf: ({ id, account }) => `notification ${id} of account ${account.id}`,
    page: (after) => findNotificationsToMail(database.sql, { now, after: after?.id ?? 0, limit: pageSize }),
    pageSize,
    atOnce: 1,
    work: async ([due]) => (due ? mailOne(database, due) : 0),
  });
}

// The update decides which of several processes sends it.
function mailOne(database: Database, { id, account }: NotificationToMail): Promise<number> {
  return transact(database, { account, actor: system }, async (tx) => {
    const taken = await takeNotificationToMail(tx.sql, { accountId: account.id, id, now: tx.now });
    if (!taken) return 0;
    const { email, notification } = taken;
    const { conversationId, type, actorName, contactName, inboxName } = notification;
    tx.announce('notification', { account, email, conversationId, type, actorName, contactName, inboxName });
    return 1;
  });
}

function agentOf({ kind, id }: Actor): number {
  if (kind !== 'user' || id === null) throw new Error('Notifications are of agents');
  return id;
}
