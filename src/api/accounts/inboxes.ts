import { rotateIdentitySecret } from '../../domain/inboxes/identity-secret.ts';
import { findAssignable } from '../../domain/inboxes/members.ts';
import {
  createInbox,
  deleteInbox,
  listInboxes,
  readInbox,
  updateInbox,
  type InboxSettings,
} from '../../domain/inboxes/inboxes.ts';
import {
  createChannelInbox,
  findChannels,
  pluginChannel,
  updateChannelOf,
} from '../../domain/inboxes/channel-inboxes.ts';
import { findUnmetNeeds } from '../../domain/bots/unmet-needs.ts';
import { weekOf } from '../../domain/conversations/deadlines/working-hours.ts';
import type { Inbox, WorkingDay } from '../../records/inbox.ts';
import { invalid } from '../../errors.ts';
import type { Actor } from '../../events/transaction.ts';
import { doors } from '../../http/route/admission/doors.ts';
import type { Services } from '../../http/route/call.ts';
import { newToken } from '../../lib/secrets/tokens.ts';
import type { Sql } from '../../postgres/sql.ts';
import { newIdentitySecret } from '../public/identity-proof.ts';
import { withoutUndefined } from '../../lib/without-undefined.ts';
import { presentWhole } from '../page.ts';
import { unixSeconds } from '../../lib/unix-time.ts';
import type { Shape } from '../../schemas.ts';
import { presentOwnBot } from './bots/agent-bot-records.ts';
import { inboxMemberRoutes, presentAgents } from './people/inbox-members.ts';

const base = '/api/v1/accounts/:account_id/inboxes';
const usualChannel = 'Channel::Api';

/** A channel as the record of its inbox shows it. */
type ChannelRecord = Pick<Shape<'resources/inbox'>, 'hook_url' | 'channel'>;

const noChannel: ChannelRecord = { hook_url: null, channel: null };

function present(inbox: Inbox, channel: ChannelRecord): Shape<'resources/inbox'> {
  return {
    id: inbox.id,
    account_id: inbox.accountId,
    name: inbox.name,
    channel_type: inbox.channelType,
    identifier: inbox.identifier,
    inbox_identifier: inbox.identifier,
    allowed_origins: inbox.allowedOrigins,
    identity_verification: Boolean(inbox.identitySecret),
    greeting_enabled: inbox.greetingEnabled,
    greeting_message: inbox.greetingMessage ?? null,
    enable_auto_assignment: inbox.enableAutoAssignment,
    timezone: inbox.timezone,
    working_hours_enabled: inbox.workingHoursEnabled,
    working_hours: weekOf(inbox.workingHours),
    out_of_office_message: inbox.outOfOfficeMessage ?? null,
    csat_survey_enabled: inbox.csatSurveyEnabled,
    avatar_url: inbox.avatarUrl ?? null,
    agent_bot_id: inbox.agentBotId ?? null,
    plugin_id: inbox.pluginId ?? null,
    ...channel,
    created_at: unixSeconds(inbox.createdAt),
    updated_at: unixSeconds(inbox.updatedAt),
  };
}

type Reader = Pick<Actor, 'role'>;
type Links = Pick<Services, 'publicUrl'>;

async function presentAll(
  sql: Sql,
  { publicUrl }: Links,
  { reader, inboxes }: { reader: Reader; inboxes: readonly Inbox[] },
): Promise<Shape<'resources/inbox'>[]> {
  const channels = await findChannels(sql, inboxes);
  const needs = await findUnmetNeeds(
    sql,
    [...channels.values()].map(({ bot }) => bot),
  );
  return inboxes.map((inbox) => {
    const found = channels.get(inbox.id);
    if (!found) return present(inbox, noChannel);
    const { health, missing_secrets } = presentOwnBot(found.bot, { unmet: needs.get(found.bot.id) });
    const config = reader.role === 'administrator' ? found.bot.config : {};
    const url = found.lastFour === null ? null : `${publicUrl()}/hooks/…${found.lastFour}`;
    return present(inbox, { hook_url: url, channel: { config, health, missing_secrets } });
  });
}

async function presentInbox(
  sql: Sql,
  links: Links,
  { reader, inbox }: { reader: Reader; inbox: Inbox },
): Promise<Shape<'resources/inbox'>> {
  const [record] = await presentAll(sql, links, { reader, inboxes: [inbox] });
  return record as Shape<'resources/inbox'>;
}

type NewInbox = Shape<'requests/inbox.create'>;

// Names in Chatwoot's clients for the channels that they can create.
const channelNames: Record<NonNullable<NonNullable<NewInbox['channel']>['type']>, string> = {
  web_widget: 'Channel::WebWidget',
  api: 'Channel::Api',
  email: 'Channel::Email',
  line: 'Channel::Line',
  telegram: 'Channel::Telegram',
  whatsapp: 'Channel::Whatsapp',
  sms: 'Channel::Sms',
  plugin: pluginChannel,
};

function readChannel({ channel, channel_type: channelType }: NewInbox): string {
  if (channel && channel.type === undefined) throw invalid('/channel/type', 'required', '`channel.type` is missing');
  const named = channel?.type && channelNames[channel.type];
  if (named && channelType && named !== channelType) {
    throw invalid('/channel/type', 'contradiction', '`channel.type` and `channel_type` name different channels');
  }
  return named ?? channelType ?? usualChannel;
}

