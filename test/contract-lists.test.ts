import { expect } from 'chai';
import { TestApp, type Answer } from './support/app.ts';
import { Maker } from './support/maker.ts';
import { addAccount, type Person } from './support/people.ts';

/** Minutes of a time long past, so that nothing happens at the same moment. */
const at = (minute: number) => new Date(Date.UTC(2025, 0, 1, 0, minute)).toISOString();
const unix = (minute: number) => Date.parse(at(minute)) / 1000;
const idsOf = (records: { id: number }[]) => records.map(({ id }) => id);

describe('lists of the contract', () => {
  let app: TestApp;

  before(async () => {
    app = await TestApp.start({ engine: false });
  });

  after(() => app.stop());

  let accounts = 0;

  async function makeAccount(): Promise<{ maker: Maker; list: (path: string) => Promise<Answer['body']> }> {
    accounts += 1;
    const { id, administrator } = await addAccount(app, `Account ${accounts}`);
    const maker = new Maker(app, id, { mark: `A${accounts}`, administrator });
    return { maker, list: (path) => maker.call('GET', path) };
  }

  describe('conversations', () => {
    let list: (path: string) => Promise<Answer['body']>;
    let maker: Maker;
    let colleague: Person;
    // By when they were made: open and mine, open, resolved and the colleague's, pending, snoozed.
    let ids: number[];

    async function read(query: string): Promise<{ ids: number[]; meta: Record<string, number> }> {
      const { data } = await list(`conversations?${query}`);
      return { ids: idsOf(data.payload), meta: data.meta };
    }

    const named = (...numbers: number[]) => numbers.map((number) => ids[number - 1]);

    before(async () => {
      ({ maker, list } = await makeAccount());
      colleague = await maker.agent();
      const inbox = await maker.inbox({ members: [colleague] });
      const until = Math.floor(Date.now() / 1000) + 3600;
      const fields = [
        { assignee_id: maker.administrator.id },
        {},
        { assignee_id: colleague.id, status: 'resolved' },
        { status: 'pending' },
        { status: 'snoozed', snoozed_until: until },
      ];
      ids = [];
      for (const each of fields) ids.push(await maker.conversation(inbox, each));
      for (const title of ['vip', 'late']) await maker.call('POST', 'labels', { title });
      await maker.call('POST', `conversations/${ids[0]}/labels`, { labels: ['vip', 'late'] });
      await maker.call('POST', `conversations/${ids[2]}/labels`, { labels: ['late'] });
      const order = [
        [1, 3, 2],
        [2, 1, 5],
        [3, 5, 1],
        [4, 2, 4],
        [5, 4, 3],
      ] as const;
      for (const [index, [created, updated, active]] of order.entries()) {
        await app.query(
          'UPDATE conversations SET created_at = $2, updated_at = $3, last_activity_at = $4 WHERE id = $1',
          [ids[index], at(created), at(updated), at(active)],
        );
      }
    });

    it('come by their last activity, newest first, unless sorted otherwise', async () => {
      expect((await read('')).ids).to.deep.equal(named(2, 4, 5, 1, 3));
      expect((await read('sort=last_activity_at')).ids).to.deep.equal(named(2, 4, 5, 1, 3));
      expect((await read('sort=created_at')).ids).to.deep.equal(named(5, 4, 3, 2, 1));
      expect((await read('sort=updated_at')).ids).to.deep.equal(named(3, 5, 1, 4, 2));
    });

    const all = { all_count: 5, mine_count: 1, assigned_count: 2, unassigned_count: 3 };

    it('are all there, of every status, with the four counts', async () => {
      expect((await read('')).meta).to.include({ ...all, count: 5, current_page: 1, total_pages: 1 });
    });

    it('are filtered by status, and so are the counts', async () => {
      const none = { all_count: 1, mine_count: 0, assigned_count: 0, unassigned_count: 1 };
      const byStatus: [string, number[], Record<string, number>][] = [
        ['open', [2, 1], { all_count: 2, mine_count: 1, assigned_count: 1, unassigned_count: 1 }],
        ['resolved', [3], { all_count: 1, mine_count: 0, assigned_count: 1, unassigned_count: 0 }],
        ['pending', [4], none],
        ['snoozed', [5], none],
      ];
      for (const [status, numbers, counts] of byStatus) {
        const { ids: found, meta } = await read(`status=${status}`);
        expect(found, status).to.deep.equal(named(...numbers));
        expect(meta, status).to.include(counts);
      }
    });

    it('are filtered by their assignee, whom the counts do not depend on', async () => {
      const byType: [string, number[]][] = [
        ['me', [1]],
        ['unassigned', [2, 4, 5]],
        ['assigned', [1, 3]],
        ['all', [2, 4, 5, 1, 3]],
      ];
      for (const [type, numbers] of byType) {
        const { ids: found, meta } = await read(`assignee_type=${type}`);
        expect(found, type).to.deep.equal(named(...numbers));
        expect(meta, type).to.include({ ...all, count: numbers.length });
      }
      const { data } = await maker.call('GET', 'conversations?assignee_type=me', undefined, colleague.headers);
      expect(idsOf(data.payload)).to.deep.equal(named(3));
      expect(data.meta).to.include({ mine_count: 1 });
    });

    it('are filtered by a label, and so are the counts', async () => {
      const vip = await read('labels=vip');
      expect(vip.ids).to.deep.equal(named(1));
      expect(vip.meta).to.include({ all_count: 1, mine_count: 1, assigned_count: 1, unassigned_count: 0 });
      expect((await read('labels=late')).ids).to.deep.equal(named(1, 3));
      expect((await read('labels=nothing')).ids).to.deep.equal([]);
    });

    it('are filtered by all of these at once', async () => {
      expect((await read('labels=late&status=resolved&assignee_type=assigned&sort=created_at')).ids).to.deep.equal(
        named(3),
      );
      expect((await read('labels=late&status=pending')).ids).to.deep.equal([]);
    });

    it('tell of contact, assignee and team by name', async () => {
      const { data } = await list('conversations?assignee_type=me');
      const [mine] = data.payload;
      expect(mine.contact.name).to.match(/^A\d+ contact/);
      expect(mine.meta.assignee).to.include({ id: maker.administrator.id });
      expect(mine.meta.team).to.equal(null);
    });
  });

  it('conversations come by pages', async () => {
    const { maker, list } = await makeAccount();
    const inbox = await maker.inbox();
    const contact = await maker.contact();
    await app.query(
      `INSERT INTO conversations (account_id, inbox_id, contact_id, status, last_activity_at)
       SELECT $1, $2, $3, 'open', $4::timestamptz + n * interval '1 minute' FROM generate_series(1, 27) n`,
      [maker.accountId, inbox, contact, at(0)],
    );
    const pages = [];
    for (const page of [1, 2, 3]) pages.push((await list(`conversations?page=${page}`)).data);
    expect(pages.map(({ payload }) => payload.length)).to.deep.equal([25, 2, 0]);
    const meta = { all_count: 27, count: 27, total_pages: 2 };
    for (const [index, data] of pages.entries()) expect(data.meta).to.include({ ...meta, current_page: index + 1 });
    expect(new Set(pages.flatMap(({ payload }) => idsOf(payload))).size).to.equal(27);
    const of = await list(`contacts/${contact}/conversations?page=2`);
    expect(of.payload).to.have.lengthOf(2);
    expect(of.meta).to.deep.equal({ count: 27, current_page: 2, total_pages: 2 });
  });

  it('conversations are searched by what was said, newest match first', async () => {
    const { maker, list } = await makeAccount();
    const inbox = await maker.inbox();
    const found = [];
    for (const minute of [2, 1, 3]) {
      const id = await maker.conversation(inbox);
      await maker.message(id, { content: `The bicycle is broken ${minute}` });
      await app.query('UPDATE messages SET created_at = $2 WHERE conversation_id = $1', [id, at(minute)]);
      found.push(id);
    }
    await maker.message(await maker.conversation(inbox), { content: 'Nothing of the kind' });
    const { payload, meta } = await list('conversations/search?q=BICYCLE');
    expect(idsOf(payload)).to.deep.equal([found[2], found[0], found[1]]);
    expect(meta).to.deep.equal({ count: 3, current_page: 1, total_pages: 1 });
    expect((await list('conversations/search?q=bicycle&page=2')).payload).to.deep.equal([]);
    expect((await list('conversations/search?q=motorcycle')).payload).to.deep.equal([]);
  });

  it('messages come oldest first: the latest, those before a moment, those after one', async () => {
    const { maker, list } = await makeAccount();
    const id = await maker.conversation(await maker.inbox());
    await app.query(
      `INSERT INTO messages (account_id, conversation_id, message_type, content, sender_kind, created_at)
       SELECT $1, $2, 'incoming', n::text, 'contact', $3::timestamptz + n * interval '1 minute' FROM generate_series(1, 30) n`,
      [maker.accountId, id, at(0)],
    );
    const read = async (query: string): Promise<number[]> =>
      (await list(`conversations/${id}/messages?${query}`)).payload.map(({ content }: { content: string }) =>
        Number(content),
      );
    const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index);
    expect(await read('')).to.deep.equal(range(11, 30));
    expect(await read(`before=${unix(25)}`)).to.deep.equal(range(5, 24));
    expect(await read(`before=${unix(3)}`)).to.deep.equal([1, 2]);
    expect(await read(`after=${unix(26)}`)).to.deep.equal(range(27, 30));
    expect(await read(`after=${unix(20)}&before=${unix(24)}`)).to.deep.equal([21, 22, 23]);
    expect(await read(`after=${unix(30)}`)).to.deep.equal([]);
  });

  it('messages of one second are told apart by their ids', async () => {
    const { maker, list } = await makeAccount();
    const id = await maker.conversation(await maker.inbox());
    const rows = await app.query<{ id: number }>(
      `INSERT INTO messages (account_id, conversation_id, message_type, content, sender_kind, created_at)
       SELECT $1, $2, 'incoming', n::text, 'contact', $3 FROM generate_series(1, 130) n RETURNING id`,
      [maker.accountId, id, at(0)],
    );
    const ids = rows.map((row) => row.id);
    const read = async (query: string): Promise<number[]> =>
      (await list(`conversations/${id}/messages?${query}`)).payload.map((message: { id: number }) => message.id);
    expect(await read(`before_message=${ids[50]}`)).to.deep.equal(ids.slice(30, 50));
    expect(await read(`before_message=${ids[2]}`)).to.deep.equal(ids.slice(0, 2));
    expect(await read(`after_message=${ids[9]}`)).to.deep.equal(ids.slice(10, 110));
    expect(await read(`after_message=${ids[9]}&before_message=${ids[12]}`)).to.deep.equal(ids.slice(10, 12));
    expect(await read(`after_message=${ids[129]}`)).to.deep.equal([]);
    expect(await read(`before=${unix(1)}&before_message=${ids[1]}`)).to.deep.equal([ids[0]]);
  });

  describe('contacts', () => {
    let list: (path: string) => Promise<Answer['body']>;
    let ids: number[];

    before(async () => {
      const made = await makeAccount();
      ({ list } = made);
      const { maker } = made;
      const people = [
        { name: 'Berta', email: 'x@example.com', phone_number: '+4930222' },
        { name: 'anton', email: 'z@example.com', phone_number: '+4930111' },
        { name: 'Carl', email: 'Y@example.com', phone_number: '+4930333' },
      ];
      ids = [];
      for (const person of people) ids.push(await maker.contact(person));
      for (const [index, [created, active]] of [
        [2, 1],
        [3, 2],
        [1, 3],
      ].entries()) {
        await app.query('UPDATE contacts SET created_at = $2, last_activity_at = $3 WHERE id = $1', [
          ids[index],
          at(created!),
          at(active!),
        ]);
      }
      const inbox = await maker.inbox();
      await maker.conversation(inbox, { contact_id: ids[0], source_id: 'external-7' });
    });

    const named = (...numbers: number[]) => numbers.map((number) => ids[number - 1]);

    it('come by name, or sorted otherwise', async () => {
      const bySort: [string, number[]][] = [
        ['', [2, 1, 3]],
        ['sort=name', [2, 1, 3]],
        ['sort=email', [1, 3, 2]],
        ['sort=phone_number', [2, 1, 3]],
        ['sort=last_activity_at', [3, 2, 1]],
        ['sort=created_at', [2, 1, 3]],
      ];
      for (const [query, numbers] of bySort) {
        expect(idsOf((await list(`contacts?${query}`)).payload), query).to.deep.equal(named(...numbers));
      }
    });

    it('tell of their inboxes when asked', async () => {
      for (const query of ['', 'include_contact_inboxes=false']) {
        for (const contact of (await list(`contacts?${query}`)).payload)
          expect(contact).not.to.have.property('contact_inboxes');
      }
      const { payload } = await list('contacts?include_contact_inboxes=true');
      const berta = payload.find(({ id }: { id: number }) => id === ids[0]);
      expect(berta.contact_inboxes).to.have.lengthOf(1);
      expect(berta.contact_inboxes[0]).to.deep.include({ source_id: 'external-7' });
      expect(berta.contact_inboxes[0].inbox).to.include.keys('id', 'name');
    });

    it('are searched by name, e-mail address or phone number', async () => {
      const byText: [string, number[]][] = [
        ['ANT', [2]],
        ['y@example', [3]],
        ['%2B4930222', [1]],
        ['30', [2, 1, 3]],
        ['nobody', []],
      ];
      for (const [q, numbers] of byText) {
        const { payload, meta } = await list(`contacts/search?q=${q}`);
        expect(idsOf(payload), q).to.deep.equal(named(...numbers));
        expect(meta, q).to.include({ count: numbers.length, current_page: 1 });
      }
      expect((await list('contacts/search?q=30&page=2')).payload).to.deep.equal([]);
      expect(idsOf((await list('contacts/search?q=30&include_contacts=true')).payload)).to.deep.equal(named(2, 1, 3));
      expect((await list('contacts/search?q=30&include_contacts=false')).payload).to.deep.equal([]);
    });
  });

  it('contacts come 15 on a page', async () => {
    const { maker, list } = await makeAccount();
    await app.query(
      `INSERT INTO contacts (account_id, name) SELECT $1, 'Contact ' || lpad(n::text, 2, '0') FROM generate_series(1, 16) n`,
      [maker.accountId],
    );
    for (const path of ['contacts?', 'contacts/search?q=contact&']) {
      const first = await list(path);
      expect(first.payload).to.have.lengthOf(15);
      expect(first.meta).to.deep.equal({ count: 16, current_page: 1, total_pages: 2 });
      const second = await list(`${path}page=2`);
      expect(second.payload.map(({ name }: { name: string }) => name)).to.deep.equal(['Contact 16']);
      expect(second.meta).to.deep.equal({ count: 16, current_page: 2, total_pages: 2 });
    }
  });
});
