import { expect } from 'chai';
import { bodyOf, verifyBoth } from '../support/chatwoot-format.ts';
import { png, sendFiles } from '../support/files.ts';
import { startHttpsReceiver } from '../support/https-receiver.ts';
import { TestApp } from '../support/app.ts';
import { Receiver, type Received } from '../support/receiver.ts';
import { fail, Sending, type Body } from '../support/sending.ts';
import { BotHouse } from '../runs/house.ts';

const formats = (posts: readonly Received[]) =>
  posts.map(({ headers }) => (headers['x-chatwoot-signature'] ? 'chatwoot' : 'default'));

describe('bodies in the format of an endpoint', function () {
  this.timeout(60_000);
  const sending = Sending.use();

  const hook = (subscriptions: readonly string[] = ['message_created'], fields: object = {}): Promise<Body> =>
    sending.made('webhooks', { url: sending.receiver.url, subscriptions, format: 'chatwoot', ...fields });

  /** Makes what waits at the webhook due now. */
  async function hurry(webhook: { id: number }): Promise<void> {
    await sending.app.query('UPDATE deliveries SET next_attempt_at = now() WHERE endpoint_id = $1', [webhook.id]);
    await sending.app.query(
      'UPDATE lanes SET due_at = now() WHERE endpoint_id = $1 AND lease_token IS NULL AND due_at IS NOT NULL',
      [webhook.id],
    );
    sending.app.app.engine.poke();
  }

  const stored = (text: string) =>
    sending.app.query(
      `SELECT name FROM events WHERE concat(account_payload, bot_payload, chatwoot_payload) LIKE '%' || $1 || '%' ORDER BY id`,
      [text],
    );

  it('keep the format in which they were recorded when that is changed, over retries', async () => {
    const webhook = await hook();
    const id = await sending.conversation();
    sending.receiver.answerWith(fail);
    await sending.say(id, 'one');
    const [first] = await sending.receiver.waitFor(1);
    const { body } = await sending.app.patch(`webhooks/${webhook.id}`, { format: 'default' });
    expect(body).to.include({ id: webhook.id, format: 'default' });
    await sending.say(id, 'two');
    await sending.eventuallyIn(webhook, 'failing');
    sending.receiver.answerWith((_, response) => response.end());
    await sending.app.eventually(async () => {
      await hurry(webhook);
      return sending.receiver.received.length >= 3;
    });
    const [, again, second] = sending.receiver.received;
    expect([first!.text, 'chatwoot']).to.deep.equal([again!.text, formats([again!])[0]]);
    expect([second!.body['content'], formats([second!])[0]]).to.deep.equal(['two', 'default']);
    expect(again!.headers['x-chatwoot-delivery']).to.equal(first!.headers['x-chatwoot-delivery']);
    await sending.app.patch(`webhooks/${webhook.id}`, { format: 'chatwoot' });
    await sending.say(id, 'three');
    expect(formats((await sending.receiver.waitFor(4)).slice(3))).to.deep.equal(['chatwoot']);
  });

  it('are the same bytes when they are sent again or recovered, whatever has changed since', async () => {
    const since = Math.floor(Date.now() / 1000);
    const webhook = await hook();
    const id = await sending.conversation();
    await sending.say(id, 'As it was');
    const [first] = await sending.receiver.waitFor(1);
    const [delivered] = await sending.eventuallyIn(webhook, 'delivered');
    await sending.app.patch(`contacts/${bodyOf(first!).sender.id}`, { name: 'Renamed', email: 'new@example.com' });
    await sending.app.patch(`webhooks/${webhook.id}`, { format: 'default' });
    await sending.made(`deliveries/${delivered.id}/resend`, {}, 202);
    const [, resent] = await sending.receiver.waitFor(2);
    verifyBoth(webhook.secret, resent!);
    expect(resent!.text).to.equal(first!.text);
    const same = ['webhook-id', 'x-chatwoot-delivery'] as const;
    for (const name of same) expect(resent!.headers[name]).to.equal(first!.headers[name]);
    const shown = (await sending.app.get(`deliveries/${delivered.id}`)).body;
    expect(shown.attempts[0].request.body).to.equal(first!.text);

    await sending.app.query(`UPDATE deliveries SET state = 'exhausted', superseded = false WHERE id = $1`, [
      delivered.id,
    ]);
    await sending.app.query(`DELETE FROM deliveries WHERE endpoint_id = $1 AND trigger = 'resend'`, [webhook.id]);
    await sending.made(`webhooks/${webhook.id}/recover`, { since }, 202);
    const [, , recovered] = await sending.receiver.waitFor(3);
    verifyBoth(webhook.secret, recovered!);
    expect(recovered!.text).to.equal(first!.text);
  });

  it('lose the words of a message that is deleted, everywhere', async () => {
    const webhook = await hook(['message_created', 'message_updated', 'conversation_status_changed']);
    const id = await sending.conversation();
    sending.receiver.answerWith(fail);
    const secret = 'my card is 4711-0815';
    const message = await sending.say(id, secret);
    await sending.say(id, 'Good morning');
    await sending.app.patch(`conversations/${id}/messages/${message.id}`, { content: `${secret}!` });
    await sending.app.query(`DELETE FROM messages WHERE conversation_id = $1 AND content = 'Good morning'`, [id]);
    await sending.app.post(`conversations/${id}/toggle_status`, { status: 'resolved' });
    const told = await stored(secret);
    expect(told.map((event) => (event as { name: string }).name)).to.have.members([
      'message_created',
      'message_updated',
      'conversation_status_changed',
    ]);
    await sending.app.delete(`conversations/${id}/messages/${message.id}`);
    expect(await stored(secret)).to.deep.equal([]);
    sending.receiver.answerWith((_, response) => response.end());
    await sending.app.eventually(async () => {
      await hurry(webhook);
      const open = await sending.app.query(`SELECT FROM deliveries WHERE endpoint_id = $1 AND state <> 'delivered'`, [
        webhook.id,
      ]);
      return open.length === 0;
    });
    const later = sending.receiver.received.filter(({ text }) => !text.includes(secret)).map(bodyOf);
    const own = later.filter((body) => body.id === message.id && body.event === 'message_created');
    expect(own.at(-1)).to.deep.include({ content: '', content_attributes: { deleted: true } });
    expect(own.at(-1).conversation.messages[0]).to.deep.include({
      content: '',
      content_attributes: { deleted: true },
    });
    const changed = later.filter((body) => body.event === 'conversation_status_changed').at(-1);
    expect(changed.messages[0]).to.deep.include({ id: message.id, content: '' });
    expect(later.some((body) => body.content === 'Good morning')).to.equal(true);
  });

  it('lose its files too', async () => {
    await hook(['message_created', 'conversation_status_changed']);
    const id = await sending.conversation();
    const file = { name: 'passport.png', bytes: png(), type: 'image/png' };
    const fields = { content: 'This is me', message_type: 'incoming' };
    const sent = await sendFiles(sending.app, `conversations/${id}/messages`, fields, { files: [file] });
    expect(sent.status).to.equal(201);
    await sending.app.post(`conversations/${id}/toggle_status`, { status: 'resolved' });
    expect(await stored('passport.png')).to.deep.equal([
      { name: 'message_created' },
      { name: 'conversation_status_changed' },
    ]);
    expect((await sending.app.delete(`conversations/${id}/messages/${sent.body.id}`)).status).to.equal(200);
    expect(await stored('passport.png')).to.deep.equal([]);
  });

  it('go with their contact', async () => {
    await hook(['message_created', 'contact_updated']);
    const contact = await sending.made('contacts', { name: 'Forgotten', email: 'forget-me@example.com' });
    const inbox = await sending.made('inboxes', { name: 'Forgetful' });
    const { id } = await sending.made('conversations', { inbox_id: inbox.id, contact_id: contact.id });
    await sending.say(id, 'Hello');
    await sending.app.patch(`contacts/${contact.id}`, { name: 'Forgotten too' });
    await sending.receiver.waitFor(2);
    expect(await stored('forget-me@example.com')).to.have.lengthOf.at.least(3);
    expect((await sending.app.delete(`contacts/${contact.id}`)).status).to.equal(200);
    expect(await stored('forget-me@example.com')).to.deep.equal([]);
  });

  it('are made only of events that a subscriber wants in it', async () => {
    const inbox = await sending.made('inboxes', { name: 'Wanted' });
    await hook(['message_created'], { inbox_id: inbox.id });
    const contact = await sending.made('contacts', { name: 'Wanda' });
    const { id } = await sending.made('conversations', { inbox_id: inbox.id, contact_id: contact.id });
    const elsewhere = await sending.conversation();
    await sending.say(id, 'here');
    await sending.say(elsewhere, 'there');
    const rows = await sending.app.query<{ name: string; conversation_id: number }>(
      `SELECT name, conversation_id FROM events WHERE chatwoot_payload IS NOT NULL AND conversation_id IN ($1, $2)`,
      [id, elsewhere],
    );
    expect(rows).to.deep.equal([{ name: 'message_created', conversation_id: id }]);
  });

  it('are bounded, whatever contacts and conversations hold', async () => {
    await hook();
    const id = await sending.conversation();
    const notes = Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`note_${index}`, 'x'.repeat(1_000)]));
    const { contact } = (await sending.app.get(`conversations/${id}`)).body;
    await sending.say(id, 'small');
    const heavy = { custom_attributes: notes, additional_attributes: notes };
    expect((await sending.app.patch(`contacts/${contact.id}`, heavy)).status).to.equal(200);
    await sending.say(id, 'large');
    await sending.say(id, 'ü'.repeat(150_000));
    const [small, large, longest] = await sending.receiver.waitFor(3);
    expect(bodyOf(small!).sender.custom_attributes).to.deep.equal({});
    expect(Buffer.byteLength(large!.text)).to.be.below(10_000);
    expect(bodyOf(large!)).to.deep.include({ content: 'large' });
    expect(bodyOf(large!).conversation.messages).to.have.lengthOf(1);
    expect(bodyOf(longest!).content).to.have.lengthOf(150_000);
    expect(Buffer.byteLength(longest!.text)).to.be.below(310_000);
  });

  it('are sent by the process that comes after a restart, and made by one that never saw the webhook', async () => {
    const first = await TestApp.start({ engine: false });
    const receiver = await Receiver.start();
    let second: TestApp | null = null;
    try {
      const { databaseUrl } = first;
      const made = async (app: TestApp, path: string, body: object): Promise<Body> => (await app.post(path, body)).body;
      const inbox = await made(first, 'inboxes', { name: 'Two' });
      const contact = await made(first, 'contacts', { name: 'Ada' });
      const conversation = await made(first, 'conversations', { inbox_id: inbox.id, contact_id: contact.id });
      const path = `conversations/${conversation.id}/messages`;
      await made(first, path, { content: 'nobody listens', message_type: 'incoming' });
      second = await TestApp.start({ engine: false, databaseUrl });
      const webhook = { url: receiver.url, subscriptions: ['message_created'], format: 'chatwoot' };
      const { secret } = await made(second, 'webhooks', webhook);
      // The transaction is run again with the body that it lacked: under a key, too, it writes one message.
      const before = { content: 'before', message_type: 'incoming' };
      const answers = [];
      for (let time = 0; time < 2; time++) answers.push(await first.post(path, before, { 'idempotency-key': 'once' }));
      expect(answers.map(({ status, body }) => [status, body.id])).to.deep.equal([
        [201, answers[0]!.body.id],
        [201, answers[0]!.body.id],
      ]);
      await second.app.stop();
      await first.app.stop();
      second = await TestApp.start({ databaseUrl });
      const [post] = await receiver.waitFor(1);
      verifyBoth(secret, post!);
      expect(bodyOf(post!)).to.deep.include({ content: 'before', message_type: 'incoming' });
      await made(second, path, { content: 'after', message_type: 'incoming' });
      expect(bodyOf((await receiver.waitFor(2))[1]!).content).to.equal('after');
      const events = await second.query(`SELECT FROM events WHERE name = 'message_created'`);
      expect(events).to.have.lengthOf(3);
    } finally {
      await second?.stop();
      await receiver.close();
    }
  });
});

