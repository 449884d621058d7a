import type { Section } from '../../page-row.ts';
import { ConversationPage } from './conversation.tsx';
import { ConversationsPage } from './list.tsx';
import { NotificationsPage } from './notifications.tsx';

export const conversations: Section = {
  title: 'Conversations',
  rows: [
    { path: '/console/conversations', nav: 'Conversations', view: ConversationsPage },
    { path: '/console/conversations/:id', view: ConversationPage },
    { path: '/console/notifications', nav: 'Notifications', view: NotificationsPage },
  ],
};