type Settings = Shape<'requests/inbox.update'>;

function readDay(day: NonNullable<Settings['working_hours']>[number]): WorkingDay {
  const { closed_all_day: closed = false, open_all_day: open = false } = day;
  const hours = {
    open_hour: day.open_hour ?? null,
    open_minutes: day.open_minutes ?? 0,
    close_hour: day.close_hour ?? null,
    close_minutes: day.close_minutes ?? 0,
  };
  const none = { open_hour: null, open_minutes: null, close_hour: null, close_minutes: null };
  return {
    day_of_week: day.day_of_week,
    closed_all_day: closed,
    open_all_day: open,
    ...(closed || open ? none : hours),
  };
}

function readSettings(body: Settings): Partial<InboxSettings> {
  const { working_hours: days } = body;
  return withoutUndefined({
    name: body.name,
    greetingEnabled: body.greeting_enabled,
    greetingMessage: body.greeting_message,
    enableAutoAssignment: body.enable_auto_assignment,
    timezone: body.timezone,
    workingHoursEnabled: body.working_hours_enabled,
    workingHours: days?.map(readDay).sort((one, other) => one.day_of_week - other.day_of_week),
    outOfOfficeMessage: body.out_of_office_message,
    csatSurveyEnabled: body.csat_survey_enabled,
    avatarUrl: body.avatar_url,
    allowedOrigins: body.allowed_origins,
  });
}

export const inboxRoutes = [
  // Not paged: the contract gives this list no page parameter, since accounts have few inboxes.
  doors.account(
    ['GET', base, 'List inboxes'],
    { reply: 'resources/inbox-list', role: 'agent' },
    async ({ sql, services, account, actor }) => {
      const inboxes = await listInboxes(sql, account.id, actor);
      return presentWhole(await presentAll(sql, services, { reader: actor, inboxes }), (record) => record);
    },
  ),
  doors.account(
    ['GET', `${base}/:id`, 'Get an inbox'],
    { reply: 'resources/inbox', record: true, role: 'agent' },
    async ({ sql, services, account, actor, params }) =>
      presentInbox(sql, services, { reader: actor, inbox: await readInbox(sql, account.id, actor, params.id) }),
  ),
  doors.account(
    ['POST', base, 'Create an inbox'],
    { body: 'requests/inbox.create', largeBody: true, reply: 'resources/inbox', role: 'administrator', status: 201 },
    async ({ sql, services, actor, body, transact }) => {
      const channelType = readChannel(body);
      const common = { name: body.name, identifier: services.random.uuid(), settings: readSettings(body) };
      if (channelType === pluginChannel) {
        const token = newToken('hook', services.random);
        const { plugin_id: pluginId = '', config, secrets } = body.channel ?? {};
        const settings = { config, secrets };
        const made = await transact((tx) =>
          createChannelInbox(tx, services, { ...common, ...settings, pluginId, token }),
        );
        const record = await presentInbox(sql, services, { reader: actor, inbox: made });
        return { ...record, hook_url: `${services.publicUrl()}/hooks/${token}` };
      }
      const inbox = await transact(({ sql: own, account, now }) =>
        createInbox(own, { ...common, accountId: account.id, channelType, agentBotId: null, now }),
      );
      return present(inbox, noChannel);
    },
  ),
  doors.account(
    ['PATCH', `${base}/:id`, 'Update an inbox'],
    { body: 'requests/inbox.update', largeBody: true, reply: 'resources/inbox', role: 'administrator' },
    async ({ sql, services, actor, params, body, transact }) => {
      const inbox = await transact(async (tx) => {
        const { config, secrets } = body.channel ?? {};
        if (config || secrets) await updateChannelOf(tx, services, params.id, { config, secrets });
        return updateInbox(tx, params.id, readSettings(body));
      });
      return presentInbox(sql, services, { reader: actor, inbox });
    },
  ),
  doors.account(
    ['POST', `${base}/:id/rotate_identity_secret`, 'Rotate the identity secret of an inbox'],
    {
      reply: 'resources/inbox-with-identity-secret',
      role: 'administrator',
      audit: { action: 'secret.rotated' },
      description: 'The secret is answered this once. For 24 hours `identifier_hash` by the one before counts too.',
    },
    async ({ sql, services, actor, params, transact }) => {
      const secret = newIdentitySecret(services.random);
      const sealed = services.secretBox.seal(secret);
      const inbox = await transact((tx) => rotateIdentitySecret(tx, params.id, sealed));
      return { ...(await presentInbox(sql, services, { reader: actor, inbox })), identity_secret: secret };
    },
  ),
  doors.account(
    ['DELETE', `${base}/:id`, 'Delete an inbox'],
    { reply: 'resources/empty', role: 'administrator', inBatches: true },
    ({ params, transact }) => deleteInbox(transact, params.id),
  ),
  doors.account(
    ['GET', `${base}/:id/assignable_agents`, 'List the assignable agents of an inbox'],
    { reply: 'resources/inbox-agents', role: 'agent' },
    async ({ sql, account, actor, params }) => {
      const inbox = await readInbox(sql, account.id, actor, params.id);
      return presentAgents(sql, account.id, await findAssignable(sql, account.id, inbox.id));
    },
  ),
  ...inboxMemberRoutes,
];
