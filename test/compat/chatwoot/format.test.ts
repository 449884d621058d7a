import { expect } from 'chai';
import { Profile } from '../../support/chatwoot.ts';
import { Sending } from '../../support/sending.ts';

describe('Chatwoot profile: what it makes is told in its words', function () {
  this.timeout(60_000);
  const sending = Sending.use();
  const profile = () => new Profile(sending.app);

  it('an inbox of the API, whose bridge hears a whole conversation, signed as theirs', async () => {
    const theirs = profile();
    const channel = { type: 'api', webhook_url: sending.receiver.url };
    const inbox = await theirs.succeed('POST', 'inboxes', { name: 'Bridge', channel });
    const { payload } = await theirs.succeed('POST', 'contacts', {
      name: 'Ada',
      inbox_id: inbox.id,
      identifier: 'ada@bridge',
    });
    const { contact, contact_inbox: place } = payload;
    const body = { inbox_id: String(inbox.id), contact_id: String(contact.id), status: 'pending' };
    const conversation = await theirs.succeed('POST', 'conversations', body);
    const message = await theirs.succeed('POST', `conversations/${conversation.id}/messages`, { content: 'Hello' });
    const post = await sending.app.eventually(async () =>
      sending.receiver.received.find((one) => one.body['event'] === 'message_created'),
    );
    expect(post.body).to.deep.include({ id: message.id, message_type: 'outgoing', content: 'Hello', private: false });
    const told = post.body['conversation'] as Record<string, Record<string, unknown>>;
    expect(told['id']).to.equal(conversation.id);
    expect(told['contact_inbox']).to.include({ source_id: place.source_id });
    expect(told['meta']!['sender']).to.include({ identifier: 'ada@bridge' });
    expect(told['messages']![0]).to.include({ id: message.id, message_type: 1 });
    expect(post.headers).to.include.keys('x-chatwoot-signature', 'x-chatwoot-timestamp', 'x-chatwoot-delivery');
  });

  it('webhooks and bots, unless they ask for ours', async () => {
    const theirs = profile();
    const hook = { url: sending.receiver.url, subscriptions: ['message_created'] };
    const formatOf = async (fields: object) => {
      const { payload } = await theirs.succeed('POST', 'webhooks', { ...hook, ...fields });
      return (await sending.app.get(`webhooks/${payload.webhook.id}`)).body.format;
    };
    expect(await formatOf({})).to.equal('chatwoot');
    expect(await formatOf({ format: 'default' })).to.equal('default');
    const { id } = await sending.made('webhooks', hook);
    expect((await theirs.succeed('PATCH', `webhooks/${id}`, { name: 'Renamed' })).payload.webhook.format).to.equal(
      'default',
    );
    const bot = { name: 'Helper', outgoing_url: 'https://127.0.0.1:9/bot' };
    const made = await theirs.succeed('POST', 'agent_bots', bot);
    expect((await sending.app.get(`agent_bots/${made.id}`)).body.format).to.equal('chatwoot');
    const platform = await theirs.succeed('POST', '/platform/api/v1/agent_bots', bot);
    expect((await sending.app.get(`/platform/api/v1/agent_bots/${platform.id}`)).body.format).to.equal('chatwoot');
    const inside = await theirs.post('agent_bots', { name: 'Inside', kind: 'plugin', plugin_id: 'faq' });
    expect(inside.status, JSON.stringify(inside.body)).to.equal(200);
  });
});
