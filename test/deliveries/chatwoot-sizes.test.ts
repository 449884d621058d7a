import { expect } from 'chai';
import { bodyOf } from '../support/chatwoot-format.ts';
import { Sending, type Body } from '../support/sending.ts';
import { StatementLog } from '../support/statement-log.ts';
import { Widget } from '../support/widget.ts';

const long = `${'x'.repeat(2_047)}😀${'y'.repeat(140_000)}`;

describe('bodies in the format of an endpoint, in size', function () {
  this.timeout(60_000);
  let log: StatementLog;
  // Before the service makes connections.
  before(() => {
    log = new StatementLog();
  });
  const sending = Sending.use();
  after(() => log.close());

  const hook = (...subscriptions: string[]): Promise<Body> =>
    sending.made('webhooks', { url: sending.receiver.url, subscriptions, format: 'chatwoot' });

  const kept = (id: number) =>
    sending.app.query<{ name: string; bytes: number }>(
      `SELECT name, octet_length(chatwoot_payload::text) AS bytes FROM events
       WHERE conversation_id = $1 AND chatwoot_payload IS NOT NULL ORDER BY id`,
      [id],
    );

  it('show no message while a stranger types, however often, and none of what the stranger said of itself', async () => {
    await hook('conversation_typing_on', 'conversation_typing_off');
    const client = await Widget.create(sending.app, { channel_type: 'Channel::Api' });
    const { body: contact } = await client.call('POST', 'contacts', { name: 'Tina' });
    const at = `contacts/${contact.source_id}/conversations`;
    const { id } = (await client.call('POST', at, {})).body;
    expect((await client.call('POST', `${at}/${id}/messages`, { content: long })).status).to.equal(201);
    await client.call('POST', `${at}/${id}/toggle_typing`, { typing_status: 'on' });
    const notes = Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`note_${index}`, 'x'.repeat(1_000)]));
    await sending.app.patch(`contacts/${contact.id}`, { custom_attributes: notes });
    await client.call('POST', `${at}/${id}/toggle_typing`, { typing_status: 'off' });
    const posts = (await sending.receiver.waitFor(2)).map(bodyOf);
    for (const { conversation } of posts) expect(conversation.messages).to.deep.equal([]);
    expect(posts.map(({ user }) => user.name)).to.deep.equal(['Tina', 'Tina']);
    for (const { name, bytes } of await kept(id)) expect(bytes, name).to.be.below(8_192);
  });

  it('show the beginning of a long message where they are about another thing, and all of it where it is their own', async () => {
    await hook('message_created', 'conversation_status_changed');
    const id = await sending.conversation();
    await sending.say(id, long);
    await sending.app.post(`conversations/${id}/toggle_status`, { status: 'resolved' });
    const note = { content: 'A note', private: true, message_type: 'outgoing' };
    await sending.made(`conversations/${id}/messages`, note);
    const [own, changed, noted] = (await sending.receiver.waitFor(3)).map(bodyOf);
    expect([own.content, own.conversation.messages[0].content]).to.deep.equal([long, '']);
    const shown = `${'x'.repeat(2_047)}\uFFFD…`;
    expect(changed.messages[0].content === shown, 'changed').to.equal(true);
    expect([noted.content, noted.conversation.messages[0].content === shown]).to.deep.equal(['A note', true]);
    await sending.say(id, 'z'.repeat(2_048));
    await sending.app.post(`conversations/${id}/toggle_status`, { status: 'pending' });
    const pending = await sending.app.eventually(() => {
      const posts = sending.receiver.received.map(bodyOf);
      return Promise.resolve(
        posts.find(({ event, status }) => event === 'conversation_status_changed' && status === 'pending'),
      );
    });
    expect(pending.messages[0].content).to.equal('z'.repeat(2_048));
    for (const { name, bytes } of await kept(id))
      if (name !== 'message_created') expect(bytes, name).to.be.below(16_384);
  });

  it('lose the words of a deleted message in thousands of events that show it, a page at a time', async () => {
    await hook('message_created', 'conversation_status_changed');
    const id = await sending.conversation();
    const secret = 'my card is 4711-0815';
    const { id: message } = await sending.say(id, secret);
    await sending.app.post(`conversations/${id}/toggle_status`, { status: 'resolved' });
    await sending.app.query(
      `INSERT INTO events (account_id, name, conversation_id, account_payload, chatwoot_payload)
       SELECT account_id, name, conversation_id, account_payload, chatwoot_payload FROM events, generate_series(1, 2000)
       WHERE conversation_id = $1 AND name = 'conversation_status_changed'`,
      [id],
    );
    const statements = await log.during(async () => {
      const { status, body } = await sending.app.delete(`conversations/${id}/messages/${message}`);
      expect(status, JSON.stringify(body)).to.equal(200);
    });
    const rewritten = statements.filter((text) => text.startsWith('UPDATE events e SET account_payload'));
    expect(rewritten).to.have.lengthOf.within(20, 22);
    const left = await sending.app.query(
      `SELECT FROM events WHERE conversation_id = $1 AND position($2 IN concat(account_payload, chatwoot_payload)) > 0`,
      [id, secret],
    );
    expect(left).to.have.lengthOf(0);
    const blanked = await sending.app.query(
      `SELECT FROM events WHERE conversation_id = $1 AND chatwoot_payload #>> '{messages,0,content_attributes,deleted}' = 'true'`,
      [id],
    );
    expect(blanked).to.have.lengthOf(2_001);
  });
});
