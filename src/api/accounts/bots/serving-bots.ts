import { readConversation } from '../../../domain/conversations/access.ts';
import { readAgentBot } from '../../../domain/bots/bots.ts';
import { listDecisions } from '../../../domain/conversations/bots/decisions.ts';
import { explainBot, setConversationBot, setInboxBot } from '../../../domain/conversations/bots/serving-bot.ts';
import { readInbox } from '../../../domain/inboxes/inboxes.ts';
import type { Conversation } from '../../../records/conversations/conversation.ts';
import { doors } from '../../../http/route/admission/doors.ts';
import { unixSeconds } from '../../../lib/unix-time.ts';
import type { Sql } from '../../../postgres/sql.ts';
import type { Shape } from '../../../schemas.ts';
import { presentWithHealth } from './ai-bot-health.ts';

const inboxes = '/api/v1/accounts/:account_id/inboxes';
const conversations = '/api/v1/accounts/:account_id/conversations';

async function presentExplanation(
  sql: Sql,
  conversation: Conversation,
): Promise<Shape<'resources/conversation-agent-bot'>> {
  const { bot, answers, reason } = explainBot(conversation);
  return {
    agent_bot: bot && { id: bot.id, name: bot.name },
    chosen_by: bot?.chosenBy ?? null,
    answers,
    reason,
    history: (await listDecisions(sql, conversation)).map((decision) => ({
      event: decision.event,
      agent_bot: decision.bot,
      chosen_by: decision.chosenBy,
      called: decision.called,
      reason: decision.reason,
      run_id: decision.runId,
      created_at: unixSeconds(decision.createdAt),
    })),
  };
}

async function presentBotOf(
  reading: Parameters<typeof presentWithHealth>[0],
  accountId: number,
  botId: number | null,
): Promise<Shape<'resources/inbox-agent-bot'>> {
  const bot = botId === null ? null : await readAgentBot(reading.sql, accountId, botId);
  return { agent_bot: bot && (await presentWithHealth(reading, bot)) };
}

/** The bot of an inbox, and the bot of one conversation, in place of its inbox's. */
export const servingBotRoutes = [
  doors.account(
    ['GET', `${inboxes}/:id/agent_bot`, 'Get the agent bot of an inbox'],
    { reply: 'resources/inbox-agent-bot', record: true, role: 'agent' },
    async ({ sql, services, account, actor, params }) => {
      const { agentBotId } = await readInbox(sql, account.id, actor, params.id);
      return presentBotOf({ sql, services, actor }, account.id, agentBotId ?? null);
    },
  ),
  doors.account(
    ['POST', `${inboxes}/:id/set_agent_bot`, 'Set the agent bot of an inbox'],
    {
      body: 'requests/inbox.set-agent-bot',
      reply: 'resources/inbox-agent-bot',
      role: 'administrator',
      audit: { action: 'inbox.updated' },
    },
    async ({ sql, services, account, actor, params, body, transact }) => {
      await transact((tx) => setInboxBot(tx, params.id, body.agent_bot));
      return presentBotOf({ sql, services, actor }, account.id, body.agent_bot);
    },
  ),
  doors.account(
    ['GET', `${conversations}/:id/agent_bot`, 'Get the agent bot of a conversation'],
    { reply: 'resources/conversation-agent-bot', record: true, role: 'bot' },
    async ({ sql, account, actor, params }) =>
      presentExplanation(sql, await readConversation(sql, account.id, actor, params.id)),
  ),
  doors.account(
    ['POST', `${conversations}/:id/agent_bot`, 'Set the agent bot of a conversation'],
    { body: 'requests/conversation.set-agent-bot', reply: 'resources/conversation-agent-bot', role: 'agent' },
    async ({ sql, params, body, transact }) =>
      presentExplanation(sql, await transact((tx) => setConversationBot(tx, params.id, body.agent_bot_id))),
  ),
];
