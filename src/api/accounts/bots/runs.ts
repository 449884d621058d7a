import {
  listRuns,
  listRunsIn,
  listRunsOfBot,
  readRun,
  type RecordedRun,
  type RunFilter,
} from '../../../domain/bots/runs.ts';
import { findBundle } from '../../../domain/plugins/registry.ts';
import { readAutomation } from '../../../domain/bots/automations.ts';
import { readAgentBot } from '../../../domain/bots/bots.ts';
import { readInbox } from '../../../domain/inboxes/inboxes.ts';
import { invalid } from '../../../errors.ts';
import type { Actor } from '../../../events/transaction.ts';
import { doors } from '../../../http/route/admission/doors.ts';
import type { Services } from '../../../http/route/call.ts';
import { optionalDate, unixSeconds, unixSecondsOrNull } from '../../../lib/unix-time.ts';
import type { Sql } from '../../../postgres/sql.ts';
import type { Shape } from '../../../schemas.ts';
import type { Inbox } from '../../../records/inbox.ts';
import type { RecordedCall } from '../../../sandbox/run.ts';
import { usageOf } from '../../../runs/usage.ts';
import { presentStretch, readCursor } from '../../cursor.ts';
import { checkOneOwner } from '../one-owner.ts';

const base = '/api/v1/accounts/:account_id';
const query = 'requests/run.list.query';
const reply = 'resources/run-list';

export const runRoutes = [
  doors.account(
    ['GET', `${base}/runs`, 'List runs'],
    {
      query: 'requests/account-run.list.query',
      reply,
      role: 'agent',
      errors: [422],
      description:
        'Runs of bots, automations and channels in the conversations that the caller may see, and those without a conversation.',
    },
    async ({ services, sql, account, actor, principal, query: asked }) => {
      const place = { accountId: account.id, actor };
      const botId = await findOwner(sql, place, asked);
      const list = `runs in account ${account.id}`;
      const found = await listRuns(sql, place, { ...filterOf(services, list, asked), botId });
      return presentStretch(found, (run) => presentRun(run, { actor, principal }), { ...services, list });
    },
  ),
  doors.account(
    ['GET', `${base}/agent_bots/:id/runs`, 'List the runs of an agent bot'],
    { query, reply, role: 'agent', description: 'In the conversations that the caller may see.' },
    async ({ services, sql, account, actor, principal, params, query: asked }) => {
      const { id: botId } = await readAgentBot(sql, account.id, params.id);
      const list = `runs of bot ${botId} in account ${account.id}`;
      const found = await listRunsOfBot(sql, { accountId: account.id, actor, botId }, filterOf(services, list, asked));
      return presentStretch(found, (run) => presentRun(run, { actor, principal }), { ...services, list });
    },
  ),
  doors.account(
    ['GET', `${base}/conversations/:id/runs`, 'List the runs of bots in a conversation'],
    { query, reply, role: 'agent' },
    async ({ services, sql, account, actor, principal, params: { id: conversationId }, query: asked }) => {
      const list = `runs in conversation ${conversationId} of account ${account.id}`;
      const filter = filterOf(services, list, asked);
      const found = await listRunsIn(sql, { accountId: account.id, actor, conversationId }, filter);
      return presentStretch(found, (run) => presentRun(run, { actor, principal }), { ...services, list });
    },
  ),
  doors.account(
    ['GET', `${base}/runs/:id`, 'Get a run of a bot'],
    { reply: 'resources/run', record: true, role: 'agent' },
    async ({ sql, account, actor, principal, params }) =>
      presentRun(await readRun(sql, account.id, actor, params.id), { actor, principal }),
  ),
  doors.account(
    ['POST', `${base}/runs/:id/replay`, 'Replay a run'],
    {
      reply: 'resources/run-replay',
      role: 'agent',
      audit: { action: 'bot.replayed', unread: [] },
      keyed: false,
      errors: [409],
      description:
        'Repeats the run from its record: by the code that ran, with the settings, the clock, the random numbers and the answers of that time. Nothing is called, and nothing is changed except the audit log, which gets the entry `bot.replayed`. Refused (409) when the code is not stored any more, the record was changed (`not_replayable`), or its content was deleted with a message (`run_erased`).',
    },
    {
      prepare: async ({ services, read, account, actor, params }) => {
        const found = await read(async (sql) => {
          const run = await readRun(sql, account.id, actor, params.id);
          return { run, stored: await findBundle(sql, run.bundleHash) };
        });
        return services.replay({ account: account.id, ...found });
      },
      handle: async (_, replay) => replay,
    },
  ),
];

