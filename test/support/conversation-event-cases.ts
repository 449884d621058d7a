import type { EventCase } from './event-cases.ts';
import type { Prepare, Request } from './operations.ts';
import type { Tenant } from './world.ts';

const updated = 'conversation_updated > webhook';
const changed = 'conversation_status_changed > webhook';
const toBoth = 'message_created > webhook bot';

const soon = () => Math.floor(Date.now() / 1000) + 3600;

/** A request on a conversation in `status`, in the bot's inbox unless `where` names another. */
function from(status: string, body: object, where = ({ inbox }: Tenant): number | Promise<number> => inbox): Prepare {
  return async (home) => {
    const snooze = status === 'snoozed' ? { snoozed_until: soon() } : {};
    const id = await home.maker.conversation(await where(home), { status, ...snooze });
    return { at: { id }, body: { ...body } };
  };
}

const assigning = ({ maker, member }: Tenant) => maker.inbox({ members: [member], enable_auto_assignment: true });
const greeting = ({ maker, bot }: Tenant) => maker.inbox({ bot, greeting_enabled: true, greeting_message: 'Welcome' });

/** A message into a conversation like that of `from`. */
function say(message: object, status = 'pending', where?: (home: Tenant) => number | Promise<number>): Prepare {
  return async (home, world) => {
    const { at = {} } = await from(status, {}, where)(home, world);
    return { at: { conversation_id: at['id']! }, body: { content: 'Hello', message_type: 'outgoing', ...message } };
  };
}

const incoming = { message_type: 'incoming' };

async function messageOf(home: Tenant, body: object = {}): Promise<Request> {
  const conversationId = await home.maker.conversation(home.inbox);
  const messageId = await home.maker.message(conversationId);
  return { at: { conversation_id: conversationId, message_id: messageId }, body: { ...body } };
}

