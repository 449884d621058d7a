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
import { weekOf } from '../../domain/conversations/deadlines/working-hours.ts';
import type { Inbox, WorkingDay } from '../../records/inbox.ts';
import { invalid } from '../../errors.ts';
import { doors } from '../../http/route/admission/doors.ts';
import { newIdentitySecret } from '../public/identity-proof.ts';
import { withoutUndefined } from '../../lib/without-undefined.ts';
import { presentWhole } from '../page.ts';
import { unixSeconds } from '../../lib/unix-time.ts';
import type { Shape } from '../../schemas.ts';
import { inboxMemberRoutes, presentAgents } from './people/inbox-members.ts';

const base = '/api/v1/accounts/:account_id/inboxes';
const usualChannel = 'Channel::Api';

function presentInbox(inbox: Inbox): Shape<'resources/inbox'> {
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
    created_at: unixSeconds(inbox.createdAt),
    updated_at: unixSeconds(inbox.updatedAt),
  };
}

type NewInbox = Shape<'requests/inbox.create'>;

// Names in Chatwoot's clients for the channels that they can create.
const channelNames: Record<NonNullable<NewInbox['channel']>['type'], NonNullable<NewInbox['channel_type']>> = {
  web_widget: 'Channel::WebWidget',
  api: 'Channel::Api',
  email: 'Channel::Email',
  line: 'Channel::Line',
  telegram: 'Channel::Telegram',
  whatsapp: 'Channel::Whatsapp',
  sms: 'Channel::Sms',
};

function readChannel({ channel, channel_type: channelType }: NewInbox): string {
  const named = channel && channelNames[channel.type];
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
    async ({ sql, account, actor }) => presentWhole(await listInboxes(sql, account.id, actor), presentInbox),
  ),
  doors.account(
    ['GET', `${base}/:id`, 'Get an inbox'],
    { reply: 'resources/inbox', record: true, role: 'agent' },
    async ({ sql, account, actor, params }) => presentInbox(await readInbox(sql, account.id, actor, params.id)),
  ),
  doors.account(
    ['POST', base, 'Create an inbox'],
    { body: 'requests/inbox.create', reply: 'resources/inbox', role: 'administrator', status: 201 },
    async ({ services, body, transact }) => {
      const channelType = readChannel(body);
      const identifier = services.random.uuid();
      const inbox = await transact(({ sql, account, now }) =>
        createInbox(sql, {
          accountId: account.id,
          name: body.name,
          channelType,
          identifier,
          agentBotId: null,
          now,
          settings: readSettings(body),
        }),
      );
      return presentInbox(inbox);
    },
  ),
  doors.account(
    ['PATCH', `${base}/:id`, 'Update an inbox'],
    { body: 'requests/inbox.update', reply: 'resources/inbox', role: 'administrator' },
    async ({ params, body, transact }) =>
      presentInbox(await transact((tx) => updateInbox(tx, params.id, readSettings(body)))),
  ),
  doors.account(
    ['POST', `${base}/:id/rotate_identity_secret`, 'Rotate the identity secret of an inbox'],
    {
      reply: 'resources/inbox-with-identity-secret',
      role: 'administrator',
      description: 'The secret is answered this once. For 24 hours `identifier_hash` by the one before counts too.',
    },
    async ({ services, params, transact }) => {
      const secret = newIdentitySecret(services.random);
      const sealed = services.secretBox.seal(secret);
      const inbox = await transact((tx) => rotateIdentitySecret(tx, params.id, sealed));
      return { ...presentInbox(inbox), identity_secret: secret };
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
