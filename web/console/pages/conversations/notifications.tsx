import { Action } from '../../kit/action.tsx';
import { useReloadOn } from '../../kit/live.ts';
import { Show, useLoad } from '../../kit/load.tsx';
import { Page } from '../../kit/page.tsx';
import { pageOf, Pages } from '../../kit/pages.tsx';
import { Table } from '../../kit/table.tsx';
import { Time } from '../../kit/time.tsx';
import type { ViewProps } from '../../page-row.ts';
import { call } from '../../session.ts';
import { loadUnread } from '../../unread.ts';

const types = {
  conversation_assignment: 'Assigned to you',
  assigned_conversation_new_message: 'New message',
  conversation_mention: 'Mentioned you',
} as const;

/** The person's notifications; opening a conversation reads those about it. */
export function NotificationsPage({ query }: ViewProps) {
  const page = pageOf(query);
  const notifications = useLoad((signal) => call('GET notifications', { query: { page }, signal }), [page]);
  async function reload(): Promise<void> {
    await Promise.all([notifications.reload(), loadUnread().catch(() => undefined)]);
  }
  useReloadOn(({ conversation_id: id }) => id !== null, reload);
  async function readAll(): Promise<void> {
    await call('POST notifications/read_all', { body: {} });
    await reload();
  }
  const hasUnread = (notifications.value?.meta.unread_count ?? 0) > 0;
  return (
    <Page title="Notifications" actions={hasUnread && <Action act={readAll}>Mark all as read</Action>}>
      <Show of={notifications}>
        {({ payload, meta }) => (
          <>
            <Table
              caption="Notifications, newest first"
              rows={payload}
              keyOf={({ id }) => id}
              empty={
                <p>No notifications yet. Assignments, mentions, and messages in your conversations appear here.</p>
              }
              columns={[
                {
                  title: 'Conversation',
                  kind: 'line',
                  cell: ({ primary_actor: { id, contact_name: name } }) => (
                    <a href={`/console/conversations/${id}`} dir="auto">
                      {name ?? `Conversation ${id}`}
                    </a>
                  ),
                },
                {
                  title: 'Notification',
                  kind: 'fit',
                  cell: ({ notification_type: type, read_at: readAt }) => (
                    <>
                      {types[type]} {readAt === null && <span class="badge wait">Unread</span>}
                    </>
                  ),
                },
                { title: 'Inbox', kind: 'line', cell: ({ primary_actor: { inbox_name: name } }) => name },
                { title: 'Time', kind: 'fit', cell: ({ last_activity_at: at }) => <Time at={at} /> },
              ]}
            />
            <Pages meta={meta} />
          </>
        )}
      </Show>
    </Page>
  );
}
