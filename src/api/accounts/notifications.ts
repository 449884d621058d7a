import {
  countUnreadNotifications,
  listNotifications,
  readNotification,
  readNotifications,
} from '../../domain/conversations/notifications.ts';
import { doors } from '../../http/route/admission/doors.ts';
import { unixSeconds } from '../../lib/unix-time.ts';
import type { Notification } from '../../records/notifications.ts';
import type { Shape } from '../../schemas.ts';
import { pageMeta } from '../page.ts';

const base = '/api/v1/accounts/:account_id/notifications';

/** Notifications of the agent who calls. */
export const notificationRoutes = [
  doors.account(
    ['GET', base, 'List your notifications'],
    { query: 'requests/page.query', reply: 'resources/notification-page', paged: true, role: 'agent' },
    async ({ sql, account, actor, query: { page = 1 } }) => {
      const found = await listNotifications(sql, account.id, actor, page);
      return { payload: found.rows.map(present), meta: { ...pageMeta(found), unread_count: found.unread } };
    },
  ),
  doors.account(
    ['GET', `${base}/unread_count`, 'Count your unread notifications'],
    { reply: 'resources/unread-count', record: true, role: 'agent' },
    async ({ sql, account, actor }) => ({ unread_count: await countUnreadNotifications(sql, account.id, actor) }),
  ),
  doors.account(
    ['POST', `${base}/read_all`, 'Mark your notifications as read'],
    { body: 'requests/notification.read-all', reply: 'resources/empty', role: 'agent' },
    ({ body, transact }) => transact((tx) => readNotifications(tx, body.primary_actor_id ?? null)),
  ),
  doors.account(
    ['PATCH', `${base}/:id`, 'Mark a notification as read'],
    { reply: 'resources/notification', role: 'agent' },
    async ({ params, transact }) => present(await transact((tx) => readNotification(tx, params.id))),
  ),
];

const titles: Record<Notification['type'], (notification: Notification) => string> = {
  conversation_assignment: ({ conversationId }) => `You have been assigned conversation #${conversationId}`,
  assigned_conversation_new_message: ({ conversationId }) => `New message in conversation #${conversationId}`,
  conversation_mention: ({ actorName, conversationId }) =>
    `${actorName} mentioned you in conversation #${conversationId}`,
};

function present(notification: Notification): Shape<'resources/notification'> {
  const { id, type, conversationId, contactName, inboxName, readAt, createdAt, lastActivityAt } = notification;
  return {
    id,
    notification_type: type,
    push_message_title: titles[type](notification),
    primary_actor_type: 'Conversation',
    primary_actor_id: conversationId,
    primary_actor: { id: conversationId, contact_name: contactName, inbox_name: inboxName },
    read_at: readAt && unixSeconds(readAt),
    created_at: unixSeconds(createdAt),
    last_activity_at: unixSeconds(lastActivityAt),
  };
}
