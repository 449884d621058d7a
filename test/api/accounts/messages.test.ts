import { expect } from 'chai';
import { TestApp, type EventRow } from '../../support/app.ts';
import { addAccount, addPerson, type Person } from '../../support/people.ts';
import { addConversation, addInbox, addMessage, addWebhookBot } from '../../support/records.ts';

describe('messages', () => {
  let app: TestApp;
  let author: Person;
  let colleague: Person;
  let outsider: Person;
  let bot: Person;
  let conversation: number;

  before(async () => {
    app = await TestApp.start({ engine: false });
    author = await addPerson(app, { name: 'Author' });
    colleague = await addPerson(app, { name: 'Colleague' });
    outsider = await addPerson(app, { name: 'Outsider' });
    bot = await addWebhookBot(app, 'Helper');
    conversation = await addConversation(app, await addInbox(app, { members: [author, colleague], botId: bot.id }));
  });

  beforeEach(() => app.events());
  after(() => app.stop());

  const path = (id: number) => `conversations/${conversation}/messages/${id}`;

  async function send(content: string, fields = {}): Promise<number> {
    const id = await addMessage(app, conversation, content, { headers: author.headers, ...fields });
    await app.events();
    return id;
  }

  async function read(id: number) {
    const { body } = await app.get(`conversations/${conversation}/messages`);
    return body.payload.find((message: { id: number }) => message.id === id);
  }

  const changesOf = ({ account_payload: payload }: EventRow) => payload!.changed_attributes;

  describe('POST', () => {
    const post = (body: object, person?: Person, id = conversation) =>
      app.post(`conversations/${id}/messages`, body, person?.headers);

    it('sends in the name of the caller, or of the customer', async () => {
      const sent = await post(
        {
          content: 'Which one?',
          message_type: 'outgoing',
          content_type: 'input_select',
          content_attributes: { items: [{ title: 'A', value: 'a' }] },
          source_id: 'mail-1',
          unknown: 1,
        },
        author,
      );
      expect(sent.status).to.equal(201);
      expect(sent.body).to.deep.include({
        account_id: 1,
        conversation_id: conversation,
        content: 'Which one?',
        message_type: 'outgoing',
        status: 'sent',
        private: false,
        content_type: 'input_select',
        content_attributes: { items: [{ title: 'A', value: 'a' }] },
        source_id: 'mail-1',
        sender: { id: author.id, name: 'Author', type: 'User' },
        attachments: [],
      });
      expect(await read(sent.body.id)).to.deep.equal(sent.body);
      const word = await post({ content: 'A', message_type: 'incoming' }, author);
      expect(word.body.sender.type).to.equal('Contact');
      const note = await post({ content: 'Easy', message_type: 'outgoing', private: true }, bot);
      expect(note.body).to.deep.include({ private: true, sender: { id: bot.id, name: 'Helper', type: 'AgentBot' } });
      const told = (await app.events()).map(({ name, account_payload: payload }) => [
        name,
        payload!.id,
        payload!.private,
      ]);
      expect(told).to.deep.equal([
        // The person's word takes the conversation out of the bot's queue.
        ['conversation_status_changed', conversation, undefined],
        ['message_created', String(sent.body.id), false],
        ['message_created', String(word.body.id), false],
        ['message_created', String(note.body.id), true],
      ]);
    });

    it('refuses what is not there or not allowed', async () => {
      const word = { content: 'Hi', message_type: 'outgoing' };
      const refusals: [number, object, (Person | undefined)?, number?][] = [
        [422, { message_type: 'outgoing' }],
        [422, { content: 'Hi' }],
        [422, { ...word, content: ' ' }],
        [422, { ...word, content: 'x'.repeat(150_001) }],
        [422, { ...word, message_type: 'activity' }],
        [422, { ...word, content_type: 'cards' }],
        [422, { ...word, private: 'yes' }],
        [422, { content: 'Hi', message_type: 'incoming', private: true }],
        [403, { content: 'Hi', message_type: 'incoming' }, bot],
        [403, word, outsider],
        [404, word, undefined, 99999999],
      ];
      for (const [status, body, person, id] of refusals) {
        expect((await post(body, person, id)).status, JSON.stringify(body).slice(0, 80)).to.equal(status);
      }
      expect(await app.eventNames()).to.deep.equal([]);
    });
  });

  describe('PATCH', () => {
    it('lets its author edit content and attributes', async () => {
      const id = await send('Helo', { content_attributes: { items: [1], tone: 'warm' } });
      const answer = await app.patch(
        path(id),
        { content: 'Hello', content_attributes: { tone: null, seen: true } },
        author.headers,
      );
      expect(answer.status).to.equal(200);
      const current = { items: [1], seen: true };
      expect(answer.body).to.deep.include({ id, content: 'Hello', content_attributes: current, status: 'sent' });
      expect(await read(id)).to.deep.equal(answer.body);
      const events = await app.events();
      expect(events.map(({ name }) => name)).to.deep.equal(['message_updated']);
      const [event] = events;
      expect(changesOf(event!)).to.deep.equal({
        content: { previous: 'Helo', current: 'Hello' },
        content_attributes: { previous: { items: [1], tone: 'warm' }, current },
      });
      expect(event!.account_payload).to.deep.include({ id: String(id), content: 'Hello' });
      expect(event!.bot_payload).to.deep.include({ id, content: 'Hello' });
    });

    it('lets nobody edit what a contact or a bot of the same number wrote', async () => {
      const [word, answer] = [await send('Customer', { message_type: 'incoming' }), await send('Bot')];
      const numbered = `INSERT INTO contacts (id, account_id, name) OVERRIDING SYSTEM VALUE VALUES ($1, 1, 'Namesake')`;
      await app.query(`${numbered} ON CONFLICT DO NOTHING`, [author.id]);
      await app.query(`SELECT setval(pg_get_serial_sequence('contacts', 'id'), (SELECT max(id) FROM contacts))`);
      await app.query('UPDATE messages SET sender_id = $2 WHERE id = $1', [word, author.id]);
      await app.query(`UPDATE messages SET sender_kind = 'agent_bot', sender_id = $2 WHERE id = $1`, [answer, bot.id]);
      expect((await read(word)).sender).to.include({ id: author.id, type: 'Contact' });
      expect((await app.patch(path(word), { content: 'Taken' }, author.headers)).status).to.equal(403);
      expect((await app.patch(path(answer), { content: 'Taken' }, author.headers)).status).to.equal(403);
      expect([(await read(word)).content, (await read(answer)).content]).to.deep.equal(['Customer', 'Bot']);
    });

    it('lets an administrator edit, and nobody else', async () => {
      const id = await send('Mine');
      expect((await app.patch(path(id), { content: 'Moderated' })).body.content).to.equal('Moderated');
      const word = await send('Customer', { message_type: 'incoming' });
      expect(await app.eventNames()).to.deep.equal([]);
      for (const [message, person] of [
        [id, colleague],
        [word, author],
        [id, outsider],
        [id, bot],
      ] as const) {
        for (const body of [{ content: 'Taken' }, { content_attributes: { a: 1 } }]) {
          expect((await app.patch(path(message), body, person.headers)).status).to.equal(403);
        }
      }
      expect((await read(id)).content).to.equal('Moderated');
      expect(await app.eventNames()).to.deep.equal([]);
    });

    it('says nothing when nothing changes', async () => {
      const id = await send('Same', { content_attributes: { a: 1 } });
      const before = await read(id);
      for (const body of [{}, { content: 'Same', status: 'sent', content_attributes: { a: 1, b: null } }]) {
        expect(await app.patch(path(id), body)).to.deep.include({ status: 200, body: before });
      }
      expect(await app.eventNames()).to.deep.equal([]);
    });

    const steps: [from: string, to: string, status: number][] = [
      ['sent', 'delivered', 200],
      ['sent', 'read', 200],
      ['delivered', 'read', 200],
      ['sent', 'failed', 200],
      ['delivered', 'failed', 200],
      ['read', 'failed', 200],
      ['failed', 'sent', 200],
      ['failed', 'delivered', 200],
      ['delivered', 'sent', 422],
      ['read', 'delivered', 422],
      ['read', 'sent', 422],
    ];
    for (const [from, to, status] of steps) {
      it(`${status === 200 ? 'takes' : 'does not take'} its status from ${from} to ${to}`, async () => {
        const id = await send('On its way');
        await app.query('UPDATE messages SET status = $2 WHERE id = $1', [id, from]);
        // Receipts are brought by any agent of the inbox, and are no news for the bot.
        expect((await app.patch(path(id), { status: to }, colleague.headers)).status).to.equal(status);
        expect((await read(id)).status).to.equal(status === 200 ? to : from);
        const events = await app.events();
        expect(events.map((event) => [event.name, changesOf(event), event.bot_payload])).to.deep.equal(
          status === 200 ? [['message_updated', { status: { previous: from, current: to } }, null]] : [],
        );
      });
    }

    it('refuses what is not there or not allowed', async () => {
      const id = await send('Here');
      const elsewhere = await addConversation(app, await addInbox(app));
      const { id: account, administrator } = await addAccount(app, 'Elsewhere');
      await app.events();
      const refusals: [number, string, object, Person?][] = [
        [422, path(id), { content: ' ' }],
        [422, path(id), { status: 'seen' }],
        [404, path(99999999), { content: 'x' }],
        [404, `conversations/${elsewhere}/messages/${id}`, { content: 'x' }],
        [404, `conversations/99999999/messages/${id}`, { content: 'x' }],
        [
          404,
          `/api/v1/accounts/${account}/conversations/${conversation}/messages/${id}`,
          { content: 'x' },
          administrator,
        ],
        [400, `conversations/${conversation}/messages/x`, { content: 'x' }],
      ];
      for (const [status, target, body, person] of refusals) {
        expect((await app.patch(target, body, person?.headers)).status, JSON.stringify([target, body])).to.equal(
          status,
        );
      }
      expect(await app.eventNames()).to.deep.equal([]);
    });
  });

  describe('DELETE', () => {
    it('takes the content away, once, and does not repeat it', async () => {
      const id = await send('My card number is 4111', { content_attributes: { card: '4111' } });
      for (const events of [['message_updated', 'message_deleted'], []]) {
        expect(await app.delete(path(id), colleague.headers)).to.deep.include({ status: 200, body: {} });
        const rows = await app.events();
        expect(rows.map(({ name }) => name)).to.deep.equal(events);
        expect(JSON.stringify(rows)).not.to.contain('4111');
        const [updated, deleted] = rows;
        if (!updated || !deleted) continue;
        const attributes = { content: '', content_attributes: { deleted: true } };
        expect(updated.account_payload).to.deep.include(attributes);
        expect(updated.bot_payload).to.deep.include(attributes);
        expect(changesOf(updated)).to.deep.equal({
          content: { previous: null, current: '' },
          content_attributes: { previous: null, current: { deleted: true } },
        });
        expect(deleted.account_payload).to.deep.include({ event: 'message_deleted', id: String(id), ...attributes });
        expect(deleted.bot_payload).to.equal(null);
        expect(deleted.sequence).to.equal(updated.sequence! + 1);
      }
      expect(await read(id)).to.deep.include({ content: '', content_attributes: { deleted: true } });
      expect((await app.get('conversations/search?q=card%20number')).body.payload).to.deep.equal([]);
    });

    it('leaves nothing to edit, though receipts may still come', async () => {
      const id = await send('Gone soon');
      await app.delete(path(id));
      await app.events();
      for (const body of [{ content: 'Back' }, { content_attributes: { deleted: null } }]) {
        expect((await app.patch(path(id), body, author.headers)).status).to.equal(422);
      }
      expect((await app.patch(path(id), { status: 'read' }, author.headers)).status).to.equal(200);
      expect(await app.eventNames()).to.deep.equal(['message_updated']);
    });

    it('is not fooled by a message that calls itself deleted', async () => {
      const id = await send('Still here', { content_attributes: { deleted: true } });
      await app.delete(path(id));
      expect((await read(id)).content).to.equal('');
      expect(await app.eventNames()).to.deep.equal(['message_updated', 'message_deleted']);
    });

    it('refuses what is not there or not allowed', async () => {
      const id = await send('Kept');
      expect((await app.delete(path(99999999))).status).to.equal(404);
      expect((await app.delete(`conversations/99999999/messages/${id}`)).status).to.equal(404);
      expect((await app.delete(path(id), outsider.headers)).status).to.equal(403);
      expect((await app.delete(path(id), bot.headers)).status).to.equal(403);
      expect((await read(id)).content).to.equal('Kept');
      expect(await app.eventNames()).to.deep.equal([]);
    });
  });

  describe('GET', () => {
    it('lists the latest 20, those before a moment, and up to 100 after one', async () => {
      const id = await addConversation(app, await addInbox(app));
      await app.query(
        `INSERT INTO messages (account_id, conversation_id, message_type, content, sender_kind, created_at)
         SELECT 1, $1, 'incoming', 'no ' || g, 'contact', to_timestamp(1000 + g) FROM generate_series(1, 130) g`,
        [id],
      );
      const list = async (query: string) => {
        const { status, body } = await app.get(`conversations/${id}/messages${query}`);
        expect(status).to.equal(200);
        const contents: string[] = body.payload.map(({ content }: { content: string }) => content);
        return [contents.length, contents[0], contents.at(-1)];
      };
      expect(await list('')).to.deep.equal([20, 'no 111', 'no 130']);
      expect(await list('?before=1111')).to.deep.equal([20, 'no 91', 'no 110']);
      expect(await list('?before=1003')).to.deep.equal([2, 'no 1', 'no 2']);
      expect(await list('?after=1010')).to.deep.equal([100, 'no 11', 'no 110']);
      expect(await list('?after=1010&before=1014')).to.deep.equal([3, 'no 11', 'no 13']);
      expect(await list('?after=2000')).to.deep.equal([0, undefined, undefined]);
      for (const query of ['?before=x', '?after=-1', '?before=1.5']) {
        expect((await app.get(`conversations/${id}/messages${query}`)).status).to.equal(400);
      }
    });
  });
});
