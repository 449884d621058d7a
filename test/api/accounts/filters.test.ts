import { expect } from 'chai';
import { adminToken, TestApp, type Answer } from '../../support/app.ts';
import { Maker } from '../../support/maker.ts';
import { addAccount, type Person } from '../../support/people.ts';

const namesOf = (records: { name: string }[]) => records.map(({ name }) => name);
const idsOf = (records: { id: number }[]) => records.map(({ id }) => id);

type Given = [key: string, operator: string, values?: unknown[] | undefined, joins?: string];

function payloadOf(conditions: Given[]) {
  return {
    payload: conditions.map(([key, operator, values, joins]) => ({
      attribute_key: key,
      filter_operator: operator,
      ...(values ? { values } : {}),
      ...(joins === undefined ? {} : { query_operator: joins }),
    })),
  };
}

describe('filters', () => {
  let app: TestApp;
  let maker: Maker;
  let agent: Person;
  let outsider: Person;
  let inbox: number;

  before(async () => {
    app = await TestApp.start({ engine: false });
    const administrator = { id: 1, headers: { api_access_token: adminToken } };
    maker = new Maker(app, 1, { mark: 'Alpha', administrator });
    agent = await maker.agent();
    outsider = await maker.agent();
    inbox = await maker.inbox({ members: [agent] });
  });

  after(() => app.stop());

  const found = async (noun: string, conditions: Given[], query = ''): Promise<Answer['body']> => {
    const { status, body } = await app.post(`${noun}/filter${query}`, payloadOf(conditions));
    expect(status, JSON.stringify(body)).to.equal(200);
    return body;
  };

  async function expectRefused(noun: string, body: object, path: string): Promise<void> {
    await app.events();
    const answer = await app.post(`${noun}/filter`, body);
    expect([answer.status, answer.body.details?.[0].path], JSON.stringify(body)).to.deep.equal([422, path]);
    expect(await app.eventNames()).to.deep.equal([]);
  }

  describe('of contacts', () => {
    before(async () => {
      const contacts = [
        {
          name: 'Ada',
          email: 'Ada@Example.com',
          phone_number: '+14155550101',
          identifier: '14155550101@c.us',
          custom_attributes: { plan: 'pro', seats: 12, vip: true, chat: '49301@g.us' },
        },
        { name: 'Bob', email: 'bob@example.org', custom_attributes: { plan: 'Free', seats: '12' }, blocked: true },
        { name: 'Cleo 100%', phone_number: '+493055501', custom_attributes: { name: 'Cleopatra', empty: '' } },
      ];
      for (const contact of contacts) await maker.contact(contact);
      const { title } = await maker.label();
      const [ada] = (await app.get('contacts/search?q=Ada')).body.payload;
      await app.post('labels', { title: 'vip' });
      await app.post(`contacts/${ada.id}/labels`, { labels: ['vip', title] });
    });

    const contactFilters: [string, Given[], string[]][] = [
      ['nothing: all of them', [], ['Ada', 'Bob', 'Cleo 100%']],
      ['a name in any case', [['name', 'equal_to', ['ADA']]], ['Ada']],
      ['one of several values', [['name', 'equal_to', ['ada', 'bob']]], ['Ada', 'Bob']],
      ['an e-mail address in any case', [['email', 'equal_to', ['ada@EXAMPLE.com']]], ['Ada']],
      ['a phone number', [['phone_number', 'equal_to', ['+14155550101']]], ['Ada']],
      ['a phone number without its plus', [['phone_number', 'equal_to', ['14155550101']]], ['Ada']],
      ['a part of no phone number', [['phone_number', 'equal_to', ['1415555010']]], []],
      ['an identifier as it is written', [['identifier', 'equal_to', ['14155550101@c.us']]], ['Ada']],
      ['an identifier otherwise written', [['identifier', 'equal_to', ['14155550101@C.US']]], []],
      ['what a name contains', [['name', 'contains', ['O 100%']]], ['Cleo 100%']],
      ['what stands over two fields', [['name', 'contains', ['ada ada@']]], []],
      ['wildcards as they are', [['name', 'contains', ['_']]], []],
      ['blocked ones', [['blocked', 'equal_to', ['true']]], ['Bob']],
      ['others than blocked ones', [['blocked', 'equal_to', [false]]], ['Ada', 'Cleo 100%']],
      ['a label', [['labels', 'equal_to', ['vip']]], ['Ada']],
      ['any label', [['labels', 'is_present']], ['Ada']],
      ['not a label', [['labels', 'not_equal_to', ['vip']]], ['Bob', 'Cleo 100%']],
      ['what has an e-mail address', [['email', 'is_present']], ['Ada', 'Bob']],
      [
        'not an e-mail address, also where there is none',
        [['email', 'not_equal_to', ['bob@example.org']]],
        ['Ada', 'Cleo 100%'],
      ],
      ['a custom attribute', [['plan', 'equal_to', ['pro']]], ['Ada']],
      ['a custom attribute as it is written', [['plan', 'equal_to', ['free']]], []],
      ['a number, stored as such or as text', [['seats', 'equal_to', ['12']]], ['Ada', 'Bob']],
      ['a number given as such', [['seats', 'equal_to', [12]]], ['Ada', 'Bob']],
      ['true', [['vip', 'equal_to', ['true']]], ['Ada']],
      ['what a custom attribute contains', [['plan', 'contains', ['RE']]], ['Bob']],
      ['what has a custom attribute', [['plan', 'is_present']], ['Ada', 'Bob']],
      ['what has an empty one', [['empty', 'is_present']], []],
      ['not a custom attribute, also where there is none', [['plan', 'not_equal_to', ['pro']]], ['Bob', 'Cleo 100%']],
      ['an attribute that nothing has', [["x' OR true --", 'equal_to', ["' OR true --"]]], []],
      ['names of the prototype', [['constructor', 'is_present']], []],
      [
        'both',
        [
          ['plan', 'is_present', undefined, 'AND'],
          ['blocked', 'equal_to', [true]],
        ],
        ['Bob'],
      ],
      [
        'either',
        [
          ['name', 'equal_to', ['ada'], 'OR'],
          ['blocked', 'equal_to', [true]],
        ],
        ['Ada', 'Bob'],
      ],
      [
        'both, where nothing is said',
        [
          ['plan', 'is_present'],
          ['blocked', 'equal_to', [true]],
        ],
        ['Bob'],
      ],
      [
        'AND before OR',
        [
          ['name', 'equal_to', ['cleo 100%'], 'or'],
          ['plan', 'is_present', undefined, 'AND'],
          ['blocked', 'equal_to', [true], ''],
        ],
        ['Bob', 'Cleo 100%'],
      ],
    ];
    for (const [what, conditions, names] of contactFilters) {
      it(`find ${what}`, async () => {
        const own = (all: string[]) => all.filter((name) => ['Ada', 'Bob', 'Cleo 100%'].includes(name));
        expect(own(namesOf((await found('contacts', conditions)).payload))).to.deep.equal(names);
      });
    }

    it('take a key for that of a custom attribute where its type is given', async () => {
      const one = {
        attribute_key: 'name',
        filter_operator: 'equal_to',
        values: ['Cleopatra'],
        custom_attribute_type: 'text',
      };
      expect(namesOf((await app.post('contacts/filter', { payload: [one] })).body.payload)).to.deep.equal([
        'Cleo 100%',
      ]);
      const blank = { ...one, custom_attribute_type: '', values: ['Ada'] };
      expect(namesOf((await app.post('contacts/filter', { payload: [blank] })).body.payload)).to.deep.equal(['Ada']);
    });

    it('give 15 to a page, with their number on any', async () => {
      for (let count = 0; count < 17; count += 1) await maker.contact({ name: `Page ${10 + count}` });
      const conditions: Given[] = [['name', 'contains', ['page']]];
      const [first, second, third] = await Promise.all(
        ['', '?page=2', '?page=3'].map((query) => found('contacts', conditions, query)),
      );
      expect([first.payload.length, second.payload.length, third.payload.length]).to.deep.equal([15, 2, 0]);
      expect(third.meta).to.deep.equal({ count: 17, current_page: 3, total_pages: 2 });
    });

    it('stay within the account, are for agents, and say nothing', async () => {
      const elsewhere = await addAccount(app, 'Elsewhere');
      const body = payloadOf([['plan', 'equal_to', ['pro']]]);
      await app.events();
      const theirs = `/api/v1/accounts/${elsewhere.id}/contacts/filter`;
      expect((await app.post(theirs, body, elsewhere.administrator.headers)).body.payload).to.deep.equal([]);
      expect(namesOf((await app.post('contacts/filter', body, outsider.headers)).body.payload)).to.deep.equal(['Ada']);
      expect(await app.eventNames()).to.deep.equal([]);
    });
  });

  describe('of conversations', () => {
    let ids: number[];
    let ada: number;

    before(async () => {
      ada = await maker.contact({ name: 'Ada of the conversations' });
      const hidden = await maker.inbox();
      ids = [
        await maker.conversation(inbox, { contact_id: ada, status: 'open', custom_attributes: { order: 'A-1' } }),
        await maker.conversation(inbox, { status: 'resolved', assignee_id: agent.id, source_id: 'ticket-1' }),
        await maker.conversation(hidden, { status: 'open', custom_attributes: { order: 'A-1' } }),
      ];
      await app.patch(`conversations/${ids[1]}`, { priority: 'high' });
      await app.post('labels', { title: 'late' });
      await app.post(`conversations/${ids[1]}/labels`, { labels: ['late'] });
    });

    const own = (body: Answer['body']) =>
      idsOf(body.payload)
        .map((id) => ids.indexOf(id) + 1)
        .sort((one, other) => one - other);
    const filters: [string, () => Given[], number[]][] = [
      ['a status', () => [['status', 'equal_to', ['open']]], [1, 3]],
      ['not a status', () => [['status', 'not_equal_to', ['open']]], [2]],
      ['a contact', () => [['contact_id', 'equal_to', [String(ada)]]], [1]],
      ['an assignee', () => [['assignee_id', 'equal_to', [agent.id]]], [2]],
      ['what is assigned', () => [['assignee_id', 'is_present']], [2]],
      ['not an assignee, also where there is none', () => [['assignee_id', 'not_equal_to', [agent.id]]], [1, 3]],
      [
        'an inbox and a status',
        () => [
          ['inbox_id', 'equal_to', [inbox], 'AND'],
          ['status', 'equal_to', ['open']],
        ],
        [1],
      ],
      ['a priority', () => [['priority', 'equal_to', ['high']]], [2]],
      ['a label', () => [['labels', 'equal_to', ['late']]], [2]],
      ['a source', () => [['source_id', 'contains', ['TICKET']]], [2]],
      ['an id', () => [['display_id', 'equal_to', [ids[2]]]], [3]],
      ['a custom attribute', () => [['order', 'equal_to', ['A-1']]], [1, 3]],
    ];
    for (const [what, conditions, numbers] of filters) {
      it(`find ${what}`, async () => {
        const body = await found('conversations', conditions());
        expect(own(body).filter((number) => number > 0)).to.deep.equal(numbers);
        expect(body.payload[0]).to.include.keys('last_message', 'meta', 'labels');
      });
    }

    it('show to each what its lists show', async () => {
      const body = payloadOf([['order', 'equal_to', ['A-1']]]);
      const asked = async (headers: Record<string, string>) =>
        (await app.post('conversations/filter', body, headers)).body;
      expect(own(await asked(agent.headers))).to.deep.equal([1]);
      expect(await asked(outsider.headers)).to.deep.equal({
        payload: [],
        meta: { count: 0, current_page: 1, total_pages: 1 },
      });
      // OR does not lead around what may be seen.
      const either = payloadOf([
        ['status', 'is_present', undefined, 'OR'],
        ['order', 'equal_to', ['A-1']],
      ]);
      expect((await app.post('conversations/filter', either, outsider.headers)).body.payload).to.deep.equal([]);
    });

    it('give 25 to a page, the last active first', async () => {
      const many = await maker.inbox();
      const made: number[] = [];
      for (let count = 0; count < 26; count += 1) made.push(await maker.conversation(many));
      const conditions: Given[] = [['inbox_id', 'equal_to', [many]]];
      const [first, second] = [
        await found('conversations', conditions),
        await found('conversations', conditions, '?page=2'),
      ];
      expect([...idsOf(first.payload), ...idsOf(second.payload)]).to.deep.equal(made.toReversed());
      expect(second.meta).to.deep.equal({ count: 26, current_page: 2, total_pages: 2 });
    });
  });

  it('are refused with a sentence where they say nothing that can be answered', async () => {
    const one = (condition: object) => ({
      payload: [{ attribute_key: 'name', filter_operator: 'equal_to', values: ['x'], ...condition }],
    });
    const refused: [string, object, string][] = [
      ['contacts', {}, '/payload'],
      ['contacts', one({ attribute_key: '' }), '/payload/0/attribute_key'],
      ['contacts', one({ filter_operator: 'starts_with' }), '/payload/0/filter_operator'],
      ['contacts', one({ values: [] }), '/payload/0/values'],
      ['contacts', one({ values: [{}] }), '/payload/0/values/0'],
      ['contacts', one({ values: [null] }), '/payload/0/values/0'],
      ['contacts', one({ values: Array(11).fill('x') }), '/payload/0/values'],
      ['contacts', one({ values: ['x'.repeat(256)] }), '/payload/0/values/0'],
      ['contacts', one({ query_operator: 'XOR' }), '/payload/0/query_operator'],
      ['contacts', { payload: Array(16).fill(one({}).payload[0]) }, '/payload'],
      ['contacts', one({ attribute_key: 'blocked', values: ['perhaps'] }), '/payload/0/values'],
      ['contacts', one({ attribute_key: 'blocked', filter_operator: 'contains' }), '/payload/0/filter_operator'],
      ['conversations', one({ attribute_key: 'inbox_id', values: ['1e3'] }), '/payload/0/values'],
      ['conversations', one({ attribute_key: 'inbox_id', values: [' 1'] }), '/payload/0/values'],
      ['conversations', one({ attribute_key: 'labels', filter_operator: 'contains' }), '/payload/0/filter_operator'],
    ];
    for (const [noun, body, path] of refused) await expectRefused(noun, body, path);
    expect((await app.post('contacts/filter?page=0', one({}))).status).to.equal(400);
  });

  describe('a search of everything', () => {
    let conversation: number;
    let message: number;

    before(async () => {
      const contact = await maker.contact({ name: 'Quixote', identifier: 'quixote-1' });
      conversation = await maker.conversation(inbox, { contact_id: contact });
      const other = await maker.conversation(await maker.inbox(), { contact_id: contact });
      message = await maker.message(conversation, { content: 'Where is quixote?' });
      await maker.message(conversation, { content: 'A note on quixote', message_type: 'outgoing', private: true });
      await maker.message(other, { content: 'Quixote elsewhere' });
    });

    const search = async (q: string, headers = { api_access_token: adminToken } as Record<string, string>) =>
      (await app.get(`search?q=${encodeURIComponent(q)}`, headers)).body.payload;

    it('finds contacts, their conversations, and public messages, the newest first', async () => {
      const payload = await search('QUIXOTE');
      expect(namesOf(payload.contacts)).to.deep.equal(['Quixote']);
      expect(payload.conversations).to.have.lengthOf(2);
      expect(payload.messages.map(({ content }: { content: string }) => content)).to.deep.equal([
        'Quixote elsewhere',
        'Where is quixote?',
      ]);
      expect(await search('nobody wrote this')).to.deep.equal({ contacts: [], conversations: [], messages: [] });
    });

    it('shows to each what it may see', async () => {
      const seen = await search('quixote', agent.headers);
      expect(idsOf(seen.conversations)).to.deep.equal([conversation]);
      expect(idsOf(seen.messages)).to.deep.equal([message]);
      const unseen = await search('quixote', outsider.headers);
      expect([unseen.contacts.length, unseen.conversations, unseen.messages]).to.deep.equal([1, [], []]);
      const elsewhere = await addAccount(app, 'Elsewhere too');
      const theirs = await app.get(
        `/api/v1/accounts/${elsewhere.id}/search?q=quixote`,
        elsewhere.administrator.headers,
      );
      expect(theirs.body.payload).to.deep.equal({ contacts: [], conversations: [], messages: [] });
    });

    it('finds no more than 15 of a kind', async () => {
      const contact = await maker.contact({ name: 'Sancho' });
      for (let count = 0; count < 17; count += 1) {
        const id = await maker.conversation(inbox, { contact_id: contact });
        await maker.message(id, { content: 'Sancho again' });
      }
      const { conversations, messages } = await search('sancho');
      expect([conversations.length, messages.length]).to.deep.equal([15, 15]);
    });

    it('wants three characters', async () => {
      for (const query of ['', '?q=', '?q=ab', '?q=%20%20a%20'])
        expect((await app.get(`search${query}`)).status, query).to.equal(400);
    });
  });
});
