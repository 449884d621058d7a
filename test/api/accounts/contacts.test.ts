import { expect } from 'chai';
import { TestApp } from '../../support/app.ts';
import { addAccount, addPerson, type Person } from '../../support/people.ts';
import { addContact, addConversation, addInbox, addWebhookBot } from '../../support/records.ts';

const namesOf = (records: { name: string }[]) => records.map(({ name }) => name);

describe('contacts', () => {
  let app: TestApp;
  let agent: Person;
  let bot: Person;
  let elsewhere: { id: number; administrator: Person };

  before(async () => {
    app = await TestApp.start({ engine: false });
    agent = await addPerson(app, { name: 'Agent' });
    bot = await addWebhookBot(app, 'Helper');
    elsewhere = await addAccount(app, 'Elsewhere');
  });

  beforeEach(() => app.events());
  after(() => app.stop());

  async function add(fields: Record<string, unknown> = {}): Promise<number> {
    const id = await addContact(app, fields);
    await app.events();
    return id;
  }

  describe('POST', () => {
    it('creates one from all that is known, or from a name', async () => {
      const fields = {
        name: 'Dana',
        email: 'dana@example.com',
        phone_number: '+493012345678',
        identifier: 'crm-dana',
        blocked: true,
        custom_attributes: { plan: { name: 'pro' } },
        additional_attributes: { tags: ['vip'] },
      };
      const { status, body } = await app.post('contacts', { ...fields, unknown: 1 }, agent.headers);
      expect(status).to.equal(201);
      expect(body).to.deep.include({ ...fields, account_id: 1, thumbnail: null, last_activity_at: null });
      const { payload, ...record } = body;
      expect(payload).to.deep.equal({ contact: record });
      expect((await app.get(`contacts/${body.id}`)).body).to.deep.equal({ ...record, payload: record });
      const [event] = await app.events();
      const { account, event: name, actor: _actor, depth: _depth, ...told } = event!.account_payload!;
      expect([event!.name, name, account]).to.deep.equal([
        'contact_created',
        'contact_created',
        { id: 1, name: 'Demo account' },
      ]);
      expect(told).to.deep.equal(record);
      expect((await app.post('contacts', { name: 'Only a name' })).body).to.include({ email: null, blocked: false });
      expect(await app.eventNames()).to.deep.equal(['contact_created']);
    });

    it('refuses what breaks a rule', async () => {
      await add({ identifier: 'crm-first' });
      const bodies = [
        {},
        { name: '' },
        { name: 'x'.repeat(256) },
        { name: 'E', email: 'x' },
        { name: 'E', phone_number: '123' },
      ];
      for (const body of [...bodies, { name: 'E', blocked: 'no' }, { name: 'E', identifier: 'crm-first' }]) {
        expect((await app.post('contacts', body)).status, JSON.stringify(body)).to.equal(422);
      }
      expect((await app.post('contacts', { name: 'E' }, bot.headers)).status).to.equal(403);
      expect(await app.eventNames()).to.deep.equal([]);
    });
  });

  describe('PATCH', () => {
    it('changes what it names and says what changed', async () => {
      const id = await add({ name: 'Ann', email: 'ann@example.com', custom_attributes: { plan: 'free', city: 'Ulm' } });
      const { status, body } = await app.patch(
        `contacts/${id}`,
        {
          name: 'Anna',
          phone_number: '+4915112345678',
          email: null,
          identifier: 'crm-1',
          blocked: true,
          custom_attributes: { plan: 'pro', city: null },
          additional_attributes: { source: 'web' },
        },
        agent.headers,
      );
      expect(status).to.equal(200);
      const told = {
        name: 'Anna',
        phone_number: '+4915112345678',
        email: null,
        identifier: 'crm-1',
        blocked: true,
        custom_attributes: { plan: 'pro' },
        additional_attributes: { source: 'web' },
      };
      expect(body).to.deep.include(told);
      expect((await app.get(`contacts/${id}`)).body).to.deep.equal(body);
      const [event, ...rest] = await app.events();
      expect(rest).to.deep.equal([]);
      expect(event!.name).to.equal('contact_updated');
      expect(event!.account_payload).to.deep.include(told);
      expect(event!.account_payload!.changed_attributes).to.deep.equal({
        name: { previous: 'Ann', current: 'Anna' },
        email: { previous: 'ann@example.com', current: null },
        phone_number: { previous: null, current: '+4915112345678' },
        identifier: { previous: null, current: 'crm-1' },
        blocked: { previous: false, current: true },
        custom_attributes: { previous: { plan: 'free', city: 'Ulm' }, current: { plan: 'pro' } },
        additional_attributes: { previous: {}, current: { source: 'web' } },
      });
    });

    it('says nothing when nothing changes', async () => {
      const id = await add({ name: 'Ben', identifier: 'crm-ben', custom_attributes: { a: { b: 1 } } });
      const before = (await app.get(`contacts/${id}`)).body;
      for (const body of [
        {},
        { name: 'Ben', email: null, identifier: 'crm-ben', custom_attributes: { a: { b: 1 }, c: null } },
      ]) {
        expect(await app.patch(`contacts/${id}`, body)).to.deep.include({ status: 200, body: before });
      }
      expect(await app.eventNames()).to.deep.equal([]);
    });

    it('sets, changes and removes the picture, which is answered as thumbnail', async () => {
      const [first, second] = ['https://example.com/ada.png', 'http://example.com/ada-2.png'];
      const made = await app.post('contacts', { name: 'Ada', avatar_url: first });
      expect([made.status, made.body.thumbnail]).to.deep.equal([201, first]);
      await app.events();
      const path = `contacts/${made.body.id}`;
      expect((await app.patch(path, { avatar_url: second })).body.thumbnail).to.equal(second);
      const [event] = await app.events();
      expect(event!.account_payload).to.deep.include({
        thumbnail: second,
        changed_attributes: { thumbnail: { previous: first, current: second } },
      });
      expect((await app.patch(path, { avatar_url: second })).status).to.equal(200);
      expect(await app.eventNames()).to.deep.equal([]);
      expect((await app.patch(path, { name: 'Ada L.' })).body.thumbnail).to.equal(second);
      expect((await app.patch(path, { avatar_url: null })).body.thumbnail).to.equal(null);
      expect((await app.get(path)).body.thumbnail).to.equal(null);
      const wrong = [
        'javascript:alert(1)',
        '//example.com/a.png',
        'https://',
        'https://a b',
        `https://${'x'.repeat(2048)}`,
        5,
      ];
      for (const url of wrong) expect((await app.patch(path, { avatar_url: url })).status, String(url)).to.equal(422);
      await app.events();
    });

    it('refuses what is not there or not allowed, and changes nothing', async () => {
      const id = await add({ name: 'Cem', identifier: 'crm-cem' });
      await add({ identifier: 'crm-taken' });
      const refusals: [number, string, object, Person?][] = [
        [422, `contacts/${id}`, { name: 'Cemal', identifier: 'crm-taken' }],
        [422, `contacts/${id}`, { name: null }],
        [422, `contacts/${id}`, { name: ' ' }],
        [422, `contacts/${id}`, { email: 'nobody' }],
        [422, `contacts/${id}`, { phone_number: '0151' }],
        [422, `contacts/${id}`, { custom_attributes: null }],
        [404, 'contacts/99999999', { name: 'X' }],
        [404, `contacts/${id}`, { name: 'X' }, elsewhere.administrator],
        [404, `/api/v1/accounts/${elsewhere.id}/contacts/${id}`, { name: 'X' }, elsewhere.administrator],
        [403, `contacts/${id}`, { name: 'X' }, bot],
      ];
      for (const [status, path, body, person] of refusals) {
        expect((await app.patch(path, body, person?.headers)).status, JSON.stringify(body)).to.equal(status);
      }
      const taken = await app.patch(`contacts/${id}`, { identifier: 'crm-taken' });
      expect(taken.body.details).to.deep.equal([
        { path: '/identifier', rule: 'unique', message: 'Another contact of this account has this identifier' },
      ]);
      expect((await app.get(`contacts/${id}`)).body).to.include({ name: 'Cem', identifier: 'crm-cem' });
      expect(await app.eventNames()).to.deep.equal([]);
    });

    it('gives an identifier to one of those who want it at once', async () => {
      const ids = await Promise.all([1, 2, 3, 4].map(() => addContact(app)));
      await app.events();
      const answers = await Promise.all(ids.map((id) => app.patch(`contacts/${id}`, { identifier: 'crm-prize' })));
      expect(answers.map(({ status }) => status)).to.have.members([200, 422, 422, 422]);
      expect(await app.eventNames()).to.deep.equal(['contact_updated']);
    });

    it('lets an identifier go to another account', async () => {
      await add({ identifier: 'crm-shared' });
      const answer = await app.post(
        `/api/v1/accounts/${elsewhere.id}/contacts`,
        { name: 'Theirs', identifier: 'crm-shared' },
        elsewhere.administrator.headers,
      );
      expect(answer.status).to.equal(201);
    });
  });

  describe('GET search', () => {
    const search = (q: string, query = '') => app.get(`contacts/search?q=${encodeURIComponent(q)}${query}`);

    before(async () => {
      await add({ name: 'Zoë Müller', email: 'zoe@Example.org', phone_number: '+14155552671' });
      await add({ name: 'Aaron Müller', email: 'a_m@example.org', identifier: '4930123@g.US' });
      await add({ name: '100% Cotton' });
    });

    it('looks in name, e-mail address, phone number and identifier, whatever the case, by name', async () => {
      const { status, body } = await search('müller');
      expect(status).to.equal(200);
      expect(namesOf(body.payload)).to.deep.equal(['Aaron Müller', 'Zoë Müller']);
      expect(body.meta).to.deep.equal({ count: 2, current_page: 1, total_pages: 1 });
      const hits: [string, string[]][] = [
        ['ZOE@EXAMPLE', ['Zoë Müller']],
        ['+1415', ['Zoë Müller']],
        ['55526', ['Zoë Müller']],
        ['a_m', ['Aaron Müller']],
        ['4930123@g.us', ['Aaron Müller']],
        ['@G', ['Aaron Müller']],
        ['0% c', ['100% Cotton']],
        ['aa', ['Aaron Müller']],
        ['  zoë ', ['Zoë Müller']],
        ['a%m', []],
        ['nobody at all', []],
      ];
      for (const [q, names] of hits) expect(namesOf((await search(q)).body.payload), q).to.deep.equal(names);
    });

    it('tells only the number when the contacts are not wanted', async () => {
      const { status, body } = await search('müller', '&include_contacts=false');
      expect(status).to.equal(200);
      expect(body).to.deep.equal({ payload: [], meta: { count: 2, current_page: 1, total_pages: 1 } });
      expect((await search('müller', '&include_contacts=true')).body.payload).to.have.lengthOf(2);
    });

    it('gives 15 to a page', async () => {
      for (let count = 0; count < 17; count++) await add({ name: `Page ${String(count).padStart(2, '0')}` });
      const first = (await search('page ')).body;
      const second = (await search('page ', '&page=2')).body;
      expect(namesOf([...first.payload, ...second.payload])).to.deep.equal(
        Array.from({ length: 17 }, (_, count) => `Page ${String(count).padStart(2, '0')}`),
      );
      expect(second.meta).to.deep.equal({ count: 17, current_page: 2, total_pages: 2 });
      expect((await search('page ', '&page=3')).body).to.deep.equal({
        payload: [],
        meta: { count: 17, current_page: 3, total_pages: 2 },
      });
    });

    it('stays within the account, and is for agents', async () => {
      const theirs = await app.get(
        `/api/v1/accounts/${elsewhere.id}/contacts/search?q=ller`,
        elsewhere.administrator.headers,
      );
      expect(theirs.body.payload).to.deep.equal([]);
      expect((await app.get('contacts/search?q=ller', agent.headers)).status).to.equal(200);
      expect((await app.get('contacts/search?q=ller', bot.headers)).status).to.equal(403);
      for (const query of ['', '?q=', '?q=%20', '?q=x&page=0', '?q=x&include_contacts=maybe', '?q=a&q=b']) {
        expect((await app.get(`contacts/search${query}`)).status, query).to.equal(400);
      }
      expect(await app.eventNames()).to.deep.equal([]);
    });
  });

  describe('GET', () => {
    it('one is open to agents, and to the bots that serve it', async () => {
      const served = await add();
      const other = await add();
      const inbox = await addInbox(app, { botId: bot.id });
      await addConversation(app, inbox, { contactId: served });
      await addConversation(app, await addInbox(app), { contactId: other });
      await app.events();
      expect((await app.get(`contacts/${served}`, bot.headers)).body.id).to.equal(served);
      expect((await app.get(`contacts/${other}`, bot.headers)).status).to.equal(403);
      expect((await app.get(`contacts/${other}`, agent.headers)).status).to.equal(200);
      expect((await app.get('contacts/99999999', bot.headers)).status).to.equal(404);
      expect(await app.eventNames()).to.deep.equal([]);
    });

    it('the list sorts either way, those without a value last, or first when reversed', async () => {
      const { id, administrator } = await addAccount(app, 'Sorted');
      const base = `/api/v1/accounts/${id}/contacts`;
      for (const [name, fields] of [
        ['b', { email: 'X@example.com' }],
        ['A', {}],
        ['c', { email: 'w@example.com' }],
      ] as const) {
        await app.post(base, { name, ...fields }, administrator.headers);
      }
      await app.query(`UPDATE contacts SET last_activity_at = now() WHERE account_id = $1 AND name = 'c'`, [id]);
      await app.query(
        `UPDATE contacts SET last_activity_at = now() - interval '1 day' WHERE account_id = $1 AND name = 'A'`,
        [id],
      );
      const orders: [string, string][] = [
        ['', 'Abc'],
        ['sort=-name', 'cbA'],
        ['sort=email', 'cbA'],
        ['sort=-email', 'Abc'],
        ['sort=last_activity_at', 'cAb'],
        ['sort=-last_activity_at', 'bAc'],
        ['sort=created_at', 'cAb'],
        ['sort=-created_at', 'bAc'],
        ['sort=phone_number', 'bAc'],
      ];
      for (const [query, names] of orders) {
        const { body } = await app.get(`${base}?${query}`, administrator.headers);
        expect(namesOf(body.payload).join(''), query).to.equal(names);
        expect(body.meta).to.deep.equal({ count: 3, current_page: 1, total_pages: 1 });
      }
      await app.events();
    });

    it('the list has the order of last activity to the moment, and of ids among those who never wrote', async () => {
      const { id, administrator } = await addAccount(app, 'Active');
      // Written within the same second, within the same five minutes, later, before 2000, and never.
      const moments = ['2026-05-01 10:01:00.002', '2026-05-01 10:01:00.001', '2026-05-01 10:04', '2026-05-01 10:06'];
      for (const [at, moment] of [null, ...moments, '1999-05-01', null].entries()) {
        await app.query('INSERT INTO contacts (account_id, name, last_activity_at) VALUES ($1, $2, $3)', [
          id,
          String(at),
          moment && `${moment}Z`,
        ]);
      }
      const listed = async (sort: string) => {
        const { body } = await app.get(`/api/v1/accounts/${id}/contacts?sort=${sort}`, administrator.headers);
        return namesOf(body.payload).join('');
      };
      expect(await listed('-last_activity_at')).to.equal('0652134');
      expect(await listed('last_activity_at')).to.equal('4312560');
      // Who writes next is the first, and one that is in its five minutes already is moved among those.
      await app.query(
        `UPDATE contacts SET last_activity_at = '2026-05-01 10:01:00.003Z' WHERE account_id = $1 AND name = '2'`,
        [id],
      );
      await app.query(
        `UPDATE contacts SET last_activity_at = '2026-05-01 10:07Z' WHERE account_id = $1 AND name = '0'`,
        [id],
      );
      expect(await listed('last_activity_at')).to.equal('0432156');
    });
  });

  describe('notes', () => {
    it('are written in the agent’s name and listed newest first, without an event', async () => {
      const id = await add();
      const { status, body } = await app.post(`contacts/${id}/notes`, { content: 'Prefers mail' }, agent.headers);
      expect(status).to.equal(201);
      expect(body).to.deep.include({
        account_id: 1,
        contact_id: id,
        content: 'Prefers mail',
        user: { id: agent.id, name: 'Agent' },
      });
      const second = (await app.post(`contacts/${id}/notes`, { content: 'Or the phone' })).body;
      await app.post(`contacts/${await add()}/notes`, { content: 'Somebody else' });
      const list = await app.get(`contacts/${id}/notes`);
      expect(list.status).to.equal(200);
      expect(list.body).to.deep.equal({ payload: [second, body], meta: { count: 2, current_page: 1, total_pages: 1 } });
      expect((await app.get(`contacts/${id}/notes?page=2`)).body.payload).to.deep.equal([]);
      expect(await app.eventNames()).to.deep.equal([]);
    });

    it('refuse what is not there or not allowed', async () => {
      const id = await add();
      const theirs = `/api/v1/accounts/${elsewhere.id}/contacts/${id}/notes`;
      expect((await app.post(`contacts/${id}/notes`, { content: ' ' })).status).to.equal(422);
      expect((await app.post(`contacts/${id}/notes`)).status).to.equal(422);
      expect((await app.post('contacts/99999999/notes', { content: 'x' })).status).to.equal(404);
      expect((await app.get('contacts/99999999/notes')).status).to.equal(404);
      expect((await app.post(theirs, { content: 'x' }, elsewhere.administrator.headers)).status).to.equal(404);
      expect((await app.get(theirs, elsewhere.administrator.headers)).status).to.equal(404);
      expect((await app.post(`contacts/${id}/notes`, { content: 'x' }, bot.headers)).status).to.equal(403);
      expect(await app.eventNames()).to.deep.equal([]);
    });
  });
});
