import { expect } from 'chai';
import { TestApp, type Answer } from '../../support/app.ts';
import { botUrl, Platform, platformBase } from '../../support/platform.ts';

describe('system bots', () => {
  let app: TestApp;
  let platform: Platform;

  before(async () => {
    app = await TestApp.start({ engine: false });
    platform = new Platform(app);
    await app.events();
  });

  after(() => app.stop());

  it('are there for every account, which is told neither where they live nor how they are set up', async () => {
    const bot = await platform.create('agent_bots', { name: 'House bot', outgoing_url: botUrl });
    expect(bot).to.deep.include({ account_id: null, system: true, kind: 'webhook', outgoing_url: botUrl });
    expect(bot.access_token).to.match(/^swb_/);
    expect(bot.secret).to.match(/^whsec_/);
    const { access_token: _, secret: __, ...rest } = bot;
    expect((await app.get(`${platformBase}/agent_bots/${bot.id}`)).body).to.deep.equal(rest);
    const seen = await app.get(`agent_bots/${bot.id}`);
    expect(seen.body).to.deep.equal({ ...rest, outgoing_url: null });
    expect((await app.patch(`agent_bots/${bot.id}`, { name: 'Mine' })).status).to.equal(403);
    expect((await app.delete(`agent_bots/${bot.id}`)).status).to.equal(403);

    const plugin = await platform.create('agent_bots', {
      name: 'FAQ',
      kind: 'plugin',
      plugin_id: 'faq',
      config: { human_words: ['boss'] },
    });
    expect(plugin).not.to.have.property('secret');
    expect(plugin.config.human_words).to.deep.equal(['boss']);
    expect((await app.get(`agent_bots/${plugin.id}`)).body.config).to.deep.equal({});
    const list = await app.get(`${platformBase}/agent_bots`);
    expect(list.body.payload.map(({ id }: { id: number }) => id)).to.include.members([bot.id, plugin.id]);
    expect(list.body.payload.every(({ system }: { system: boolean }) => system)).to.equal(true);
    expect(await app.eventNames()).to.deep.equal([]);
  });

  it('are changed, and given other secrets', async () => {
    const bot = await platform.create('agent_bots', { name: 'House bot', outgoing_url: botUrl });
    const path = `${platformBase}/agent_bots/${bot.id}`;
    const { body } = await app.patch(path, { name: 'Butler', outgoing_url: `${botUrl}/2` });
    expect(body).to.include({ name: 'Butler', outgoing_url: `${botUrl}/2` });
    expect((await app.patch(path, { outgoing_url: 'http://127.0.0.1:9/' })).status).to.equal(422);
    expect((await app.patch(path, { config: {} })).status).to.equal(422);
    const token = await app.post(`${path}/reset_access_token`);
    expect([token.status, token.body.access_token === bot.access_token]).to.deep.equal([200, false]);
    const secret = await app.post(`${path}/reset_secret`);
    expect(secret.body.secret).to.match(/^whsec_/);
    expect(secret.body).not.to.have.property('access_token');
    expect((await app.get('/api/v1/accounts/1/conversations', { api_access_token: bot.access_token })).status).to.equal(
      401,
    );
    const headers = { api_access_token: token.body.access_token };
    expect((await app.get('/api/v1/accounts/1/conversations', headers)).status).to.equal(200);
  });

  it('are not bots of accounts', async () => {
    const { body: own } = await app.post('agent_bots', { name: 'Own', outgoing_url: botUrl });
    for (const answer of [
      await app.get(`${platformBase}/agent_bots/${own.id}`),
      await app.patch(`${platformBase}/agent_bots/${own.id}`, { name: 'Mine' }),
      await app.post(`${platformBase}/agent_bots/${own.id}/reset_access_token`),
      await app.post(`${platformBase}/agent_bots/${own.id}/reset_secret`),
      await app.delete(`${platformBase}/agent_bots/${own.id}`),
    ]) {
      expect(answer.status).to.equal(404);
    }
  });

  async function serveTwice(): Promise<{ bot: Answer['body']; here: number; theirs: () => Promise<Answer> }> {
    const bot = await platform.create('agent_bots', { name: 'House bot', outgoing_url: botUrl });
    const account = await platform.create('accounts', { name: 'Guest' });
    const boss = await platform.newUser();
    await platform.join(account.id, boss.id, 'administrator');
    const headers = { api_access_token: boss.access_token };
    const root = `/api/v1/accounts/${account.id}`;
    const { body: theirs } = await app.post(`${root}/inboxes`, { name: 'Theirs' }, headers);
    await app.post(`${root}/inboxes/${theirs.id}/set_agent_bot`, { agent_bot: bot.id }, headers);
    const there = await platform.converse(account.id, headers, theirs.id);
    await app.post(`${root}/conversations/${there}/messages`, { content: 'Hi', message_type: 'incoming' }, headers);
    const { body: ours } = await app.post('inboxes', { name: 'Ours' });
    const here = await platform.converse(1, {}, ours.id);
    await app.post(`conversations/${here}/agent_bot`, { agent_bot_id: bot.id });
    await app.events();
    return { bot, here, theirs: () => app.get(`${root}/inboxes/${theirs.id}/agent_bot`, headers) };
  }

  async function expectGone({ bot, here, theirs }: Awaited<ReturnType<typeof serveTwice>>): Promise<void> {
    const events = await app.events();
    expect(events.map(({ name, conversation_id: id }) => [name, id])).to.deep.equal([['conversation_updated', here]]);
    expect(events[0]!.account_payload!['changed_attributes']).to.deep.equal({
      agent_bot_id: { previous: bot.id, current: null },
    });
    expect((await app.get(`conversations/${here}`)).body.meta.agent_bot).to.equal(null);
    expect((await theirs()).body.agent_bot).to.equal(null);
    expect((await app.get(`${platformBase}/agent_bots/${bot.id}`)).status).to.equal(404);
    const pending = await app.query(
      `SELECT FROM deliveries WHERE endpoint_kind = 'bot' AND endpoint_id = $1 AND state = 'pending'`,
      [bot.id],
    );
    expect(pending).to.deep.equal([]);
  }

  it('leave every account that they serve when they are deleted', async () => {
    const served = await serveTwice();
    const path = `${platformBase}/agent_bots/${served.bot.id}`;
    expect(await app.delete(path)).to.deep.include({ status: 200, body: {} });
    await expectGone(served);
    expect((await app.delete(path)).status).to.equal(404);
  });

  it('are deleted under a condition, all at once or not at all', async () => {
    const served = await serveTwice();
    const { bot } = served;
    const etag = (await app.get(`${platformBase}/agent_bots/${bot.id}`)).headers.get('etag')!;
    await app.patch(`${platformBase}/agent_bots/${bot.id}`, { name: 'Old bot' });
    expect((await app.delete(`${platformBase}/agent_bots/${bot.id}`, { 'if-match': etag })).status).to.equal(412);

    const now = (await app.get(`${platformBase}/agent_bots/${bot.id}`)).headers.get('etag')!;
    const deleted = await app.delete(`${platformBase}/agent_bots/${bot.id}`, { 'if-match': now });
    expect(deleted).to.deep.include({ status: 200, body: {} });
    await expectGone(served);
  });
});
