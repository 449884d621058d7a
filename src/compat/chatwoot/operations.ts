import { accountUserOperations } from './account-users.ts';
import { agentBotOperations } from './agent-bots.ts';
import { agentOperations } from './agents.ts';
import { attributeDefinitionOperations } from './attribute-definitions.ts';
import { cannedResponseOperations } from './canned-responses.ts';
import { clientOperations } from './clients.ts';
import { contactOperations } from './contacts.ts';
import { conversationActionOperations } from './conversation-actions.ts';
import { conversationOperations } from './conversations.ts';
import { customFilterOperations } from './custom-filters.ts';
import { inboxOperations } from './inboxes.ts';
import { labelOperations } from './labels.ts';
import { macroOperations } from './macros.ts';
import { notificationOperations } from './notifications.ts';
import { messageOperations } from './messages.ts';
import type { Operation } from './operation.ts';
import { participationOperations } from './participation.ts';
import { profileOperations } from './profile.ts';
import { searchOperations } from './search.ts';
import { webhookOperations } from './webhooks.ts';

/** Every operation that is otherwise in the profile; all others are ours, by the general rules (answer.ts). */
export const operations: readonly Operation[] = [
  ...conversationOperations,
  ...conversationActionOperations,
  ...messageOperations,
  ...contactOperations,
  ...labelOperations,
  ...agentOperations,
  ...inboxOperations,
  ...webhookOperations,
  ...agentBotOperations,
  ...accountUserOperations,
  ...attributeDefinitionOperations,
  ...cannedResponseOperations,
  ...customFilterOperations,
  ...macroOperations,
  ...notificationOperations,
  ...participationOperations,
  ...searchOperations,
  ...profileOperations,
  ...clientOperations,
];
