import { expect } from 'chai';
import { Client } from 'pg';
import { pino } from 'pino';
import { system, transact } from '../../../src/events/transaction.ts';
import { deleteContact, finishErasures } from '../../../src/domain/contacts/erasure.ts';
import { TestApp } from '../../support/app.ts';
import { Receiver } from '../../support/receiver.ts';
import { addContact, addConversation, addInbox, addMessage } from '../../support/records.ts';
import { Widget } from '../../support/widget.ts';

// More than one transaction erases, and not a multiple of it.
const many = 450;

describe('a contact with very many conversations', () => {
  let app: TestApp;
  let widget: Widget;
  const lines: string[] = [];

  before(async () => {
    const log = pino({ level: 'error' }, { write: (line: string) => void lines.push(line) });
    app = await TestApp.start({ engine: false, log });
    widget = await Widget.create(app);
  });

  after(() => app.stop());

  async function populate(conversations: number): Promise<{ contact: number; headers: Record<string, string> }> {
    const { contactId: contact, headers } = await widget.enter();
    await app.query(
      `WITH made AS (
         INSERT INTO conversations (account_id, inbox_id, contact_id, status, event_sequence)
         SELECT 1, $1, $2, 'open', 3 FROM generate_series(1, $3) RETURNING id
       ), told AS (
         INSERT INTO events (account_id, name, conversation_id, sequence, account_payload)
         SELECT 1, 'message_created', id, n, '{"content": "4711"}' FROM made, generate_series(1, 3) n)
       INSERT INTO messages (account_id, conversation_id, message_type, content, sender_kind, sender_id)
       SELECT 1, id, 'incoming', '4711', 'contact', $2 FROM made, generate_series(1, 3)`,
      [widget.id, contact, conversations],
    );
    await app.events();
    return { contact, headers };
  }

  async function left(contact: number): Promise<number> {
    const [row] = await app.query<{ count: number }>(
      'SELECT count(*) AS count FROM conversations WHERE contact_id = $1',
      [contact],
    );
    return row!.count;
  }

  /** As clients do: a deletion that waited too long for another one of the same contact is asked for again. */
  async function deleteUntilAnswered(contact: number): Promise<number> {
    for (;;) {
      const { status } = await app.delete(`contacts/${contact}`);
      if (status !== 503) return status;
    }
  }

  async function expectErased(contact: number, conversations: number): Promise<void> {
    expect((await app.get(`contacts/${contact}`)).status).to.equal(404);
    const events = await app.events();
    const names = events.map(({ name }) => name);
    expect(names.slice(0, -1)).to.deep.equal(Array.from({ length: conversations }, () => 'conversation_deleted'));
    expect(events.at(-1)).to.deep.include({ name: 'contact_deleted', contact_id: null });
    expect(new Set(events.map(({ account_payload: payload }) => payload!['id'])).size).to.be.at.least(conversations);
    const traces = await app.query(`SELECT FROM messages WHERE content = '4711' AND account_id = 1`);
    expect(traces).to.deep.equal([]);
  }

  async function holdLast(contact: number): Promise<Client> {
    const client = new Client({ connectionString: app.databaseUrl });
    await client.connect();
    await client.query('BEGIN');
    await client.query('SELECT FROM conversations WHERE contact_id = $1 ORDER BY id DESC LIMIT 1 FOR UPDATE', [
      contact,
    ]);
    return client;
  }

  /** Lets the time pass after which somebody who was at the deletion counts as dead. */
  async function lapse(contact: number): Promise<void> {
    await app.query(`UPDATE contacts SET deletion_beat_at = now() - interval '1 minute' WHERE id = $1`, [contact]);
  }

  /** The beginning of a deletion and the first so many batches, and then the process dies. */
  async function deleteAndDie(contact: number, batches: number): Promise<void> {
    const { database } = app.app;
    let done = 0;
    const dying = deleteContact((work) => {
      if (done === batches + 1) return Promise.reject(new Error('killed'));
      done += 1;
      return transact(database, { account: { id: 1, name: 'Demo account' }, actor: system }, work);
    }, contact);
    expect(await dying.catch((error: Error) => error.message)).to.equal('killed');
  }

  it('is deleted, each conversation with an event, and the contact last', async () => {
    const { contact } = await populate(many);
    expect(await app.delete(`contacts/${contact}`)).to.deep.include({ status: 200, body: {} });
    await expectErased(contact, many);
  });

  it('shows since when it is being deleted, and begins nothing any more', async () => {
    const { contact, headers } = await populate(many);
    expect((await app.get(`contacts/${contact}`)).body.deletion_requested_at).to.equal(null);
    await deleteAndDie(contact, 1);
    const { body } = await app.get(`contacts/${contact}`);
    expect(body.deletion_requested_at).to.be.closeTo(Date.now() / 1000, 60);
    expect((await app.get(`contacts/${contact}/conversations`)).body.meta.count).to.equal(many - 200);
    const begun = await app.post('conversations', { inbox_id: widget.id, contact_id: contact });
    expect([begun.status, begun.body.error]).to.deep.equal([404, 'Contact not found']);
    expect((await widget.say('Hello?', headers)).status).to.equal(401);
    // Somebody seems to be at it.
    expect(await app.delete(`contacts/${contact}`)).to.deep.include({
      status: 202,
      body: { deletion_requested_at: body.deletion_requested_at, conversations_left: many - 200 },
    });
    await lapse(contact);
    expect((await app.delete(`contacts/${contact}`)).status).to.equal(200);
    await expectErased(contact, many);
  });

  it('is left to whoever deletes it, however long that takes', async () => {
    const { contact } = await populate(many);
    await deleteAndDie(contact, 1);
    await app.query(`UPDATE contacts SET deletion_requested_at = now() - interval '1 hour' WHERE id = $1`, [contact]);
    expect(await finishErasures(app.app.database)).to.equal(0);
    expect(await left(contact)).to.equal(many - 200);
    await lapse(contact);
    expect(await finishErasures(app.app.database)).to.equal(1);
    await expectErased(contact, many);
  });

  it('answers 202 with the progress after a thousand conversations, and is deleted to the end by the service', async () => {
    const { contact } = await populate(1_300);
    const { status, body } = await app.delete(`contacts/${contact}`);
    expect([status, body.conversations_left]).to.deep.equal([202, 300]);
    expect(body.deletion_requested_at).to.be.closeTo(Date.now() / 1000, 60);
    expect(await finishErasures(app.app.database)).to.equal(1);
    await expectErased(contact, 1_300);
    expect((await app.delete(`contacts/${contact}`)).status).to.equal(404);
  });

  it('is deleted by one at a time, while others ask for it and sweeps look for it', async () => {
    const { contact } = await populate(1_300);
    lines.length = 0;
    const ask = async () => (await app.delete(`contacts/${contact}`)).status;
    const sweepOnce = () => finishErasures(app.app.database);
    const stati: number[] = [];
    await app.eventually(async () => {
      const answers = await Promise.all([ask(), ask(), sweepOnce(), ask(), sweepOnce()]);
      stati.push(answers[0], answers[1], answers[3]);
      return (await left(contact)) === 0 && (await app.get(`contacts/${contact}`)).status === 404;
    });
    expect(stati.filter((status) => ![200, 202, 404].includes(status))).to.deep.equal([]);
    expect(stati).to.include(202);
    expect(lines).to.deep.equal([]);
    await expectErased(contact, 1_300);
  });

  it('is deleted to the end by the service after a crash, once nobody else is at it', async () => {
    const { contact } = await populate(many);
    await deleteAndDie(contact, 2);
    expect(await finishErasures(app.app.database)).to.equal(0);
    expect(await left(contact)).to.equal(many - 400);
    await lapse(contact);
    expect(await finishErasures(app.app.database)).to.equal(1);
    await expectErased(contact, many);
  });

  it('is deleted once by all who are at it: requests and the service', async () => {
    const { contact } = await populate(many);
    await deleteAndDie(contact, 1);
    await lapse(contact);
    const [swept, ...stati] = await Promise.all([
      Promise.all([finishErasures(app.app.database), finishErasures(app.app.database)]),
      ...[1, 2].map(() => deleteUntilAnswered(contact)),
    ]);
    expect(swept.reduce((sum, count) => sum + count, 0)).to.be.at.most(1);
    for (const status of stati) expect(status).to.be.oneOf([200, 202, 404]);
    await expectErased(contact, many);
  });

  it('is deleted under If-Match in batches too: the condition is that of the first', async () => {
    const { contact } = await populate(many);
    const stale = (await app.get(`contacts/${contact}`)).headers.get('etag') ?? '';
    await app.patch(`contacts/${contact}`, { name: 'Renamed' });
    expect((await app.delete(`contacts/${contact}`, { 'if-match': stale })).status).to.equal(412);
    expect(await left(contact)).to.equal(many);
    const fresh = (await app.get(`contacts/${contact}`)).headers.get('etag') ?? '';
    // The third batch waits, and gives up: the two before it are done.
    const held = await holdLast(contact);
    expect((await app.delete(`contacts/${contact}`, { 'if-match': fresh })).status).to.equal(503);
    await held.end();
    expect(await left(contact)).to.equal(many - 400);
    expect((await app.delete(`contacts/${contact}`)).status).to.equal(200);
    await app.query(`DELETE FROM events WHERE name = 'contact_updated'`);
    await expectErased(contact, many);
  });

  it('is locked as its words lock it: by what it comes in, then its conversations, so that neither ends the other', async () => {
    for (const table of ['contact_tokens', 'contact_inboxes']) {
      const { contact } = await populate(3);
      await app.query(
        `INSERT INTO contact_inboxes (account_id, contact_id, inbox_id, source_id, admits) VALUES (1, $1, $2, $3, false)`,
        [contact, widget.id, `source ${contact}`],
      );
      const client = new Client({ connectionString: app.databaseUrl });
      await client.connect();
      await client.query('BEGIN');
      await client.query(`SELECT FROM ${table} WHERE contact_id = $1 FOR NO KEY UPDATE`, [contact]);
      const deleting = app.delete(`contacts/${contact}`);
      await app.eventually(async () => {
        const waiting = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
        return (await app.query(waiting)).length > 0;
      });
      // Would wait for the deletion, which waits for this.
      await client.query('SELECT FROM conversations WHERE contact_id = $1 FOR UPDATE NOWAIT', [contact]);
      await client.query('COMMIT');
      await client.end();
      expect((await deleting).status).to.equal(200);
      await expectErased(contact, 3);
    }
  });

  it('goes with the words that come at the same moment, each of which is answered', async () => {
    const inbox = await Widget.create(app, { channel_type: 'Channel::Api' });
    for (let round = 0; round < 4; round += 1) {
      const { body: entered } = await inbox.call('POST', 'contacts', {});
      const path = `contacts/${entered.source_id}/conversations`;
      const { body: begun } = await inbox.call('POST', path, {});
      await app.events();
      const words = Array.from({ length: 8 }, (_, number) => `Word ${number}`);
      const [deleted, ...said] = await Promise.all([
        app.delete(`contacts/${entered.id}`),
        ...words.map((content) => inbox.call('POST', `${path}/${begun.id}/messages`, { content })),
      ]);
      expect(deleted.status).to.equal(200);
      expect(said.filter(({ status }) => status !== 201 && status !== 404)).to.deep.equal([]);
      const names = (await app.eventNames()).filter((name) => name !== 'message_created');
      expect(names).to.deep.equal(['conversation_deleted', 'contact_deleted']);
    }
  });

  it('that cannot be deleted keeps no other from it, and is told of', async () => {
    // A sweep that waited too long for those of the tests above may have told so.
    lines.length = 0;
    const [stuck, free] = [await populate(1), await populate(1)];
    await app.query(`UPDATE contacts SET deletion_requested_at = now() - interval '1 hour' WHERE id = ANY ($1)`, [
      [stuck.contact, free.contact],
    ]);
    await app.query(
      `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'not this one'; END $$`,
    );
    await app.query(
      `CREATE TRIGGER refuse BEFORE DELETE ON contacts FOR EACH ROW WHEN (OLD.id = ${stuck.contact}) EXECUTE FUNCTION refuse()`,
    );
    expect(await finishErasures(app.app.database)).to.equal(1);
    expect(lines).to.have.lengthOf(1);
    expect(lines[0]).to.include(`deleting contacts: contact ${stuck.contact} of account 1 could not be done`);
    expect([await left(stuck.contact), await left(free.contact)]).to.deep.equal([1, 0]);
  });
});

