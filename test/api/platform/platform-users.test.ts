import { expect } from 'chai';
import { TestApp } from '../../support/app.ts';
import { Platform, platformBase } from '../../support/platform.ts';

describe('users of the platform', () => {
  let app: TestApp;
  let platform: Platform;

  before(async () => {
    app = await TestApp.start({ engine: false });
    platform = new Platform(app);
    await app.events();
  });

  after(() => app.stop());

  describe('users', () => {
    it('are created with a token that is shown once', async () => {
      const user = await platform.newUser({
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
      expect((await app.get(`${platformBase}/users/${user.id}`)).body).to.deep.equal(rest);
      expect((await app.get('/api/v1/profile', { api_access_token: token })).body).to.include({ id: user.id });
      expect(await app.eventNames()).to.deep.equal([]);
    });

    it('become and cease to be platform administrators, many at once, without a server error', async () => {
      const users = await Promise.all([platform.newUser(), platform.newUser(), platform.newUser()]);
      const changes = Array.from({ length: 60 }, (_, index) =>
        app.patch(`${platformBase}/users/${users[index % users.length].id}`, { platform_admin: index % 2 === 0 }),
      );
      const statuses = new Set((await Promise.all(changes)).map(({ status }) => status));
      expect([...statuses]).to.deep.equal([200]);
      for (const { id } of users) await app.patch(`${platformBase}/users/${id}`, { platform_admin: false });
    });

    it('have an e-mail address of their own, whoever comes first', async () => {
      const first = await platform.newUser();
      for (const email of [first.email, first.email.toUpperCase()]) {
        const { status, body } = await app.post(`${platformBase}/users`, { name: 'Pat', email });
        expect(status).to.equal(422);
        expect(body.details[0]).to.include({ path: '/email', rule: 'unique' });
      }
      const second = await platform.newUser();
      const patched = await app.patch(`${platformBase}/users/${second.id}`, { email: first.email });
      expect([patched.status, patched.body.details[0].path]).to.deep.equal([422, '/email']);
      const same = { name: 'Twin', email: 'twin@example.com' };
      const answers = await Promise.all([1, 2, 3].map(() => app.post(`${platformBase}/users`, same)));
      expect(answers.map(({ status }) => status).toSorted((one, other) => one - other)).to.deep.equal([201, 422, 422]);
      for (const body of [
        { name: 'x' },
        { email: 'x@example.com' },
        { name: 'x', email: 'x' },
        { name: 'x', email: null },
      ]) {
        expect((await app.post(`${platformBase}/users`, body)).status).to.equal(422);
      }
    });

    it('are changed, and given another token', async () => {
      const user = await platform.newUser({ avatar_url: 'https://example.com/q.png' });
      const path = `${platformBase}/users/${user.id}`;
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
        await app.get(`${platformBase}/users/999999`),
        await app.patch(`${platformBase}/users/999999`, { name: 'x' }),
        await app.post(`${platformBase}/users/999999/reset_access_token`),
        await app.delete(`${platformBase}/users/999999`),
      ]) {
        expect(gone.status).to.equal(404);
      }
    });

    it('become platform administrators and cease to be, but for the last', async () => {
      const { body: me } = await app.get('/api/v1/profile');
      const own = `${platformBase}/users/${me.id}`;
      for (const refused of [await app.patch(own, { platform_admin: false }), await app.delete(own)]) {
        expect(refused.status).to.equal(422);
        expect(refused.body.details[0].rule).to.equal('last_platform_admin');
      }
      const user = await platform.newUser({ platform_admin: true });
      const headers = { api_access_token: user.access_token };
      expect((await app.get(`${platformBase}/accounts`, headers)).status).to.equal(200);
      expect(
        (await app.patch(`${platformBase}/users/${user.id}`, { platform_admin: false })).body.platform_admin,
      ).to.equal(false);
      expect((await app.get(`${platformBase}/accounts`, headers)).status).to.equal(403);
    });

    it('leave every account when they are deleted, and their messages stay', async () => {
      const user = await platform.newUser();
      const headers = { api_access_token: user.access_token };
      const account = await platform.create('accounts', { name: 'Two' });
      const boss = await platform.newUser();
      await platform.join(account.id, boss.id, 'administrator');
      await platform.join(account.id, user.id, 'administrator');
      await platform.join(1, user.id, 'administrator');
      const { body: inbox } = await app.post('inboxes', { name: 'Desk' });
      const conversation = await platform.converse(1, headers, inbox.id);
      const message = { content: 'Hello', message_type: 'outgoing' };
      await app.post(`conversations/${conversation}/messages`, message, headers);
      await app.post(`conversations/${conversation}/assignments`, { assignee_id: user.id });
      await app.events();

      expect(await app.delete(`${platformBase}/users/${user.id}`)).to.deep.include({ status: 200, body: {} });
      expect((await app.get(`${platformBase}/users/${user.id}`)).status).to.equal(404);
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
      const user = await platform.newUser();
      const account = await platform.create('accounts', { name: 'Three' });
      await platform.join(account.id, user.id, 'administrator');
      const { status, body } = await app.delete(`${platformBase}/users/${user.id}`);
      expect([status, body.details[0].rule]).to.deep.equal([422, 'last_administrator']);
      expect(body.error).to.contain('Three');
      expect((await platform.leave(account.id, user.id)).status).to.equal(422);
      expect((await app.delete(`${platformBase}/accounts/${account.id}`)).status).to.equal(200);
      expect((await app.delete(`${platformBase}/users/${user.id}`)).status).to.equal(200);
    });
  });

  describe('members of accounts', () => {
    it('join, are listed, and leave', async () => {
      const account = await platform.create('accounts', { name: 'Club' });
      const user = await platform.newUser();
      const boss = await platform.newUser({ name: 'Boss' });
      expect((await platform.join(account.id, boss.id, 'administrator')).status).to.equal(201);
      const { status, body } = await platform.join(account.id, user.id);
      expect(status).to.equal(201);
      expect(body).to.include({
        account_id: account.id,
        user_id: user.id,
        name: 'Pat',
        email: user.email,
        role: 'agent',
      });
      const list = await app.get(`${platformBase}/accounts/${account.id}/account_users`);
      expect(list.body.payload.map((one: { user_id: number }) => one.user_id)).to.deep.equal([boss.id, user.id]);
      expect(list.body.meta).to.deep.equal({ count: 2, current_page: 1, total_pages: 1 });
      expect((await app.get(`${platformBase}/users/${user.id}`)).body.accounts).to.deep.equal([
        { id: account.id, name: 'Club', role: 'agent' },
      ]);
      const headers = { api_access_token: user.access_token };
      expect((await app.get(`/api/v1/accounts/${account.id}/contacts`, headers)).status).to.equal(200);
      const gone = await platform.leave(account.id, user.id);
      expect([gone.status, gone.body]).to.deep.equal([200, {}]);
      expect((await app.get(`/api/v1/accounts/${account.id}/contacts`, headers)).status).to.equal(401);
      expect((await platform.leave(account.id, user.id)).status).to.equal(404);
      expect(await app.eventNames()).to.deep.equal([]);
    });

    it('leave the seat that they took, whatever its number is', async () => {
      const account = await platform.create('accounts', { name: 'Seats' });
      const boss = await platform.newUser({ name: 'Boss' });
      await platform.join(account.id, boss.id, 'administrator');
      const user = await platform.newUser({ name: 'Guest' });
      const agents = `/api/v1/accounts/${account.id}/agents`;
      const headers = { api_access_token: boss.access_token };
      const invited = await app.post(agents, { name: 'Guest', email: user.email, role: 'agent' }, headers);
      expect((await platform.join(account.id, user.id)).body).to.include({ user_id: user.id });
      expect(invited.body.id).not.to.equal(user.id);
      expect((await platform.leave(account.id, user.id)).status).to.equal(200);
      const left = (await app.get(agents, headers)).body.map(({ id }: { id: number }) => id);
      expect(left).to.deep.equal([boss.id]);
    });

    it('join once for one Idempotency-Key', async () => {
      const account = await platform.create('accounts', { name: 'Club' });
      const user = await platform.newUser();
      const body = { user_id: user.id, role: 'agent' };
      const path = `${platformBase}/accounts/${account.id}/account_users`;
      const [first, second] = [
        await app.post(path, body, { 'idempotency-key': 'one-member' }),
        await app.post(path, body, { 'idempotency-key': 'one-member' }),
      ];
      expect([first.status, second.status]).to.deep.equal([201, 201]);
      expect(second.body).to.deep.equal(first.body);
    });

    it('join once, as somebody there is, where there is something', async () => {
      const account = await platform.create('accounts', { name: 'Club' });
      const user = await platform.newUser();
      const answers = await Promise.all([1, 2, 3].map(() => platform.join(account.id, user.id)));
      expect(answers.map(({ status }) => status).toSorted((one, other) => one - other)).to.deep.equal([201, 422, 422]);
      const refused = answers.find(({ status }) => status === 422);
      expect(refused!.body.details[0]).to.include({ path: '/user_id', rule: 'unique' });
      expect((await platform.join(account.id, 999_999)).status).to.equal(404);
      expect((await platform.join(999_999, user.id)).status).to.equal(404);
      expect((await platform.join(account.id, user.id, 'king')).status).to.equal(422);
      expect((await platform.leave(999_999, user.id)).status).to.equal(404);
      expect((await app.get(`${platformBase}/accounts/999999/account_users`)).status).to.equal(404);
    });

    it('keep the token of a platform administrator who leaves the last account', async () => {
      const boss = await platform.newUser();
      const headers = { api_access_token: boss.access_token };
      const accounts = `${platformBase}/accounts`;
      await app.patch(`${platformBase}/users/${boss.id}`, { platform_admin: true });
      await platform.join(1, boss.id);
      expect((await platform.leave(1, boss.id)).status).to.equal(200);
      expect((await app.get(accounts, headers)).status).to.equal(200);
      const account = await platform.create('accounts', { name: 'Short' });
      await platform.join(account.id, boss.id, 'administrator');
      expect((await app.delete(`${accounts}/${account.id}`)).status).to.equal(200);
      expect((await app.get(accounts, headers)).status).to.equal(200);
      await app.patch(`${platformBase}/users/${boss.id}`, { platform_admin: false });
    });

    it('give back their conversations when they leave', async () => {
      const user = await platform.newUser();
      await platform.join(1, user.id, 'administrator');
      const { body: inbox } = await app.post('inboxes', { name: 'Desk' });
      const conversation = await platform.converse(1, {}, inbox.id);
      await app.post(`conversations/${conversation}/assignments`, { assignee_id: user.id });
      await app.events();
      expect((await platform.leave(1, user.id)).status).to.equal(200);
      expect(await app.eventNames()).to.deep.equal(['conversation_updated']);
      expect((await app.get(`conversations/${conversation}`)).body.meta.assignee).to.equal(null);
    });
  });
});
