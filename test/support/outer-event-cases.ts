import type { EventCase } from './event-cases.ts';
import { clientOperations as operations, newFactor, recoveryCode, signInOf } from './outer-operations.ts';

const always: EventCase[] = [{ says: [], again: 'nothing' }];
const once: EventCase[] = [{ says: [], again: 'refused' }];
const updated = ['conversation_updated > webhook'];
const clients = '/public/api/v1/inboxes/:identifier/contacts';
const client = `${clients}/:contact_identifier`;
const own = `${client}/conversations/:conversation_id`;
const sessions = 'POST /public/api/v1/inboxes/:identifier/sessions';

/** The events of operations outside of accounts. */
export const outerEvents: Record<string, EventCase[]> = {
  'POST /api/v1/profile/reset_access_token': [{ says: [], as: 'member', again: 'nothing' }],
  'DELETE /api/v1/profile/access_tokens/:id': [
    { as: 'member', request: (_, world) => signInOf(world, 'member'), says: [], again: 'refused' },
  ],
  'POST /sign_in': always,
  'POST /sign_in/links': always,
  'POST /sign_in/oidc': [{ isRefused: true, says: [], again: 'refused' }],
  'POST /api/v1/profile/security/password': always,
  'DELETE /api/v1/profile/security/password': always,
  'DELETE /api/v1/profile/sign_ins': always,
  'POST /api/v1/profile/security/second_factor': always,
  'POST /api/v1/profile/security/second_factor/confirm': [
    { as: 'member', request: newFactor, says: [], again: 'refused' },
  ],
  'POST /api/v1/profile/security/second_factor/recovery_codes': [
    { as: 'member', request: recoveryCode, says: [], again: 'refused' },
  ],
  'DELETE /api/v1/profile/security/second_factor': always,
  'DELETE /sign_in': always,
  'POST /invitations/:token': once,

  [sessions]: [
    {
      when: 'of somebody new',
      as: 'nobody',
      says: ['contact_created > webhook', 'conversation_created > webhook', 'webwidget_triggered > webhook bot'],
      again: 'the same',
    },
    {
      when: 'of somebody known',
      as: 'guest',
      request: ({ widget }) => ({ at: { identifier: widget.identifier }, body: {} }),
      says: ['webwidget_triggered > webhook bot'],
      again: 'the same',
    },
  ],
  'POST /public/api/v1/inboxes/:identifier/messages': [
    { as: 'guest', says: ['message_created > webhook bot'], again: 'the same' },
  ],
  'POST /public/api/v1/inboxes/:identifier/update_last_seen': [
    {
      as: 'guest',
      request: async ({ maker, widget, guest }) => {
        const { payload } = await maker.call('GET', `contacts/${guest.contactId}/conversations`);
        await maker.message(payload[0].id, { message_type: 'outgoing' });
        return { at: { identifier: widget.identifier } };
      },
      says: ['message_updated > webhook'],
      again: 'nothing',
    },
  ],

  [`POST ${clients}`]: [{ as: 'nobody', says: ['contact_created > webhook'], again: 'the same' }],
  [`PATCH ${client}`]: [{ as: 'nobody', says: ['contact_updated > webhook'], again: 'nothing' }],
  [`POST ${client}/conversations`]: [{ as: 'nobody', says: ['conversation_created > webhook'], again: 'the same' }],
  [`POST ${own}/toggle_status`]: [
    {
      as: 'nobody',
      says: ['conversation_status_changed > webhook', 'conversation_resolved > bot'],
      again: 'nothing',
    },
  ],
  [`POST ${own}/toggle_typing`]: [
    { as: 'nobody', says: ['conversation_typing_on > webhook'], again: 'the same' },
    {
      when: 'no more',
      as: 'nobody',
      request: async (home, world) => ({
        ...(await operations[`POST ${own}/toggle_typing`]!(home, world)),
        body: { typing_status: 'off' },
      }),
      says: ['conversation_typing_off > webhook'],
      again: 'the same',
    },
  ],
  [`POST ${own}/update_last_seen`]: [{ as: 'nobody', says: ['message_updated > webhook'], again: 'nothing' }],
  [`POST ${own}/messages`]: [{ as: 'nobody', says: ['message_created > webhook'], again: 'the same' }],
  [`PATCH ${own}/messages/:message_id`]: [{ as: 'nobody', says: ['message_updated > webhook'], again: 'nothing' }],

  'POST /platform/api/v1/accounts': always,
  'PATCH /platform/api/v1/accounts/:id': always,
  'DELETE /platform/api/v1/accounts/:id': once,
  'POST /platform/api/v1/accounts/:id/account_users': once,
  'DELETE /platform/api/v1/accounts/:id/account_users': [
    ...once,
    {
      when: 'who has a conversation',
      request: async ({ maker }) => {
        const agent = await maker.agent();
        await maker.conversation(await maker.inbox({ members: [agent] }), { assignee_id: agent.id });
        return { at: { id: maker.accountId }, body: { user_id: agent.id } };
      },
      says: updated,
      again: 'refused',
    },
  ],
  'POST /platform/api/v1/users': once,
  'PATCH /platform/api/v1/users/:id': always,
  'POST /platform/api/v1/users/:id/reset_access_token': always,
  'DELETE /platform/api/v1/users/:id': [
    ...once,
    {
      when: 'who has a conversation',
      request: async ({ maker }) => {
        const agent = await maker.agent();
        await maker.conversation(await maker.inbox({ members: [agent] }), { assignee_id: agent.id });
        return { at: { id: agent.id } };
      },
      says: updated,
      again: 'refused',
    },
  ],
  'POST /platform/api/v1/agent_bots': always,
  'PATCH /platform/api/v1/agent_bots/:id': always,
  'POST /platform/api/v1/agent_bots/:id/reset_access_token': always,
  'POST /platform/api/v1/agent_bots/:id/reset_secret': always,
  'POST /platform/api/v1/agent_bots/:id/release': always,
  'POST /platform/api/v1/plugins': always,
  'PATCH /platform/api/v1/plugins/:plugin': always,
  'DELETE /platform/api/v1/plugins/:plugin': once,
  'POST /platform/api/v1/plugins/:plugin/approve': once,
  'POST /platform/api/v1/plugins/:plugin/reject': once,
  'POST /platform/api/v1/plugins/:plugin/enable': always,
  'POST /platform/api/v1/plugins/:plugin/disable': always,
  'DELETE /platform/api/v1/agent_bots/:id': [
    ...once,
    {
      when: 'that a conversation names',
      request: async ({ maker, inbox }, { app }) => {
        const system = { name: 'System', outgoing_url: 'https://127.0.0.1:9/' };
        const { id } = (await app.post('/platform/api/v1/agent_bots', system)).body;
        await maker.call('POST', `conversations/${await maker.conversation(inbox)}/agent_bot`, { agent_bot_id: id });
        return { at: { id } };
      },
      says: updated,
      again: 'refused',
    },
  ],
};
