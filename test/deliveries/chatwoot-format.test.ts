import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { sampleChatwootBody } from '../../src/events/formats/sample.ts';
import { bodyOf, bridges, isSignedLikeTheirs, verifyBoth } from '../support/chatwoot-format.ts';
import { png, sendFiles } from '../support/files.ts';
import { startHttpsReceiver } from '../support/https-receiver.ts';
import { Receiver, verify, type Received } from '../support/receiver.ts';
import { Sending, type Body } from '../support/sending.ts';
import { Widget } from '../support/widget.ts';

const phone = '+5511999990000';
const identifier = '5511999990000@s.whatsapp.net';
const everything = [
  'contact_created',
  'contact_updated',
  'conversation_created',
  'conversation_updated',
  'conversation_status_changed',
  'conversation_typing_on',
  'conversation_typing_off',
  'message_created',
  'message_updated',
  'webwidget_triggered',
];

describe('bodies as receivers of the field read them', function () {
  this.timeout(60_000);
  const sending = Sending.use();

  const hook = (subscriptions: readonly string[], fields: object = {}): Promise<Body> =>
    sending.made('webhooks', { url: sending.receiver.url, subscriptions, format: 'chatwoot', ...fields });

  async function begin() {
    const inbox = await sending.made('inboxes', { name: 'WhatsApp' });
    await sending.app.query('DELETE FROM contacts WHERE identifier = $1', [identifier]);
    const contact = await sending.made('contacts', {
      name: 'Carla',
      email: 'carla@example.com',
      phone_number: phone,
      identifier,
      inbox_id: inbox.id,
      source_id: 'carla-in-whatsapp',
      custom_attributes: { vip: true },
    });
    const conversation = await sending.made('conversations', { inbox_id: inbox.id, contact_id: contact.id });
    const path = `conversations/${conversation.id}`;
    const say = (content: string, fields: object = {}): Promise<Body> =>
      sending.made(`${path}/messages`, { content, message_type: 'outgoing', ...fields });
    return { inbox, contact, id: conversation.id as number, path, say };
  }

  it("hold what Evolution API's module reads of an agent's words, its files and its deletion", async () => {
    const { secret } = await hook(['message_created', 'message_updated']);
    const { app, receiver } = sending;
    const { id, path, say } = await begin();
    const plain = await say('Hello', { source_id: 'WAID:1' });
    const file = { name: 'photo.png', bytes: png(), type: 'image/png' };
    const { body: pictured } = await sendFiles(
      app,
      `${path}/messages`,
      { content: 'See', message_type: 'outgoing' },
      { files: [file] },
    );
    const note = await say('Only for us', { private: true });
    await app.delete(`${path}/messages/${plain.id}`);
    const posts = await receiver.waitFor(4);
    for (const post of posts) verifyBoth(secret, post);
    const url = pictured.attachments[0].data_url;
    const common = {
      isNote: false,
      type: 'outgoing',
      deletes: false,
      inbox: 'WhatsApp',
      conversation: id,
      to: identifier,
      phone,
      source: 'carla-in-whatsapp',
    };
    const spoken = { by: 'Administrator', source: null, files: undefined };
    const admin = bodyOf(posts[0]!).sender.name;
    expect(posts.map((post) => bridges.evolution(bodyOf(post)))).to.deep.equal([
      {
        ...common,
        event: 'message_created',
        id: plain.id,
        content: 'Hello',
        messages: [{ ...spoken, by: admin, id: plain.id, source: plain.source_id }],
      },
      {
        ...common,
        event: 'message_created',
        id: pictured.id,
        content: 'See',
        messages: [{ ...spoken, by: admin, id: pictured.id, files: [[url, 'image']] }],
      },
      {
        ...common,
        event: 'message_created',
        isNote: true,
        id: note.id,
        content: 'Only for us',
        // The newest public word: a note must not pass for an answer.
        messages: [{ ...spoken, by: admin, id: pictured.id, files: [[url, 'image']] }],
      },
      {
        ...common,
        event: 'message_updated',
        deletes: true,
        id: plain.id,
        content: '',
        messages: [{ ...spoken, by: admin, id: plain.id, source: plain.source_id }],
      },
    ]);
    expect(bridges.waha(bodyOf(posts[1]!)).files).to.deep.equal([[url, 'image']]);
    expect(Buffer.from(await (await fetch(url)).arrayBuffer())).to.deep.equal(file.bytes);
  });

  it("hold what WAHA's app reads", async () => {
    await hook(['message_created']);
    const { say } = await begin();
    const first = await say('One', { content_attributes: { in_reply_to: 4711 } });
    const [post] = await sending.receiver.waitFor(1);
    expect(bridges.waha(bodyOf(post!))).to.deep.include({ type: 'text', answers: 4711, files: undefined });
    expect(Math.floor(bridges.waha(bodyOf(post!)).at / 1000)).to.equal(first.created_at);
  });

  it("hold what Botpress' bridge reads, which answers with the bot's token", async () => {
    const secure = await startHttpsReceiver();
    try {
      const server = { name: 'Bridge', outgoing_url: secure.receiver.url, format: 'chatwoot' };
      const bot = await sending.made('agent_bots', server);
      expect(bot.format).to.equal('chatwoot');
      const { inbox, contact } = await begin();
      await sending.made(`inboxes/${inbox.id}/set_agent_bot`, { agent_bot: bot.id }, 200);
      const { id } = await sending.made('conversations', { inbox_id: inbox.id, contact_id: contact.id });
      await sending.say(id, 'Anybody?');
      const [post] = await secure.receiver.waitFor(1);
      verifyBoth(bot.secret, post!);
      const read = bridges.botpress(bodyOf(post!));
      expect(read).to.deep.equal({
        isCustomer: true,
        content: 'Anybody?',
        status: 'pending',
        account: 1,
        conversation: id,
      });
      expect(bodyOf(post!).sender).to.include({ phone_number: phone, identifier, name: 'Carla' });
      const answer = { content: 'Me', message_type: 'outgoing' };
      const { status } = await sending.app.post(`conversations/${read.conversation}/messages`, answer, {
        api_access_token: bot.access_token,
      });
      expect(status).to.equal(201);
      const own = bodyOf((await secure.receiver.waitFor(2))[1]!);
      expect([own.message_type, own.sender, own.conversation.messages[0].sender.type]).to.deep.equal([
        'outgoing',
        { id: bot.id, name: 'Bridge', type: 'agent_bot' },
        'agent_bot',
      ]);
      await sending.app.post(`conversations/${id}/toggle_status`, { status: 'resolved' });
      const resolved = bodyOf((await secure.receiver.waitFor(3))[2]!);
      expect(resolved).to.deep.include({ event: 'conversation_resolved', id, status: 'resolved' });
      expect(resolved.messages[0].content).to.equal('Me');
    } finally {
      await secure.close();
    }
  });

  it('come for every event that it knows, with the names that its clients subscribe to', async () => {
    const { secret } = await hook(everything);
    const { app, receiver } = sending;
    const client = await Widget.create(app, { channel_type: 'Channel::Api' });
    const { body: contact } = await client.call('POST', 'contacts', { name: 'Tina' });
    const at = `contacts/${contact.source_id}/conversations`;
    const { id } = (await client.call('POST', at, {})).body;
    await client.call('POST', `${at}/${id}/toggle_typing`, { typing_status: 'on' });
    await client.call('POST', `${at}/${id}/toggle_typing`, { typing_status: 'off' });
    await client.call('POST', `${at}/${id}/messages`, { content: 'Hi' });
    await app.post(`conversations/${id}/toggle_status`, { status: 'resolved' });
    await app.patch(`conversations/${id}`, { priority: 'high' });
    await app.patch(`contacts/${contact.id}`, { name: 'Tina T.' });
    await (await Widget.create(app)).enter({ name: 'Visitor' });
    const named = (name: string): Received[] => receiver.received.filter(({ body }) => body['event'] === name);
    const wanted = everything.filter((name) => name !== 'message_updated');
    await app.eventually(() => Promise.resolve(wanted.every((name) => named(name).length > 0)));
    for (const post of receiver.received) verifyBoth(secret, post);
    const one = (name: string): Body => bodyOf(named(name)[0]!);

    expect(one('contact_created')).to.include({ id: contact.id, name: 'Tina', event: 'contact_created' });
    expect(one('contact_created').account).to.deep.include({ id: 1 });
    expect(one('contact_updated').changed_attributes).to.deep.equal([
      { name: { previous_value: 'Tina', current_value: 'Tina T.' } },
    ]);
    expect(one('conversation_created')).to.deep.include({ id, status: 'open', labels: [], messages: [] });
    expect(one('conversation_created').contact_inbox).to.include({ source_id: contact.source_id });
    expect(one('conversation_created').meta).to.deep.include({ assignee: null, team: null });
    expect(one('conversation_created').meta.sender).to.include({ id: contact.id, name: 'Tina', type: 'contact' });
    expect(one('conversation_typing_on')).to.include({ is_private: false });
    expect(one('conversation_typing_on').user).to.include({ id: contact.id, name: 'Tina' });
    expect(one('conversation_typing_off').conversation.id).to.equal(id);
    expect(one('message_created')).to.deep.include({ message_type: 'incoming', content: 'Hi', private: false });
    expect(one('message_created').conversation.messages[0]).to.include({ message_type: 0, sender_type: 'Contact' });
    expect(one('message_created').id).to.be.a('number');
    const changed = one('conversation_status_changed');
    expect([changed.status, changed.messages[0].content]).to.deep.equal(['resolved', 'Hi']);
    expect(changed.changed_attributes).to.deep.include({
      status: { previous_value: 'open', current_value: 'resolved' },
    });
    expect(one('conversation_updated')).to.include({ priority: 'high' });
    const session = one('webwidget_triggered');
    expect(session).to.deep.include({ current_conversation: null, event_info: {} });
    expect([session.contact.name, session.inbox.name]).to.deep.equal(['Visitor', 'Shop']);
  });

  it('know a contact by the identifier that was just made for it', async () => {
    await hook(['conversation_created', 'message_created']);
    const inbox = await sending.made('inboxes', { name: 'New to it' });
    const contact = await sending.made('contacts', { name: 'Nina' });
    const message = { content: 'First' };
    await sending.made('conversations', { inbox_id: inbox.id, contact_id: contact.id, message });
    const [created, said] = (await sending.receiver.waitFor(2)).map(bodyOf);
    const [known] = (await sending.app.get(`contacts/${contact.id}/contact_inboxes`)).body.payload;
    expect(created.contact_inbox.source_id).to.equal(known.source_id);
    expect(said.conversation.contact_inbox.source_id).to.equal(known.source_id);
    expect(created.messages[0].content).to.equal('First');
  });

  it('stand beside ours, which stays as it is and small', async () => {
    const plain = await Receiver.start();
    try {
      const ours = await sending.made('webhooks', { url: plain.url, subscriptions: ['message_created'] });
      expect(ours.format).to.equal('default');
      await hook(['message_created']);
      const { id } = await begin();
      await sending.say(id, 'x'.repeat(40));
      const [post] = await plain.waitFor(1);
      verify(ours.secret, post!);
      expect(Buffer.byteLength(post!.text)).to.be.at.most(760);
      expect(post!.body['id']).to.be.a('string');
      expect(Object.keys(post!.headers).filter((name) => name.startsWith('x-chatwoot'))).to.deep.equal([]);
      const [theirs] = await sending.receiver.waitFor(1);
      expect(String(bodyOf(theirs!).id)).to.equal(post!.body['id']);
    } finally {
      await plain.close();
    }
  });

  it('are tried by a test, also where the format has no body of its own', async () => {
    const { id, secret } = await hook(['message_created']);
    for (const event of [...everything, 'sla_breached']) await sending.made(`webhooks/${id}/test`, { event }, 202);
    const posts = await sending.receiver.waitFor(everything.length + 1);
    for (const post of posts) verifyBoth(secret, post);
    expect(posts.map(({ body }) => body['event'])).to.have.members([...everything, 'sla_breached']);
    const sample = bodyOf(posts.find(({ body }) => body['event'] === 'message_created')!);
    expect(bridges.evolution(sample)).to.deep.include({ phone: '+14155552671', type: 'incoming', isNote: false });
    expect(posts.every(({ headers }) => headers['webhook-test'] === 'true')).to.equal(true);
  });

  it('are shown as they are in docs/webhooks.md', () => {
    const page = readFileSync(join(import.meta.dirname, '../../docs/webhooks.md'), 'utf8');
    const [, shown = '{}'] = /## Receivers made for Chatwoot[^]*?```json\n([^]*?)```/.exec(page) ?? [];
    const sample = sampleChatwootBody('message_created', { id: 1, name: 'Example Ltd' });
    expect(JSON.parse(shown)).to.deep.equal(JSON.parse(sample!));
  });

  it('are signed by the new secret alone from its rotation on, in their way', async () => {
    const { id, secret: old } = await hook(['message_created']);
    const { secret } = (await sending.app.post(`webhooks/${id}/rotate_secret`)).body;
    const { say } = await begin();
    await say('After');
    const [post] = await sending.receiver.waitFor(1);
    verifyBoth(secret, post!);
    verify(old, post!);
    expect(isSignedLikeTheirs(old, post!)).to.equal(false);
  });

  it('are refused by other names, and for bots without a server', async () => {
    const url = sending.receiver.url;
    const body = { url, subscriptions: ['message_created'], format: 'chatwood' };
    const { status, body: answer } = await sending.app.post('webhooks', body);
    expect([status, answer.details[0].path]).to.deep.equal([422, '/format']);
    const faq = { name: 'F', kind: 'plugin', plugin_id: 'faq', format: 'chatwoot' };
    const refused = await sending.app.post('agent_bots', faq);
    expect([refused.status, refused.body.details[0].path]).to.deep.equal([422, '/format']);
  });
});
