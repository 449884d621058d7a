import { expect } from 'chai';
import { Profile } from '../../support/chatwoot.ts';
import { World } from '../../support/world.ts';

const url = 'http://127.0.0.1:9/bridge';

describe('Chatwoot profile: webhooks, inboxes and bots', function () {
  this.timeout(60_000);
  let world: World;
  let theirs: Profile;

  before(async () => {
    world = await World.build();
    theirs = new Profile(world.app);
  });

  after(() => world.stop());

  const channelWebhooks = async (inboxId: number) =>
    (await theirs.succeed('GET', 'webhooks')).payload.webhooks.filter(
      (one: { inbox_id: number }) => one.inbox_id === inboxId,
    );

  it('webhooks are wrapped as theirs when they are made, listed, read and changed', async () => {
    const subscriptions = [
      'message_created',
      'inbox_created',
      'message_created',
      'conversation_updated',
      'nonsense',
      5,
    ];
    const made = await theirs.succeed('POST', 'webhooks', { url, subscriptions, name: '', inbox_id: '' });
    const { webhook } = made.payload;
    expect(webhook).to.deep.include({ url, account_id: 1, subscriptions: ['message_created', 'conversation_updated'] });
    expect(webhook.secret).to.be.a('string');
    const { payload } = await theirs.succeed('GET', 'webhooks');
    expect(payload.webhooks.map(({ id }: { id: number }) => id)).to.include(webhook.id);
    const changed = await theirs.succeed('PATCH', `webhooks/${webhook.id}`, {
      webhook: { url: `${url}/2`, subscriptions: ['contact_created', 'inbox_updated'] },
    });
    expect(changed.payload.webhook).to.deep.include({ url: `${url}/2`, subscriptions: ['contact_created'] });
    expect((await theirs.call('DELETE', `webhooks/${webhook.id}`)).status).to.equal(200);
  });

  it('webhooks that name no events hear the usual, and those that name none of ours are refused', async () => {
    const { payload } = await theirs.succeed('POST', 'webhooks', { url });
    expect(payload.webhook.subscriptions).to.include.members(['message_created', 'webwidget_triggered']);
    for (const subscriptions of [['inbox_created'], [], 'message_created', [7]]) {
      const { status, body } = await theirs.post('webhooks', { url, subscriptions });
      expect([status, body.attributes], JSON.stringify(subscriptions)).to.deep.equal([422, ['subscriptions']]);
    }
    expect((await theirs.post('webhooks', { url: 'ftp://x', subscriptions: ['message_created'] })).status).to.equal(
      422,
    );
  });

  it('webhooks are all listed, whatever the pages of ours', async () => {
    for (let count = 0; count < 30; count += 1) await world.home.maker.webhook();
    const { count } = (await world.app.get('webhooks')).body.meta;
    const { payload } = await theirs.succeed('GET', 'webhooks');
    expect(payload.webhooks).to.have.length(count);
    expect(new Set(payload.webhooks.map(({ id }: { id: number }) => id)).size).to.equal(count);
  });

  it('an inbox of the API has its webhook made, and changed with it', async () => {
    const body = { name: 'Bridge', channel: { type: 'api', webhook_url: url }, greeting_message: '' };
    const inbox = await theirs.succeed('POST', 'inboxes/', body);
    expect(inbox).to.deep.include({ name: 'Bridge', channel_type: 'Channel::Api', webhook_url: url, avatar_url: '' });
    expect(inbox.inbox_identifier).to.be.a('string');
    const [webhook, ...more] = await channelWebhooks(inbox.id);
    expect(more).to.deep.equal([]);
    expect(webhook).to.deep.include({ url, inbox_id: inbox.id, active: true });
    expect(webhook.subscriptions).to.include.members(['message_created', 'message_updated', 'conversation_typing_on']);
    const patch = { name: 'Renamed', channel: { webhook_url: `${url}/2` } };
    expect((await theirs.succeed('PATCH', `inboxes/${inbox.id}`, patch)).name).to.equal('Renamed');
    expect((await channelWebhooks(inbox.id)).map((one: { url: string }) => one.url)).to.deep.equal([`${url}/2`]);
    expect((await theirs.succeed('GET', `inboxes/${inbox.id}/`)).name).to.equal('Renamed');
    const { payload } = await theirs.succeed('GET', 'inboxes/');
    expect(payload.map(({ name }: { name: string }) => name)).to.include('Renamed');
  });

  it('bots are listed bare, made without what ours do not have, and set and taken away', async () => {
    const body = {
      name: 'Helper',
      description: '',
      outgoing_url: 'https://127.0.0.1:9/bot',
      bot_type: 0,
      bot_config: {},
    };
    const bot = await theirs.succeed('POST', 'agent_bots', body);
    expect(bot).to.deep.include({
      name: 'Helper',
      bot_type: 'webhook',
      bot_config: {},
      thumbnail: '',
      system_bot: false,
    });
    expect(bot.access_token).to.be.a('string');
    const list = await theirs.succeed('GET', 'agent_bots');
    expect(list.map(({ id }: { id: number }) => id)).to.include(bot.id);
    const { inbox } = world.other;
    const mine = await world.home.maker.inbox();
    expect(
      (await theirs.succeed('POST', `inboxes/${mine}/set_agent_bot`, { agent_bot: String(bot.id) })).agent_bot.id,
    ).to.equal(bot.id);
    expect((await theirs.succeed('GET', `inboxes/${mine}/agent_bot`)).agent_bot.id).to.equal(bot.id);
    expect(await theirs.succeed('POST', `inboxes/${mine}/set_agent_bot`, {})).to.deep.equal({ agent_bot: null });
    expect((await theirs.post(`inboxes/${inbox}/set_agent_bot`, { agent_bot: bot.id })).status).to.equal(404);
    expect((await theirs.succeed('PATCH', `agent_bots/${bot.id}`, { name: 'Other', outgoing_url: '' })).name).to.equal(
      'Other',
    );
    expect((await theirs.call('DELETE', `agent_bots/${bot.id}`)).status).to.equal(200);
  });

  it('bots may come before their server: agents get their conversations until it is set', async () => {
    const { app, home } = world;
    const bot = await theirs.succeed('POST', 'agent_bots', { name: 'Serverless', outgoing_url: '' });
    expect([bot.outgoing_url, typeof bot.access_token]).to.deep.equal([null, 'string']);
    const { health, disabled_reason: reason } = (await app.get(`agent_bots/${bot.id}`)).body;
    expect([reason, health.state]).to.deep.equal(['It has no server', 'failing']);
    const inbox = await home.maker.inbox();
    await theirs.succeed('POST', `inboxes/${inbox}/set_agent_bot`, { agent_bot: bot.id });
    const begin = async () => {
      const id = await home.maker.conversation(inbox);
      await home.maker.message(id);
      const { status } = (await app.get(`conversations/${id}`)).body;
      const sent = await app.query('SELECT FROM deliveries WHERE endpoint_kind = $1 AND endpoint_id = $2', [
        'bot',
        bot.id,
      ]);
      return [status, sent.length > 0];
    };
    expect(await begin()).to.deep.equal(['open', false]);
    const { status } = await app.get('conversations', { api_access_token: bot.access_token });
    expect(status).to.equal(200);
    for (const outgoing of [{}, { outgoing_url: '' }])
      expect((await app.post('agent_bots', { name: 'Ours', ...outgoing })).status).to.equal(422);
    const patched = await app.patch(`agent_bots/${bot.id}`, { outgoing_url: null });
    expect([patched.status, patched.body.details[0].path]).to.deep.equal([422, '/outgoing_url']);
    await theirs.succeed('PATCH', `agent_bots/${bot.id}`, { outgoing_url: 'https://127.0.0.1:9/bot' });
    expect((await app.get(`agent_bots/${bot.id}`)).body.disabled_reason).to.equal(null);
    expect(await begin()).to.deep.equal(['pending', true]);
  });
});
