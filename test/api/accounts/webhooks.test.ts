import { expect } from 'chai';
import { TestApp } from '../../support/app.ts';
import { addAccount, addPerson, type User } from '../../support/people.ts';
import { Receiver, verify } from '../../support/receiver.ts';

// An engine begins within a few milliseconds of the commit.
const longEnoughMs = 300;

describe('webhooks', () => {
  let app: TestApp;
  let ada: User;
  let receiver: Receiver;

  before(async () => {
    app = await TestApp.start({ engine: false });
    ada = await addPerson(app, { name: 'Ada' });
    receiver = await Receiver.start();
  });

  beforeEach(async () => void (await app.events()));

  after(async () => {
    await app.stop();
    await receiver.close();
  });

  const create = (body: object = {}) =>
    app.post('webhooks', { url: receiver.url, subscriptions: ['contact_created'], ...body });
  const states = (id: number) =>
    app.query('SELECT state FROM deliveries WHERE endpoint_id = $1 ORDER BY id', [id]) as Promise<{ state: string }[]>;

  it('one is read without its secret', async () => {
    const { body: created } = await create({ name: 'CRM' });
    const { secret, payload, ...rest } = created;
    expect(secret).to.match(/^whsec_/);
    expect(payload).to.deep.equal({ webhook: { ...rest, secret } });
    const { status, body } = await app.get(`webhooks/${created.id}`);
    expect(status).to.equal(200);
    expect(body).to.deep.equal(rest);
    expect((await app.get('webhooks/999999')).status).to.equal(404);
  });

  it('url, subscriptions, name and inbox change, without an event', async () => {
    const { body: created } = await create({ name: 'CRM' });
    const { payload } = (await app.get('inboxes')).body;
    const changes = {
      url: `${receiver.url}/other`,
      subscriptions: ['message_created', 'sla_breached'],
      name: null,
      inbox_id: payload[0].id,
    };
    const { status, body } = await app.patch(`webhooks/${created.id}`, changes);
    expect(status).to.equal(200);
    expect(body).to.deep.include({ ...changes, active: true });
    expect(body).not.to.have.property('secret');
    expect((await app.patch(`webhooks/${created.id}`, { inbox_id: null })).body).to.deep.include({
      ...changes,
      inbox_id: null,
    });
    expect(await app.eventNames()).to.deep.equal([]);
  });

  for (const [path, change] of [
    ['/url', { url: 'ftp://example.com' }],
    ['/url', { url: 'http://10.0.0.1/' }],
    ['/url', { url: null }],
    ['/subscriptions', { subscriptions: [] }],
    ['/subscriptions/0', { subscriptions: ['everything'] }],
    ['/active', { active: 'yes' }],
    ['/name', { name: '' }],
  ] as const) {
    it(`${JSON.stringify(change)} is refused`, async () => {
      const { body: created } = await create();
      const { status, body } = await app.patch(`webhooks/${created.id}`, change);
      expect(status).to.equal(422);
      expect(body.details[0].path).to.equal(path);
      expect((await app.get(`webhooks/${created.id}`)).body.updated_at).to.equal(created.updated_at);
    });
  }

  it("another account's inbox and webhook are not found", async () => {
    const other = await addAccount(app, 'Other');
    const [inbox] = await app.query<{ id: number }>(
      `INSERT INTO inboxes (account_id, name, channel_type, identifier) VALUES ($1, 'Theirs', 'Channel::Api', 'theirs') RETURNING id`,
      [other.id],
    );
    const { body } = await create();
    expect((await app.patch(`webhooks/${body.id}`, { inbox_id: inbox!.id })).status).to.equal(404);
    const theirs = `/api/v1/accounts/${other.id}/webhooks/${body.id}`;
    const { headers } = other.administrator;
    expect((await app.get(theirs, headers)).status).to.equal(404);
    expect((await app.patch(theirs, { active: false }, headers)).status).to.equal(404);
    expect((await app.post(`${theirs}/rotate_secret`, {}, headers)).status).to.equal(404);
  });

  it('agents may do nothing here', async () => {
    const { body } = await create();
    expect((await app.get('webhooks', ada.headers)).status).to.equal(403);
    expect((await app.get(`webhooks/${body.id}`, ada.headers)).status).to.equal(403);
    expect((await app.patch(`webhooks/${body.id}`, { active: false }, ada.headers)).status).to.equal(403);
    expect((await app.post(`webhooks/${body.id}/rotate_secret`, {}, ada.headers)).status).to.equal(403);
  });

  it('switched off it gets nothing more; switched on again it is told no reason any more', async () => {
    const { body } = await create();
    await app.post('contacts', { name: 'Before' });
    expect(await states(body.id)).to.deep.equal([{ state: 'pending' }]);
    expect((await app.patch(`webhooks/${body.id}`, { active: false })).body).to.include({ active: false });
    await app.post('contacts', { name: 'Meanwhile' });
    expect(await states(body.id)).to.deep.equal([{ state: 'cancelled' }]);
    await app.query(`UPDATE webhooks SET disabled_reason = 'gone' WHERE id = $1`, [body.id]);
    const same = await app.patch(`webhooks/${body.id}`, { name: 'Named' });
    expect(same.body).to.include({ active: false, disabled_reason: 'gone' });
    const on = await app.patch(`webhooks/${body.id}`, { active: true });
    expect(on.body).to.include({ active: true, disabled_reason: null });
    await app.post('contacts', { name: 'After' });
    expect(await states(body.id)).to.deep.equal([{ state: 'cancelled' }, { state: 'pending' }]);
  });

  it('switched off or deleted it takes nothing from the bot that has the same number', async () => {
    const server = { name: 'Server', kind: 'webhook', outgoing_url: 'https://127.0.0.1:9/bot' };
    const { body: bot } = await app.post('agent_bots', server);
    await app.query(`SELECT setval('webhooks_id_seq', $1, false)`, [Math.max(bot.id, 1)]);
    await app.query('DELETE FROM webhooks WHERE id >= $1', [bot.id]);
    const { body: webhook } = await create();
    expect(webhook.id).to.equal(bot.id);
    const { body: inbox } = await app.post('inboxes', { name: 'Served' });
    await app.post(`inboxes/${inbox.id}/set_agent_bot`, { agent_bot: bot.id });
    const { body: contact } = await app.post('contacts', { name: 'Customer' });
    const { body: conversation } = await app.post('conversations', { inbox_id: inbox.id, contact_id: contact.id });
    await app.post(`conversations/${conversation.id}/messages`, { content: 'Hello', message_type: 'incoming' });
    // What is cancelled is what is as old as the webhook's newest.
    await app.post('contacts', { name: 'Later' });
    const ofBot = `SELECT state FROM deliveries WHERE endpoint_kind = 'bot' AND endpoint_id = $1`;
    expect(await app.query(ofBot, [bot.id])).to.deep.equal([{ state: 'pending' }]);
    await app.patch(`webhooks/${webhook.id}`, { active: false });
    await app.delete(`webhooks/${webhook.id}`);
    expect(await app.query(ofBot, [bot.id])).to.deep.equal([{ state: 'pending' }]);
    await app.query(`SELECT setval('webhooks_id_seq', (SELECT max(id) FROM webhooks) + 1000)`);
  });

  it('are not called by a process that serves requests alone', async () => {
    const { body } = await create();
    await app.post('contacts', { name: 'For an engine' });
    await new Promise((resolve) => setTimeout(resolve, longEnoughMs));
    const made = 'SELECT attempt, lease_token FROM deliveries WHERE endpoint_id = $1';
    expect(await app.query(made, [body.id])).to.deep.equal([{ attempt: 0, lease_token: null }]);
  });

  it('a rotation answers the new secret once, and keeps both sealed', async () => {
    const { body: created } = await create();
    const { status, body } = await app.post(`webhooks/${created.id}/rotate_secret`);
    expect(status).to.equal(200);
    expect(body).to.include({ id: created.id, url: receiver.url });
    expect(body.secret)
      .to.match(/^whsec_/)
      .and.not.to.equal(created.secret);
    const [row] = await app.query<{ text: string; hours: number }>(
      `SELECT row_to_json(w)::text AS text, (extract(epoch FROM (older_secrets->0->>'endsAt')::timestamptz - now()) / 3600)::float8 AS hours
       FROM webhooks w WHERE id = $1`,
      [created.id],
    );
    expect(row!.text).not.to.include(created.secret).and.not.to.include(body.secret);
    // By the clock of this process, which keeps to the database's to within milliseconds.
    expect(row!.hours).to.be.within(23.9, 24.001);
    expect(await app.eventNames()).to.deep.equal([]);
  });
});

