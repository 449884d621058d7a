import { expect } from 'chai';
import { Client } from 'pg';
import type { TestApp } from '../../support/app.ts';
import { Hiring } from '../../support/hiring.ts';
import { addAccount, addPerson, type User } from '../../support/people.ts';
import { Platform } from '../../support/platform.ts';

describe('seats', () => {
  let hiring: Hiring;
  let app: TestApp;
  let platform: Platform;

  before(async () => {
    hiring = await Hiring.start();
    app = hiring.app;
    platform = new Platform(app);
  });

  beforeEach(() => hiring.clear());

  const waiting = () =>
    app.query(`SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`);

  after(() => app.stop());

  describe('accepting', () => {
    it('lets who is known in by the token held before, under the name that the account gave', async () => {
      const known = await hiring.addKnown();
      const before = (await app.get('/api/v1/profile', known.headers)).body;
      const agent = await hiring.hire(known.email);
      const { status, body } = await hiring.accept(known.email);
      expect(status).to.equal(200);
      expect(body).to.deep.equal({
        id: agent,
        name: 'Nick',
        email: known.email,
        confirmed: true,
        account_id: 1,
        access_token: null,
      });
      const { body: agents } = await app.get('agents', known.headers);
      const face = 'https://example.com/face.png';
      const own = agents.find(({ id }: { id: number }) => id === agent);
      expect(own).to.include({ name: 'Nick', confirmed: true, avatar_url: face });
      const { body: profile } = await app.get('/api/v1/profile', known.headers);
      expect(profile).to.deep.equal({
        ...before,
        accounts: [
          ...before.accounts,
          { id: 1, name: 'Demo account', agent_id: agent, role: 'agent', availability: 'online' },
        ],
      });
      expect(profile.name).not.to.equal('Nick');
      expect(await app.query('SELECT FROM access_tokens WHERE user_id = $1', [known.id])).to.have.lengthOf(1);
      expect((await app.post(`agents/${agent}/resend_invitation`)).status).to.equal(422);
      expect(await app.eventNames()).to.deep.equal([]);
    });

    it('is told on a page that names no token where there is one already', async () => {
      const known = await hiring.addKnown();
      await hiring.hire(known.email);
      const response = await fetch(`${hiring.linkOf(known.email)}?format=page`, { method: 'POST' });
      const text = await response.text();
      expect(response.status).to.equal(200);
      expect(text).to.include('Welcome to Demo account').and.to.include('You already have access elsewhere');
      expect(text).not.to.match(/swu_/);
    });

    it('gives a token to who holds none, and confirms the address', async () => {
      const known = await addPerson(app, { name: 'Leaver' });
      await app.delete(`agents/${known.id}`);
      await app.query('UPDATE users SET confirmed = false WHERE id = $1', [known.id]);
      const agent = await hiring.hire(known.email, 'Back again');
      expect(agent).to.be.above(known.id);
      const { body } = await hiring.accept(known.email);
      const headers = { api_access_token: body.access_token };
      expect((await app.get('/api/v1/profile', headers)).body).to.deep.include({ id: known.id, confirmed: true });
      expect((await app.get('agents', headers)).status).to.equal(200);
    });

    for (const order of ['first', 'last'] as const) {
      it(`of two accounts that invited the same new address makes one person, the ${order} invited accepted first`, async () => {
        const email = hiring.newEmail();
        const here = await hiring.hire(email);
        const linkHere = hiring.linkOf(email);
        const there = await hiring.hireElsewhere(email);
        const links = [linkHere, hiring.linkOf(email)];
        if (order === 'last') links.reverse();
        const tokens: (string | null)[] = [];
        for (const link of links) {
          const { status, body } = await hiring.follow(link);
          expect(status).to.equal(200);
          tokens.push(body.access_token);
        }
        expect(tokens[0]).to.match(/^swu_/);
        expect(tokens[1]).to.equal(null);
        const headers = { api_access_token: tokens[0]! };
        const { body: profile } = await app.get('/api/v1/profile', headers);
        const seats = profile.accounts.map((one: { id: number; agent_id: number }) => [one.id, one.agent_id]);
        expect(seats).to.have.deep.members([
          [1, here],
          [hiring.elsewhere.id, there],
        ]);
        expect(await app.query('SELECT FROM users WHERE email = $1', [email])).to.have.lengthOf(1);
        // Who is new goes by the id of the first seat.
        expect(profile.id).to.equal(order === 'first' ? here : there);
      });
    }

    it('in two accounts at the same moment makes one person', async () => {
      for (let round = 0; round < 5; round++) {
        const email = hiring.newEmail();
        await hiring.hire(email);
        const links = [hiring.linkOf(email)];
        await hiring.hireElsewhere(email);
        links.push(hiring.linkOf(email));
        const answers = await Promise.all(links.map((link) => hiring.follow(link)));
        expect(answers.map(({ status }) => status)).to.deep.equal([200, 200]);
        const [token, ...more] = answers.flatMap(({ body }) => body.access_token ?? []);
        expect(more).to.deep.equal([]);
        const { body: profile } = await app.get('/api/v1/profile', { api_access_token: token });
        expect(profile.accounts).to.have.lengthOf(2);
      }
    });

    it('while the agent is being removed lets the person in or not, and leaves nothing by halves', async () => {
      for (let round = 0; round < 12; round++) {
        const email = hiring.newEmail();
        const agent = await hiring.hire(email);
        const [accepted, removed] = await Promise.all([hiring.accept(email), app.delete(`agents/${agent}`)]);
        expect(accepted.status).to.be.oneOf([200, 410]);
        expect(removed.status).to.equal(200);
        const token = accepted.body.access_token ?? '';
        expect((await app.get('agents', { api_access_token: token })).status).to.equal(401);
      }
      expect(await hiring.findLoose()).to.deep.equal([]);
    });

    it('is refused once the seat was left while it waited', async () => {
      const email = hiring.newEmail();
      const agent = await hiring.hire(email);
      const held = new Client({ connectionString: app.databaseUrl });
      await held.connect();
      try {
        await held.query('BEGIN');
        await held.query('UPDATE seats SET left_at = now() WHERE id = $1', [agent]);
        await held.query('DELETE FROM agents WHERE user_id = $1', [agent]);
        const accepting = hiring.accept(email);
        await app.eventually(async () => (await waiting()).length > 0);
        await held.query('COMMIT');
        expect((await accepting).status).to.equal(410);
      } finally {
        await held.end();
      }
      expect(await hiring.findLoose()).to.deep.equal([]);
    });

    it('twice in one account, by one person under two addresses, is refused the second time', async () => {
      const [one, other] = [hiring.newEmail(), hiring.newEmail()];
      await hiring.hire(one);
      const agent = await hiring.hire(other);
      const { body } = await hiring.accept(one);
      const headers = { api_access_token: body.access_token };
      const { body: profile } = await app.get('/api/v1/profile', headers);
      await app.patch(`/platform/api/v1/users/${profile.id}`, { email: other });
      const refused = await hiring.accept(other);
      expect(refused.status).to.equal(422);
      expect(refused.body.details).to.deep.equal([
        {
          path: '',
          rule: 'already_member',
          message: `You work in Demo account already, as the agent with the e-mail address ${one}`,
        },
      ]);
      expect((await app.get('agents', headers)).body.find(({ id }: { id: number }) => id === agent)).to.include({
        confirmed: false,
      });
      expect((await app.get('/api/v1/profile', headers)).body.accounts).to.have.lengthOf(1);
      // Once the first seat is left, the second can be taken.
      expect((await app.delete(`agents/${body.id}`)).status).to.equal(200);
      expect((await hiring.accept(other)).status).to.equal(200);
    });

    it('an address once more while its first invitation waits is refused', async () => {
      const email = hiring.newEmail();
      await hiring.hire(email);
      const { status, body } = await app.post('agents', { name: 'Nick', email: email.toUpperCase(), role: 'agent' });
      expect([status, body.details[0].path, body.details[0].rule]).to.deep.equal([422, '/email', 'unique']);
    });
  });

  describe('who works in several accounts', () => {
    async function addBoth(): Promise<User & { here: number; there: number }> {
      const known = await hiring.addKnown();
      const here = await hiring.hire(known.email);
      await hiring.accept(known.email);
      const { body: inbox } = await app.post('inboxes', { name: 'Desk' });
      await app.post(`inboxes/${inbox.id}/members`, { user_ids: [here] });
      return { ...known, here, there: known.id };
    }

    it('has a name for each: renaming in one changes nothing of the other', async () => {
      const person = await addBoth();
      const before = await hiring.storedElsewhere();
      const { status, body } = await app.patch(`agents/${person.here}`, { name: 'Here' });
      expect([status, body.name]).to.deep.equal([200, 'Here']);
      expect(await hiring.storedElsewhere()).to.deep.equal(before);
      const there = `/api/v1/accounts/${hiring.elsewhere.id}/agents/${person.there}`;
      await app.patch(there, { name: 'There' }, hiring.elsewhere.administrator.headers);
      const { body: agents } = await app.get('agents', person.headers);
      expect(agents.find(({ id }: { id: number }) => id === person.here).name).to.equal('Here');
    });

    it('writes and is assigned by the name and id of the account', async () => {
      const person = await addBoth();
      await app.patch(`agents/${person.here}`, { name: 'Here' });
      const { body: list } = await app.get('inboxes', person.headers);
      const { body: contact } = await app.post('contacts', { name: 'Customer' });
      const bot = await app.post('agent_bots', { name: 'Ear', outgoing_url: 'https://127.0.0.1:9/' });
      await app.post(`inboxes/${list.payload[0].id}/set_agent_bot`, { agent_bot: bot.body.id });
      const fields = { inbox_id: list.payload[0].id, contact_id: contact.id, status: 'pending' };
      const { body: conversation } = await app.post('conversations', fields);
      const path = `conversations/${conversation.id}`;
      await app.events();
      const note = { content: 'Mine', message_type: 'outgoing', private: true };
      const { body: message } = await app.post(`${path}/messages`, note, person.headers);
      expect(message.sender).to.deep.equal({ id: person.here, name: 'Here', type: 'User' });
      const [event] = await app.events();
      expect(event!.account_payload!['sender']).to.deep.equal(message.sender);
      expect(event!.bot_payload!['sender']).to.deep.include({ id: person.here, name: 'Here', email: person.email });
      const { body: assigned } = await app.post(`${path}/assignments`, { assignee_id: person.here }, person.headers);
      expect(assigned.meta.assignee).to.deep.equal({ id: person.here, name: 'Here' });
      const mine = await app.get('conversations?assignee_type=me', person.headers);
      expect(mine.body.data.payload.map((one: { id: number }) => one.id)).to.deep.equal([conversation.id]);
      const { body: contactNote } = await app.post(`contacts/${contact.id}/notes`, { content: 'Hm' }, person.headers);
      expect(contactNote.user).to.deep.equal({ id: person.here, name: 'Here' });
      expect((await app.get(`contacts/${contact.id}/notes`)).body.payload[0].user).to.deep.equal(contactNote.user);
      expect((await app.patch(`agents/${person.here}`, { availability: 'busy' }, person.headers)).status).to.equal(200);
      // The id elsewhere names nobody here.
      const strange = await app.post(`${path}/assignments`, { assignee_id: person.there });
      expect(strange.status).to.equal(404);
    });

    it('is named as the author of what was written after leaving, until the person is deleted', async () => {
      const person = await addBoth();
      const { body: list } = await app.get('inboxes', person.headers);
      const { body: contact } = await app.post('contacts', { name: 'Customer' });
      const fields = { inbox_id: list.payload[0].id, contact_id: contact.id };
      const { body: conversation } = await app.post('conversations', fields);
      const reply = { content: 'Mine', message_type: 'outgoing' };
      await app.post(`conversations/${conversation.id}/messages`, reply, person.headers);
      await app.post(`contacts/${contact.id}/notes`, { content: 'Hm' }, person.headers);
      const authors = async () => [
        (await app.get(`conversations/${conversation.id}/messages`)).body.payload.at(-1).sender,
        (await app.get(`contacts/${contact.id}/notes`)).body.payload[0].user,
      ];
      expect((await app.delete(`agents/${person.here}`)).status).to.equal(200);
      expect(await authors()).to.deep.equal([
        { id: person.here, name: 'Nick', type: 'User' },
        { id: person.here, name: 'Nick' },
      ]);
      expect((await app.get('agents', person.headers)).status).to.equal(404);
      // Who comes back gets another seat; what was written keeps its author.
      const again = await hiring.hire(person.email, 'Returned');
      expect(again).to.be.above(person.here);
      await hiring.accept(person.email);
      expect((await authors())[0].name).to.equal('Nick');
      expect((await app.delete(`/platform/api/v1/users/${person.id}`)).status).to.equal(200);
      expect(await authors()).to.deep.equal([null, null]);
    });

    it('joins by a platform administrator into the seat that waits for the address', async () => {
      const known = await hiring.addKnown();
      const agent = await hiring.hire(known.email);
      const { status, body } = await platform.join(1, known.id, 'administrator');
      expect(status).to.equal(201);
      expect(body).to.include({ user_id: known.id, agent_id: agent, name: 'Nick', role: 'administrator' });
      expect((await app.get('webhooks', known.headers)).status).to.equal(200);
      expect((await fetch(hiring.linkOf(known.email), { method: 'POST' })).status).to.equal(410);
      expect((await platform.join(1, known.id)).status).to.equal(422);
      expect((await platform.leave(1, known.id)).status).to.equal(200);
      expect((await app.get('webhooks', known.headers)).status).to.equal(404);
      // Joining again: the id is another one, since the first may be the author of messages.
      const rejoined = await platform.join(1, known.id);
      expect(rejoined.body).to.include({ user_id: known.id, agent_id: known.id });
      await platform.leave(1, known.id);
      expect((await platform.join(1, known.id)).body.agent_id).to.be.above(agent);
    });
  });

  it('an invited administrator does not stand in for the last one who is in', async () => {
    const other = await addAccount(app, 'Alone');
    const path = `/api/v1/accounts/${other.id}/agents`;
    const { headers } = other.administrator;
    const invited = { name: 'Second', email: hiring.newEmail(), role: 'administrator' };
    expect((await app.post(path, invited, headers)).status).to.equal(201);
    for (const answer of [
      await app.delete(`${path}/${other.administrator.id}`, headers),
      await app.patch(`${path}/${other.administrator.id}`, { role: 'agent' }, headers),
      await app.delete(`/platform/api/v1/users/${other.administrator.id}`),
    ]) {
      expect([answer.status, answer.body.details[0].rule]).to.deep.equal([422, 'last_administrator']);
    }
    await hiring.accept(invited.email);
    expect((await app.delete(`${path}/${other.administrator.id}`, headers)).status).to.equal(200);
  });

  it('who has not accepted is given no conversation unasked', async () => {
    const email = hiring.newEmail();
    const agent = await hiring.hire(email);
    const { body: inbox } = await app.post('inboxes', { name: 'Desk', enable_auto_assignment: true });
    await app.post(`inboxes/${inbox.id}/members`, { user_ids: [agent] });
    const { body: contact } = await app.post('contacts', { name: 'Customer' });
    const fields = { inbox_id: inbox.id, contact_id: contact.id };
    expect((await app.post('conversations', fields)).body.meta.assignee).to.equal(null);
    await hiring.accept(email);
    expect((await app.post('conversations', fields)).body.meta.assignee.id).to.equal(agent);
  });
});