describe('a message that is deleted', () => {
  const secret = 'My card is 4711';

  it('is gone from the events recorded of it: what waits is delivered without it', async () => {
    const app = await TestApp.start();
    const receiver = await Receiver.start();
    try {
      receiver.answerWith((_, response) => {
        response.statusCode = receiver.received.length === 1 ? 500 : 200;
        response.end();
      });
      await app.post('webhooks', { url: receiver.url, subscriptions: ['message_created', 'message_updated'] });
      const conversation = await addConversation(app, await addInbox(app), { contactId: await addContact(app) });
      const message = await addMessage(app, conversation, `${secret}2`);
      const other = await addMessage(app, conversation, 'Stays', { content_attributes: { kept: 4711 } });
      await receiver.waitFor(1);
      const messages = `conversations/${conversation}/messages`;
      const edit = { content: secret, content_attributes: { card: '4711' } };
      expect((await app.patch(`${messages}/${message}`, edit)).status).to.equal(200);
      expect((await app.delete(`${messages}/${message}`)).status).to.equal(200);
      const held = await app.query(
        `SELECT FROM events WHERE account_payload::text LIKE '%4711%' OR bot_payload::text LIKE '%4711%'`,
      );
      // That of the message which stays.
      expect(held).to.have.lengthOf(1);
      await app.query(`UPDATE deliveries SET next_attempt_at = now() WHERE state = 'pending'`);
      await app.query('UPDATE lanes SET due_at = now() WHERE lease_token IS NULL AND due_at IS NOT NULL');
      await receiver.waitFor(5);
      const told = receiver.received.slice(1).map(({ body }) => body);
      expect(told.map(({ event, id }) => [event, id])).to.deep.equal([
        ['message_created', String(message)],
        ['message_created', String(other)],
        ['message_updated', String(message)],
        ['message_updated', String(message)],
      ]);
      expect(told[0]).to.deep.include({ content: '', content_attributes: { deleted: true } });
      expect(told[2]!['changed_attributes']).to.deep.equal({
        content: { previous: null, current: '' },
        content_attributes: { previous: null, current: { deleted: true } },
      });
      expect(told[1]).to.deep.include({ content: 'Stays', content_attributes: { kept: 4711 } });
    } finally {
      await app.stop();
      await receiver.close();
    }
  });
});