/** The events of operations on conversations, messages and contacts. */
export const conversationEvents: Record<string, EventCase[]> = {
  'POST conversations': [
    { says: ['conversation_created > webhook'], again: 'the same' },
    {
      when: 'with a first message',
      request: ({ inbox, contact }) => ({
        body: { inbox_id: inbox, contact_id: contact, message: { content: 'Hello' } },
      }),
      says: ['conversation_created > webhook', 'message_created > webhook'],
      again: 'the same',
    },
    {
      when: 'where conversations are assigned by themselves',
      request: async (home) => ({ body: { inbox_id: await assigning(home), contact_id: home.contact } }),
      says: ['conversation_created > webhook', updated],
      again: 'the same',
    },
  ],
  'PATCH conversations/:id': [{ says: [updated], again: 'nothing' }],
  'POST conversations/:id/toggle_priority': [{ says: [updated], again: 'nothing' }],
  'POST conversations/:id/custom_attributes': [{ says: [updated], again: 'nothing' }],
  'DELETE conversations/:id': [{ says: ['conversation_deleted > webhook'], again: 'refused' }],
  'PATCH conversations': [
    { as: 'bot', says: [changed, 'conversation_resolved > bot'], again: 'nothing' },
    {
      when: 'to another status',
      request: async ({ maker, inbox }) => ({ body: { id: await maker.conversation(inbox), status: 'open' } }),
      says: [changed],
      again: 'nothing',
    },
  ],
  'POST conversations/:id/toggle_status': [
    { says: [changed, 'conversation_resolved > bot'], again: 'nothing' },
    { when: 'to the same', request: from('open', { status: 'open' }), says: [], again: 'nothing' },
    { when: 'open to pending', request: from('open', { status: 'pending' }), says: [changed], again: 'nothing' },
    { when: 'pending to pending', request: from('pending', { status: 'pending' }), says: [], again: 'nothing' },
    { when: 'pending to open', request: from('pending', { status: 'open' }), says: [changed], again: 'nothing' },
    {
      when: 'open to snoozed',
      request: from('open', { status: 'snoozed', snoozed_until: soon() }),
      says: [changed],
      again: 'nothing',
    },
    {
      when: 'snoozed to another moment',
      request: from('snoozed', { status: 'snoozed', snoozed_until: soon() + 3600 }),
      says: [updated],
      again: 'nothing',
    },
    { when: 'snoozed to open', request: from('snoozed', { status: 'open' }), says: [changed], again: 'nothing' },
    {
      when: 'pending to open by the bot',
      request: from('pending', { status: 'open' }),
      as: 'bot',
      says: [changed, 'message_created > webhook'],
      again: 'refused',
    },
    {
      when: 'snoozed to resolved',
      request: from('snoozed', { status: 'resolved' }),
      says: [changed, 'conversation_resolved > bot'],
      again: 'nothing',
    },
    ...['open', 'pending'].map((status): EventCase => ({
      when: `resolved to ${status}`,
      request: from('resolved', { status }),
      says: [changed, 'conversation_opened > bot'],
      again: 'nothing',
    })),
    {
      when: 'resolved to snoozed',
      request: from('resolved', { status: 'snoozed', snoozed_until: soon() }),
      says: [changed, 'conversation_opened > bot'],
      again: 'nothing',
    },
    {
      when: 'resolved where no bot serves',
      request: from('open', { status: 'resolved' }, ({ maker }) => maker.inbox()),
      says: [changed],
      again: 'nothing',
    },
    {
      when: 'to open where conversations are assigned by themselves',
      request: from('pending', { status: 'open' }, assigning),
      says: [changed, updated],
      again: 'nothing',
    },
  ],
  'POST conversations/:id/assignments': [
    { says: [updated], again: 'nothing' },
    { when: 'to nobody, as before', request: from('open', { assignee_id: null }), says: [], again: 'nothing' },
  ],
  'POST conversations/:id/update_last_seen': [{ says: [], again: 'nothing' }],
  'POST conversations/:id/transcript': [{ says: [], again: 'nothing' }],
  'POST conversations/:id/labels': [
    { says: [updated], again: 'nothing' },
    { when: 'none, as before', request: from('open', { labels: [] }), says: [], again: 'nothing' },
  ],
  'POST conversations/:id/agent_bot': [
    { says: [updated], again: 'nothing' },
    { when: 'none, as before', request: from('open', { agent_bot_id: null }), says: [], again: 'nothing' },
  ],

  'POST conversations/:conversation_id/messages': [
    { when: 'by a person', request: say({}, 'open'), says: ['message_created > webhook'], again: 'the same' },
    {
      when: 'by a person, into a pending conversation',
      request: say({}),
      says: [changed, 'message_created > webhook'],
      again: ['message_created > webhook'],
    },
    {
      when: 'by a person, into a pending conversation that is assigned by itself when it opens',
      request: say({}, 'pending', assigning),
      says: [changed, 'message_created > webhook', updated],
      again: ['message_created > webhook'],
    },
    { when: 'by the bot', request: say({}), as: 'bot', says: [toBoth], again: 'the same' },
    { when: 'a note', request: say({ private: true }), says: [toBoth], again: 'the same' },
    { when: 'of the customer', request: say(incoming), says: [toBoth], again: 'the same' },
    {
      when: 'where no bot serves',
      request: say(incoming, 'open', ({ maker }) => maker.inbox()),
      says: ['message_created > webhook'],
      again: 'the same',
    },
  ],
  'PATCH conversations/:conversation_id/messages/:message_id': [
    { when: 'its status', says: ['message_updated > webhook'], again: 'nothing' },
    {
      when: 'its content',
      request: (home) => messageOf(home, { content: 'Better', content_attributes: { edited: true } }),
      says: ['message_updated > webhook bot'],
      again: 'nothing',
    },
  ],
  'POST conversations/:conversation_id/messages/:message_id/retry': [
    { says: ['message_updated > webhook channel'], again: 'refused' },
  ],
  'DELETE conversations/:conversation_id/messages/:message_id': [
    { says: ['message_updated > webhook bot', 'message_deleted > webhook'], again: 'nothing' },
  ],

  'POST contacts': [{ says: ['contact_created > webhook'], again: 'the same' }],
  'PATCH contacts/:id': [{ says: ['contact_updated > webhook'], again: 'nothing' }],
  'DELETE contacts/:id': [{ says: ['conversation_deleted > webhook', 'contact_deleted > webhook'], again: 'refused' }],
  'POST contacts/filter': [{ says: [], again: 'nothing' }],
  'POST conversations/filter': [{ says: [], again: 'nothing' }],
  'POST contacts/:id/labels': [{ says: ['contact_updated > webhook'], again: 'nothing' }],
  'POST actions/contact_merge': [
    { says: ['contact_deleted > webhook'], again: 'refused' },
    {
      when: 'of one who has more',
      request: async ({ maker, inbox }) => {
        const mergee = await maker.contact({ email: 'merged@example.com' });
        await maker.conversation(inbox, { contact_id: mergee });
        return { body: { base_contact_id: await maker.contact(), mergee_contact_id: mergee } };
      },
      says: [updated, 'contact_updated > webhook', 'contact_deleted > webhook'],
      again: 'refused',
    },
  ],
  'POST contacts/:id/contact_inboxes': [{ says: [], again: 'nothing' }],
  'POST contacts/:id/notes': [{ says: [], again: 'nothing' }],
};

/** Customers' messages with further effects on the conversation; each case works once. */
export const awakening: [when: string, request: Prepare, says: string[]][] = [
  ['resolved', say(incoming, 'resolved'), [changed, 'conversation_opened > bot', toBoth]],
  ['snoozed', say(incoming, 'snoozed'), [changed, toBoth]],
  ['greeted', say(incoming, 'open', greeting), [toBoth, toBoth]],
  [
    'resolved where conversations are assigned by themselves',
    say(incoming, 'resolved', assigning),
    [changed, 'message_created > webhook', updated],
  ],
];
