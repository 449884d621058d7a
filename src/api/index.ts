import type { Route } from '../http/route.ts';
import { contactRoutes } from './contacts.ts';
import { conversationRoutes } from './conversations.ts';
import { healthRoutes } from './health.ts';
import { inboxRoutes } from './inboxes.ts';
import { messageRoutes } from './messages.ts';
import { profileRoutes } from './profile.ts';
import { webhookRoutes } from './webhooks.ts';

/** The route table: every operation of the service. */
export const routes: readonly Route[] = [
  ...conversationRoutes,
  ...messageRoutes,
  ...contactRoutes,
  ...inboxRoutes,
  ...webhookRoutes,
  ...profileRoutes,
  ...healthRoutes,
];
