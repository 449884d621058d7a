import { readConversation } from '../../domain/conversations/access.ts';
import { readAgentBot } from '../../domain/bots/bots.ts';
import { explainBot, setConversationBot, setInboxBot } from '../../domain/conversations/serving-bot.ts';
import { readInbox } from '../../domain/inboxes/inboxes.ts';
import type { Conversation } from '../../records/conversation.ts';
import { route } from '../../http/route/route.ts';
import type { Shape } from '../../schemas.ts';
import { presentAgentBot } from './agent-bot-records.ts';

const inboxes = '/api/v1/accounts/:account_id/inboxes';
const conversations = '/api/v1/accounts/:account_id/conversations';

function presentExplanation(conversation: Conversation): Shape<'resources/conversation-agent-bot'> {
  const { bot, answers, reason } = explainBot(conversation);
  return {
    agent_bot: bot && { id: bot.id, name: bot.name },
    chosen_by: bot?.chosenBy ?? null,
    answers,
    reason,
  };
}

/** Which bot serves: in an inbox, and in one conversation instead of its inbox's. */
export const servingBotRoutes = [
  route(
    ['GET', `${inboxes}/:id/agent_bot`],
    { reply: 'resources/inbox-agent-bot', role: 'agent' },
    async ({ em, account, actor, ids }) => {
      const { agentBotId } = await readInbox(em, account.id, actor, ids.id ?? 0);
      const bot = agentBotId ? await readAgentBot(em, account.id, agentBotId) : null;
      return { agent_bot: bot && presentAgentBot(bot) };
    },
  ),
  route(
    ['POST', `${inboxes}/:id/set_agent_bot`],
    { body: 'requests/inbox.set-agent-bot', reply: 'resources/inbox-agent-bot', role: 'administrator' },
    async ({ em, account, ids, body, transact }) => {
      await transact((tx) => setInboxBot(tx, ids.id ?? 0, body.agent_bot));
      const bot = body.agent_bot === null ? null : await readAgentBot(em, account.id, body.agent_bot);
      return { agent_bot: bot && presentAgentBot(bot) };
    },
  ),
  route(
    ['GET', `${conversations}/:id/agent_bot`],
    { reply: 'resources/conversation-agent-bot', role: 'bot' },
    async ({ em, account, actor, ids }) =>
      presentExplanation(await readConversation(em, account.id, actor, ids.id ?? 0)),
  ),
  route(
    ['POST', `${conversations}/:id/agent_bot`],
    { body: 'requests/conversation.set-agent-bot', reply: 'resources/conversation-agent-bot', role: 'agent' },
    async ({ ids, body, transact }) =>
      presentExplanation(await transact((tx) => setConversationBot(tx, ids.id ?? 0, body.agent_bot_id))),
  ),
];
