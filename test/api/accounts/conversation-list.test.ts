import { expect } from 'chai';
import { TestApp } from '../../support/app.ts';
import { addAccount, addPerson, type Person } from '../../support/people.ts';
import { addContact, addConversation, addInbox, addMessage, addTeam, addWebhookBot } from '../../support/records.ts';

const idsOf = (records: { id: number }[]) => records.map(({ id }) => id);

describe('the conversation list', () => {
  const total = 60;
  let app: TestApp;
  let member: Person;
  let teammate: Person;
  let bot: Person;
  let team: number;
  let inbox: number;
  let other: number;
  /** Conversations, oldest activity first. */
  let ids: number[];

  // Every tenth stands in an inbox of its own; the statuses alternate; the first five are assigned to the member.
  before(async () => {
    app = await TestApp.start({ engine: false });
    member = await addPerson(app, { name: 'Member' });
    teammate = await addPerson(app, { name: 'Teammate' });
    bot = await addWebhookBot(app, 'Helper');
    team = await addTeam(app, 'Sales', [teammate]);
    inbox = await addInbox(app, { members: [member] });
    other = await addInbox(app, { botId: bot.id });
    const contact = await addContact(app);
    const rows = await app.query<{ id: number }>(
      `INSERT INTO conversations (account_id, inbox_id, contact_id, status, assignee_id, team_id, created_at, updated_at, last_activity_at)
       SELECT 1, CASE WHEN g % 10 = 0 THEN $2::bigint ELSE $1 END, $3, CASE WHEN g % 2 = 0 THEN 'open' ELSE 'resolved' END,
         CASE WHEN g <= 5 THEN $4::bigint END, CASE WHEN g IN (20, 21) THEN $5::bigint END,
         now() - g * interval '1 second', now() - abs(30 - g) * interval '1 second', now() - (61 - g) * interval '1 minute'
       FROM generate_series(1, ${total}) g ORDER BY g RETURNING id`,
      [inbox, other, contact, member.id, team],
    );
    ids = idsOf(rows);
    await app.query(`INSERT INTO labels (account_id, title) VALUES (1, 'red'), (1, 'green')`);
    await app.query(
      `INSERT INTO conversation_labels SELECT 1, c.id, l.id FROM conversations c
       JOIN labels l ON l.title = CASE WHEN c.id % 2 = 0 THEN 'red' ELSE 'green' END WHERE c.id = ANY ($1)`,
      [ids.slice(0, 4)],
    );
    await app.events();
  });

  after(() => app.stop());

  async function list(query: string, person?: Person) {
    const { status, body } = await app.get(`conversations?${query}`, person?.headers);
    expect(status, query).to.equal(200);
    const { meta, payload } = body.data;
    return { meta, ids: idsOf(payload) };
  }

  it('comes newest activity first, 25 to a page, the same read from either end', async () => {
    const newestFirst = ids.toReversed();
    for (const [page, from, to] of [
      [1, 0, 25],
      [2, 25, 50],
      [3, 50, 60],
      [4, 60, 60],
      [1_000_000, 60, 60],
    ] as const) {
      const { meta, ids: listed } = await list(`page=${page}`);
      expect(listed, `page ${page}`).to.deep.equal(newestFirst.slice(from, to));
      expect(meta).to.include({ all_count: 60, mine_count: 0, unassigned_count: 55, assigned_count: 5 });
      expect(meta).to.include({ count: 60, current_page: page, total_pages: 3 });
    }
    for (const [page, from, to] of [
      [1, 0, 25],
      [2, 25, 50],
      [3, 50, 60],
    ] as const) {
      expect((await list(`page=${page}&sort=-last_activity_at`)).ids).to.deep.equal(ids.slice(from, to));
    }
  });

  it('sorts by creation and by update, ties by id', async () => {
    expect((await list('sort=created_at&page=3')).ids).to.deep.equal(ids.slice(50));
    expect((await list('sort=-created_at')).ids).to.deep.equal(ids.toReversed().slice(0, 25));
    const byUpdate = (await list('sort=updated_at')).ids;
    expect(byUpdate.slice(0, 5)).to.deep.equal([ids[29], ids[30], ids[28], ids[31], ids[27]]);
    expect(byUpdate).to.have.lengthOf(25);
  });

  it('filters by status, assignee and labels, and counts what the filters let through', async () => {
    const open = await list('status=open&page=2');
    expect(open.ids).to.deep.equal(
      ids
        .filter((_, index) => index % 2 === 1)
        .toReversed()
        .slice(25),
    );
    expect(open.meta).to.include({ all_count: 30, assigned_count: 2, unassigned_count: 28, count: 30, total_pages: 2 });
    expect((await list('status=all')).meta.count).to.equal(60);
    expect((await list('status=snoozed')).ids).to.deep.equal([]);
    const mine = await list('assignee_type=me', member);
    expect(mine.ids).to.deep.equal(ids.slice(0, 5).toReversed());
    expect(mine.meta).to.include({ mine_count: 5, count: 5 });
    expect((await list('assignee_type=assigned')).ids).to.deep.equal(mine.ids);
    expect((await list('assignee_type=unassigned')).meta).to.include({ count: 55, all_count: 60 });
    expect((await list('assignee_type=me')).ids).to.deep.equal([]);
    const red = ids.slice(0, 4).filter((id) => id % 2 === 0);
    expect((await list('labels=red')).ids).to.deep.equal(red.toReversed());
    expect((await list('labels[]=red&labels[]=green')).ids).to.deep.equal(ids.slice(0, 4).toReversed());
    expect((await list('labels=blue')).meta).to.include({ all_count: 0, count: 0, total_pages: 1 });
  });

  it('puts ties in the order of their ids over all pages, whatever plan finds them', async () => {
    await app.query(`INSERT INTO labels (account_id, title) VALUES (1, 'tied')`);
    // They lie in the table in an order of their own.
    const made = await app.query<{ id: number }>(
      `INSERT INTO conversations (id, account_id, inbox_id, contact_id, status, created_at, updated_at, last_activity_at)
       SELECT 700000 + n, 1, $1, $2, 'open', moment, moment, moment
       FROM (SELECT g * 37 % 60 AS n, now() - interval '1 year' AS moment FROM generate_series(1, 60) g) tied RETURNING id`,
      [inbox, await addContact(app, { name: 'Tied Person' })],
    );
    await app.query(
      `INSERT INTO conversation_labels SELECT 1, c, l.id FROM unnest($1::bigint[]) c, labels l WHERE l.title = 'tied'`,
      [idsOf(made)],
    );
    const ascending = idsOf(made).toSorted((one, next) => one - next);
    const pages = (sort: string, more: string) =>
      Promise.all([1, 2, 3].map(async (page) => (await list(`sort=${sort}&page=${page}${more}`)).ids));
    for (const sort of ['created_at', 'updated_at', 'last_activity_at']) {
      // By a text they are found in no order at all, and then sorted.
      for (const more of ['&labels=tied', '&q=tied%20person']) {
        expect((await pages(sort, more)).flat(), sort + more).to.deep.equal(ascending.toReversed());
        expect((await pages(`-${sort}`, more)).flat(), `-${sort}${more}`).to.deep.equal(ascending);
      }
    }
    await app.query(`DELETE FROM conversations WHERE id = ANY ($1)`, [ascending]);
    await app.query(`DELETE FROM labels WHERE title = 'tied'`);
  });

  it('shows agents what stands in their inboxes and teams, bots what they serve', async () => {
    const elsewhere = ids.filter((_, index) => (index + 1) % 10 === 0);
    expect((await list('', member)).meta.all_count).to.equal(54);
    expect((await list('', teammate)).ids).to.deep.equal([ids[20], ids[19]]);
    expect((await list('', bot)).ids).to.deep.equal(elsewhere.toReversed());
    expect((await list('assignee_type=me', bot)).ids).to.deep.equal([]);
    // A bot of the conversation's own takes the place of its inbox's.
    const rival = await addWebhookBot(app, 'Rival');
    await app.query('UPDATE conversations SET agent_bot_id = $2 WHERE id = $1', [elsewhere[0], rival.id]);
    expect((await list('', bot)).ids).to.deep.equal(elsewhere.slice(1).toReversed());
    expect((await list('', rival)).ids).to.deep.equal([elsewhere[0]]);
    await app.query('UPDATE conversations SET agent_bot_id = NULL WHERE id = $1', [elsewhere[0]]);
  });

  it('filters by inbox and by team, with the other filters, the counts and the pages', async () => {
    const elsewhere = ids.filter((_, index) => (index + 1) % 10 === 0);
    const here = ids.filter((id) => !elsewhere.includes(id));
    expect(await list(`inbox_id=${other}`)).to.deep.equal({
      ids: elsewhere.toReversed(),
      meta: {
        all_count: 6,
        mine_count: 0,
        unassigned_count: 6,
        assigned_count: 0,
        count: 6,
        current_page: 1,
        total_pages: 1,
      },
    });
    const last = await list(`inbox_id=${inbox}&page=3`);
    expect(last.ids).to.deep.equal(here.slice(0, 4).toReversed());
    expect(last.meta).to.include({ all_count: 54, unassigned_count: 49, assigned_count: 5, total_pages: 3 });
    expect((await list(`inbox_id=${inbox}&assignee_type=assigned&status=open`)).ids).to.deep.equal([ids[3], ids[1]]);
    expect((await list(`inbox_id=${other}&sort=-created_at`)).ids).to.deep.equal(elsewhere.toReversed());
    expect((await list(`team_id=${team}`)).ids).to.deep.equal([ids[20], ids[19]]);
    expect((await list(`team_id=${team}&inbox_id=${other}`)).ids).to.deep.equal([ids[19]]);
    expect((await list(`team_id=${team}&status=resolved`)).meta).to.include({ all_count: 1, count: 1 });
  });

  it('shows by a filter no more than without', async () => {
    expect((await list(`inbox_id=${other}`, member)).ids).to.deep.equal([]);
    expect((await list(`inbox_id=${other}`, teammate)).ids).to.deep.equal([ids[19]]);
    expect((await list(`team_id=${team}`, member)).ids).to.deep.equal([ids[20]]);
    expect((await list(`inbox_id=${inbox}`, bot)).meta).to.include({ all_count: 0, count: 0 });
  });

  it('filters by a text in public messages, or in what the contact goes by', async () => {
    const ada = await addContact(app, {
      name: 'Ada Lovelace',
      email: 'ada@analytical.example',
      phone_number: '+442071234567',
    });
    const alan = await addContact(app, { name: 'Alan', email: null });
    const byAda = await addConversation(app, inbox, { contactId: ada });
    const byAlan = await addConversation(app, other, { contactId: alan });
    await addMessage(app, byAlan, 'I met LOVELACE at 100%');
    await addMessage(app, byAlan, 'Top secret', { message_type: 'outgoing', private: true });
    const found = async (text: string, more = '', person?: Person) =>
      (await list(`q=${encodeURIComponent(text)}${more}`, person)).ids;
    expect(await found('lovelace', '&sort=-created_at')).to.have.members([byAda, byAlan]);
    expect(await found(' Lovelace ', `&inbox_id=${inbox}`)).to.deep.equal([byAda]);
    expect(await found('analytical.ex')).to.deep.equal([byAda]);
    expect(await found('2071234')).to.deep.equal([byAda]);
    expect(await found('at 100%')).to.deep.equal([byAlan]);
    expect(await found('at_100')).to.deep.equal([]);
    expect(await found('secret')).to.deep.equal([]);
    expect(await found('lovelace', '', member)).to.deep.equal([byAda]);
    expect((await list('q=lovelace&assignee_type=assigned')).meta).to.include({
      all_count: 2,
      unassigned_count: 2,
      count: 0,
    });
    const stranger = await addAccount(app, 'Stranger');
    const theirs = await app.get(
      `/api/v1/accounts/${stranger.id}/conversations?q=lovelace`,
      stranger.administrator.headers,
    );
    expect(theirs.body.data.payload).to.deep.equal([]);
    await app.query('DELETE FROM conversations WHERE id = ANY ($1)', [[byAda, byAlan]]);
    await app.events();
  });

  it('knows no inbox and no team of another account, or of none', async () => {
    const stranger = await addAccount(app, 'Elsewhere');
    const theirs = await addInbox(app, { accountId: stranger.id });
    for (const [query, error] of [
      [`inbox_id=${theirs}`, 'Inbox not found'],
      ['inbox_id=99999999', 'Inbox not found'],
      ['team_id=99999999', 'Team not found'],
      [`team_id=${team}&inbox_id=${theirs}`, 'Inbox not found'],
    ] as const) {
      for (const person of [undefined, member, bot]) {
        const { status, body } = await app.get(`conversations?${query}`, person?.headers);
        expect([query, status, body.error]).to.deep.equal([query, 404, error]);
      }
    }
    await app.events();
  });

  it('refuses what it does not know', async () => {
    for (const query of [
      'page=0',
      'page=x',
      'status=closed',
      'assignee_type=others',
      'sort=priority',
      'page=1000001',
      'inbox_id=x',
      'team_id=0',
      'inbox_id=1&inbox_id=2',
      'q=ab',
      'q=%20%20a%20%20',
    ]) {
      expect((await app.get(`conversations?${query}`)).status, query).to.equal(400);
    }
    expect(await app.eventNames()).to.deep.equal([]);
  });
});