function filterOf({ secretBox }: Services, list: string, asked: Shape<'requests/account-run.list.query'>): RunFilter {
  const { conversation_id: conversationId, outcome, since, until, cursor } = asked;
  const after = readCursor(secretBox, list, cursor);
  return { conversationId, outcome, since: optionalDate(since), until: optionalDate(until), after };
}

/** The row of the bot, automation or channel whose runs alone are wanted. Errors: 404, 403, 422. */
async function findOwner(
  sql: Sql,
  { accountId, actor }: { accountId: number; actor: Actor },
  asked: Shape<'requests/account-run.list.query'>,
): Promise<number | undefined> {
  const { agent_bot_id: bot, automation_id: automation, inbox_id: inbox } = asked;
  const found = [
    bot !== undefined && (await readAgentBot(sql, accountId, bot)).id,
    automation !== undefined && (await readAutomation(sql, accountId, automation)).id,
    inbox !== undefined && channelOf(await readInbox(sql, accountId, actor, inbox)),
  ];
  checkOneOwner(asked);
  return found.find((id) => id !== false);
}

function channelOf({ channelId }: Inbox): number {
  if (channelId) return channelId;
  throw invalid('/inbox_id', 'channel', 'Only inboxes with a channel have runs of their own: this inbox has none');
}

// The record of a deleted message has no calls any more, but the run has used what it used.
function presentUsage({
  calls,
  actions,
  promptTokens,
  completionTokens,
}: RecordedRun): Shape<'resources/run'>['usage'] {
  const usage = usageOf(calls as RecordedCall[], actions);
  return usage && { ...usage, prompt_tokens: promptTokens, completion_tokens: completionTokens };
}

// A version that came later may have made a setting secret.
function presentConfig({ config, secretNames }: RecordedRun): Record<string, unknown> {
  return Object.fromEntries(Object.entries(config).filter(([name]) => !secretNames.includes(name)));
}

// A question to a model, for example, holds the settings.
function withoutInputs(calls: Shape<'resources/run'>['calls']): Shape<'resources/run'>['calls'] {
  return calls.map((call) => ({ ...call, input: null }));
}

/** The reader of a run. */
interface Reader {
  actor: { role: string | null };
  principal: { platformAdmin: boolean };
}

// The settings of a system bot are the platform's own, and those of other bots are for administrators, as in the bots' records.
function presentRun(run: RecordedRun, { actor, principal }: Reader): Shape<'resources/run'> {
  const isHidden = !principal.platformAdmin && (run.isSystem || actor.role !== 'administrator');
  const calls = run.calls as Shape<'resources/run'>['calls'];
  return {
    id: run.id,
    agent_bot_id: run.part === 'bot' ? run.botId : null,
    automation_id: run.part === 'automation' ? run.botId : null,
    inbox_id: run.inboxId,
    plugin: { id: run.pluginId, version: run.pluginVersion || null, hash: run.bundleHash || null },
    conversation_id: run.conversationId,
    event: run.event,
    attempt: run.attempt,
    config: isHidden ? {} : presentConfig(run),
    seed: run.seed,
    now: run.clock.getTime(),
    calls: isHidden ? withoutInputs(calls) : calls,
    actions: run.actions as Shape<'resources/run'>['actions'],
    logs: run.logs as Shape<'resources/run'>['logs'],
    outcome: run.outcome,
    error: run.error,
    usage: presentUsage(run),
    cpu_ms: run.cpuMs,
    wall_ms: run.wallMs,
    erased_at: unixSecondsOrNull(run.erasedAt),
    created_at: unixSeconds(run.createdAt),
  };
}
