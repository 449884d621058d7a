import type { Route } from '../http/route/route.ts';
import { accountRoutes } from './accounts/account.ts';
import { agentBotRoutes } from './accounts/agent-bots.ts';
import { agentRoutes } from './accounts/agents.ts';
import { articleRoutes } from './accounts/articles.ts';
import { attributeDefinitionRoutes } from './accounts/attribute-definitions.ts';
import { clientRoutes } from './public/clients.ts';
import { mergeRoutes } from './accounts/merges.ts';
import { contactRoutes } from './accounts/contacts.ts';
import { conversationRoutes } from './accounts/conversations.ts';
import { endpointRoutes } from './accounts/endpoint-verbs.ts';
import { eventRoutes } from './accounts/events.ts';
import { deliveryRoutes } from './accounts/deliveries.ts';
import { healthRoutes } from './service/health.ts';
import { inboxRoutes } from './accounts/inboxes.ts';
import { invitationRoutes } from './accounts/invitations.ts';
import { labelRoutes } from './accounts/labels.ts';
import { messageRoutes } from './accounts/messages.ts';
import { openapiRoutes } from './service/openapi.ts';
import { participationRoutes } from './accounts/participation.ts';
import { platformAccountRoutes } from './platform/accounts.ts';
import { platformBotRoutes } from './platform/bots.ts';
import { platformLedgerRoutes } from './platform/ledger.ts';
import { platformPluginRoutes } from './platform/plugins.ts';
import { platformUserRoutes } from './platform/users.ts';
import { pluginRoutes } from './accounts/plugins.ts';
import { profileRoutes } from './accounts/profile.ts';
import { recoveryRoutes } from './accounts/recoveries.ts';
import { reportRoutes } from './accounts/reports.ts';
import { runRoutes } from './accounts/runs.ts';
import { servingBotRoutes } from './accounts/serving-bots.ts';
import { searchRoutes } from './accounts/search.ts';
import { signInRoutes } from './service/sign-in.ts';
import { slaPolicyRoutes } from './accounts/sla-policies.ts';
import { teamRoutes } from './accounts/teams.ts';
import { usageRoutes } from './accounts/usage.ts';
import { webhookRoutes } from './accounts/webhooks.ts';
import { widgetRoutes } from './public/widget.ts';

/** The route table: every operation of the service. */
export const routes: readonly Route[] = [
  ...conversationRoutes,
  ...messageRoutes,
  ...contactRoutes,
  ...participationRoutes,
  ...searchRoutes,
  ...mergeRoutes,
  ...inboxRoutes,
  ...agentBotRoutes,
  ...usageRoutes,
  ...servingBotRoutes,
  ...runRoutes,
  ...pluginRoutes,
  ...labelRoutes,
  ...teamRoutes,
  ...agentRoutes,
  ...invitationRoutes,
  ...articleRoutes,
  ...slaPolicyRoutes,
  ...attributeDefinitionRoutes,
  ...webhookRoutes,
  ...eventRoutes,
  ...accountRoutes,
  ...deliveryRoutes,
  ...endpointRoutes,
  ...recoveryRoutes,
  ...reportRoutes,
  ...profileRoutes,
  ...signInRoutes,
  ...platformAccountRoutes,
  ...platformUserRoutes,
  ...platformBotRoutes,
  ...platformPluginRoutes,
  ...platformLedgerRoutes,
  ...widgetRoutes,
  ...clientRoutes,
  ...healthRoutes,
  ...openapiRoutes(() => routes),
];
