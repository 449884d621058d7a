import { listInboxes, readInbox } from '../domain/inboxes.ts';
import type { Inbox } from '../entities/inbox.ts';
import { route } from '../http/route.ts';
import { pageMeta } from '../lib/page.ts';
import { unixSeconds } from '../lib/unix-time.ts';
import type { Shape } from '../schemas.ts';

const base = '/api/v1/accounts/:account_id/inboxes';

function presentInbox(inbox: Inbox): Shape<'resources/inbox'> {
  return {
    id: inbox.id,
    account_id: inbox.accountId,
    name: inbox.name,
    channel_type: inbox.channelType,
    greeting_enabled: inbox.greetingEnabled,
    greeting_message: inbox.greetingMessage ?? null,
    enable_auto_assignment: inbox.enableAutoAssignment,
    timezone: inbox.timezone,
    working_hours_enabled: inbox.workingHoursEnabled,
    csat_survey_enabled: inbox.csatSurveyEnabled,
    avatar_url: inbox.avatarUrl ?? null,
    created_at: unixSeconds(inbox.createdAt),
    updated_at: unixSeconds(inbox.updatedAt),
  };
}

export const inboxRoutes = [
  // An account has a handful of inboxes: the contract gives this list no page parameter, so it comes whole.
  route(['GET', base], { reply: 'resources/inbox-list', role: 'agent' }, async ({ em, account, actor }) => {
    const inboxes = await listInboxes(em, account.id, actor);
    return { payload: inboxes.map(presentInbox), meta: pageMeta(inboxes.length, 1, Math.max(1, inboxes.length)) };
  }),
  route(['GET', `${base}/:id`], { reply: 'resources/inbox', role: 'agent' }, async ({ em, account, actor, ids }) =>
    presentInbox(await readInbox(em, account.id, actor, ids.id ?? 0)),
  ),
];