describe('bodies in the format of a bot inside the service', function () {
  this.timeout(60_000);

  it('are what the plugin forwards, also when that is sent again, and not what it gets itself', async () => {
    const https = await startHttpsReceiver();
    const house = await BotHouse.open({}, { shipped: ['webhook-bot'] });
    try {
      const { app } = house;
      const fields = { name: 'Proxy', kind: 'plugin', plugin_id: 'webhook-bot', outgoing_url: https.receiver.url };
      const { body: bot } = await app.post('agent_bots', fields);
      expect((await app.patch(`agent_bots/${bot.id}`, { format: 'chatwoot' })).body.format).to.equal('chatwoot');
      const { body: inbox } = await app.post('inboxes', { name: 'Proxied' });
      await app.post(`inboxes/${inbox.id}/set_agent_bot`, { agent_bot: bot.id });
      const { body: contact } = await app.post('contacts', { name: 'Carla' });
      const { body } = await app.post('conversations', { inbox_id: inbox.id, contact_id: contact.id });
      await app.post(`conversations/${body.id}/messages`, { content: 'Hello', message_type: 'incoming' });
      const [post] = await https.receiver.waitFor(1);
      verifyBoth(bot.secret, post!);
      expect(bodyOf(post!).conversation.messages[0]).to.deep.include({ content: 'Hello', message_type: 0 });
      const deliveries = async () => (await app.get(`agent_bots/${bot.id}/deliveries?state=delivered`)).body.payload;
      const [delivered] = await app.eventually(async () => {
        const found = await deliveries();
        return found.length > 0 && found;
      });
      const resent = await app.post(`deliveries/${delivered.id}/resend`);
      expect(resent.status, JSON.stringify(resent.body)).to.equal(202);
      const [, again] = await https.receiver.waitFor(2);
      expect(again!.text).to.equal(post!.text);
      const [run] = await app.query<{ outcome: string; body: Body }>(
        `SELECT r.outcome, e.bot_payload AS body FROM bot_runs r JOIN events e ON e.id = r.event_id WHERE r.conversation_id = $1`,
        [body.id],
      );
      expect([run!.outcome, run!.body.conversation.messages]).to.deep.equal(['ok', undefined]);
    } finally {
      await house.close();
      await https.close();
    }
  });

  it('are made of what it says itself, once, though its run presumed that nobody wants them', async () => {
    const receiver = await Receiver.start();
    const greeter = { on: { message_created: `ctx.reply('Good day')` }, permissions: { conversation: ['reply'] } };
    const house = await BotHouse.open({ greeter });
    try {
      const { app } = house;
      const { body: inbox } = await app.post('inboxes', { name: 'Greeted' });
      const [bot] = (await app.get('agent_bots')).body.payload.filter(({ name }: Body) => name === 'greeter');
      await app.post(`inboxes/${inbox.id}/set_agent_bot`, { agent_bot: bot.id });
      const { body: contact } = await app.post('contacts', { name: 'Carla' });
      const { body } = await app.post('conversations', { inbox_id: inbox.id, contact_id: contact.id });
      const hook = { url: receiver.url, subscriptions: ['message_created'], format: 'chatwoot' };
      const { secret } = (await app.post('webhooks', hook)).body;
      await app.post(`conversations/${body.id}/messages`, { content: 'Hello', message_type: 'incoming' });
      const posts = await receiver.waitFor(2);
      for (const post of posts) verifyBoth(secret, post);
      const said = posts.map(bodyOf);
      expect(said.map(({ content, sender }) => [content, sender.name, sender.type])).to.deep.equal([
        ['Hello', 'Carla', undefined],
        ['Good day', 'greeter', 'agent_bot'],
      ]);
      const messages = (await app.get(`conversations/${body.id}/messages`)).body.payload;
      expect(messages.map(({ id }: Body) => id)).to.deep.equal(said.map(({ id }) => id));
    } finally {
      await house.close();
      await receiver.close();
    }
  });
});