describe('webhooks while their secret rotates', () => {
  it('deliveries carry a signature by each secret, after a day by the new one only', async () => {
    const app = await TestApp.start();
    const receiver = await Receiver.start();
    try {
      const { body: created } = await app.post('webhooks', { url: receiver.url, subscriptions: ['contact_created'] });
      const { body: rotated } = await app.post(`webhooks/${created.id}/rotate_secret`);
      await app.post('contacts', { name: 'Both' });
      const [both] = await receiver.waitFor(1);
      expect(String(both!.headers['webhook-signature']).split(' ')).to.have.lengthOf(2);
      for (const secret of [created.secret, rotated.secret]) verify(secret, both!);

      await app.query(`UPDATE webhooks SET older_secrets = jsonb_set(older_secrets, '{0,endsAt}', to_jsonb(now()))`);
      await app.post('contacts', { name: 'One' });
      const [, one] = await receiver.waitFor(2);
      verify(rotated.secret, one!);
      expect(() => verify(created.secret, one!)).to.throw();

      const { body: again } = await app.post(`webhooks/${created.id}/rotate_secret`);
      await app.post('contacts', { name: 'Again' });
      const [, , third] = await receiver.waitFor(3);
      for (const secret of [rotated.secret, again.secret]) verify(secret, third!);
      expect(() => verify(created.secret, third!)).to.throw();
    } finally {
      await app.stop();
      await receiver.close();
    }
  });
});
