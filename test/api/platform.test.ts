import { expect } from 'chai';
import { TestApp, type Answer } from '../support/app.ts';
import { addAccount, addPerson, type Person } from '../support/people.ts';

const base = '/platform/api/v1';
const url = 'https://127.0.0.1:9/bot';

describe('the platform', () => {
  let app: TestApp;
  let agent: Person;
  let administrator: Person;

  before(async () => {
    app = await TestApp.start({ engine: false });
    agent = await addPerson(app, { name: 'Ann' });
    ({ administrator } = await addAccount(app, 'Other'));
    await app.events();
  });

  after(() => app.stop());

  async function created(path: string, body: object): Promise<any> {
    const answer = await app.post(`${base}/${path}`, body);
    expect(answer.status, JSON.stringify(answer.body)).to.equal(201);
    return answer.body;
  }

  let people = 0;
  const newUser = (fields: object = {}) =>
    created('users', { name: 'Pat', email: `pat.${(people += 1)}@example.com`, ...fields });

  const join = (accountId: number, userId: number, role = 'agent'): Promise<Answer> =>
    app.post(`${base}/accounts/${accountId}/account_users`, { user_id: userId, role });

  const leave = (accountId: number, userId: number): Promise<Answer> =>
    app.call('DELETE', `${base}/accounts/${accountId}/account_users`, { user_id: userId });

  async function converse(accountId: number, headers: Record<string, string>, inboxId: number): Promise<number> {
    const root = `/api/v1/accounts/${accountId}`;
    const { body: contact } = await app.post(`${root}/contacts`, { name: 'Carl' }, headers);
    const { status, body } = await app.post(
      `${root}/conversations`,
      { inbox_id: inboxId, contact_id: contact.id },
      headers,
    );
    expect(status).to.equal(201);
    return body.id;
  }

  it('is for platform administrators alone', async () => {
    const { access_token: bot } = await created('agent_bots', { name: 'Helper', outgoing_url: url });
    for (const [method, path] of [
      ['GET', 'accounts'],
      ['POST', 'accounts'],
      ['GET', 'accounts/1'],
      ['PATCH', 'accounts/1'],
      ['DELETE', 'accounts/1'],
      ['GET', 'accounts/1/account_users'],
      ['POST', 'accounts/1/account_users'],
      ['DELETE', 'accounts/1/account_users'],
      ['POST', 'users'],
      ['GET', 'users/1'],
      ['PATCH', 'users/1'],
      ['POST', 'users/1/reset_access_token'],
      ['DELETE', 'users/1'],
      ['GET', 'agent_bots'],
      ['POST', 'agent_bots'],
      ['DELETE', 'agent_bots/1'],
    ] as const) {
      for (const [headers, expected] of [
        [agent.headers, 403],
        [administrator.headers, 403],
        [{ api_access_token: bot }, 403],
        [{ api_access_token: 'nobody' }, 401],
        [{ api_access_token: '' }, 401],
      ] as const) {
        const { status } = await app.call(method, `${base}/${path}`, method === 'GET' ? undefined : {}, headers);
        expect([method, path, status]).to.deep.equal([method, path, expected]);
      }
    }
    expect(await app.eventNames()).to.deep.equal([]);
  });

  describe('accounts', () => {
    it('are created, read, renamed and listed', async () => {
      const account = await created('accounts', { name: 'Acme' });
      expect(account).to.include({ name: 'Acme' });
      const path = `${base}/accounts/${account.id}`;
      expect((await app.get(path)).body).to.deep.equal(account);
      expect((await app.patch(path, { name: 'Acme Ltd' })).body).to.include({ id: account.id, name: 'Acme Ltd' });
      expect((await app.patch(path, {})).body).to.include({ name: 'Acme Ltd' });
      const { body } = await app.get(`${base}/accounts`);
      expect(body.payload.map(({ id }: { id: number }) => id)).to.include.members([1, account.id]);
      expect(body.meta).to.deep.equal({ count: body.payload.length, current_page: 1, total_pages: 1 });
      expect((await app.get(`${base}/accounts?page=2`)).body.payload).to.deep.equal([]);
      for (const name of ['', '  ', 5, null]) {
        expect((await app.post(`${base}/accounts`, { name })).status).to.equal(422);
      }
      expect((await app.get(`${base}/accounts/999999`)).status).to.equal(404);
      expect((await app.patch(`${base}/accounts/999999`, { name: 'x' })).status).to.equal(404);
      expect((await app.delete(`${base}/accounts/999999`)).status).to.equal(404);
      expect(await app.eventNames()).to.deep.equal([]);
    });

    it('are not open to the platform administrator without a membership', async () => {
      const account = await created('accounts', { name: 'Closed' });
      expect((await app.get(`/api/v1/accounts/${account.id}/contacts`)).status).to.equal(404);
      const { body: profile } = await app.get('/api/v1/profile');
      await join(account.id, profile.id, 'administrator');
      expect((await app.get(`/api/v1/accounts/${account.id}/contacts`)).status).to.equal(200);
    });

    it('are made once for one Idempotency-Key', async () => {
      const headers = { 'idempotency-key': 'one-account' };
      const [first, second] = [
        await app.post(`${base}/accounts`, { name: 'Once' }, headers),
        await app.post(`${base}/accounts`, { name: 'Once' }, headers),
      ];
      expect(second!.body).to.deep.equal(first!.body);
      expect(second!.headers.get('idempotency-replayed')).to.equal('true');
    });

    it('go with everything that is theirs, and with nothing else', async () => {
      const account = await created('accounts', { name: 'Doomed' });
      const user = await newUser();
      const other = await newUser();
      await join(account.id, user.id, 'administrator');
      await join(account.id, other.id, 'agent');
      await join(1, other.id, 'agent');
      const headers = { api_access_token: user.access_token };
      const root = `/api/v1/accounts/${account.id}`;
      const { body: bot } = await app.post(`${root}/agent_bots`, { name: 'Own', outgoing_url: url }, headers);
      const { body: inbox } = await app.post(`${root}/inboxes`, { name: 'Mail' }, headers);
      const { body: team } = await app.post(`${root}/teams`, { name: 'night' }, headers);
      await app.post(`${root}/inboxes/${inbox.id}/set_agent_bot`, { agent_bot: bot.id }, headers);
      await app.post(`${root}/labels`, { title: 'x' }, headers);
      await app.post(`${root}/webhooks`, { url: 'http://127.0.0.1:9/', subscriptions: ['contact_created'] }, headers);
      const conversation = await converse(account.id, headers, inbox.id);
      await app.post(
        `${root}/conversations/${conversation}/messages`,
        { content: 'Hi', message_type: 'incoming' },
        headers,
      );
      await app.post(`${root}/conversations/${conversation}/labels`, { labels: ['x'] }, headers);
      const assignment = { assignee_id: user.id, team_id: team.id };
      const assigned = await app.post(`${root}/conversations/${conversation}/assignments`, assignment, headers);
      expect(assigned.body.meta).to.deep.include({ assignee: { id: user.id, name: 'Pat' } });
      await app.post(`/public/api/v1/inboxes/${inbox.identifier}/sessions`, { name: 'Vera' });
      const before = await app.query('SELECT count(*) AS count FROM messages WHERE account_id = 1');
      await app.events();

      expect(await app.delete(`${base}/accounts/${account.id}`)).to.deep.include({ status: 200, body: {} });

      const tables = await app.query<{ name: string }>(
        `SELECT table_name AS name FROM information_schema.columns WHERE column_name = 'account_id' AND table_schema = 'public'`,
      );
      expect(tables.length).to.be.greaterThan(15);
      for (const { name } of tables) {
        const left = await app.query(`SELECT FROM "${name}" WHERE account_id = $1`, [account.id]);
        expect([name, left.length]).to.deep.equal([name, 0]);
      }
      expect(await app.query('SELECT count(*) AS count FROM messages WHERE account_id = 1')).to.deep.equal(before);
      expect((await app.get(`${base}/accounts/${account.id}`)).status).to.equal(404);
      expect((await app.get(`${root}/contacts`, headers)).status).to.equal(401);
      expect((await app.get(`${base}/users/${user.id}`)).body.accounts).to.deep.equal([]);
      expect((await app.get('/api/v1/profile', { api_access_token: other.access_token })).status).to.equal(200);
      expect((await app.get('/api/v1/profile', { api_access_token: bot.access_token })).status).to.equal(401);
      expect(await app.eventNames()).to.deep.equal([]);
    });
  });

  describe('users', () => {
    it('are created with a token that is shown once', async () => {
      const user = await newUser({
        name: 'Quinn',
        email: 'Quinn@example.com',
        avatar_url: 'https://example.com/q.png',
      });
      expect(user).to.deep.include({
        name: 'Quinn',
        email: 'Quinn@example.com',
        avatar_url: 'https://example.com/q.png',
        confirmed: true,
        platform_admin: false,
        accounts: [],
      });
      expect(user.access_token).to.match(/^swu_/);
      const { access_token: token, ...rest } = user;
      expect((await app.get(`${base}/users/${user.id}`)).body).to.deep.equal(rest);
      expect((await app.get('/api/v1/profile', { api_access_token: token })).body).to.include({ id: user.id });
      expect(await app.eventNames()).to.deep.equal([]);
    });

    it('have an e-mail address of their own, whoever comes first', async () => {
      const first = await newUser();
      for (const email of [first.email, first.email.toUpperCase()]) {
        const { status, body } = await app.post(`${base}/users`, { name: 'Pat', email });
        expect(status).to.equal(422);
        expect(body.details[0]).to.include({ path: '/email', rule: 'unique' });
      }
      const second = await newUser();
      const patched = await app.patch(`${base}/users/${second.id}`, { email: first.email });
      expect([patched.status, patched.body.details[0].path]).to.deep.equal([422, '/email']);
      const same = { name: 'Twin', email: 'twin@example.com' };
      const answers = await Promise.all([1, 2, 3].map(() => app.post(`${base}/users`, same)));
      expect(answers.map(({ status }) => status).toSorted()).to.deep.equal([201, 422, 422]);
      for (const body of [
        { name: 'x' },
        { email: 'x@example.com' },
        { name: 'x', email: 'x' },
        { name: 'x', email: null },
      ]) {
        expect((await app.post(`${base}/users`, body)).status).to.equal(422);
      }
    });

    it('are changed, and given another token', async () => {
      const user = await newUser({ avatar_url: 'https://example.com/q.png' });
      const path = `${base}/users/${user.id}`;
      const changes = { name: 'Robin', email: 'robin@example.com', avatar_url: null };
      const { status, body } = await app.patch(path, changes);
      expect(status).to.equal(200);
      expect(body).to.deep.include(changes);
      const reset = await app.post(`${path}/reset_access_token`);
      expect(reset.status).to.equal(200);
      expect(reset.body.access_token).not.to.equal(user.access_token);
      expect((await app.get('/api/v1/profile', { api_access_token: user.access_token })).status).to.equal(401);
      expect((await app.get('/api/v1/profile', { api_access_token: reset.body.access_token })).status).to.equal(200);
      for (const gone of [
        await app.get(`${base}/users/999999`),
        await app.patch(`${base}/users/999999`, { name: 'x' }),
        await app.post(`${base}/users/999999/reset_access_token`),
        await app.delete(`${base}/users/999999`),
      ]) {
        expect(gone.status).to.equal(404);
      }
    });

    it('become platform administrators and cease to be, but for the last', async () => {
      const { body: me } = await app.get('/api/v1/profile');
      const own = `${base}/users/${me.id}`;
      for (const refused of [await app.patch(own, { platform_admin: false }), await app.delete(own)]) {
        expect(refused.status).to.equal(422);
        expect(refused.body.details[0].rule).to.equal('last_platform_admin');
      }
      const user = await newUser({ platform_admin: true });
      const headers = { api_access_token: user.access_token };
      expect((await app.get(`${base}/accounts`, headers)).status).to.equal(200);
      expect((await app.patch(`${base}/users/${user.id}`, { platform_admin: false })).body.platform_admin).to.equal(
        false,
      );
      expect((await app.get(`${base}/accounts`, headers)).status).to.equal(403);
    });

    it('leave every account when they are deleted, and their messages stay', async () => {
      const user = await newUser();
      const headers = { api_access_token: user.access_token };
      const account = await created('accounts', { name: 'Two' });
      const boss = await newUser();
      await join(account.id, boss.id, 'administrator');
      await join(account.id, user.id, 'administrator');
      await join(1, user.id, 'administrator');
      const { body: inbox } = await app.post('inboxes', { name: 'Desk' });
      const conversation = await converse(1, headers, inbox.id);
      const message = { content: 'Hello', message_type: 'outgoing' };
      await app.post(`conversations/${conversation}/messages`, message, headers);
      await app.post(`conversations/${conversation}/assignments`, { assignee_id: user.id });
      await app.events();

      expect(await app.delete(`${base}/users/${user.id}`)).to.deep.include({ status: 200, body: {} });
      expect((await app.get(`${base}/users/${user.id}`)).status).to.equal(404);
      expect((await app.get('/api/v1/profile', headers)).status).to.equal(401);
      const [event, ...more] = await app.events();
      expect(more).to.deep.equal([]);
      expect(event).to.include({ name: 'conversation_updated', conversation_id: conversation });
      expect(event!.account_payload!['changed_attributes']).to.deep.equal({
        assignee_id: { previous: user.id, current: null },
      });
      const { body } = await app.get(`conversations/${conversation}/messages`);
      expect(body.payload[0]).to.deep.include({ content: 'Hello', sender: null });
    });

    it('stay while an account has no other administrator', async () => {
      const user = await newUser();
      const account = await created('accounts', { name: 'Three' });
      await join(account.id, user.id, 'administrator');
      const { status, body } = await app.delete(`${base}/users/${user.id}`);
      expect([status, body.details[0].rule]).to.deep.equal([422, 'last_administrator']);
      expect(body.error).to.contain('Three');
      expect((await leave(account.id, user.id)).status).to.equal(422);
      expect((await app.delete(`${base}/accounts/${account.id}`)).status).to.equal(200);
      expect((await app.delete(`${base}/users/${user.id}`)).status).to.equal(200);
    });
  });

  describe('members of accounts', () => {
    it('join, are listed, and leave', async () => {
      const account = await created('accounts', { name: 'Club' });
      const user = await newUser();
      const boss = await newUser({ name: 'Boss' });
      expect((await join(account.id, boss.id, 'administrator')).status).to.equal(201);
      const { status, body } = await join(account.id, user.id);
      expect(status).to.equal(201);
      expect(body).to.include({
        account_id: account.id,
        user_id: user.id,
        name: 'Pat',
        email: user.email,
        role: 'agent',
      });
      const list = await app.get(`${base}/accounts/${account.id}/account_users`);
      expect(list.body.payload.map((one: { user_id: number }) => one.user_id)).to.deep.equal([boss.id, user.id]);
      expect(list.body.meta).to.deep.equal({ count: 2, current_page: 1, total_pages: 1 });
      expect((await app.get(`${base}/users/${user.id}`)).body.accounts).to.deep.equal([
        { id: account.id, name: 'Club', role: 'agent' },
      ]);
      const headers = { api_access_token: user.access_token };
      expect((await app.get(`/api/v1/accounts/${account.id}/contacts`, headers)).status).to.equal(200);
      const gone = await leave(account.id, user.id);
      expect([gone.status, gone.body]).to.deep.equal([200, {}]);
      expect((await app.get(`/api/v1/accounts/${account.id}/contacts`, headers)).status).to.equal(401);
      expect((await leave(account.id, user.id)).status).to.equal(404);
      expect(await app.eventNames()).to.deep.equal([]);
    });

    it('join once for one Idempotency-Key', async () => {
      const account = await created('accounts', { name: 'Club' });
      const user = await newUser();
      const body = { user_id: user.id, role: 'agent' };
      const path = `${base}/accounts/${account.id}/account_users`;
      const [first, second] = [
        await app.post(path, body, { 'idempotency-key': 'one-member' }),
        await app.post(path, body, { 'idempotency-key': 'one-member' }),
      ];
      expect([first!.status, second!.status]).to.deep.equal([201, 201]);
      expect(second!.body).to.deep.equal(first!.body);
    });

    it('join once, as somebody there is, where there is something', async () => {
      const account = await created('accounts', { name: 'Club' });
      const user = await newUser();
      const answers = await Promise.all([1, 2, 3].map(() => join(account.id, user.id)));
      expect(answers.map(({ status }) => status).toSorted()).to.deep.equal([201, 422, 422]);
      const refused = answers.find(({ status }) => status === 422);
      expect(refused!.body.details[0]).to.include({ path: '/user_id', rule: 'unique' });
      expect((await join(account.id, 999_999)).status).to.equal(404);
      expect((await join(999_999, user.id)).status).to.equal(404);
      expect((await join(account.id, user.id, 'king')).status).to.equal(422);
      expect((await leave(999_999, user.id)).status).to.equal(404);
      expect((await app.get(`${base}/accounts/999999/account_users`)).status).to.equal(404);
    });

    it('give back their conversations when they leave', async () => {
      const user = await newUser();
      await join(1, user.id, 'administrator');
      const { body: inbox } = await app.post('inboxes', { name: 'Desk' });
      const conversation = await converse(1, {}, inbox.id);
      await app.post(`conversations/${conversation}/assignments`, { assignee_id: user.id });
      await app.events();
      expect((await leave(1, user.id)).status).to.equal(200);
      expect(await app.eventNames()).to.deep.equal(['conversation_updated']);
      expect((await app.get(`conversations/${conversation}`)).body.meta.assignee).to.equal(null);
    });
  });

  describe('system bots', () => {
    it('are there for every account, which is told neither where they live nor how they are set up', async () => {
      const bot = await created('agent_bots', { name: 'House bot', outgoing_url: url });
      expect(bot).to.deep.include({ account_id: null, system: true, kind: 'webhook', outgoing_url: url });
      expect(bot.access_token).to.match(/^swb_/);
      expect(bot.secret).to.match(/^whsec_/);
      const { access_token: _, secret: __, ...rest } = bot;
      expect((await app.get(`${base}/agent_bots/${bot.id}`)).body).to.deep.equal(rest);
      const seen = await app.get(`agent_bots/${bot.id}`);
      expect(seen.body).to.deep.equal({ ...rest, outgoing_url: null });
      expect((await app.patch(`agent_bots/${bot.id}`, { name: 'Mine' })).status).to.equal(403);
      expect((await app.delete(`agent_bots/${bot.id}`)).status).to.equal(403);

      const plugin = await created('agent_bots', {
        name: 'FAQ',
        kind: 'plugin',
        plugin_id: 'faq',
        config: { human_words: ['boss'] },
      });
      expect(plugin).not.to.have.property('secret');
      expect(plugin.config.human_words).to.deep.equal(['boss']);
      expect((await app.get(`agent_bots/${plugin.id}`)).body.config).to.deep.equal({});
      const list = await app.get(`${base}/agent_bots`);
      expect(list.body.payload.map(({ id }: { id: number }) => id)).to.include.members([bot.id, plugin.id]);
      expect(list.body.payload.every(({ system }: { system: boolean }) => system)).to.equal(true);
      expect(await app.eventNames()).to.deep.equal([]);
    });

    it('are changed, and given other secrets', async () => {
      const bot = await created('agent_bots', { name: 'House bot', outgoing_url: url });
      const path = `${base}/agent_bots/${bot.id}`;
      const { body } = await app.patch(path, { name: 'Butler', outgoing_url: `${url}/2` });
      expect(body).to.include({ name: 'Butler', outgoing_url: `${url}/2` });
      expect((await app.patch(path, { outgoing_url: 'http://127.0.0.1:9/' })).status).to.equal(422);
      expect((await app.patch(path, { config: {} })).status).to.equal(422);
      const token = await app.post(`${path}/reset_access_token`);
      expect([token.status, token.body.access_token === bot.access_token]).to.deep.equal([200, false]);
      const secret = await app.post(`${path}/reset_secret`);
      expect(secret.body.secret).to.match(/^whsec_/);
      expect(secret.body).not.to.have.property('access_token');
      expect(
        (await app.get('/api/v1/accounts/1/conversations', { api_access_token: bot.access_token })).status,
      ).to.equal(401);
      const headers = { api_access_token: token.body.access_token };
      expect((await app.get('/api/v1/accounts/1/conversations', headers)).status).to.equal(200);
    });

    it('are not bots of accounts', async () => {
      const { body: own } = await app.post('agent_bots', { name: 'Own', outgoing_url: url });
      for (const answer of [
        await app.get(`${base}/agent_bots/${own.id}`),
        await app.patch(`${base}/agent_bots/${own.id}`, { name: 'Mine' }),
        await app.post(`${base}/agent_bots/${own.id}/reset_access_token`),
        await app.post(`${base}/agent_bots/${own.id}/reset_secret`),
        await app.delete(`${base}/agent_bots/${own.id}`),
      ]) {
        expect(answer.status).to.equal(404);
      }
    });

    async function serveTwice(): Promise<{ bot: any; here: number; theirs: () => Promise<Answer> }> {
      const bot = await created('agent_bots', { name: 'House bot', outgoing_url: url });
      const account = await created('accounts', { name: 'Guest' });
      const boss = await newUser();
      await join(account.id, boss.id, 'administrator');
      const headers = { api_access_token: boss.access_token };
      const root = `/api/v1/accounts/${account.id}`;
      const { body: theirs } = await app.post(`${root}/inboxes`, { name: 'Theirs' }, headers);
      await app.post(`${root}/inboxes/${theirs.id}/set_agent_bot`, { agent_bot: bot.id }, headers);
      const there = await converse(account.id, headers, theirs.id);
      await app.post(`${root}/conversations/${there}/messages`, { content: 'Hi', message_type: 'incoming' }, headers);
      const { body: ours } = await app.post('inboxes', { name: 'Ours' });
      const here = await converse(1, {}, ours.id);
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
      expect((await app.get(`${base}/agent_bots/${bot.id}`)).status).to.equal(404);
      const pending = await app.query(
        `SELECT FROM deliveries WHERE endpoint_kind = 'bot' AND endpoint_id = $1 AND state = 'pending'`,
        [bot.id],
      );
      expect(pending).to.deep.equal([]);
    }

    it('leave every account that they serve when they are deleted', async () => {
      const served = await serveTwice();
      const path = `${base}/agent_bots/${served.bot.id}`;
      expect(await app.delete(path)).to.deep.include({ status: 200, body: {} });
      await expectGone(served);
      expect((await app.delete(path)).status).to.equal(404);
    });

    it('are deleted under a condition, all at once or not at all', async () => {
      const served = await serveTwice();
      const { bot } = served;
      const etag = (await app.get(`${base}/agent_bots/${bot.id}`)).headers.get('etag')!;
      await app.patch(`${base}/agent_bots/${bot.id}`, { name: 'Old bot' });
      expect((await app.delete(`${base}/agent_bots/${bot.id}`, { 'if-match': etag })).status).to.equal(412);

      const now = (await app.get(`${base}/agent_bots/${bot.id}`)).headers.get('etag')!;
      const deleted = await app.delete(`${base}/agent_bots/${bot.id}`, { 'if-match': now });
      expect(deleted).to.deep.include({ status: 200, body: {} });
      await expectGone(served);
    });
  });
});
