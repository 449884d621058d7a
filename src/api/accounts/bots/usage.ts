import { readAgentBot } from '../../../domain/bots/bots.ts';
import { readLastEvals } from '../../../domain/bots/evals/last-results.ts';
import { listUnanswered, type Unanswered } from '../../../domain/bots/unanswered.ts';
import { listUsage } from '../../../domain/bots/usage.ts';
import { badRequest } from '../../../errors.ts';
import { doors } from '../../../http/route/admission/doors.ts';
import { fromUnixSeconds, lastMoment, unixSeconds } from '../../../lib/unix-time.ts';
import type { Shape } from '../../../schemas.ts';

const dayMs = 24 * 3600 * 1000;
const usualDays = 30;
const maxDays = 366;

export const usageRoutes = [
  doors.account(
    ['GET', '/api/v1/accounts/:account_id/agent_bots/:id/usage', 'Get the usage of an agent bot'],
    {
      query: 'requests/bot.usage.query',
      reply: 'resources/bot-usage',
      record: true,
      role: 'agent',
      description: 'Tokens, runs and handoffs in this account, which stay when runs are deleted, and its last evals.',
    },
    async ({ sql, account, params, query, now }) => {
      const { id: botId } = await readAgentBot(sql, account.id, params.id);
      const whose = { accountId: account.id, botId };
      const days = daysOf(query, now);
      const [payload, last] = await Promise.all([listUsage(sql, whose, days), readLastEvals(sql, whose)]);
      return { payload, last_evals: last && { ran_at: unixSeconds(last.ranAt), results: last.results } };
    },
  ),
  doors.account(
    ['GET', '/api/v1/accounts/:account_id/agent_bots/:id/unanswered', 'List unanswered questions of an agent bot'],
    {
      query: 'requests/bot.unanswered.query',
      reply: 'resources/bot-unanswered',
      role: 'administrator',
      description: 'What customers asked that no article answered, the most frequent first, while its runs are kept.',
    },
    async ({ sql, account, params, query: { since, until }, now }) => {
      const { id: botId } = await readAgentBot(sql, account.id, params.id);
      const before = until === undefined ? new Date(now.getTime() + 1) : fromUnixSeconds(until);
      const from = since === undefined ? new Date(before.getTime() - usualDays * dayMs) : fromUnixSeconds(since);
      const found = await listUnanswered(sql, { accountId: account.id, botId }, { from, before });
      return { payload: found.map(presentUnanswered) };
    },
  ),
];

function presentUnanswered({ question, count, lastAskedAt, conversationIds }: Unanswered) {
  return { question, count, last_asked_at: unixSeconds(lastAskedAt), conversation_ids: conversationIds };
}

function daysOf({ since, until }: Shape<'requests/bot.usage.query'>, now: Date): { from: string; before: string } {
  const end = until === undefined ? now.getTime() + 1 : fromUnixSeconds(until).getTime();
  // The day behind the last one has a year of five digits.
  const before = Math.min(Math.ceil(end / dayMs), Math.floor(lastMoment.getTime() / dayMs));
  const from = since === undefined ? before - usualDays : Math.floor(fromUnixSeconds(since).getTime() / dayMs);
  if (before - from > maxDays) throw badRequest('bad_query', `Ask for ${maxDays} days at most`);
  return { from: dateOf(from), before: dateOf(Math.max(from, before)) };
}

function dateOf(day: number): string {
  return new Date(day * dayMs).toISOString().slice(0, 10);
}
