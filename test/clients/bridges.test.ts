import { expect } from 'chai';
import { playFlow, type Found, type FieldHome, type Step } from '../support/field-clients.ts';
import { connectSdk, type Sdk, type SdkError } from '../support/field-sdk.ts';

const account = { accountId: 1 };
const idsOf = (records: { id: number }[]): number[] => records.map(({ id }) => id);

/** A bridge: the JavaScript SDK, and requests that it makes without it. */
interface Bridge {
  sdk: Sdk;
  post: (path: string, body?: object, headers?: Record<string, string>) => Promise<Found>;
}

function connect({ url, token }: FieldHome): Bridge {
  const post: Bridge['post'] = async (path, body, headers = { api_access_token: token }) => {
    const response = await fetch(url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    const answer: Found = await response.json();
    expect(response.status, JSON.stringify(answer)).to.be.within(200, 299);
    return answer;
  };
  return { sdk: connectSdk(url, token), post };
}

interface Made {
  inbox: Found;
  contact: number;
  conversation: number;
  message: number;
  source: string;
}

const equalTo = (key: string, values: string[], more: object = { query_operator: 'OR' }): object => ({
  attribute_key: key,
  filter_operator: 'equal_to',
  values,
  ...more,
});

/** What Evolution API's module does for a chat of WhatsApp, from its set-up on. */
const evolution: Step<Bridge, Made>[] = [
  {
    name: 'looks for its inbox by name, and makes it with the URL that is to be told',
    play: async ({ sdk }, made, { app }) => {
      const { payload } = await sdk('inboxes.list', account);
      expect(payload.map(({ name }: Found) => name)).not.to.include('WhatsApp');
      const channel = { type: 'api', webhook_url: 'https://evolution.example.com/chatwoot/webhook/main' };
      const { id } = await sdk('inboxes.create', { ...account, data: { name: 'WhatsApp', channel } });
      const found = (await sdk('inboxes.list', account)).payload.find(({ name }: Found) => name === 'WhatsApp');
      expect(found.id).to.equal(id);
      made.inbox = found;
      const [webhook] = (await app.get('webhooks')).body.payload;
      expect(webhook).to.include({ url: channel.webhook_url, inbox_id: id, format: 'chatwoot' });
    },
    inDefault: {
      because: 'a webhook is made by itself, and its URL is refused here',
      play: async ({ sdk }, made, { app }) => {
        const channel = { type: 'api', webhook_url: 'https://evolution.example.com/chatwoot/webhook/main' };
        const refused = sdk('inboxes.create', { ...account, data: { name: 'WhatsApp', channel } });
        const { status, body } = await refused.then(
          () => expect.fail('it was made'),
          (error: SdkError) => error,
        );
        expect([status, body.details[0].path]).to.deep.equal([422, '/channel/webhook_url']);
        made.inbox = await sdk('inboxes.create', { ...account, data: { name: 'WhatsApp', channel: { type: 'api' } } });
        expect(made.inbox).to.include({ name: 'WhatsApp', channel_type: 'Channel::Api' });
        expect((await app.get('webhooks')).body.payload).to.deep.equal([]);
      },
    },
  },
  {
    name: 'finds nobody by a number without its plus, in both of its forms, and makes the contact',
    says: ['contact_created'],
    play: async ({ sdk, post }, made) => {
      const payload = [
        equalTo('phone_number', ['5511987654321']),
        equalTo('phone_number', ['551187654321'], { query_operator: null }),
      ];
      expect((await post('/api/v1/accounts/1/contacts/filter', { payload })).payload).to.deep.equal([]);
      const jid = '5511987654321@s.whatsapp.net';
      const data = { inbox_id: made.inbox.id, name: 'Ana', identifier: jid, phone_number: '+5511987654321' };
      const created = await sdk('contacts.create', { ...account, data: { ...data, avatar_url: null } });
      made.contact = created.payload.contact.id;
      const [found] = (await post('/api/v1/accounts/1/contacts/filter', { payload })).payload;
      expect(found).to.include({ id: made.contact, phone_number: '+5511987654321', identifier: jid });
    },
  },
  {
    name: 'changes its picture and name, whatever it sends beside them',
    says: ['contact_updated'],
    play: async ({ sdk }, { contact }) => {
      const data = { name: 'Ana Maria', avatar: null, avatar_url: 'https://pps.whatsapp.example/ana.jpg' };
      const { payload } = await sdk('contacts.update', { ...account, id: contact, data });
      expect(payload).to.include({ id: contact, name: 'Ana Maria', thumbnail: data.avatar_url });
    },
  },
  {
    name: 'finds no conversation of the contact, and begins one by ids as text',
    says: ['conversation_created'],
    play: async ({ sdk }, made) => {
      const { payload } = await sdk('contacts.listConversations', { ...account, id: made.contact });
      expect(payload).to.deep.equal([]);
      const data = { contact_id: String(made.contact), inbox_id: String(made.inbox.id), status: 'pending' };
      const opened = await sdk('conversations.create', { ...account, data });
      expect(opened).to.include({ status: 'pending', inbox_id: made.inbox.id });
      made.conversation = opened.id;
    },
  },
  {
    name: 'passes on what the customer wrote, with its own id and what it answers',
    says: ['message_created'],
    play: async ({ sdk }, made) => {
      const data = {
        content: 'Bom dia',
        message_type: 'incoming',
        attachments: undefined,
        private: false,
        source_id: 'WAID:3EB0C767D26A8D2A0B41',
        content_attributes: { in_reply_to: null, in_reply_to_external_id: null },
        source_reply_id: null,
      };
      const message = await sdk('messages.create', { ...account, conversationId: made.conversation, data });
      expect(message).to.include({ content: 'Bom dia', source_id: data.source_id, private: false });
      made.message = message.id;
    },
  },
  {
    name: 'finds the conversation again the next time',
    play: async ({ sdk }, made) => {
      const { payload } = await sdk('contacts.listConversations', { ...account, id: made.contact });
      const open = payload.filter(
        ({ status, inbox_id: inbox }: Found) => status !== 'resolved' && inbox === made.inbox.id,
      );
      expect(idsOf(open)).to.deep.equal([made.conversation]);
    },
  },
  {
    name: 'sends a picture of the customer without words',
    says: ['message_created'],
    play: async (_, { conversation }, { url, token }) => {
      const form = new FormData();
      form.append('message_type', 'incoming');
      form.append('attachments[]', new Blob([Buffer.from('GIF89a')], { type: 'image/gif' }), 'ana.gif');
      form.append('source_id', 'WAID:3EB0C767D26A8D2A0B42');
      const path = `${url}/api/v1/accounts/1/conversations/${conversation}/messages`;
      const response = await fetch(path, { method: 'POST', headers: { api_access_token: token }, body: form });
      const message: Found = await response.json();
      expect(response.status, JSON.stringify(message)).to.be.within(200, 201);
      expect(message.attachments[0].file_type).to.equal('image');
    },
  },
  {
    name: 'writes a private note where sending failed, which leaves the conversation as it is',
    says: ['message_created'],
    play: async ({ sdk }, { conversation }) => {
      const data = { content: 'Not sent', message_type: 'outgoing', private: true };
      expect(await sdk('messages.create', { ...account, conversationId: conversation, data })).to.include({
        private: true,
      });
    },
  },
  {
    name: 'deletes what the customer deleted',
    says: ['message_updated', 'message_deleted'],
    play: ({ sdk }, { conversation, message }) =>
      sdk('messages.delete', { ...account, conversationId: conversation, messageId: message }),
  },
  {
    name: 'reopens a conversation as pending',
    says: ['conversation_status_changed', 'conversation_status_changed'],
    play: async ({ sdk }, { conversation }) => {
      for (const status of ['resolved', 'pending'])
        await sdk('conversations.toggleStatus', { ...account, conversationId: conversation, data: { status } });
    },
  },
  {
    name: 'merges the two contacts that one number in Brazil may have become',
    says: ['contact_created', 'contact_deleted'],
    play: async ({ sdk, post }, { contact, inbox }) => {
      const data = { inbox_id: inbox.id, name: 'Ana', phone_number: '+551187654321' };
      const { payload } = await sdk('contacts.create', { ...account, data });
      const body = { base_contact_id: contact, mergee_contact_id: payload.contact.id };
      expect((await post('/api/v1/accounts/1/actions/contact_merge', body)).id).to.equal(contact);
    },
  },
];

const chat = '5511912345678@c.us';
const lid = '99887766@lid';
const keys = { chat: 'waha_whatsapp_chat_id', jid: 'waha_whatsapp_jid', lid: 'waha_whatsapp_lid' };
const standard = { attribute_model: 'standard', custom_attribute_type: '' };
const search = {
  ...account,
  payload: [
    equalTo(keys.chat, [chat, lid], { ...standard, query_operator: 'OR' }),
    equalTo('identifier', [chat, lid], { ...standard, query_operator: 'OR' }),
    equalTo(keys.jid, [chat], { ...standard, query_operator: 'OR' }),
    equalTo(keys.lid, [lid], { ...standard, query_operator: 'OR' }),
    equalTo('phone_number', ['+5511912345678', '5511912345678'], standard),
  ],
};

/** What WAHA's app does for a chat, from its set-up on. */
const waha: Step<Bridge, Made>[] = [
  {
    name: 'defines its custom attributes, and the next time finds them',
    play: async ({ sdk }) => {
      const setUp = async () => {
        const known = await sdk('customAttributes.list', { ...account, attributeModel: '1' });
        for (const key of Object.values(keys)) {
          const data = { attribute_key: key, attribute_display_name: key, attribute_display_type: 0 };
          const one = known.find(({ attribute_key: present }: Found) => present === key);
          if (one) await sdk('customAttributes.update', { ...account, id: one.id, data });
          else await sdk('customAttributes.create', { ...account, data: { ...data, attribute_model: 1 } });
        }
        return known.length;
      };
      expect([await setUp(), await setUp()]).to.deep.equal([0, 3]);
    },
    inDefault: {
      because: 'kinds are words, and the list is under `payload`',
      play: async ({ sdk }) =>
        expect((await sdk('customAttributes.list', { ...account, attributeModel: '1' })).payload).to.deep.equal([]),
    },
  },
  {
    name: 'finds nobody by any of the ids of a chat',
    play: async ({ sdk }) => expect((await sdk('contacts.filter', search)).payload).to.deep.equal([]),
  },
  {
    name: 'makes the contact by the public API, and reads it',
    says: ['contact_created'],
    play: async ({ sdk }, made, { identifier }) => {
      const data = { name: 'Bia', phone_number: '+5511912345678', custom_attributes: { [keys.chat]: chat } };
      const client = await sdk('client.contacts.create', { inboxIdentifier: identifier, data });
      const { payload } = await sdk('contacts.get', { ...account, id: client.id });
      expect(payload).to.include({ id: client.id, name: 'Bia' });
      made.contact = client.id;
      made.source = client.source_id;
    },
  },
  {
    name: 'keeps the ids of the chat as custom attributes',
    says: ['contact_updated'],
    play: async ({ sdk }, { contact }) => {
      const attributes = { [keys.chat]: chat, [keys.jid]: chat, [keys.lid]: lid };
      await sdk('contacts.update', { ...account, id: contact, data: { custom_attributes: attributes } });
      const { payload } = await sdk('contacts.get', { ...account, id: contact });
      expect(payload.custom_attributes).to.deep.equal(attributes);
    },
  },
  {
    name: 'finds the contact by them, and in its inbox the source id to go on with',
    play: async ({ sdk }, { contact, source }, { inbox }) => {
      const { payload } = await sdk('contacts.filter', search);
      expect(idsOf(payload)).to.deep.equal([contact]);
      const place = payload[0].contact_inboxes.find((one: Found) => one.inbox.id === inbox);
      expect(place.source_id).to.equal(source);
      const found = await sdk('contacts.search', { ...account, q: 'Bia' });
      expect(found.payload[0].contact_inboxes).to.deep.equal(payload[0].contact_inboxes);
    },
    inDefault: {
      because: '`contact_inboxes` are answered to who asks for them',
      play: async ({ sdk, post }, { contact, source }) => {
        const { payload } = await sdk('contacts.filter', search);
        expect(idsOf(payload)).to.deep.equal([contact]);
        expect(payload[0]).not.to.have.property('contact_inboxes');
        const path = '/api/v1/accounts/1/contacts/filter?include_contact_inboxes=true';
        const [asked] = (await post(path, { payload: search.payload })).payload;
        expect(asked.contact_inboxes[0].source_id).to.equal(source);
      },
    },
  },
  {
    name: 'begins a conversation by the public API, without a body',
    says: ['conversation_created'],
    play: async ({ sdk }, made, { identifier }) => {
      const { payload } = await sdk('contacts.listConversations', { ...account, id: made.contact });
      expect(payload).to.deep.equal([]);
      const place = { inboxIdentifier: identifier, contactIdentifier: made.source };
      made.conversation = (await sdk('client.conversations.create', place)).id;
      const listed = await sdk('contacts.listConversations', { ...account, id: made.contact });
      expect(idsOf(listed.payload)).to.deep.equal([made.conversation]);
    },
  },
  {
    name: 'passes on what was said on both sides, and how far it came',
    says: ['message_created', 'message_created', 'message_updated'],
    play: async ({ sdk }, { conversation }) => {
      const place = { ...account, conversationId: conversation };
      await sdk('messages.create', { ...place, data: { content: 'Oi', message_type: 'incoming' } });
      const reply = await sdk('messages.create', { ...place, data: { content: 'Olá', message_type: 'outgoing' } });
      const data = { status: 'delivered' };
      expect((await sdk('messages.update', { ...place, messageId: reply.id, data })).status).to.equal('delivered');
    },
  },
  {
    name: 'marks the conversation as read with a header that is no token of ours',
    says: ['message_updated'],
    play: ({ post }, { conversation, source }, { identifier }) =>
      post(
        `/public/api/v1/inboxes/${identifier}/contacts/${source}/conversations/${conversation}/update_last_seen`,
        {},
        { api_access_token: identifier },
      ),
  },
];

playFlow('Evolution API’s module', evolution, connect);
playFlow('WAHA’s app', waha, connect);
