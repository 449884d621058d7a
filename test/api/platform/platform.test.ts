import { expect } from 'chai';
import { TestApp } from '../../support/app.ts';
import { addAccount, addPerson } from '../../support/people.ts';
import { botUrl, Platform, platformBase } from '../../support/platform.ts';

describe('the platform', () => {
  let app: TestApp;
  let platform: Platform;

  before(async () => {
    app = await TestApp.start({ engine: false });
    platform = new Platform(app);
    await app.events();
  });

  after(() => app.stop());

  it('is for platform administrators alone', async () => {
    const agent = await addPerson(app, { name: 'Ann' });
    const { administrator } = await addAccount(app, 'Other');
    const { access_token: bot } = await platform.create('agent_bots', { name: 'Helper', outgoing_url: botUrl });
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
        const { status } = await app.call(
          method,
          `${platformBase}/${path}`,
          method === 'GET' ? undefined : {},
          headers,
        );
        expect([method, path, status]).to.deep.equal([method, path, expected]);
      }
    }
    expect(await app.eventNames()).to.deep.equal([]);
  });

  describe('accounts', () => {
    it('are created, read, renamed and listed', async () => {
      const account = await platform.create('accounts', { name: 'Acme' });
      expect(account).to.include({ name: 'Acme' });
      const path = `${platformBase}/accounts/${account.id}`;
      expect((await app.get(path)).body).to.deep.equal(account);
      expect((await app.patch(path, { name: 'Acme Ltd' })).body).to.include({ id: account.id, name: 'Acme Ltd' });
      expect((await app.patch(path, {})).body).to.include({ name: 'Acme Ltd' });
      const { body } = await app.get(`${platformBase}/accounts`);
      expect(body.payload.map(({ id }: { id: number }) => id)).to.include.members([1, account.id]);
      expect(body.meta).to.deep.equal({ count: body.payload.length, current_page: 1, total_pages: 1 });
      expect((await app.get(`${platformBase}/accounts?page=2`)).body.payload).to.deep.equal([]);
      for (const name of ['', '  ', 5, null]) {
        expect((await app.post(`${platformBase}/accounts`, { name })).status).to.equal(422);
      }
      expect((await app.get(`${platformBase}/accounts/999999`)).status).to.equal(404);
      expect((await app.patch(`${platformBase}/accounts/999999`, { name: 'x' })).status).to.equal(404);
      expect((await app.delete(`${platformBase}/accounts/999999`)).status).to.equal(404);
      expect(await app.eventNames()).to.deep.equal([]);
    });

    it('are not open to the platform administrator without a membership', async () => {
      const account = await platform.create('accounts', { name: 'Closed' });
      expect((await app.get(`/api/v1/accounts/${account.id}/contacts`)).status).to.equal(404);
      const { body: profile } = await app.get('/api/v1/profile');
      await platform.join(account.id, profile.id, 'administrator');
      expect((await app.get(`/api/v1/accounts/${account.id}/contacts`)).status).to.equal(200);
    });

    it('are made once for one Idempotency-Key', async () => {
      const headers = { 'idempotency-key': 'one-account' };
      const [first, second] = [
        await app.post(`${platformBase}/accounts`, { name: 'Once' }, headers),
        await app.post(`${platformBase}/accounts`, { name: 'Once' }, headers),
      ];
      expect(second.body).to.deep.equal(first.body);
      expect(second.headers.get('idempotency-replayed')).to.equal('true');
    });

    it('go with everything that is theirs, and with nothing else', async () => {
      const account = await platform.create('accounts', { name: 'Doomed' });
      const user = await platform.newUser();
      const other = await platform.newUser();
      await platform.join(account.id, user.id, 'administrator');
      await platform.join(account.id, other.id, 'agent');
      await platform.join(1, other.id, 'agent');
      const headers = { api_access_token: user.access_token };
      const root = `/api/v1/accounts/${account.id}`;
      const { body: bot } = await app.post(`${root}/agent_bots`, { name: 'Own', outgoing_url: botUrl }, headers);
      const { body: inbox } = await app.post(`${root}/inboxes`, { name: 'Mail' }, headers);
      const { body: team } = await app.post(`${root}/teams`, { name: 'night' }, headers);
      await app.post(`${root}/inboxes/${inbox.id}/set_agent_bot`, { agent_bot: bot.id }, headers);
      await app.post(`${root}/labels`, { title: 'x' }, headers);
      await app.post(`${root}/webhooks`, { url: 'http://127.0.0.1:9/', subscriptions: ['contact_created'] }, headers);
      const conversation = await platform.converse(account.id, headers, inbox.id);
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

      expect(await app.delete(`${platformBase}/accounts/${account.id}`)).to.deep.include({ status: 200, body: {} });

      const tables = await app.query<{ name: string }>(
        `SELECT table_name AS name FROM information_schema.columns WHERE column_name = 'account_id' AND table_schema = 'public'`,
      );
      expect(tables.length).to.be.greaterThan(15);
      for (const { name } of tables) {
        const left = await app.query(`SELECT FROM "${name}" WHERE account_id = $1`, [account.id]);
        expect([name, left.length]).to.deep.equal([name, 0]);
      }
      expect(await app.query('SELECT count(*) AS count FROM messages WHERE account_id = 1')).to.deep.equal(before);
      expect((await app.get(`${platformBase}/accounts/${account.id}`)).status).to.equal(404);
      expect((await app.get(`${root}/contacts`, headers)).status).to.equal(401);
      expect((await app.get(`${platformBase}/users/${user.id}`)).body.accounts).to.deep.equal([]);
      expect((await app.get('/api/v1/profile', { api_access_token: other.access_token })).status).to.equal(200);
      expect((await app.get('/api/v1/profile', { api_access_token: bot.access_token })).status).to.equal(401);
      expect(await app.eventNames()).to.deep.equal([]);
    });

    it('take with them what was told while they were being deleted', async () => {
      const account = await platform.create('accounts', { name: 'Last words' });
      const user = await platform.newUser();
      await platform.join(account.id, user.id, 'administrator');
      const headers = { api_access_token: user.access_token };
      const root = `/api/v1/accounts/${account.id}`;
      const { body: inbox } = await app.post(`${root}/inboxes`, { name: 'Mail' }, headers);
      const conversation = await platform.converse(account.id, headers, inbox.id);
      expect((await app.delete(`${root}/conversations/${conversation}`, headers)).status).to.equal(200);
      const told = () =>
        app.query(`SELECT FROM events WHERE account_id = $1 AND name = 'conversation_deleted'`, [account.id]);
      // The event of a deletion refers to the account alone. After its other events were deleted in batches, the row goes.
      expect(await told()).to.have.lengthOf(1);
      await app.query('DELETE FROM accounts WHERE id = $1', [account.id]);
      expect(await told()).to.have.lengthOf(0);
      await app.events();
    });
  });
});
