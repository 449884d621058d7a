import type { EventCase } from './event-cases.ts';
import type { Tenant } from './world.ts';

const nothing: EventCase = { says: [], again: 'nothing' };
const always: EventCase[] = [nothing];
const once: EventCase[] = [{ says: [], again: 'refused' }];
const updated = ['conversation_updated > webhook'];

/** An operation on a new record that a conversation refers to. */
function referred(
  make: (home: Tenant) => Promise<{ id: number; body?: object }>,
  again: EventCase['again'],
  says = updated,
): EventCase {
  return {
    when: 'that a conversation refers to',
    request: async (home) => {
      const { id, body = {} } = await make(home);
      return { at: { id }, body: { ...body } };
    },
    says,
    again,
  };
}

/** The setting of a call on a new conversation in the bot's inbox. */
async function conversationWith({ maker, inbox }: Tenant, method: string, path: string, body: object): Promise<void> {
  const id = await maker.conversation(inbox);
  await maker.call(method, `conversations/${id}${path}`, body);
}

async function labelled(home: Tenant, body: object): Promise<{ id: number; body: object }> {
  const { id, title } = await home.maker.label();
  await conversationWith(home, 'POST', '/labels', { labels: [title] });
  return { id, body };
}

async function assigned({ maker }: Tenant): Promise<{ inbox: number; agent: number }> {
  const agent = await maker.agent();
  const inbox = await maker.inbox({ members: [agent] });
  await maker.conversation(inbox, { assignee_id: agent.id });
  return { inbox, agent: agent.id };
}

/** A change of members that takes a conversation from one. */
function unassigning(body: (home: Tenant) => Promise<Record<string, unknown>>): EventCase {
  const when = 'of which one has a conversation';
  return { when, request: async (home) => ({ body: await body(home) }), says: updated, again: 'nothing' };
}

/** The events of operations on what administrators set up. */
export const accountEvents: Record<string, EventCase[]> = {
  'PATCH /api/v1/accounts/:account_id': always,
  'POST inboxes': always,
  'POST hooks': always,
  'DELETE hooks/:id': once,
  'POST hooks/:id/rotate': always,
  'POST hooks/:id/requests/:request_id/resend': always,
  'POST automations': always,
  'PATCH automations/:id': always,
  'POST automations/:id/dry_run': always,
  'DELETE automations/:id': once,
  'POST macros': always,
  'PATCH macros/:id': always,
  'DELETE macros/:id': once,
  'POST macros/:id/execute': [{ says: ['message_created > webhook bot'], again: 'the same' }],
  'POST bulk_actions': [
    { says: ['conversation_status_changed > webhook', 'conversation_resolved > bot'], again: 'nothing' },
  ],
  'POST notifications/read_all': always,
  'PATCH notifications/:id': always,
  'POST custom_filters': always,
  'PATCH custom_filters/:id': always,
  'DELETE custom_filters/:id': once,
  'POST articles/import': always,
  'POST runs/:id/replay': always,
  'POST agent_bots/:id/try': always,
  'POST agent_bots/:id/calls': always,
  'POST agent_bots/:id/evals': always,
  'POST events/ticket': always,
  'PATCH inboxes/:id': always,
  'DELETE inboxes/:id': [
    ...once,
    referred(
      async ({ maker }) => {
        const id = await maker.inbox();
        for (let count = 0; count < 2; count++) await maker.conversation(id);
        return { id };
      },
      'refused',
      ['conversation_deleted > webhook', 'conversation_deleted > webhook'],
    ),
  ],
  'POST inboxes/:id/members': always,
  'PATCH inboxes/:id/members': [
    nothing,
    referred(async (home) => ({ id: (await assigned(home)).inbox, body: { user_ids: [] } }), 'nothing'),
  ],
  'DELETE inboxes/:id/members': [
    nothing,
    referred(async (home) => {
      const { inbox, agent } = await assigned(home);
      return { id: inbox, body: { user_ids: [agent] } };
    }, 'nothing'),
  ],
  'POST inbox_members': always,
  'PATCH inbox_members': [
    nothing,
    unassigning(async (home) => ({ inbox_id: (await assigned(home)).inbox, user_ids: [] })),
  ],
  'DELETE inbox_members': [
    nothing,
    unassigning(async (home) => {
      const { inbox, agent } = await assigned(home);
      return { inbox_id: inbox, user_ids: [agent] };
    }),
  ],
  'POST inboxes/:id/set_agent_bot': always,
  'POST inboxes/:id/rotate_identity_secret': always,

  'POST agent_bots': always,
  'PATCH agent_bots/:id': always,
  'POST agent_bots/:id/reset_access_token': always,
  'POST agent_bots/:id/reset_secret': always,
  'POST agent_bots/:id/release': always,
  'DELETE agent_bots/:id': [
    ...once,
    referred(async (home) => {
      const { id } = await home.maker.bot();
      await conversationWith(home, 'POST', '/agent_bot', { agent_bot_id: id });
      return { id };
    }, 'refused'),
  ],

  'POST labels': once,
  'PATCH labels/:id': [
    nothing,
    referred(
      (home) => labelled(home, { title: home.maker.text('renamed').toLowerCase().replaceAll(' ', '-') }),
      'nothing',
    ),
  ],
  'DELETE labels/:id': [...once, referred((home) => labelled(home, {}), 'refused')],

  'POST teams': once,
  'PATCH teams/:id': always,
  'DELETE teams/:id': [
    ...once,
    referred(async (home) => {
      const id = await home.maker.team();
      await home.maker.conversation(home.inbox, { team_id: id });
      return { id };
    }, 'refused'),
  ],
  'POST teams/:id/team_members': always,
  'PATCH teams/:id/team_members': always,
  'DELETE teams/:id/team_members': always,

  'POST agents': once,
  'POST agents/:id/resend_invitation': always,
  'POST agents/:id/sign_in_link': always,
  'DELETE agents/:id/second_factor': once,
  'PATCH agents/:id': always,
  'DELETE agents/:id': [...once, referred(async (home) => ({ id: (await assigned(home)).agent }), 'refused')],

  'DELETE sla_policies/:id': [
    ...once,
    referred(async (home) => {
      const id = await home.maker.slaPolicy();
      await conversationWith(home, 'PATCH', '', { sla_policy_id: id });
      return { id };
    }, 'refused'),
  ],

  'POST webhooks': always,
  'POST webhooks/:id/pause': always,
  'POST webhooks/:id/resume': always,
  'POST webhooks/:id/test': always,
  'POST webhooks/:id/retry': always,
  'POST webhooks/:id/cancel_pending': always,
  'POST agent_bots/:id/pause': always,
  'POST agent_bots/:id/resume': always,
  'POST agent_bots/:id/test': always,
  'POST agent_bots/:id/retry': always,
  'POST agent_bots/:id/cancel_pending': always,
  'POST deliveries/:id/resend': always,
  'POST webhooks/:id/recover': always,
  'POST webhooks/:id/deliveries/bulk': always,
  'DELETE webhooks/:id/deliveries/bulk/:bulk_id': always,
  'POST agent_bots/:id/recover': always,
  'PATCH webhooks/:id': always,
  'POST webhooks/:id/rotate_secret': always,
  'DELETE webhooks/:id/secrets/:secret_id': once,
  'POST webhooks/:id/share': always,
  'DELETE webhooks/:id/shares/:share_id': once,
  'DELETE webhooks/:id': once,
};
