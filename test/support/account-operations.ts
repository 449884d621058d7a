import type { Prepare, Request } from './operations.ts';
import type { Tenant } from './world.ts';

const nothing: Prepare = () => ({});

/** A request about a record created for it. */
function on(
  make: (home: Tenant) => Promise<number>,
  body: (home: Tenant) => Request['body'] | Promise<Request['body']> = () => ({}),
): Prepare {
  return async (home) => ({ at: { id: await make(home) }, body: (await body(home)) ?? {} });
}

const newInbox = ({ maker, member }: Tenant) => maker.inbox({ members: [member] });
const newTeam = ({ maker, mate }: Tenant) => maker.team([mate]);
const newBot = async ({ maker }: Tenant) => (await maker.bot()).id;
const newAiBot = async ({ maker }: Tenant) => {
  const { id } = await maker.call('POST', 'agent_bots', { kind: 'ai', name: maker.text('AI bot') });
  return id as number;
};
const newAgent = async ({ maker }: Tenant) => (await maker.agent()).id;
const newInvitee = async ({ maker }: Tenant) => (await maker.invitee()).id;
const newLabel = async ({ maker }: Tenant) => (await maker.label()).id;
const newHook = ({ maker }: Tenant) => maker.hook();
const newAutomation = ({ maker }: Tenant) => maker.automation();
const newMacro = ({ maker }: Tenant) => maker.macro();
// Sent by the token that the administrator has by now: a custom filter belongs to its creator.
const onFilter =
  (body: (home: Tenant) => Request['body'] = () => ({})): Prepare =>
  async (home, world) => ({
    at: { id: await home.maker.customFilter(world.headersOf('administrator')) },
    body: body(home) ?? {},
  });
const newWebhook = ({ maker }: Tenant) => maker.webhook();
const newActiveWebhook = ({ maker }: Tenant) => maker.webhook({ active: true, subscriptions: ['sla_breached'] });
// The world's own webhook is off.
const resendable: Prepare = async ({ maker, conversation }) => {
  const webhook = await maker.webhook({ active: true, subscriptions: ['sla_breached'] });
  return { at: { id: await maker.delivery(conversation, webhook) } };
};
const recovering: Prepare = ({ webhook, recovery }) => ({ at: { id: webhook, recovery_id: recovery } });
const recoveringBot: Prepare = async ({ maker, bot }) => {
  const { id } = await maker.call('POST', `agent_bots/${bot.id}/recover`, { since: 1_700_000_000 });
  return { at: { id: bot.id, recovery_id: id } };
};
const bulkCancelling: Prepare = async ({ maker, conversation }) => {
  const id = await maker.webhook({ active: true, subscriptions: ['sla_breached'] });
  return { at: { id }, body: { action: 'cancel', ids: [await maker.delivery(conversation, id)] } };
};
const inBulk: Prepare = ({ webhook, bulk }) => ({ at: { id: webhook, bulk_id: bulk } });
// The secret before the newest.
const endable: Prepare = async ({ maker }) => {
  const id = await maker.webhook();
  const secret = await maker.secret(id);
  await maker.call('POST', `webhooks/${id}/rotate_secret`);
  return { at: { id, secret_id: secret } };
};
const renamed = ({ maker }: Tenant) => ({ name: maker.text('renamed') });
const user = ({ outsider }: Tenant) => ({ user_ids: [outsider.id] });
const presentInbox: Prepare = ({ inbox }) => ({ at: { id: inbox } });
const presentTeam: Prepare = ({ team }) => ({ at: { id: team } });