describe('the conversation search', () => {
  let app: TestApp;
  let member: Person;
  let bot: Person;
  let inbox: number;

  before(async () => {
    app = await TestApp.start({ engine: false });
    member = await addPerson(app, { name: 'Member' });
    bot = await addWebhookBot(app, 'Helper');
    inbox = await addInbox(app, { members: [member], botId: bot.id });
  });

  after(() => app.stop());

  const search = (q: string, query = '', person?: Person) =>
    app.get(`conversations/search?q=${encodeURIComponent(q)}${query}`, person?.headers);

  it('finds public messages by what they contain, whatever the case, newest match first', async () => {
    const first = await addConversation(app, inbox);
    const second = await addConversation(app, await addInbox(app));
    const matches = [];
    for (const turn of [1, 2, 3, 4, 5, 6]) {
      matches.push(await addMessage(app, first, `Where is my REFUND no ${turn}?`, { message_type: 'incoming' }));
    }
    await addMessage(app, first, 'Let me look');
    const last = await addMessage(app, second, 'The refund has left us', { message_type: 'incoming' });
    await addMessage(app, second, 'refund: do not tell', { private: true });
    await app.events();
    const { status, body } = await search('refund');
    expect(status).to.equal(200);
    expect(body.meta).to.deep.equal({ count: 2, current_page: 1, total_pages: 1 });
    expect(idsOf(body.payload)).to.deep.equal([second, first]);
    expect(idsOf(body.payload[0].messages)).to.deep.equal([last]);
    expect(idsOf(body.payload[1].messages)).to.deep.equal(matches.toReversed().slice(0, 5));
    expect(body.payload[1].last_message.content).to.equal('Let me look');
    for (const person of [member, bot])
      expect(idsOf((await search('Refund', '', person)).body.payload), JSON.stringify(person)).to.deep.equal([first]);
    expect((await search('do not tell')).body.payload).to.deep.equal([]);
    expect((await search('refund', '&page=2')).body).to.deep.equal({
      payload: [],
      meta: { count: 2, current_page: 2, total_pages: 1 },
    });
    expect(await app.eventNames()).to.deep.equal([]);
  });

  it('takes every character as it stands', async () => {
    const id = await addConversation(app, inbox);
    await addMessage(app, id, 'Pay 100% of C:\\new_file, s’il vous plaît, ЖЁЛТЫЙ 発送済み');
    for (const q of ['100%', 'C:\\new', 'new_file', 'PLAÎT', 'жёлтый', '発送済', '  of C ']) {
      expect(idsOf((await search(q)).body.payload), q).to.deep.equal([id]);
    }
    for (const q of ['100_', 'C:new', 'new-file', '%%%', '___']) {
      expect((await search(q)).body.payload, q).to.deep.equal([]);
    }
    await app.events();
  });

  it('gives 15 to a page', async () => {
    for (let count = 0; count < 16; count++) await addMessage(app, await addConversation(app, inbox), 'mangosteen');
    await app.events();
    const { body } = await search('mangosteen');
    expect(body.payload).to.have.lengthOf(15);
    expect(body.meta).to.deep.equal({ count: 16, current_page: 1, total_pages: 2 });
    expect((await search('mangosteen', '&page=2')).body.payload).to.have.lengthOf(1);
  });

  it('looks for what many messages contain among the newest 15,000 of the account only, and says so', async () => {
    const [old, recent] = [await addConversation(app, inbox), await addConversation(app, inbox)];
    await addMessage(app, old, 'An old durian', { message_type: 'incoming' });
    await app.query(
      `INSERT INTO messages (account_id, conversation_id, message_type, content, sender_kind, created_at)
       SELECT 1, $1, 'incoming', CASE WHEN g % 6 = 0 THEN 'A durian' WHEN g = 14000 THEN 'A rambutan' ELSE 'A plum' END,
         'contact', now() FROM generate_series(1, 15000) g`,
      [recent],
    );
    await app.events();
    const common = (await search('durian')).body;
    expect(idsOf(common.payload)).to.deep.equal([recent]);
    expect(common.payload[0].messages).to.have.lengthOf(5);
    expect(common.meta).to.deep.equal({ count: 1, current_page: 1, total_pages: 1, exact: false });
    // What few contain is found wherever it is, and counted in full.
    const rare = (await search('old durian')).body;
    expect(idsOf(rare.payload)).to.deep.equal([old]);
    expect(rare.meta).to.deep.equal({ count: 1, current_page: 1, total_pages: 1 });
    expect((await search('rambutan')).body.meta.count).to.equal(1);
    expect((await search('durian', '', member)).body.meta.exact).to.equal(false);
  });

  it('answers agents and bots the same whatever is written in conversations that they may not see', async () => {
    const [seen, hidden] = [await addConversation(app, inbox), await addConversation(app, await addInbox(app))];
    const write = (conversation: number, content: string, times: number) =>
      app.query(
        `INSERT INTO messages (account_id, conversation_id, message_type, content, sender_kind, created_at)
         SELECT 1, $1, 'incoming', $2, 'contact', now() FROM generate_series(1, $3::int)`,
        [conversation, content, times],
      );
    const answers = () =>
      Promise.all([member, bot].map(async (person) => (await search('pin is 4711', '', person)).body));
    await addMessage(app, seen, 'Is it that the pin is 4711?', { message_type: 'incoming' });
    await write(hidden, 'A plum', 15_000);
    await write(seen, 'Perhaps my pin is 4711', 9);
    const before = await answers();
    for (const { meta } of before) expect(meta).to.deep.equal({ count: 1, current_page: 1, total_pages: 1 });
    await write(hidden, 'My pin is 4711', 10);
    expect(await answers()).to.deep.equal(before);
    await app.events();
  });

  it('never leaves the account', async () => {
    const { id, administrator } = await addAccount(app, 'Elsewhere');
    const { status, body } = await app.get(
      `/api/v1/accounts/${id}/conversations/search?q=refund`,
      administrator.headers,
    );
    expect(status).to.equal(200);
    expect(body.payload).to.deep.equal([]);
  });

  it('refuses less than three characters', async () => {
    for (const query of [
      '',
      '?q=',
      '?q=ab',
      '?q=%20a%20%20',
      '?q=abc&q=def',
      '?q=abc&page=0',
      `?q=${'x'.repeat(256)}`,
    ]) {
      expect((await app.get(`conversations/search${query}`)).status, query).to.equal(400);
    }
    expect(await app.eventNames()).to.deep.equal([]);
  });
});
