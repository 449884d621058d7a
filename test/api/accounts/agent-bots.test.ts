import { expect } from 'chai';
import { createPluginBot } from '../../../src/domain/bots/bots.ts';
import { TestApp } from '../../support/app.ts';
import { addAccount, addPerson, type Person } from '../../support/people.ts';

const url = 'https://127.0.0.1:9/bot';
const allEvents = [
  'message_created',
  'message_updated',
  'conversation_opened',
  'conversation_resolved',
  'webwidget_triggered',
];

describe('agent bots', () => {
  let app: TestApp;
  let agent: Person;
  let stranger: Person;

  before(async () => {
    app = await TestApp.start({ engine: false });
    agent = await addPerson(app, { name: 'Ann' });
    ({ administrator: stranger } = await addAccount(app, 'Other'));
    await app.events();
  });

  after(() => app.stop());

  async function create(body: object = {}) {
    const answer = await app.post('agent_bots', { name: 'Helper', outgoing_url: url, ...body });
    expect(answer.status).to.equal(201);
    return answer.body;
  }

  async function createSystemBot(): Promise<number> {
    const hearing = { events: ['message_created'], hearsOwn: false, hearsNotes: false };
    const input = {
      accountId: null,
      name: 'System',
      description: null,
      pluginId: 'faq',
      config: { human_words: ['x'] },
      hearing,
    };
    return (await createPluginBot(app.app.database.sql, input, new Date())).id;
  }

  async function converse(inboxId: number): Promise<number> {
    const { body: contact } = await app.post('contacts', { name: 'Carl' });
    const { status, body } = await app.post('conversations', { inbox_id: inboxId, contact_id: contact.id });
    expect(status).to.equal(201);
    return body.id;
  }

  it('a webhook bot shows its token and its secret once', async () => {
    const { status, body } = await app.post('agent_bots', { name: 'Helper', description: 'Helps', outgoing_url: url });
    expect(status).to.equal(201);
    expect(body).to.deep.include({
      account_id: 1,
      name: 'Helper',
      description: 'Helps',
      kind: 'webhook',
      outgoing_url: url,
      plugin_id: null,
      config: {},
      events: allEvents,
      system: false,
      quarantine: null,
      avatar_url: null,
    });
    expect(body.access_token).to.match(/^swb_/);
    expect(body.secret).to.match(/^whsec_/);
    const { access_token: _, secret: __, ...shown } = body;
    expect((await app.get(`agent_bots/${body.id}`)).body).to.deep.equal(shown);
    const list = await app.get('agent_bots', agent.headers);
    expect(list.body.payload).to.deep.include({ ...shown, outgoing_url: null });
    expect(JSON.stringify(list.body)).not.to.match(/swb_|whsec_/);
    const [row] = await app.query<{ secret: string }>('SELECT secret FROM agent_bots WHERE id = $1', [body.id]);
    expect(row!.secret).not.to.include('whsec_');
    expect(await app.eventNames()).to.deep.equal([]);
  });

  it('a plugin bot takes its events from the manifest and its settings by the manifest', async () => {
    const { status, body } = await app.post('agent_bots', {
      name: 'Answers',
      kind: 'plugin',
      plugin_id: 'faq',
      config: { human_words: ['colleague'] },
    });
    expect(status).to.equal(201);
    expect(body).to.deep.include({ kind: 'plugin', plugin_id: 'faq', outgoing_url: null, events: ['message_created'] });
    expect(body.config.human_words).to.deep.equal(['colleague']);
    expect(body.config.questions, 'defaults are filled in').to.be.an('array').that.is.not.empty;
    expect(body.access_token).to.match(/^swb_/);
    expect(body).not.to.have.property('secret');
    const changed = await app.patch(`agent_bots/${body.id}`, { config: { human_words: ['boss'] } });
    expect(changed.body.config.human_words).to.deep.equal(['boss']);
    const refused = await app.patch(`agent_bots/${body.id}`, { config: { human_words: [''], color: 'red' } });
    expect(refused.status).to.equal(422);
    expect(refused.body.details.map((detail: { path: string }) => detail.path)).to.have.members([
      '/config/human_words/0',
      '/config/color',
    ]);
    const other = await app.patch(`agent_bots/${body.id}`, { name: 'Moved', plugin_id: 'order-status' });
    expect([other.status, other.body.details[0].path]).to.deep.equal([422, '/plugin_id']);
    expect((await app.get(`agent_bots/${body.id}`)).body).to.include({ name: 'Answers', plugin_id: 'faq' });
    expect((await app.post(`agent_bots/${body.id}/reset_secret`)).status).to.equal(422);
    expect((await app.patch(`agent_bots/${body.id}`, { outgoing_url: url })).body.details[0].path).to.equal(
      '/outgoing_url',
    );
  });

  it('what makes no bot is refused with its place', async () => {
    const refused: [object, string][] = [
      [{ outgoing_url: url }, '/name'],
      [{ name: 'X' }, '/outgoing_url'],
      [{ name: 'X', outgoing_url: 'http://127.0.0.1/' }, '/outgoing_url'],
      [{ name: 'X', outgoing_url: 'https://10.0.0.1/' }, '/outgoing_url'],
      [{ name: 'X', outgoing_url: 'https://user:pass@127.0.0.1/' }, '/outgoing_url'],
      [{ name: 'X', kind: 'plugin' }, '/plugin_id'],
      [{ name: 'X', kind: 'plugin', plugin_id: 'nowhere' }, '/plugin_id'],
      [{ name: 'X', kind: 'plugin', plugin_id: 'faq', config: { handoff_message: '' } }, '/config/handoff_message'],
      [{ name: 'X', kind: 'robot', outgoing_url: url }, '/kind'],
    ];
    for (const [body, path] of refused) {
      const answer = await app.post('agent_bots', body);
      expect(answer.status, JSON.stringify(body)).to.equal(422);
      expect(answer.body.details[0].path).to.equal(path);
    }
    const { id } = await create();
    expect((await app.patch(`agent_bots/${id}`, { outgoing_url: 'http://127.0.0.1/' })).body.details[0].path).to.equal(
      '/outgoing_url',
    );
    expect((await app.patch(`agent_bots/${id}`, { config: {} })).body.details[0].path).to.equal('/config');
  });

  it('a bot is changed; its token and its secret are replaced', async () => {
    const bot = await create();
    const changed = await app.patch(`agent_bots/${bot.id}`, { name: 'Other', description: null, kind: 'plugin' });
    expect(changed.body).to.include({ name: 'Other', description: null, kind: 'webhook', outgoing_url: url });
    const inboxId = (await app.post('inboxes', { name: 'Bots' })).body.id;
    await app.post(`inboxes/${inboxId}/set_agent_bot`, { agent_bot: bot.id });
    const conversation = `conversations/${await converse(inboxId)}`;
    const by = (token: string) => ({ api_access_token: token });
    expect((await app.get(conversation, by(bot.access_token))).status).to.equal(200);
    const reset = await app.post(`agent_bots/${bot.id}/reset_access_token`);
    expect(reset.status).to.equal(200);
    expect(reset.body.access_token).to.match(/^swb_/).and.not.equal(bot.access_token);
    expect(reset.body).not.to.have.property('secret');
    expect((await app.get(conversation, by(bot.access_token))).status).to.equal(401);
    expect((await app.get(conversation, by(reset.body.access_token))).status).to.equal(200);
    const secret = await app.post(`agent_bots/${bot.id}/reset_secret`);
    expect(secret.status).to.equal(200);
    expect(secret.body.secret)
      .to.match(/^whsec_/)
      .and.not.equal(bot.secret);
    expect(secret.body).not.to.have.property('access_token');
  });

  it('agents only read; other accounts find nothing; system bots are for reading', async () => {
    const { id } = await create();
    const system = await createSystemBot();
    const writes: ['POST' | 'PATCH' | 'DELETE', string, object][] = [
      ['PATCH', '', { name: 'X' }],
      ['POST', '/reset_access_token', {}],
      ['POST', '/reset_secret', {}],
      ['DELETE', '', {}],
    ];
    for (const [method, path, body] of writes) {
      expect((await app.call(method, `agent_bots/${id}${path}`, body, agent.headers)).status).to.equal(403);
      expect((await app.call(method, `agent_bots/${system}${path}`, body)).status, `system ${path}`).to.equal(403);
      const elsewhere = `/api/v1/accounts/2/agent_bots/${id}${path}`;
      expect((await app.call(method, elsewhere, body, stranger.headers)).status).to.equal(404);
    }
    expect((await app.post('agent_bots', { name: 'X', outgoing_url: url }, agent.headers)).status).to.equal(403);
    expect((await app.get(`/api/v1/accounts/2/agent_bots/${id}`, stranger.headers)).status).to.equal(404);
    const seen = await app.get('/api/v1/accounts/2/agent_bots', stranger.headers);
    expect(seen.body.payload).to.have.lengthOf(1);
    expect(seen.body.payload[0]).to.deep.include({ id: system, account_id: null, system: true, config: {} });
    expect((await app.get(`agent_bots/${system}`)).body.name).to.equal('System');
  });

  it('where a bot is called, and its settings, are for administrators', async () => {
    const webhook = await create({ outgoing_url: `${url}?token=hidden`, config: { mark: 'hidden' } });
    const ai = await app.post('agent_bots', { name: 'Sage', kind: 'ai', system_prompt: 'hidden' });
    const { body: inbox } = await app.post('inboxes', { name: 'Post' });
    await app.post(`inboxes/${inbox.id}/members`, { user_ids: [agent.id] });
    await app.post(`inboxes/${inbox.id}/set_agent_bot`, { agent_bot: webhook.id });
    const paths = [
      'agent_bots',
      `agent_bots/${webhook.id}`,
      `agent_bots/${ai.body.id}`,
      `inboxes/${inbox.id}/agent_bot`,
    ];
    for (const path of paths) {
      const { status, body } = await app.get(path, agent.headers);
      expect(status).to.equal(200);
      expect(JSON.stringify(body), path).not.to.include('hidden');
      expect(JSON.stringify((await app.get(path)).body), path).to.include('hidden');
    }
    const { body } = await app.get(`agent_bots/${webhook.id}`, agent.headers);
    expect(body).to.include({ outgoing_url: null }).and.deep.include({ config: {} });
  });

  it('an inbox has one active bot, by which its conversations begin pending', async () => {
    const bot = await create();
    const inboxId = (await app.post('inboxes', { name: 'Bots' })).body.id;
    expect((await app.get(`inboxes/${inboxId}/agent_bot`)).body).to.deep.equal({ agent_bot: null });
    const set = await app.post(`inboxes/${inboxId}/set_agent_bot`, { agent_bot: bot.id });
    expect(set.status).to.equal(200);
    expect(set.body.agent_bot).to.include({ id: bot.id, name: 'Helper' });
    expect((await app.get(`inboxes/${inboxId}/agent_bot`)).body).to.deep.equal(set.body);
    expect((await app.get(`inboxes/${inboxId}`)).body.agent_bot_id).to.equal(bot.id);
    const { body } = await app.get(`conversations/${await converse(inboxId)}`);
    expect(body).to.deep.include({ status: 'pending' });
    expect(body.meta.agent_bot).to.deep.equal({ id: bot.id, name: 'Helper' });
    expect((await app.post(`inboxes/${inboxId}/set_agent_bot`, {})).status).to.equal(422);
    expect((await app.post(`inboxes/${inboxId}/set_agent_bot`, { agent_bot: 999_999 })).status).to.equal(404);
    expect((await app.post('inboxes/999999/set_agent_bot', { agent_bot: bot.id })).status).to.equal(404);
    expect((await app.post(`inboxes/${inboxId}/set_agent_bot`, { agent_bot: null }, agent.headers)).status).to.equal(
      403,
    );
    const theirs = (await app.post('/api/v1/accounts/2/inboxes', { name: 'Theirs' }, stranger.headers)).body.id;
    const path = `/api/v1/accounts/2/inboxes/${theirs}/set_agent_bot`;
    expect((await app.post(path, { agent_bot: bot.id }, stranger.headers)).status).to.equal(404);
    expect((await app.post(path, { agent_bot: await createSystemBot() }, stranger.headers)).status).to.equal(200);
    expect((await app.post(`inboxes/${inboxId}/set_agent_bot`, { agent_bot: null })).body).to.deep.equal({
      agent_bot: null,
    });
    const conversation = await app.get(`conversations/${await converse(inboxId)}`);
    expect(conversation.body.status).to.equal('open');
  });

  it('one bot serves many inboxes, each of which lets it go alone', async () => {
    const bot = await create();
    const ids: number[] = [];
    for (const name of ['One', 'Two']) {
      const { body: inbox } = await app.post('inboxes', { name });
      expect((await app.post(`inboxes/${inbox.id}/set_agent_bot`, { agent_bot: bot.id })).status).to.equal(200);
      ids.push(inbox.id);
    }
    const [one, two] = ids as [number, number];
    const by = { api_access_token: bot.access_token };
    const both = [await converse(one), await converse(two)];
    for (const id of both) expect((await app.get(`conversations/${id}`, by)).status).to.equal(200);
    await app.post(`inboxes/${one}/set_agent_bot`, { agent_bot: null });
    const statuses = await Promise.all(both.map(async (id) => (await app.get(`conversations/${id}`, by)).status));
    expect(statuses).to.deep.equal([403, 200]);
    expect((await app.get(`inboxes/${two}/agent_bot`)).body.agent_bot.id).to.equal(bot.id);
  });

  it('a conversation may have another bot than its inbox, and says who answers and why', async () => {
    const [inboxBot, ownBot] = [await create({ name: 'Of the inbox' }), await create({ name: 'Of its own' })];
    const inboxId = (await app.post('inboxes', { name: 'Bots' })).body.id;
    const path = `conversations/${await converse(inboxId)}/agent_bot`;
    expect((await app.get(path)).body).to.deep.equal({
      agent_bot: null,
      chosen_by: null,
      answers: false,
      reason: 'no_bot',
      history: [],
    });
    await app.post(`inboxes/${inboxId}/set_agent_bot`, { agent_bot: inboxBot.id });
    const byInbox = {
      agent_bot: { id: inboxBot.id, name: 'Of the inbox' },
      chosen_by: 'inbox',
      answers: true,
      reason: null,
      history: [],
    };
    expect((await app.get(path)).body).to.deep.equal(byInbox);
    await app.events();

    const set = await app.post(path, { agent_bot_id: ownBot.id });
    expect(set.status).to.equal(200);
    const byConversation = {
      agent_bot: { id: ownBot.id, name: 'Of its own' },
      chosen_by: 'conversation',
      answers: true,
      reason: null,
      history: [],
    };
    expect(set.body).to.deep.equal(byConversation);
    const [event, ...others] = await app.events();
    expect(others).to.deep.equal([]);
    expect(event).to.include({ name: 'conversation_updated' });
    expect(event!.account_payload!.changed_attributes).to.deep.equal({
      agent_bot_id: { previous: null, current: ownBot.id },
    });
    expect(event!.account_payload).to.have.nested.property('meta.agent_bot.id', ownBot.id);
    expect((await app.post(path, { agent_bot_id: ownBot.id })).body).to.deep.equal(byConversation);
    expect(await app.eventNames()).to.deep.equal([]);

    const by = (bot: { access_token: string }) => ({ api_access_token: bot.access_token });
    expect((await app.get(path, by(inboxBot))).status, 'the inbox bot does not serve it').to.equal(403);
    expect((await app.get(path, by(ownBot))).body).to.deep.equal(byConversation);
    expect((await app.post(path, { agent_bot_id: null }, by(ownBot))).status).to.equal(403);
    expect((await app.post(path, { agent_bot_id: 999_999 })).status).to.equal(404);
    expect((await app.post(path, {})).status).to.equal(422);
    expect((await app.post(path, { agent_bot_id: null }, agent.headers)).status).to.equal(403);

    expect((await app.post(path, { agent_bot_id: null })).body).to.deep.equal(byInbox);
    expect(await app.eventNames()).to.deep.equal(['conversation_updated']);
  });

  it('the explanation names what silences the bot', async () => {
    const bot = await create();
    const inboxId = (await app.post('inboxes', { name: 'Bots' })).body.id;
    await app.post(`inboxes/${inboxId}/set_agent_bot`, { agent_bot: bot.id });
    const id = await converse(inboxId);
    const reason = async () => {
      const { body } = await app.get(`conversations/${id}/agent_bot`);
      expect(body.answers).to.equal(body.reason === null);
      return body.reason;
    };
    const to = (status: string, headers = {}) => app.post(`conversations/${id}/toggle_status`, { status }, headers);
    expect(await reason()).to.equal(null);
    await to('open');
    expect(await reason()).to.equal('human_opened');
    await to('pending');
    expect(await reason()).to.equal(null);
    await to('open', { api_access_token: bot.access_token });
    expect(await reason()).to.equal('handed_off');
    await to('resolved');
    expect(await reason(), 'the next word of the customer begins a new session').to.equal(null);
    await to('pending');
    await app.post(`conversations/${id}/messages`, { content: 'Hello', message_type: 'outgoing' });
    expect(await reason()).to.equal('human_replied');
    await app.post(`conversations/${id}/assignments`, { assignee_id: 1 });
    expect(await reason()).to.equal('human_assigned');
  });

  it('a deleted bot serves nothing, hears nothing more and leaves its messages', async () => {
    const bot = await create();
    const other = await create({ name: 'Other' });
    const inboxId = (await app.post('inboxes', { name: 'Bots' })).body.id;
    await app.post(`inboxes/${inboxId}/set_agent_bot`, { agent_bot: bot.id });
    const [first, second] = [await converse(inboxId), await converse(inboxId)];
    const by = { api_access_token: bot.access_token };
    await app.post(`conversations/${first}/messages`, { content: 'From the bot', message_type: 'outgoing' }, by);
    await app.post(`conversations/${second}/agent_bot`, { agent_bot_id: bot.id });
    await app.post(`inboxes/${inboxId}/set_agent_bot`, { agent_bot: other.id });
    await app.events();
    expect(await app.delete(`agent_bots/${bot.id}`)).to.deep.include({ status: 200, body: {} });
    const events = await app.events();
    expect(events.map(({ name, conversation_id: of }) => [name, of])).to.deep.equal([['conversation_updated', second]]);
    expect(events[0]!.account_payload!.changed_attributes).to.deep.equal({
      agent_bot_id: { previous: bot.id, current: null },
    });
    expect(events[0]!.account_payload).to.have.nested.property('meta.agent_bot.id', other.id);
    expect((await app.get(`agent_bots/${bot.id}`)).status).to.equal(404);
    expect((await app.delete(`agent_bots/${bot.id}`)).status).to.equal(404);
    expect((await app.get(`conversations/${first}`, by)).status).to.equal(401);
    const { body } = await app.get(`conversations/${first}/messages`);
    expect(body.payload[0]).to.deep.include({ content: 'From the bot', sender: null });
    const states = await app.query<{ state: string }>(
      `SELECT DISTINCT state FROM deliveries WHERE endpoint_kind = 'bot' AND endpoint_id = $1`,
      [bot.id],
    );
    expect(states).to.deep.equal([{ state: 'cancelled' }]);
    expect((await app.delete(`agent_bots/${other.id}`)).status).to.equal(200);
    expect((await app.get(`inboxes/${inboxId}/agent_bot`)).body).to.deep.equal({ agent_bot: null });
  });

  describe('the access token', () => {
    const headersOf = (token: string) => ({ api_access_token: token });

    it('is shown once, and its last use is told; a reset revokes it at once', async () => {
      const { body: bot } = await app.post('agent_bots', { name: 'Token', outgoing_url: url });
      const path = `agent_bots/${bot.id}`;
      expect(bot.access_token).to.be.a('string');
      expect(bot.token_last_used_at).to.equal(null);
      for (const answer of [await app.get(path), await app.patch(path, { name: 'Token bearer' })]) {
        expect(answer.body).not.to.have.any.keys('access_token', 'secret');
        expect(JSON.stringify(answer.body)).not.to.contain(bot.access_token);
      }
      expect((await app.get(path)).body.token_last_used_at).to.equal(null);
      const { body: inbox } = await app.post('inboxes', { name: 'Token' });
      await app.post(`inboxes/${inbox.id}/set_agent_bot`, { agent_bot: bot.id });
      const { body: contact } = await app.post('contacts', { name: 'Carla' });
      const { body: made } = await app.post('conversations', { inbox_id: inbox.id, contact_id: contact.id });
      const speak = (token: string) =>
        app.post(`conversations/${made.id}/messages`, { content: 'x', message_type: 'outgoing' }, headersOf(token));
      const read = (token: string) => app.get(`conversations/${made.id}`, headersOf(token));
      const before = Math.floor(Date.now() / 1000);
      expect((await speak(bot.access_token)).status).to.equal(201);
      const used = await app.eventually(async () => (await app.get(path)).body.token_last_used_at as number | null);
      expect(used).to.be.within(before - 5, Math.ceil(Date.now() / 1000) + 5);
      // The token is known from memory by now, which must not outlive it.
      const { body: reset } = await app.post(`${path}/reset_access_token`);
      expect(reset.access_token).not.to.equal(bot.access_token);
      expect(reset.token_last_used_at).to.equal(null);
      for (const call of [speak, read]) expect((await call(bot.access_token)).status).to.equal(401);
      expect((await app.get(path)).body.token_last_used_at).to.equal(null);
      for (const call of [speak, read]) expect((await call(reset.access_token)).status).to.be.oneOf([200, 201]);
      await app.eventually(async () => (await app.get(path)).body.token_last_used_at !== null);
    });
  });
});
