import type { Route } from '../http/route/route.ts';
import { accountRoutes } from './accounts/account.ts';
import { agentBotRoutes } from './accounts/bots/agent-bots.ts';
import { agentRoutes } from './accounts/people/agents.ts';
import { articleRoutes } from './accounts/articles.ts';
import { attributeDefinitionRoutes } from './accounts/attribute-definitions.ts';
import { cannedResponseRoutes } from './accounts/canned-responses.ts';
import { customFilterRoutes } from './accounts/custom-filters.ts';
import { hookRoutes } from './accounts/hooks.ts';
import { macroRoutes } from './accounts/macros.ts';
import { notificationRoutes } from './accounts/notifications.ts';
import { clientRoutes } from './public/clients.ts';
import { mergeRoutes } from './accounts/contacts/merges.ts';
import { contactRoutes } from './accounts/contacts/contacts.ts';
import { conversationBulkActionRoutes } from './accounts/conversations/bulk-actions.ts';
import { conversationRoutes } from './accounts/conversations/conversations.ts';
import { endpointRoutes } from './accounts/deliveries/endpoint-verbs.ts';
import { eventRoutes } from './accounts/deliveries/events.ts';
import { auditLogRoutes } from './accounts/audit-log.ts';
import { automationRoutes } from './accounts/bots/automations.ts';
import { bulkActionRoutes } from './accounts/deliveries/bulk-actions.ts';
import { deliveryRoutes } from './accounts/deliveries/deliveries.ts';
import { healthRoutes } from './service/health.ts';
import { inboxRoutes } from './accounts/inboxes.ts';
import { invitationRoutes } from './accounts/people/invitations.ts';
import { labelRoutes } from './accounts/labels.ts';
import { messageRoutes } from './accounts/conversations/messages.ts';
import { openapiRoutes } from './service/openapi.ts';
import { participationRoutes } from './accounts/conversations/participation.ts';
import { platformAuditLogRoutes } from './platform/audit-log.ts';
import { platformAccountRoutes } from './platform/accounts.ts';
import { platformBotRoutes } from './platform/bots.ts';
import { platformBacklogRoutes } from './platform/backlogs.ts';
import { platformLedgerRoutes } from './platform/ledger.ts';
import { platformPluginRoutes } from './platform/plugins.ts';
import { platformUserRoutes } from './platform/users.ts';
import { pluginRoutes } from './accounts/bots/plugins.ts';
import { profileRoutes } from './accounts/people/profile.ts';
import { recoveryRoutes } from './accounts/deliveries/recoveries.ts';
import { reportRoutes } from './accounts/reports.ts';
import { runRoutes } from './accounts/bots/runs.ts';
import { servingBotRoutes } from './accounts/bots/serving-bots.ts';
import { searchRoutes } from './accounts/conversations/search.ts';
import { securityRoutes } from './accounts/people/security.ts';
import { signInByProviderRoutes } from './service/sign-in/by-provider.ts';
import { signInLinkRoutes } from './service/sign-in/links.ts';
import { signInRoutes } from './service/sign-in/sign-in.ts';
import { slaPolicyRoutes } from './accounts/sla-policies.ts';
import { teamRoutes } from './accounts/people/teams.ts';
import { callRoutes } from './accounts/bots/calls.ts';
import { evalRoutes } from './accounts/bots/evals.ts';
import { usageRoutes } from './accounts/bots/usage.ts';
import { webhookRoutes } from './accounts/deliveries/webhooks.ts';
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
  ...automationRoutes,
  ...usageRoutes,
  ...evalRoutes,
  ...callRoutes,
  ...servingBotRoutes,
  ...runRoutes,
  ...pluginRoutes,
  ...labelRoutes,
  ...teamRoutes,
  ...agentRoutes,
  ...invitationRoutes,
  ...articleRoutes,
  ...cannedResponseRoutes,
  ...customFilterRoutes,
  ...macroRoutes,
  ...notificationRoutes,
  ...conversationBulkActionRoutes,
  ...slaPolicyRoutes,
  ...attributeDefinitionRoutes,
  ...hookRoutes,
  ...webhookRoutes,
  ...eventRoutes,
  ...auditLogRoutes,
  ...accountRoutes,
  ...bulkActionRoutes,
  ...deliveryRoutes,
  ...endpointRoutes,
  ...recoveryRoutes,
  ...reportRoutes,
  ...profileRoutes,
  ...signInRoutes,
  ...signInLinkRoutes,
  ...signInByProviderRoutes,
  ...securityRoutes,
  ...platformAccountRoutes,
  ...platformUserRoutes,
  ...platformBotRoutes,
  ...platformPluginRoutes,
  ...platformBacklogRoutes,
  ...platformLedgerRoutes,
  ...platformAuditLogRoutes,
  ...widgetRoutes,
  ...clientRoutes,
  ...healthRoutes,
  ...openapiRoutes(() => routes),
];
