import { expect } from 'chai';
import { findConversation, findListedConversations, joins } from '../../src/records/conversations/rows.ts';
import { findMessages } from '../../src/records/messages/message.ts';
import { lockConversationRow } from '../../src/records/conversations/locked.ts';
import { verifying, versionColumn, versioned } from '../../src/records/conversations/presumed.ts';
import { listContacts, type ContactSort } from '../../src/domain/contacts/contacts.ts';
import { searchContacts } from '../../src/domain/contacts/search.ts';
import { conversationsPerPage, listConversations } from '../../src/domain/conversations/finding/list.ts';
import type { ConversationFilter } from '../../src/domain/conversations/finding/filter.ts';
import { findOverdue } from '../../src/domain/conversations/deadlines/breaches.ts';
import { findDueSnoozes } from '../../src/domain/conversations/deadlines/snoozes.ts';
import { searchConversations } from '../../src/domain/conversations/finding/search.ts';
import { system, type Actor } from '../../src/events/transaction.ts';
import type { Database } from '../../src/postgres/database.ts';
import type { Sql } from '../../src/postgres/sql.ts';
import { administrator, agent, fullScansOf, openPlanned } from '../support/planned-database.ts';
import { genericPlansOf, indexesOf, plansOf, watched, type Plan } from '../support/plans.ts';

const bot: Actor = { ...system, kind: 'agent_bot', id: 1 };
const everything: ConversationFilter = {
  status: null,
  assigneeType: 'all',
  labels: null,
  contactId: null,
  inboxId: null,
  teamId: null,
  text: null,
  sort: 'last_activity_at',
  ascending: false,
  page: 1,
};
const conversations = 100_000;

/** Runs `work` in a transaction, of which nothing stays. */
async function undone(database: Database, work: (inside: Sql) => Promise<void>): Promise<void> {
  const end = new Error('Nothing is to stay');
  const inside = database.transaction(async (within) => {
    await work(watched(within));
    throw end;
  });
  await inside.catch((error: unknown) => {
    if (error !== end) throw error;
  });
}

const lastPage = conversations / conversationsPerPage;

