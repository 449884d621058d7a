import type { Route } from '../http/route.ts';
import { agentBotRoutes } from './agent-bots.ts';
import { agentRoutes } from './agents.ts';
import { contactRoutes } from './contacts.ts';
import { conversationRoutes } from './conversations.ts';
import { healthRoutes } from './health.ts';
import { inboxRoutes } from './inboxes.ts';
import { invitationRoutes } from './invitations.ts';
import { labelRoutes } from './labels.ts';
import { messageRoutes } from './messages.ts';
import { openapiRoutes } from './openapi.ts';
import { platformAccountRoutes } from './platform-accounts.ts';
import { platformBotRoutes } from './platform-bots.ts';
import { platformUserRoutes } from './platform-users.ts';
import { profileRoutes } from './profile.ts';
import { servingBotRoutes } from './serving-bots.ts';
import { slaPolicyRoutes } from './sla-policies.ts';
import { teamRoutes } from './teams.ts';
import { webhookRoutes } from './webhooks.ts';
import { widgetRoutes } from './widget.ts';

/** The route table: every operation of the service. */
export const routes: readonly Route[] = [
  ...conversationRoutes,
  ...messageRoutes,
  ...contactRoutes,
  ...inboxRoutes,
  ...agentBotRoutes,
  ...servingBotRoutes,
  ...labelRoutes,
  ...teamRoutes,
  ...agentRoutes,
  ...invitationRoutes,
  ...slaPolicyRoutes,
  ...webhookRoutes,
  ...profileRoutes,
  ...platformAccountRoutes,
  ...platformUserRoutes,
  ...platformBotRoutes,
  ...widgetRoutes,
  ...healthRoutes,
  ...openapiRoutes(() => routes),
];