/** Requests about what administrators set up. */
export const accountOperations: Record<string, Prepare> = {
  'GET /api/v1/accounts/:account_id': nothing,
  'PATCH /api/v1/accounts/:account_id': ({ maker }) => ({
    body: { llm: { base_url: 'http://127.0.0.1:9/v1', model: maker.text('model') } },
  }),

  'GET inboxes': nothing,
  'GET inboxes/:id': presentInbox,
  'POST inboxes': (home) => ({ body: renamed(home) }),
  'PATCH inboxes/:id': on(newInbox, renamed),
  'DELETE inboxes/:id': on(newInbox),
  'GET inboxes/:id/assignable_agents': presentInbox,
  'GET inboxes/:id/members': presentInbox,
  'POST inboxes/:id/members': on(newInbox, user),
  'PATCH inboxes/:id/members': on(newInbox, user),
  'DELETE inboxes/:id/members': on(newInbox, ({ member }) => ({ user_ids: [member.id] })),
  'GET inbox_members/:inbox_id': ({ inbox }) => ({ at: { inbox_id: inbox } }),
  'POST inbox_members': async (home) => ({ body: { inbox_id: await newInbox(home), ...user(home) } }),
  'PATCH inbox_members': async (home) => ({ body: { inbox_id: await newInbox(home), ...user(home) } }),
  'DELETE inbox_members': async (home) => ({
    body: { inbox_id: await newInbox(home), user_ids: [home.member.id] },
  }),
  'GET inboxes/:id/agent_bot': presentInbox,
  'POST inboxes/:id/rotate_identity_secret': on(newInbox),
  'POST inboxes/:id/set_agent_bot': on(newInbox, async (home) => ({ agent_bot: await newBot(home) })),

  'GET agent_bots': nothing,
  'GET agent_bots/:id': ({ bot }) => ({ at: { id: bot.id } }),
  'POST agent_bots': (home) => ({ body: { ...renamed(home), outgoing_url: 'https://127.0.0.1:9/' } }),
  'PATCH agent_bots/:id': on(newBot, renamed),
  'POST agent_bots/:id/reset_access_token': on(newBot),
  'POST agent_bots/:id/reset_secret': on(newBot),
  'POST agent_bots/:id/release': on(newBot),
  'DELETE agent_bots/:id': on(newBot),
  'GET agent_bots/:id/usage': ({ bot }) => ({ at: { id: bot.id } }),
  'POST agent_bots/:id/try': on(newAiBot, () => ({ question: 'Hello?' })),
  'POST agent_bots/:id/calls': on(newAiBot, () => ({ name: 'kb.search', input: { query: 'Hello?' } })),
  'POST agent_bots/:id/evals': on(newBot, () => ({ results: [{ question: 'Hi', passed: true, got: 'no reply' }] })),
  'GET agent_bots/:id/unanswered': ({ bot }) => ({ at: { id: bot.id } }),
  'GET agent_bots/:id/runs': ({ bot }) => ({ at: { id: bot.id } }),
  'GET runs': nothing,
  'GET runs/:id': ({ run }) => ({ at: { id: run } }),
  'POST runs/:id/replay': ({ run }) => ({ at: { id: run } }),

  'GET plugins': nothing,
  'POST articles/import': ({ maker }) => ({
    body: {
      file: JSON.stringify({ title: maker.text('article'), content: maker.text('content') }),
      file_name: 'articles.jsonl',
    },
  }),
  'GET articles/search': ({ maker }) => ({ query: `q=${encodeURIComponent(maker.text('question'))}` }),

  'GET labels': nothing,
  'POST labels': ({ maker }) => ({ body: { title: maker.text('label').toLowerCase().replaceAll(' ', '-') } }),
  'PATCH labels/:id': on(newLabel, ({ maker }) => ({ description: maker.text('description') })),
  'DELETE labels/:id': on(newLabel),

  'GET custom_filters': nothing,
  'GET custom_filters/:id': ({ customFilter }) => ({ at: { id: customFilter } }),
  'POST custom_filters': ({ maker }) => ({ body: { name: maker.text('view'), query: { q: maker.text('value') } } }),
  'PATCH custom_filters/:id': onFilter(renamed),
  'DELETE custom_filters/:id': onFilter(),

  'GET bulk_actions/:id': ({ bulkAction }) => ({ at: { id: bulkAction } }),
  'POST bulk_actions': async ({ maker, inbox }) => ({
    body: { type: 'Conversation', ids: [await maker.conversation(inbox)], fields: { status: 'resolved' } },
  }),
  'GET audit_log': nothing,
  'GET hooks': nothing,
  'GET hooks/:id': ({ hook }) => ({ at: { id: hook } }),
  'POST hooks': async ({ maker }) => ({
    body: {
      name: maker.text('hook'),
      agent_bot_id: await maker.hookedBot(),
      automation_id: null,
      inbox_id: null,
      handler: 'open',
    },
  }),
  'DELETE hooks/:id': on(newHook),
  'POST hooks/:id/rotate': on(newHook),
  'GET hooks/:id/requests': ({ hook }) => ({ at: { id: hook } }),
  'POST hooks/:id/requests/:request_id/resend': async ({ maker, hook }) => ({
    at: { id: hook, request_id: await maker.handledRequest(hook) },
  }),
  'GET hooks/:id/requests/:request_id': ({ hook, hookRequest }) => ({ at: { id: hook, request_id: hookRequest } }),
  'GET notifications': nothing,
  'GET notifications/unread_count': nothing,
  'POST notifications/read_all': ({ conversation }) => ({
    body: { primary_actor_type: 'Conversation', primary_actor_id: conversation },
  }),
  'PATCH notifications/:id': ({ notification }) => ({ at: { id: notification } }),
  'GET automations': nothing,
  'GET automations/:id': ({ automation }) => ({ at: { id: automation } }),
  'POST automations': ({ maker, inbox }) => ({
    body: {
      name: maker.text('automation'),
      plugin_id: 'rules',
      config: { rules: [] },
      inbox_ids: [inbox],
      active: false,
    },
  }),
  'PATCH automations/:id': on(newAutomation, ({ maker, inbox }) => ({
    name: maker.text('renamed'),
    inbox_ids: [inbox],
  })),
  'POST automations/:id/dry_run': ({ automation, inbox }) => ({
    at: { id: automation },
    body: { limit: 10, inbox_ids: [inbox] },
  }),
  'DELETE automations/:id': on(newAutomation),
  'GET macros': nothing,
  'GET macros/:id': ({ macro }) => ({ at: { id: macro } }),
  'POST macros': ({ maker }) => ({
    body: { name: maker.text('macro'), actions: [{ action_name: 'add_label', action_params: [maker.text('title')] }] },
  }),
  'PATCH macros/:id': on(newMacro, renamed),
  'DELETE macros/:id': on(newMacro),
  'POST macros/:id/execute': ({ macro, conversation }) => ({
    at: { id: macro },
    body: { conversation_ids: [conversation] },
  }),

  'GET teams': nothing,
  'GET teams/:id': presentTeam,
  'POST teams': (home) => ({ body: renamed(home) }),
  'PATCH teams/:id': on(newTeam, renamed),
  'DELETE teams/:id': on(newTeam),
  'GET teams/:id/team_members': presentTeam,
  'POST teams/:id/team_members': on(newTeam, user),
  'PATCH teams/:id/team_members': on(newTeam, user),
  'DELETE teams/:id/team_members': on(newTeam, ({ mate }) => ({ user_ids: [mate.id] })),

  'GET agents': nothing,
  'POST agents': ({ maker }) => {
    const name = maker.text('newcomer');
    return { body: { name, email: `${name.toLowerCase().replaceAll(' ', '.')}@example.com`, role: 'agent' } };
  },
  'POST agents/:id/resend_invitation': on(newInvitee),
  'POST agents/:id/sign_in_link': on(newAgent),
  'DELETE agents/:id/second_factor': on(async (home) => {
    const id = await newAgent(home);
    await home.maker.app.query(
      `INSERT INTO second_factors (user_id, sealed_secret, confirmed_at)
       SELECT person_id, 'sealed', now() FROM seats WHERE account_id = $1 AND id = $2`,
      [home.maker.accountId, id],
    );
    return id;
  }),
  'PATCH agents/:id': on(newAgent, () => ({ availability: 'busy' })),
  // The member changes its own availability.
  'PATCH agents/:id#own': ({ member }) => ({ at: { id: member.id }, body: { availability: 'busy' } }),
  'DELETE agents/:id': on(newAgent),

  'GET webhooks': nothing,
  'GET webhooks/:id': ({ webhook }) => ({ at: { id: webhook } }),
  'POST webhooks': ({ inbox }) => ({
    body: { url: 'http://127.0.0.1:9/', subscriptions: ['contact_created'], active: false, inbox_id: inbox },
  }),
  'PATCH webhooks/:id': on(newWebhook, ({ inbox }) => ({ name: 'Alpha webhook', inbox_id: inbox })),
  'GET webhooks/:id/deliveries': ({ webhook }) => ({ at: { id: webhook } }),
  'GET agent_bots/:id/deliveries': ({ bot }) => ({ at: { id: bot.id } }),
  'GET deliveries': nothing,
  'GET reports/activity': nothing,
  'GET deliveries/:id': ({ delivery }) => ({ at: { id: delivery } }),
  'GET events/:id/deliveries': ({ event }) => ({ at: { id: event } }),
  'POST deliveries/:id/resend': resendable,
  'POST webhooks/:id/pause': on(newWebhook),
  'POST webhooks/:id/resume': on(newWebhook),
  'POST webhooks/:id/test': on(newActiveWebhook, () => ({ event: 'contact_created' })),
  'POST webhooks/:id/retry': on(newActiveWebhook),
  'POST webhooks/:id/cancel_pending': on(newWebhook),
  'POST webhooks/:id/recover': on(newActiveWebhook, () => ({ since: 1_700_000_000 })),
  'GET webhooks/:id/recover/:recovery_id': recovering,
  'GET webhooks/:id/deliveries/count': ({ webhook }) => ({ at: { id: webhook } }),
  'POST webhooks/:id/deliveries/bulk': bulkCancelling,
  'GET webhooks/:id/deliveries/bulk/:bulk_id': inBulk,
  'DELETE webhooks/:id/deliveries/bulk/:bulk_id': inBulk,
  'POST agent_bots/:id/recover': on(newBot, () => ({ since: 1_700_000_000 })),
  'GET agent_bots/:id/recover/:recovery_id': recoveringBot,
  'GET webhooks/:id/health': ({ webhook }) => ({ at: { id: webhook } }),
  'POST agent_bots/:id/pause': on(newBot),
  'POST agent_bots/:id/resume': on(newBot),
  'POST agent_bots/:id/test': on(newBot, () => ({ event: 'message_created' })),
  'POST agent_bots/:id/retry': on(newBot),
  'POST agent_bots/:id/cancel_pending': on(newBot),
  'GET agent_bots/:id/health': ({ bot }) => ({ at: { id: bot.id } }),
  'POST webhooks/:id/rotate_secret': on(newWebhook),
  'GET webhooks/:id/secrets': ({ webhook }) => ({ at: { id: webhook } }),
  'DELETE webhooks/:id/secrets/:secret_id': endable,
  'POST webhooks/:id/share': on(newWebhook, () => ({ expires_in: 3_600 })),
  'GET webhooks/:id/shares': ({ webhook }) => ({ at: { id: webhook } }),
  'DELETE webhooks/:id/shares/:share_id': async ({ maker, webhook }) => ({
    at: { id: webhook, share_id: await maker.share(webhook) },
  }),
  'DELETE webhooks/:id': on(newWebhook),

  'GET events': nothing,
  'GET events/stream': nothing,
  'POST events/ticket': nothing,
};