describe('plans', function () {
  this.timeout(600_000);
  let database: Database;
  let sql: Sql;
  let drop: () => Promise<void>;

  before(async () => {
    ({ database, sql, drop } = await openPlanned());
  });

  after(() => drop());

  // What the list runs for a page: the counts, the ids of the page, its conversations with their last messages.
  async function list(filter: Partial<ConversationFilter>, actor = administrator) {
    const plans = await plansOf(sql, async () => {
      const { conversations: found } = await listConversations(sql, 1, actor, { ...everything, ...filter });
      expect(found).to.have.lengthOf(conversationsPerPage);
    });
    expect(plans).to.have.lengthOf(3);
    const [counts, page] = plans;
    return { counts: counts!, page: page!, plans };
  }

  function expectNoFullScan(plans: readonly Plan[]): void {
    expect(fullScansOf(plans)).to.deep.equal([]);
  }

  // The steps that find a page; what they find is read by its key.
  const stepsOfPage = ({ steps }: Plan) =>
    steps.filter((step) => step['Relation Name'] === 'conversations' && step['Index Name'] !== 'conversations_tenant');

  // Index, and filter: what the index holds itself is passed by in it alone.
  const lists: [string, string, Partial<ConversationFilter>, Actor?][] = [
    ['everything', 'conversations_by_activity', {}],
    ['everything by creation', 'conversations_by_creation', { sort: 'created_at' }],
    ['everything by update, oldest first', 'conversations_by_update', { sort: 'updated_at', ascending: true }],
    ['one status', 'conversations_by_activity', { status: 'resolved' }],
    ['one status by creation', 'conversations_by_creation', { status: 'resolved', sort: 'created_at' }],
    ['one status by update', 'conversations_by_update', { status: 'resolved', sort: 'updated_at' }],
    ['one inbox', 'conversations_by_inbox', { inboxId: 3 }],
    ['one inbox and status', 'conversations_by_inbox', { inboxId: 3, status: 'open' }],
  ];
  for (const [what, index, filter] of lists) {
    it(`the list of ${what} is read from ${index} alone, page 400 for at most three times the first`, async () => {
      const first = await list(filter);
      const deep = await list({ ...filter, page: 400 });
      expectNoFullScan([...first.plans, ...deep.plans]);
      for (const { page } of [first, deep]) {
        for (const step of stepsOfPage(page))
          expect(step).to.include({ 'Node Type': 'Index Only Scan', 'Index Name': index, 'Heap Fetches': 0 });
      }
      const [one, other] = [first, deep].map(({ plans }) => plans.reduce((sum, { cost }) => sum + cost, 0));
      expect(other! / one!).to.be.within(1, 3);
    });
  }

  const filtered: [string, Partial<ConversationFilter>, number, Actor?][] = [
    ['what is unassigned', { assigneeType: 'unassigned' }, 50],
    ['an agent’s own', { assigneeType: 'me' }, 500, agent],
    ['what an agent may see', {}, 100, agent],
    ['what a bot serves', {}, 200, bot],
    ['a large team', { teamId: 1 }, 100],
  ];
  for (const [what, filter, most, actor] of filtered) {
    it(`the first page of ${what} is found in the order of conversations_by_activity, looking at few`, async () => {
      const { page, plans } = await list(filter, actor);
      expectNoFullScan(plans);
      const steps = stepsOfPage(page);
      for (const step of steps) expect(step['Index Name']).to.equal('conversations_by_activity');
      const looked = steps.map((step) => step['Actual Rows'] + (step['Rows Removed by Filter'] ?? 0));
      expect(looked.reduce((sum, rows) => sum + rows, 0)).to.be.at.most(most);
    });
  }

  it('the counts are sums of few rows, read from no conversation', async () => {
    for (const actor of [administrator, agent, bot]) {
      const { counts } = await list({}, actor);
      expect(counts.steps.map((step) => step['Relation Name'])).not.to.include('conversations');
      expect(counts.blocks).to.be.lessThan(30);
    }
  });

  it('the last page costs no more than the first, and a page beyond it nothing', async () => {
    const first = await list({});
    const last = await list({ page: lastPage });
    expect(last.page.blocks).to.be.at.most(first.page.blocks + 2);
    const beyond = await plansOf(sql, () =>
      listConversations(sql, 1, administrator, { ...everything, page: lastPage + 1 }),
    );
    expect(beyond).to.have.lengthOf(1);
  });

  it('the rows of a page are read by their keys, by a plan for any ids', async () => {
    const ids = Array.from({ length: conversationsPerPage }, (_, index) => 1 + index * 4000);
    const [plan] = await genericPlansOf(database, sql, () => findListedConversations(sql, 1, ids));
    expectNoFullScan([plan!]);
    const read = ['conversations_tenant', 'messages_by_conversation', 'contacts_tenant'];
    expect(indexesOf(plan!)).to.include.members(read);
    expect(plan!.blocks).to.be.lessThan(1000);
  });

  it('a conversation is locked, and verified, by its key and those it refers to, by a plan for any', async () => {
    const id = 4001;
    const [{ version } = { version: '' }] = await sql<{ version: string }>(
      `WITH c AS (SELECT ${versioned} FROM conversations WHERE account_id = 1 AND id = $1)
       SELECT ${versionColumn} AS version FROM c ${joins}`,
      [id],
    );
    const conversation = (await findConversation(sql, 1, id))!;
    const bound = { toCome: 1, since: new Date(), most: 1000 };
    const { text, parameters } = verifying(1, { conversation, version, messageId: 1 }, bound);
    const plans = [
      ...(await genericPlansOf(database, sql, () => lockConversationRow(sql, 1, id))),
      ...(await genericPlansOf(database, sql, () => sql(text, parameters))),
    ];
    expectNoFullScan(plans);
    for (const plan of [plans[0]!, plans[1]!]) {
      expect(indexesOf(plan)).to.include.members(['conversations_tenant', 'contacts_tenant']);
      expect(plan.blocks).to.be.lessThan(60);
    }
  });

  it('a contact’s conversations are read by their contact', async () => {
    const plans = await plansOf(sql, () => listConversations(sql, 1, administrator, { ...everything, contactId: 7 }));
    expectNoFullScan(plans);
    for (const plan of plans.slice(0, 2)) expect(indexesOf(plan)).to.include('conversations_by_contact');
  });

  for (const [what, index, filter, most] of [
    ['inbox', 'conversations_by_inbox', { inboxId: 11 }, 200],
    ['team', 'conversations_by_team', { teamId: 2 }, 250],
  ] as const) {
    it(`a small ${what}’s conversations are read by their ${what}, and no others`, async () => {
      for (const page of [1, 4]) {
        const plans = await plansOf(sql, () =>
          listConversations(sql, 1, administrator, { ...everything, ...filter, page }),
        );
        const found = stepsOfPage(plans[1]!);
        expectNoFullScan(plans);
        for (const step of found) if (step['Index Name']) expect(step['Index Name']).to.equal(index);
        const looked = found.map((step) => step['Actual Rows'] + (step['Rows Removed by Filter'] ?? 0));
        expect(looked.reduce((sum, rows) => sum + rows, 0)).to.be.at.most(2 * most);
      }
    });
  }

  for (const [who, actor] of [
    ['an administrator', administrator],
    ['an agent', agent],
  ] as const) {
    it(`what ${who} filters by a text is read by the trigrams of messages and contacts, the account’s own alone`, async () => {
      const plans = await plansOf(sql, async () => {
        const filter = { ...everything, text: 'want a refund' };
        const { count } = await listConversations(sql, 1, actor, filter);
        expect(count).to.be.within(1, 20);
      });
      expectNoFullScan(plans);
      for (const plan of plans.slice(0, 2)) {
        expect(indexesOf(plan)).to.include.members(['messages_by_text', 'contacts_by_text']);
        expect(plan.rows).to.be.at.most(1000);
      }
      const byName = await plansOf(sql, () =>
        listConversations(sql, 1, actor, { ...everything, text: 'customer 1999' }),
      );
      expectNoFullScan(byName);
    });
  }

  for (const [who, actor] of [
    ['an administrator', administrator],
    ['an agent', agent],
    ['a bot', bot],
  ] as const) {
    it(`what ${who} searches for is read by its trigrams, the account’s own alone`, async () => {
      const search = { text: 'want a refund', page: 1 };
      const { count } = await searchConversations(sql, { accountId: 1, actor }, search);
      expect(count).to.be.within(1, 20);
      const plans = await plansOf(sql, () => searchConversations(sql, { accountId: 1, actor }, search));
      expectNoFullScan(plans);
      const [sample, found] = plans;
      expect(indexesOf(sample!)).to.include('messages_tenant').and.not.include('messages_by_text');
      // Only matches are looked up.
      const lookups = sample!.steps.find(({ 'Index Name': name }) => name === 'conversations_tenant');
      expect(lookups?.['Actual Loops'] ?? 0).to.be.at.most(20);
      expect(indexesOf(found!)).to.include('messages_by_text');
      const matches = found!.steps.find(({ 'Index Name': name }) => name === 'messages_by_text')!;
      // A refund is wanted in every thousandth message, and every other of those is a private note.
      expect(matches['Actual Rows']).to.equal(20);
    });
  }

  for (const [who, actor] of [
    ['an administrator', administrator],
    ['an agent', agent],
    ['a bot', bot],
  ] as const) {
    it(`what ${who} searches for is read by its trigrams alone where no other account has a message`, async () => {
      const search = { text: 'want a refund', page: 1 };
      const scope = { accountId: 1, actor };
      const before = await searchConversations(sql, scope, search);
      await undone(database, async (inside) => {
        await inside('DELETE FROM messages WHERE account_id = 2');
        const plans = await plansOf(inside, async () => {
          expect(await searchConversations(inside, scope, search)).to.deep.equal(before);
        });
        expectNoFullScan(plans.slice(0, 2));
        const ways = plans[1]!.steps.filter(({ 'Index Name': name }) => name === 'messages_by_text');
        expect(ways.map((step) => step['Index Cond'])).to.deep.equal([`(content ~~* '%want a refund%'::text)`]);
      });
    });
  }

  it('what many messages contain is looked for in the newest of the account only', async () => {
    const search = { text: 'my order', page: 1 };
    const { isExact } = await searchConversations(sql, { accountId: 1, actor: administrator }, search);
    expect(isExact).to.equal(false);
    const plans = await plansOf(sql, () => searchConversations(sql, { accountId: 1, actor: administrator }, search));
    expectNoFullScan(plans.slice(0, 1));
    for (const plan of plans) expect(indexesOf(plan)).not.to.include('messages_by_text');
    const read = plans[1]!.steps.filter(({ 'Index Name': name }) => name !== undefined);
    expect(read.map((step) => [step['Index Name'], step['Actual Rows']])).to.deep.equal([['messages_tenant', 15_000]]);
  });

  it('what is common elsewhere only is looked for among the few conversations that an agent sees', async () => {
    const search = { text: 'my order', page: 1 };
    const actor: Actor = { ...agent, id: 3 };
    const { count, isExact } = await searchConversations(sql, { accountId: 1, actor }, search);
    expect({ count, isExact }).to.deep.equal({ count: 40, isExact: true });
    const [, found] = await plansOf(sql, () => searchConversations(sql, { accountId: 1, actor }, search));
    expectNoFullScan([found!]);
    expect(indexesOf(found!)).to.include('messages_by_conversation').and.not.include('messages_by_text');
    expect(found!.rows).to.be.at.most(2_000);
  });

  it('a page beside a message that is named begins at its place in the index', async () => {
    const [named] = await sql<{ id: number; conversation: number }>(
      'SELECT max(id) AS id, conversation_id AS conversation FROM messages WHERE account_id = 1 GROUP BY 2 LIMIT 1',
    );
    const { id, conversation } = named!;
    for (const window of [{ beforeId: id }, { afterId: id }]) {
      const [plan] = await plansOf(sql, () => findMessages(sql, 1, conversation, window));
      expectNoFullScan([plan!]);
      const reads = plan!.steps.filter(({ 'Index Name': name }) => name === 'messages_by_conversation');
      expect(JSON.stringify(reads)).to.match(/"Index Cond":"[^"]*ROW\(created_at, id\)/);
    }
  });

  it('contacts are searched by their trigrams, the account’s own alone', async () => {
    const plans = await plansOf(sql, () => searchContacts(sql, 1, { text: 'customer 1999', page: 1 }));
    expectNoFullScan(plans);
    expect(indexesOf(plans[0]!)).to.deep.equal(['contacts_by_text']);
  });

  const contactOrders: [ContactSort, string][] = [
    ['name', 'contacts_by_name'],
    ['email', 'contacts_by_email'],
    ['phone_number', 'contacts_by_phone_number'],
    ['last_activity_at', 'contacts_by_activity'],
    ['created_at', 'contacts_by_creation'],
  ];
  for (const [sort, index] of contactOrders) {
    it(`contacts are listed by ${sort} in the order of ${index}, either way`, async () => {
      for (const descending of [true, false]) {
        const [page] = await plansOf(sql, () => listContacts(sql, 1, { page: 2, sort, descending }));
        expectNoFullScan([page!]);
        expect(indexesOf(page!)).to.deep.equal([index]);
        // Those of the same five minutes are read together, and sorted.
        if (sort === 'last_activity_at') expect(page!.rows).to.be.within(30, 400);
        else expect(page!.rows).to.equal(30);
      }
    });
  }

  it('a customer who writes on changes no index of contacts', async () => {
    await undone(database, async (inside) => {
      await inside(`INSERT INTO contacts (account_id, name) SELECT 1, 'new' FROM generate_series(1, 200)`);
      const [contact] = await inside<{ id: number }>('SELECT max(id) AS id FROM contacts');
      const writes = (moment: string) =>
        inside('UPDATE contacts SET last_activity_at = $2 WHERE account_id = 1 AND id = $1', [contact!.id, moment]);
      const count = `SELECT pg_stat_get_xact_tuples_updated(oid)::int AS made, pg_stat_get_xact_tuples_hot_updated(oid)::int AS hot
        FROM pg_class WHERE oid = 'contacts'::regclass`;
      await writes('2026-03-01 10:00Z');
      for (const second of [1, 2, 3]) await writes(`2026-03-01 10:00:0${second}Z`);
      expect(await inside(count)).to.deep.equal([{ made: 4, hot: 3 }]);
    });
  });

  it('what is due is found by its moment, a page at a time, however many are due at once', async () => {
    await sql(
      `UPDATE conversations SET status = 'snoozed', snoozed_until = '2026-01-01', resolution_due_at = '2026-01-01'
       WHERE account_id = 1 AND id <= 5000`,
    );
    await sql('ANALYZE conversations');
    const now = new Date('2026-02-01');
    const after = { id: 2000, account_id: 1, account_name: 'Big', due_at: '2026-01-01' };
    for (const from of [null, after]) {
      const plans = await plansOf(sql, async () => {
        expect(await findDueSnoozes(sql, now, from)).to.have.lengthOf(1000);
        expect(await findOverdue(sql, { column: 'resolution_due_at', now }, from)).to.have.lengthOf(1000);
      });
      expect(plans.map((plan) => indexesOf(plan).filter((name) => name.includes('_due_')))).to.deep.equal([
        ['conversations_due_snoozes'],
        ['conversations_due_resolutions'],
      ]);
      expectNoFullScan(plans);
      for (const { steps } of plans) {
        for (const step of steps) expect(step['Node Type']).not.to.match(/Sort$/);
        const [due] = steps.filter((step) => step['Relation Name'] === 'conversations');
        expect(due!['Actual Rows']).to.equal(1000);
      }
    }
  });

  // The last: what it changes is not visible to all, as the lists above need it.
  it('what is sorted after it was found comes in the order of its ids where times are equal', async () => {
    const { conversations: own } = await listConversations(sql, 1, administrator, { ...everything, contactId: 7 });
    const ids = own.map(({ conversation }) => conversation.id).toSorted((one, other) => one - other);
    expect(ids).to.have.lengthOf(5);
    // Written in this order, they lie in the table in this order.
    for (const index of [2, 4, 0, 3, 1])
      await sql(`UPDATE conversations SET last_activity_at = '2020-01-01' WHERE id = $1`, [ids[index]]);
    for (const ascending of [true, false]) {
      const plans = await plansOf(sql, async () => {
        const filter = { ...everything, contactId: 7, ascending };
        const { conversations: listed } = await listConversations(sql, 1, administrator, filter);
        expect(listed.map(({ conversation }) => conversation.id)).to.deep.equal(ascending ? ids : ids.toReversed());
      });
      expect(plans[1]!.steps.map((step) => step['Node Type'])).to.include('Sort');
    }
  });
});
