import { expect } from 'chai';
import { Client } from 'pg';
import { TestApp } from '../../support/app.ts';
import { addAccount, addPerson, type Person } from '../../support/people.ts';
import { addContact, addConversation, addInbox, addMessage, addTeam, addWebhookBot } from '../../support/records.ts';

describe('conversations', () => {
  let app: TestApp;
  let member: Person;
  let outsider: Person;
  let stranger: { id: number; administrator: Person };
  let bot: Person;
  let inbox: number;
  let botInbox: number;

  before(async () => {
    app = await TestApp.start({ engine: false });
    member = await addPerson(app, { name: 'Member' });
    outsider = await addPerson(app, { name: 'Outsider' });
    stranger = await addAccount(app, 'Elsewhere');
    bot = await addWebhookBot(app, 'Helper');
    inbox = await addInbox(app, { members: [member] });
    botInbox = await addInbox(app, { members: [member], botId: bot.id });
  });

  beforeEach(() => app.events());
  after(() => app.stop());

  async function open(inboxId = inbox, fields = {}): Promise<number> {
    const id = await addConversation(app, inboxId, fields);
    await app.events();
    return id;
  }

  async function told(): Promise<unknown[]> {
    return (await app.events()).map(({ name, account_payload: payload }) => [name, payload?.changed_attributes]);
  }

  const silence = async (id: number) =>
    (
      await app.query<{ silence: string | null }>(
        'SELECT coalesce(bot_silence, human_silence) AS silence FROM conversations WHERE id = $1',
        [id],
      )
    )[0]!.silence;

  describe('PATCH one', () => {
    it('changes its own fields and says what changed', async () => {
      const id = await open(inbox, {
        custom_attributes: { plan: 'free', seats: 3 },
        additional_attributes: { page: '/' },
      });
      const answer = await app.patch(`conversations/${id}`, {
        priority: 'high',
        custom_attributes: { plan: 'pro', seats: null, since: { year: 2026 } },
        status: 'resolved',
        unknown: 1,
      });
      expect(answer.status).to.equal(200);
      const custom = { plan: 'pro', since: { year: 2026 } };
      expect(answer.body).to.deep.include({ priority: 'high', custom_attributes: custom, status: 'open' });
      expect(answer.body.additional_attributes).to.deep.equal({ page: '/' });
      expect(await told()).to.deep.equal([
        [
          'conversation_updated',
          {
            priority: { previous: null, current: 'high' },
            custom_attributes: { previous: { plan: 'free', seats: 3 }, current: custom },
          },
        ],
      ]);
    });

    it('says nothing when nothing changes', async () => {
      const id = await open(inbox, { custom_attributes: { a: { b: [1] } } });
      const before = (await app.get(`conversations/${id}`)).body;
      for (const body of [{}, { priority: null, custom_attributes: { a: { b: [1] }, gone: null } }]) {
        expect(await app.patch(`conversations/${id}`, body)).to.deep.include({ status: 200, body: before });
      }
      expect(await app.eventNames()).to.deep.equal([]);
    });

    it('sets and clears priority and SLA policy', async () => {
      const id = await open();
      const [policy] = await app.query<{ id: number }>(
        `INSERT INTO sla_policies (account_id, name, resolution_seconds) VALUES (1, 'Gold', 60) RETURNING id`,
      );
      const set = await app.patch(`conversations/${id}`, { priority: 'urgent', sla_policy_id: policy!.id });
      expect(set.body).to.include({ priority: 'urgent', sla_policy_id: policy!.id });
      const cleared = await app.patch(`conversations/${id}`, { priority: null, sla_policy_id: null });
      expect(cleared.status).to.equal(200);
      expect(cleared.body).to.include({ priority: null, sla_policy_id: null });
      expect(await app.eventNames()).to.deep.equal(['conversation_updated', 'conversation_updated']);
    });

    it('refuses what is not there or not allowed, and changes nothing', async () => {
      const id = await open();
      const [elsewhere] = await app.query<{ id: number }>(
        `INSERT INTO sla_policies (account_id, name) VALUES ($1, 'Theirs') RETURNING id`,
        [stranger.id],
      );
      const big = { a: 'x'.repeat(60_000) };
      expect((await app.patch(`conversations/${id}`, { custom_attributes: big })).status).to.equal(200);
      await app.events();
      const refusals: [number, string, object, Person?][] = [
        [422, `conversations/${id}`, { priority: 'whenever' }],
        [422, `conversations/${id}`, { custom_attributes: { b: 'x'.repeat(60_000) } }],
        [404, `conversations/${id}`, { priority: 'low', sla_policy_id: elsewhere!.id }],
        [404, 'conversations/99999999', { priority: 'low' }],
        [404, `conversations/${id}`, { priority: 'low' }, stranger.administrator],
        [404, `/api/v1/accounts/${stranger.id}/conversations/${id}`, { priority: 'low' }, stranger.administrator],
        [403, `conversations/${id}`, { priority: 'low' }, outsider],
        [403, `conversations/${id}`, { priority: 'low' }, bot],
      ];
      for (const [status, path, body, person] of refusals) {
        expect((await app.patch(path, body, person?.headers)).status, JSON.stringify([path, status])).to.equal(status);
      }
      expect((await app.get(`conversations/${id}`)).body).to.deep.include({ priority: null, sla_policy_id: null });
      expect(await app.eventNames()).to.deep.equal([]);
    });

    it('is open to members of the inbox and to the bot that serves', async () => {
      const id = await open(botInbox);
      expect((await app.patch(`conversations/${id}`, { priority: 'low' }, member.headers)).status).to.equal(200);
      expect((await app.patch(`conversations/${id}`, { priority: 'high' }, bot.headers)).status).to.equal(200);
      expect(await app.eventNames()).to.deep.equal(['conversation_updated', 'conversation_updated']);
    });
  });

  describe('PATCH the collection', () => {
    it('resolves a conversation for its bot, once', async () => {
      const id = await open(botInbox);
      for (const events of [['conversation_status_changed', 'conversation_resolved'], []]) {
        const { status, body } = await app.patch('conversations', { id, status: 'resolved' }, bot.headers);
        expect(status).to.equal(200);
        expect(body).to.include({ id, status: 'resolved' });
        expect(await app.eventNames()).to.deep.equal(events);
      }
    });

    it('takes every status by the rules of toggle_status', async () => {
      const id = await open();
      const until = Math.floor(Date.now() / 1000) + 3600;
      expect((await app.patch('conversations', { id, status: 'snoozed', snoozed_until: until })).body).to.include({
        status: 'snoozed',
        snoozed_until: until,
      });
      expect((await app.patch('conversations', { id, status: 'pending' })).body.snoozed_until).to.equal(null);
      expect(await app.eventNames()).to.deep.equal(['conversation_status_changed', 'conversation_status_changed']);
      const refusals: [number, object, Person?][] = [
        [422, { id, status: 'snoozed' }],
        [422, { id, status: 'snoozed', snoozed_until: 1 }],
        [422, { id, status: 'closed' }],
        [422, { status: 'open' }],
        [422, { id }],
        [404, { id: 99999999, status: 'open' }],
        [403, { id, status: 'open' }, bot],
        [403, { id, status: 'open' }, outsider],
      ];
      for (const [status, body, person] of refusals) {
        expect((await app.patch('conversations', body, person?.headers)).status, JSON.stringify(body)).to.equal(status);
      }
      expect(await app.eventNames()).to.deep.equal([]);
    });
  });

  describe('assignments', () => {
    it('apply agent and team together, in one event', async () => {
      const id = await open();
      const team = await addTeam(app, 'Billing');
      const answer = await app.post(`conversations/${id}/assignments`, { assignee_id: member.id, team_id: team });
      expect(answer.status).to.equal(200);
      expect(answer.body.meta).to.deep.include({
        assignee: { id: member.id, name: 'Member' },
        team: { id: team, name: 'Billing' },
      });
      expect(await told()).to.deep.equal([
        [
          'conversation_updated',
          { assignee_id: { previous: null, current: member.id }, team_id: { previous: null, current: team } },
        ],
      ]);
      expect((await app.get(`conversations/${id}`)).body).to.deep.equal(answer.body);
    });

    it('leave alone what they do not name, and clear by null', async () => {
      const id = await open(inbox, { assignee_id: member.id, team_id: await addTeam(app, 'Sales') });
      const same = await app.post(`conversations/${id}/assignments`, { assignee_id: member.id });
      expect(same.body.meta.team.name).to.equal('Sales');
      await app.post(`conversations/${id}/assignments`);
      expect(await app.eventNames()).to.deep.equal([]);
      const cleared = await app.post(`conversations/${id}/assignments`, { team_id: null });
      expect(cleared.body.meta).to.deep.include({ team: null, assignee: { id: member.id, name: 'Member' } });
      const nobody = await app.post(`conversations/${id}/assignments`, { assignee_id: null });
      expect(nobody.body.meta.assignee).to.equal(null);
      expect((await told()).flat().filter((part) => part !== 'conversation_updated')).to.deep.equal([
        { team_id: { previous: same.body.meta.team.id, current: null } },
        { assignee_id: { previous: member.id, current: null } },
      ]);
    });

    it('refuse those who may not have it', async () => {
      const id = await open();
      const [theirTeam] = await app.query<{ id: number }>(
        `INSERT INTO teams (account_id, name) VALUES ($1, 'T') RETURNING id`,
        [stranger.id],
      );
      const refusals: [number, object, Person?][] = [
        [422, { assignee_id: outsider.id }],
        [422, { assignee_id: 'me' }],
        [404, { assignee_id: stranger.administrator.id }],
        [404, { assignee_id: member.id, team_id: theirTeam!.id }],
        [404, { team_id: 99999999 }],
        [403, { assignee_id: member.id }, outsider],
        [403, { assignee_id: member.id }, bot],
      ];
      for (const [status, body, person] of refusals) {
        const answer = await app.post(`conversations/${id}/assignments`, body, person?.headers);
        expect(answer.status, JSON.stringify(body)).to.equal(status);
      }
      expect((await app.get(`conversations/${id}`)).body.meta).to.include({ assignee: null, team: null });
      expect(await app.eventNames()).to.deep.equal([]);
    });

    it('silence the bot, which goes on when nobody is assigned any more', async () => {
      const id = await open(botInbox);
      const say = () =>
        app.post(`conversations/${id}/messages`, { content: 'Hi', message_type: 'outgoing' }, bot.headers);
      // The bot gives the conversation to a person itself, as it may.
      expect(
        (await app.post(`conversations/${id}/assignments`, { assignee_id: member.id }, bot.headers)).status,
      ).to.equal(200);
      expect(await say()).to.deep.include({ status: 403 });
      await addMessage(app, id, 'I am on it', { headers: member.headers });
      expect(await silence(id)).to.equal('human_replied');
      await app.post(`conversations/${id}/assignments`, { assignee_id: null });
      expect(await silence(id)).to.equal(null);
      expect((await say()).status).to.equal(201);
      expect(await app.eventNames()).to.deep.equal([
        'conversation_updated',
        'conversation_status_changed',
        'message_created',
        'conversation_updated',
        'message_created',
      ]);
    });

    it('do not bring back a bot that handed off', async () => {
      const id = await open(botInbox);
      await app.post(`conversations/${id}/toggle_status`, { status: 'open' }, bot.headers);
      expect(await silence(id)).to.equal('handed_off');
      await app.post(`conversations/${id}/assignments`, { assignee_id: member.id });
      await app.post(`conversations/${id}/assignments`, { assignee_id: null });
      expect(await silence(id)).to.equal('handed_off');
    });

    it('are seen whole by one who had to wait for them', async () => {
      const id = await open(inbox);
      await app.query(`INSERT INTO labels (account_id, title) VALUES (1, 'late')`);
      const other = new Client({ connectionString: app.databaseUrl });
      await other.connect();
      try {
        await other.query('BEGIN');
        await other.query('UPDATE conversations SET assignee_id = $2, agent_bot_id = $3 WHERE id = $1', [
          id,
          member.id,
          bot.id,
        ]);
        await other.query('INSERT INTO conversation_labels SELECT 1, $1, id FROM labels WHERE title = $2', [
          id,
          'late',
        ]);
        const waiting = app.patch(`conversations/${id}`, { priority: 'low' });
        await app.eventually(async () => (await app.query(`SELECT FROM pg_locks WHERE NOT granted`)).length > 0);
        await other.query('COMMIT');
        const { body } = await waiting;
        expect(body.labels).to.deep.equal(['late']);
        const [event] = await app.events();
        expect(event!.account_payload).to.deep.include({ labels: ['late'], priority: 'low' });
        expect(event!.account_payload!.meta).to.deep.include({
          assignee: { id: member.id, name: 'Member' },
          agent_bot: { id: bot.id, name: 'Helper' },
        });
      } finally {
        await other.end();
      }
    });

    it('made at once follow each other without a gap', async () => {
      const id = await open();
      const rival = await addPerson(app, { name: 'Rival', role: 'administrator' });
      const answers = await Promise.all(
        Array.from({ length: 8 }, (_, turn) =>
          app.post(`conversations/${id}/assignments`, { assignee_id: turn % 2 ? member.id : rival.id }),
        ),
      );
      expect(new Set(answers.map(({ status }) => status))).to.deep.equal(new Set([200]));
      let holder: number | null = null;
      for (const [index, { sequence, account_payload: payload }] of (await app.events()).entries()) {
        expect(sequence).to.equal(index + 2);
        const { assignee_id: change } = payload!.changed_attributes as Record<
          string,
          { previous: number; current: number }
        >;
        expect(change!.previous).to.equal(holder);
        holder = change!.current;
      }
    });
  });

  describe('update_last_seen', () => {
    it('leaves nothing unread and tells nobody', async () => {
      const id = await open();
      await addMessage(app, id, 'Hello?', { message_type: 'incoming' });
      expect((await app.get(`conversations/${id}`)).body.unread_count).to.equal(1);
      await app.events();
      for (let times = 0; times < 2; times++) {
        const { status, body } = await app.post(`conversations/${id}/update_last_seen`, {}, member.headers);
        expect(status).to.equal(200);
        expect(body.unread_count).to.equal(0);
      }
      expect((await app.post(`conversations/${id}/update_last_seen`, {}, outsider.headers)).status).to.equal(403);
      expect((await app.post(`conversations/${id}/update_last_seen`, {}, bot.headers)).status).to.equal(403);
      expect((await app.post('conversations/99999999/update_last_seen')).status).to.equal(404);
      expect(await app.eventNames()).to.deep.equal([]);
    });
  });

  describe('a contact’s', () => {
    it('are listed newest activity first, those that the agent may see', async () => {
      const contactId = await addContact(app);
      const first = await open(inbox, { contactId });
      const second = await open(botInbox, { contactId });
      const hidden = await open(await addInbox(app), { contactId });
      await open(inbox);
      await addMessage(app, first, 'Back again', { message_type: 'incoming' });
      const all = await app.get(`contacts/${contactId}/conversations`);
      expect(all.status).to.equal(200);
      expect(all.body.payload.map(({ id }: { id: number }) => id)).to.deep.equal([first, hidden, second]);
      expect(all.body.payload[0].last_message.content).to.equal('Back again');
      const visible = await app.get(`contacts/${contactId}/conversations`, member.headers);
      expect(visible.body.payload.map(({ id }: { id: number }) => id)).to.deep.equal([first, second]);
      expect(visible.body.meta).to.deep.equal({ count: 2, current_page: 1, total_pages: 1 });
      expect((await app.get('contacts/99999999/conversations')).status).to.equal(404);
    });
  });

  describe('creation', () => {
    it('refuses an assignee outside the inbox and whatever the account does not have', async () => {
      const contact = await addContact(app);
      await app.events();
      const refusals: [number, object][] = [
        [422, { assignee_id: outsider.id }],
        [404, { assignee_id: stranger.administrator.id }],
        [404, { team_id: 99999999 }],
        [404, { contact_id: 99999999 }],
        [404, { inbox_id: 99999999 }],
      ];
      for (const [status, body] of refusals) {
        const answer = await app.post('conversations', { inbox_id: inbox, contact_id: contact, ...body });
        expect(answer.status, JSON.stringify(body)).to.equal(status);
      }
      expect(await app.eventNames()).to.deep.equal([]);
    });
  });
});
