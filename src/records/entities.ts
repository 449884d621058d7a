import { AccessToken } from './access-token.ts';
import { Account } from './account.ts';
import { Agent } from './agent.ts';
import { AgentBot } from './bots/agent-bot.ts';
import { Article } from './article.ts';
import { AttributeDefinition } from './attribute-definition.ts';
import { CannedResponse } from './canned-response.ts';
import { CustomFilter } from './custom-filter.ts';
import { Hook } from './hook.ts';
import { Macro } from './macro.ts';
import { Contact } from './contacts/contact.ts';
import { Inbox } from './inbox.ts';
import { Invitation } from './invitation.ts';
import { Label } from './label.ts';
import { SlaPolicy } from './sla-policy.ts';
import { Team } from './team.ts';
import { User } from './user.ts';
import { Webhook } from './webhook.ts';

/** All ORM entities. Hot rows (conversation, message) have none: they are read and written by SQL. */
export const entities = [
  AccessToken,
  Account,
  Agent,
  AgentBot,
  Article,
  AttributeDefinition,
  CannedResponse,
  CustomFilter,
  Hook,
  Macro,
  Contact,
  Inbox,
  Invitation,
  Label,
  SlaPolicy,
  Team,
  User,
  Webhook,
] as const;
