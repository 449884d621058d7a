import type { Prepare, Request } from './operations.ts';
import type { Tenant } from './world.ts';

const present: Prepare = ({ conversation }) => ({ at: { id: conversation } });
const presentContact: Prepare = ({ contact }) => ({ at: { id: contact } });

function open({ maker, inbox, team }: Tenant): Promise<number> {
  return maker.conversation(inbox, { team_id: team });
}

/** A request about a conversation created for it. */
function onConversation(body?: (home: Tenant) => Request['body'] | Promise<Request['body']>): Prepare {
  return async (home) => ({ at: { id: await open(home) }, body: (await body?.(home)) ?? {} });
}

async function onMessage(home: Tenant): Promise<Request> {
  const conversationId = await open(home);
  return { at: { conversation_id: conversationId, message_id: await home.maker.message(conversationId) } };
}

async function onFailedMessage({ maker, member, team }: Tenant): Promise<Request> {
  const inbox = await maker.inbox({ members: [member], channel: { type: 'plugin', plugin_id: 'telegram' } });
  const conversationId = await maker.conversation(inbox, { team_id: team });
  const messageId = await maker.message(conversationId, { message_type: 'outgoing' });
  await maker.call('PATCH', `conversations/${conversationId}/messages/${messageId}`, { status: 'failed' });
  return { at: { conversation_id: conversationId, message_id: messageId } };
}

function say(message: object): Prepare {
  return async (home) => ({
    at: { conversation_id: await open(home) },
    body: { content: home.maker.text('message'), message_type: 'outgoing', ...message },
  });
}

const onContact = async ({ maker }: Tenant, body = {}): Promise<Request> => ({
  at: { id: await maker.contact() },
  body,
});

/** Requests about conversations, messages and contacts. */
export const conversationOperations: Record<string, Prepare> = {
  'GET conversations': () => ({}),
  'GET conversations/search': () => ({ query: 'q=message' }),
  'GET conversations/meta': () => ({}),
  'POST conversations/filter': () => ({
    body: { payload: [{ attribute_key: 'status', filter_operator: 'is_present' }] },
  }),
  'GET conversations/:id': present,
  'POST conversations': ({ inbox, contact, member, team }) => ({
    body: { inbox_id: inbox, contact_id: contact, assignee_id: member.id, team_id: team },
  }),
  'PATCH conversations/:id': onConversation(({ slaPolicy }) => ({ priority: 'high', sla_policy_id: slaPolicy })),
  'DELETE conversations/:id': onConversation(),
  'PATCH conversations': async (home) => ({ body: { id: await open(home), status: 'resolved' } }),
  'POST conversations/:id/toggle_status': onConversation(() => ({ status: 'resolved' })),
  'POST conversations/:id/toggle_priority': onConversation(() => ({ priority: 'high' })),
  'POST conversations/:id/custom_attributes': onConversation(() => ({ custom_attributes: { order: 7 } })),
  'POST conversations/:id/assignments': onConversation(({ member, team }) => ({
    assignee_id: member.id,
    team_id: team,
    agent_bot_id: null,
  })),
  'POST conversations/:id/update_last_seen': async (home) => ({
    at: { id: (await onMessage(home)).at!['conversation_id']! },
  }),
  'GET conversations/:id/labels': present,
  'GET conversations/:id/participants': present,
  'POST conversations/:id/transcript': onConversation(() => ({ email: 'customer@example.com' })),
  'GET conversations/:id/attachments': present,
  'POST conversations/:id/labels': onConversation(({ label }) => ({ labels: [label.title] })),
  'GET conversations/:id/agent_bot': present,
  'POST conversations/:id/agent_bot': onConversation(async ({ maker }) => ({ agent_bot_id: (await maker.bot()).id })),

  'GET conversations/:id/runs': present,
  'GET conversations/:conversation_id/messages': ({ conversation }) => ({ at: { conversation_id: conversation } }),
  'POST conversations/:conversation_id/messages': say({}),
  'POST conversations/:conversation_id/messages#incoming': say({ message_type: 'incoming' }),
  'POST conversations/:conversation_id/messages#private': say({ private: true }),
  'GET conversations/:conversation_id/messages/:message_id': onMessage,
  'PATCH conversations/:conversation_id/messages/:message_id': async (home) => ({
    ...(await onMessage(home)),
    body: { status: 'read' },
  }),
  'PATCH conversations/:conversation_id/messages/:message_id#content': async (home) => ({
    ...(await onMessage(home)),
    body: { content: home.maker.text('message') },
  }),
  'POST conversations/:conversation_id/messages/:message_id/retry': onFailedMessage,
  'DELETE conversations/:conversation_id/messages/:message_id': onMessage,

  'GET contacts': () => ({ query: 'include_contact_inboxes=true' }),
  'POST contacts/filter': () => ({
    body: { payload: [{ attribute_key: 'name', filter_operator: 'contains', values: ['contact'] }] },
  }),
  'GET search': () => ({ query: 'q=message' }),
  'GET contacts/search': () => ({ query: 'q=contact' }),
  'GET contacts/:id': presentContact,
  'POST contacts': ({ maker, inbox }) => ({ body: { name: maker.text('contact'), inbox_id: inbox } }),
  'POST contacts#nowhere': ({ maker }) => ({ body: { name: maker.text('contact') } }),
  'GET contacts/:id/contact_inboxes': presentContact,
  'POST contacts/:id/contact_inboxes': async (home) => ({
    ...(await onContact(home)),
    body: { inbox_id: home.inbox, source_id: home.maker.text('source') },
  }),
  'GET contacts/:id/contactable_inboxes': presentContact,
  'POST actions/contact_merge': async ({ maker }) => ({
    body: { base_contact_id: await maker.contact(), mergee_contact_id: await maker.contact() },
  }),
  'PATCH contacts/:id': ({ maker, ...home }) => onContact({ maker, ...home }, { name: maker.text('contact') }),
  'DELETE contacts/:id': async (home) => {
    const { at, ...request } = await onContact(home);
    await home.maker.conversation(home.inbox, { contact_id: at!['id'] });
    return { at: at!, ...request };
  },
  'GET contacts/:id/conversations': presentContact,
  'GET contacts/:id/notes': presentContact,
  'GET contacts/:id/attachments': presentContact,
  'GET contacts/:id/labels': presentContact,
  'POST contacts/:id/labels': async (home) => onContact(home, { labels: [home.label.title] }),
  'POST contacts/:id/notes': ({ maker, contact }) => ({ at: { id: contact }, body: { content: maker.text('note') } }),
};
