import {
  createAutomation,
  deleteAutomation,
  listAutomations,
  readAutomation,
  readDryRun,
  updateAutomation,
} from '../../../domain/bots/automations.ts';
import { findUnmetNeeds } from '../../../domain/bots/unmet-needs.ts';
import { doors } from '../../../http/route/admission/doors.ts';
import { unixSeconds } from '../../../lib/unix-time.ts';
import type { Sql } from '../../../postgres/sql.ts';
import type { AgentBot } from '../../../records/bots/agent-bot.ts';
import type { Shape } from '../../../schemas.ts';
import { presentPage } from '../../page.ts';
import { presentOwnBot } from './agent-bot-records.ts';

const base = '/api/v1/accounts/:account_id/automations';

export const automationRoutes = [
  doors.account(
    ['GET', base, 'List automations'],
    { query: 'requests/page.query', reply: 'resources/automation-list', paged: true, role: 'agent' },
    async ({ sql, account, actor, query: { page = 1 } }) => {
      const listed = await listAutomations(sql, account.id, page);
      return presentPage({ ...listed, rows: await presentAll(sql, actor, listed.rows) }, (record) => record);
    },
  ),
  doors.account(
    ['GET', `${base}/:id`, 'Get an automation'],
    { reply: 'resources/automation', record: true, role: 'agent' },
    async ({ sql, account, actor, params }) => presentOne(sql, actor, await readAutomation(sql, account.id, params.id)),
  ),
  doors.account(
    ['POST', base, 'Create an automation'],
    {
      body: 'requests/automation.create',
      reply: 'resources/automation',
      role: 'administrator',
      status: 201,
      description: 'It hears the events of its plugin from then on, but not its own changes.',
    },
    async ({ sql, services, actor, body, transact }) =>
      presentOne(sql, actor, await transact((tx) => createAutomation(tx, services, body))),
  ),
  doors.account(
    ['PATCH', `${base}/:id`, 'Update an automation'],
    {
      body: 'requests/automation.update',
      reply: 'resources/automation',
      role: 'administrator',
      description:
        'Events that happen while it is off are not made up for. `active: true` also ends a quarantine after failed runs.',
    },
    async ({ sql, services, actor, params, body, transact }) =>
      presentOne(sql, actor, await transact((tx) => updateAutomation(tx, services, params.id, body))),
  ),
  doors.account(
    ['POST', `${base}/:id/dry_run`, 'Dry-run an automation'],
    {
      body: 'requests/automation.dry-run',
      reply: 'resources/automation-dry-run',
      role: 'administrator',
      audit: false,
      keyed: false,
      description:
        'Runs it on the latest events that it would have heard, oldest first, with the conversations as they are now. Nothing is changed, stored or requested from other systems. After 10 seconds no further event is looked at.',
    },
    {
      prepare: async ({ services, read, account, params, body }) => {
        const place = { accountId: account.id, id: params.id };
        const tried = await read((sql) => readDryRun(sql, services, place, body));
        return services.runDry({ account, ...tried });
      },
      handle: async (_, { lookedAt, matches }) => ({
        looked_at: lookedAt,
        matched: new Set(matches.map(({ event }) => event.id)).size,
        payload: matches.map(({ event, rule, actions }) => ({
          event_id: event.id,
          conversation_id: event.conversationId,
          rule,
          actions: actions.map((action) => ({ ...action })),
        })),
      }),
    },
  ),
  doors.account(
    ['DELETE', `${base}/:id`, 'Delete an automation'],
    { reply: 'resources/empty', role: 'administrator' },
    ({ params, transact }) => transact((tx) => deleteAutomation(tx, params.id)),
  ),
];

type Reader = { role: string | null };

async function presentOne(sql: Sql, reader: Reader, automation: AgentBot): Promise<Shape<'resources/automation'>> {
  const [record] = await presentAll(sql, reader, [automation]);
  return record as Shape<'resources/automation'>;
}

// Settings are for administrators, as those of bots are.
async function presentAll(
  sql: Sql,
  { role }: Reader,
  automations: readonly AgentBot[],
): Promise<Shape<'resources/automation'>[]> {
  const needs = await findUnmetNeeds(sql, automations);
  return automations.map((automation) => {
    const { health, missing_secrets } = presentOwnBot(automation, { unmet: needs.get(automation.id) });
    return {
      id: automation.id,
      name: automation.name,
      plugin_id: automation.pluginId ?? '',
      config: role === 'administrator' ? automation.config : {},
      inbox_ids: automation.inboxIds ?? null,
      active: automation.active,
      health,
      missing_secrets,
      created_at: unixSeconds(automation.createdAt),
    };
  });
}
