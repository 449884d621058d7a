import { expect } from 'chai';
import { routes } from '../src/api/index.ts';
import * as form from './support/contract-forms.ts';
import { fillPath, nameOf, operations, readName, type Request } from './support/operations.ts';
import { exactly, expectForm, empty, text, type Form } from './support/shapes.ts';
import { World, type Reply } from './support/world.ts';

const paged = (element: Form): Form => exactly({ payload: [element], meta: form.pages });

/** All operations of the contract, with the form of their successful answers. */
const contract: [name: string, status: number, answer: Form][] = [
  [
    'GET conversations',
    200,
    exactly({
      data: exactly({ meta: (value, path) => expectForm(value, form.counts, path), payload: [form.conversation] }),
    }),
  ],
  ['GET conversations/:id', 200, form.conversation],
  ['POST conversations', 201, form.conversation],
  ['PATCH conversations/:id', 200, form.conversation],
  ['POST conversations/:id/toggle_status', 200, form.conversation],
  ['POST conversations/:id/assignments', 200, form.conversation],
  ['GET conversations/search', 200, paged(form.conversation)],
  ['PATCH conversations', 200, form.conversation],

  ['GET conversations/:conversation_id/messages', 200, { payload: [form.message] }],
  ['POST conversations/:conversation_id/messages', 201, form.message],
  ['DELETE conversations/:conversation_id/messages/:message_id', 200, empty],

  ['GET contacts', 200, paged(form.contact)],
  ['GET contacts/search', 200, paged(form.contact)],
  ['GET contacts/:id', 200, form.contact],
  ['POST contacts', 201, form.contact],
  ['PATCH contacts/:id', 200, form.contact],
  ['DELETE contacts/:id', 200, empty],
  ['GET contacts/:id/conversations', 200, paged(form.conversation)],
  ['POST contacts/:id/notes', 201, form.note],

  ['GET labels', 200, paged(form.label)],
  ['POST labels', 201, form.label],
  ['PATCH labels/:id', 200, form.label],
  ['DELETE labels/:id', 200, empty],

  ['GET agents', 200, [form.agent]],
  ['POST agents', 201, form.agent],
  ['PATCH agents/:id', 200, form.agent],
  ['DELETE agents/:id', 200, empty],

  ['GET inboxes', 200, paged(form.inbox)],
  ['GET inboxes/:id', 200, form.inbox],
  ['GET inboxes/:id/assignable_agents', 200, paged(form.agent)],

  ['GET teams', 200, [form.team]],
  ['GET teams/:id', 200, form.team],
  ['GET teams/:id/team_members', 200, [form.agent]],

  ['GET webhooks', 200, paged(form.webhook)],
  ['POST webhooks', 201, form.webhook],
  ['PATCH webhooks/:id', 200, form.webhook],
  ['DELETE webhooks/:id', 200, empty],

  ['GET /api/v1/profile', 200, { id: (value) => expect(value).to.be.a('number'), name: text, email: text }],
];

const operationsOfTheContract = 38;
const longAgo = 1_600_000_000;
const seconds = () => Math.floor(Date.now() / 1000);

/** Changes that make a valid request invalid: properties of the body (undefined removes one), or a query. */
const refusals: [status: number, name: string, fault: Record<string, unknown> | string][] = [
  [400, 'GET conversations', 'sort=name'],
  [400, 'GET conversations', 'status=closed'],
  [400, 'GET conversations', 'assignee_type=mine'],
  [400, 'GET conversations', 'page=0'],
  [400, 'GET conversations', 'page=one'],
  [400, 'GET conversations/search', ''],
  [400, 'GET conversations/search', 'q=opening&page=-1'],
  [422, 'POST conversations', { inbox_id: undefined }],
  [422, 'POST conversations', { contact_id: undefined }],
  [422, 'POST conversations', { inbox_id: 'first' }],
  [422, 'POST conversations', { source_id: 7 }],
  [422, 'POST conversations', { message: {} }],
  [422, 'POST conversations', { additional_attributes: 'none' }],
  [422, 'PATCH conversations/:id', { priority: 'whenever' }],
  [422, 'PATCH conversations/:id', { sla_policy_id: 'gold' }],
  [422, 'POST conversations/:id/toggle_status', { status: undefined }],
  [422, 'POST conversations/:id/toggle_status', { status: 'closed' }],
  [422, 'POST conversations/:id/toggle_status', { status: 'snoozed' }],
  [422, 'POST conversations/:id/toggle_status', { status: 'snoozed', snoozed_until: longAgo }],
  [422, 'POST conversations/:id/assignments', { assignee_id: 'me' }],
  [422, 'POST conversations/:id/assignments', { team_id: 'support' }],
  [422, 'PATCH conversations', { id: undefined }],
  [422, 'PATCH conversations', { status: undefined }],
  [422, 'PATCH conversations', { status: 'closed' }],

  [400, 'GET conversations/:conversation_id/messages', 'before=yesterday'],
  [400, 'GET conversations/:conversation_id/messages', 'after=2026-01-01'],
  [422, 'POST conversations/:conversation_id/messages', { content: undefined }],
  [422, 'POST conversations/:conversation_id/messages', { message_type: undefined }],
  [422, 'POST conversations/:conversation_id/messages', { message_type: 'activity' }],
  [422, 'POST conversations/:conversation_id/messages', { private: 'yes' }],
  [422, 'POST conversations/:conversation_id/messages', { content_type: 'cards' }],
  [422, 'POST conversations/:conversation_id/messages', { content_attributes: [] }],

  [400, 'GET contacts', 'sort=identifier'],
  [400, 'GET contacts', 'page=0'],
  [400, 'GET contacts', 'include_contact_inboxes=perhaps'],
  [400, 'GET contacts/search', ''],
  [400, 'GET contacts/search', 'q=a&include_contacts=perhaps'],
  [422, 'POST contacts', { name: undefined }],
  [422, 'POST contacts', { email: 'nowhere' }],
  [422, 'POST contacts', { phone_number: '030 123' }],
  [422, 'POST contacts', { blocked: 'no' }],
  [422, 'POST contacts', { custom_attributes: 'none' }],
  [422, 'PATCH contacts/:id', { phone_number: '030 123' }],
  [422, 'POST contacts/:id/notes', { content: undefined }],

  [422, 'POST labels', { title: undefined }],
  [422, 'POST labels', { title: 'Upper' }],
  [422, 'POST labels', { color: 'red' }],
  [422, 'POST labels', { show_on_sidebar: 'yes' }],
  [422, 'PATCH labels/:id', { title: 'Upper' }],
  [422, 'POST agents', { name: undefined }],
  [422, 'POST agents', { email: undefined }],
  [422, 'POST agents', { role: undefined }],
  [422, 'POST agents', { role: 'owner' }],
  [422, 'POST agents', { availability: 'away' }],
  [422, 'PATCH agents/:id', { role: 'owner' }],
  [422, 'PATCH agents/:id', { availability: 'away' }],
  [422, 'POST webhooks', { url: undefined }],
  [422, 'POST webhooks', { subscriptions: undefined }],
  [422, 'POST webhooks', { subscriptions: ['everything'] }],
  [422, 'POST webhooks', { url: 'gopher://example.com/' }],
  [422, 'PATCH webhooks/:id', { subscriptions: ['everything'] }],
];

describe('the contract', () => {
  let world: World;

  before(async function () {
    this.timeout(60_000);
    world = await World.build();
  });

  after(() => world.stop());

  function send(name: string, { body, ...request }: Request): Promise<Reply> {
    const { method, path } = readName(name);
    const full = fillPath(path, world.home.maker.accountId, request);
    return world.send('administrator', { method, path: full, ...(body ? { body } : {}) });
  }

  const prepare = (name: string) => operations[name]!(world.home, world);

  it(`has ${operationsOfTheContract} operations, all of which the service has`, () => {
    expect(new Set(contract.map(([name]) => name)).size).to.equal(operationsOfTheContract);
    expect(routes.map(nameOf)).to.include.members(contract.map(([name]) => name));
  });

  for (const [name, status, answer] of contract) {
    it(`${name} answers ${status} as the contract says`, async () => {
      const reply = await send(name, await prepare(name));
      expect(reply.status, reply.text).to.equal(status);
      expectForm(reply.body, answer);
    });
  }

  for (const [status, name, fault] of refusals) {
    it(`${name} with ${JSON.stringify(fault)} is refused by ${status}`, async () => {
      const request = await prepare(name);
      const body = { ...request.body, ...(typeof fault === 'string' ? {} : fault) };
      const faulty: Request = typeof fault === 'string' ? { ...request, query: fault } : { ...request, body };
      const reply = await send(name, faulty);
      expect(reply.status, reply.text).to.equal(status);
      expectForm(reply.body, { error: text });
    });
  }

  it('a path that is no number is a bad request, a number that nothing has is not found', async () => {
    for (const [name] of contract.filter(([path]) => path.includes('id'))) {
      const request = await prepare(name);
      for (const parameter of Object.keys(request.at ?? {})) {
        const at = (value: string | number) => send(name, { ...request, at: { ...request.at, [parameter]: value } });
        expect((await at('first')).status, `${name}: ${parameter}`).to.equal(400);
        const missing = await at(9_007_199_254_740_991);
        expect(missing.status, `${name}: ${parameter}`).to.equal(404);
        expectForm(missing.body, { error: text });
      }
    }
  });

  describe('takes every value that it names:', () => {
    const values: [name: string, property: string, values: unknown[]][] = [
      ['PATCH conversations/:id', 'priority', ['urgent', 'high', 'medium', 'low']],
      ['POST conversations/:id/toggle_status', 'status', ['open', 'resolved', 'pending']],
      ['PATCH conversations', 'status', ['open', 'resolved', 'pending']],
      ['POST conversations/:conversation_id/messages', 'message_type', ['incoming', 'outgoing']],
      ['POST conversations/:conversation_id/messages', 'content_type', ['text', 'input_select', 'input_email']],
      ['POST conversations/:conversation_id/messages', 'private', [true, false]],
      ['POST contacts', 'blocked', [true, false]],
      ['POST contacts', 'phone_number', ['+14155552671']],
      ['POST contacts', 'email', ['carl@example.com']],
      ['POST labels', 'show_on_sidebar', [true, false]],
      ['POST labels', 'color', ['#ff0000']],
      ['POST agents', 'role', ['administrator', 'agent']],
      ['POST agents', 'availability', ['online', 'busy', 'offline']],
      ['PATCH agents/:id', 'role', ['administrator', 'agent']],
      ['PATCH agents/:id', 'availability', ['online', 'busy', 'offline']],
      ['PATCH agents/:id', 'name', ['Renamed']],
      ['POST webhooks', 'name', ['Receiver']],
      ['PATCH webhooks/:id', 'url', ['http://127.0.0.1:9/elsewhere']],
      ['PATCH webhooks/:id', 'active', [true, false]],
      [
        'POST webhooks',
        'subscriptions',
        [
          'conversation_created',
          'conversation_updated',
          'conversation_status_changed',
          'message_created',
          'message_updated',
          'contact_created',
          'contact_updated',
        ].map((event) => [event]),
      ],
    ];
    for (const [name, property, choices] of values) {
      it(`${name}: ${property}`, async () => {
        for (const value of choices) {
          const request = await prepare(name);
          const reply = await send(name, { ...request, body: { ...request.body, [property]: value } });
          expect(reply.status, reply.text).to.be.below(300);
          expect(reply.body[property]).to.deep.equal(value);
        }
      });
    }

    it('snoozed, until a moment', async () => {
      const until = seconds() + 3600;
      for (const name of ['POST conversations/:id/toggle_status', 'PATCH conversations']) {
        const request = await prepare(name);
        const reply = await send(name, {
          ...request,
          body: { ...request.body, status: 'snoozed', snoozed_until: until },
        });
        expect(reply.body).to.include({ status: 'snoozed', snoozed_until: until });
      }
    });
  });

  describe('has these defaults:', () => {
    const defaults: [name: string, defaults: Record<string, unknown>][] = [
      ['POST conversations', { priority: null, unread_count: 0, sla_policy_id: null, additional_attributes: {} }],
      [
        'POST conversations/:conversation_id/messages',
        { private: false, content_type: 'text', content_attributes: {} },
      ],
      [
        'POST contacts',
        { email: null, phone_number: null, blocked: false, custom_attributes: {}, additional_attributes: {} },
      ],
      ['POST labels', { description: null, show_on_sidebar: false }],
      ['POST agents', { availability: 'online', confirmed: false }],
      ['POST webhooks', { name: null }],
    ];
    for (const [name, expected] of defaults) {
      it(name, async () => expect((await send(name, await prepare(name))).body).to.deep.include(expected));
    }
  });

  describe('keeps what it is given:', () => {
    it('a conversation with everything', async () => {
      const { maker, inbox, contact, member, team, slaPolicy } = world.home;
      const body = {
        inbox_id: inbox,
        contact_id: contact,
        source_id: 'ticket-7',
        assignee_id: member.id,
        team_id: team,
        message: { content: 'Welcome' },
        additional_attributes: { browser: { name: 'Firefox' } },
      };
      const { body: made } = await send('POST conversations', { body });
      expect(made).to.deep.include({
        inbox_id: inbox,
        source_id: 'ticket-7',
        additional_attributes: body.additional_attributes,
      });
      expect(made.contact).to.include({ id: contact });
      expect(made.meta.assignee).to.include({ id: member.id }).and.include.keys('name');
      expect(made.meta.team).to.include({ id: team }).and.include.keys('name');
      const said = await send('GET conversations/:conversation_id/messages', { at: { conversation_id: made.id } });
      expect(said.body.payload).to.have.lengthOf(1);
      expect(said.body.payload[0]).to.include({ content: 'Welcome', message_type: 'outgoing', private: false });
      const changes = { priority: 'urgent', sla_policy_id: slaPolicy };
      const { body: changed } = await send('PATCH conversations/:id', { at: { id: made.id }, body: changes });
      expect(changed).to.include({ ...changes, id: made.id, status: made.status });
      const again = await maker.call('GET', `conversations/${made.id}`);
      expect(again).to.deep.equal(changed);
    });

    it('a message with its form, from the customer, and what is unread', async () => {
      const { maker, inbox, contact } = world.home;
      const id = await maker.conversation(inbox, { contact_id: contact });
      const body = {
        content: 'Which one?',
        message_type: 'incoming',
        content_type: 'input_select',
        content_attributes: { items: [{ title: 'One', value: '1' }] },
      };
      const { body: message } = await send('POST conversations/:conversation_id/messages', {
        at: { conversation_id: id },
        body,
      });
      expect(message).to.deep.include(body);
      expect(message.sender).to.include({ id: contact, type: 'Contact' });
      expect((await maker.call('GET', `conversations/${id}`)).unread_count).to.equal(1);
    });

    it('a contact, of which only what is given changes', async () => {
      const body = {
        name: 'Carla',
        email: 'carla@example.com',
        phone_number: '+14155552671',
        identifier: 'crm-7',
        blocked: true,
        custom_attributes: { plan: 'pro' },
        additional_attributes: { city: 'Ulm' },
      };
      const { body: made } = await send('POST contacts', { body });
      expect(made).to.deep.include(body);
      const { body: changed } = await send('PATCH contacts/:id', { at: { id: made.id }, body: { blocked: false } });
      expect(changed).to.deep.include({ ...body, blocked: false });
      const found = await send('GET contacts/:id', { at: { id: made.id } });
      expect(found.body).to.deep.equal(changed);
    });

    it('a webhook of one inbox', async () => {
      const { inbox } = world.home;
      const body = {
        url: 'http://127.0.0.1:9/hook',
        subscriptions: ['message_created'],
        name: 'Hook',
        inbox_id: inbox,
      };
      expect((await send('POST webhooks', { body })).body).to.deep.include({ ...body, active: true });
    });
  });

  describe('deletes:', () => {
    it('a label from all conversations it was applied to', async () => {
      const { maker, inbox } = world.home;
      const { id, title } = await maker.label();
      const conversation = await maker.conversation(inbox);
      await maker.call('POST', `conversations/${conversation}/labels`, { labels: [title] });
      await send('DELETE labels/:id', { at: { id } });
      expect((await maker.call('GET', `conversations/${conversation}/labels`)).payload).to.deep.equal([]);
      expect((await send('GET labels', {})).body.payload.map((label: { id: number }) => label.id)).not.to.include(id);
    });

    it('an agent from the account', async () => {
      const { id } = await world.home.maker.agent();
      await send('DELETE agents/:id', { at: { id } });
      expect((await send('GET agents', {})).body.map((agent: { id: number }) => agent.id)).not.to.include(id);
    });

    it('a contact with its conversations', async () => {
      const { maker, inbox } = world.home;
      const id = await maker.contact();
      const conversation = await maker.conversation(inbox, { contact_id: id });
      await send('DELETE contacts/:id', { at: { id } });
      expect((await send('GET contacts/:id', { at: { id } })).status).to.equal(404);
      expect((await send('GET conversations/:id', { at: { id: conversation } })).status).to.equal(404);
    });

    it('a webhook', async () => {
      const id = await world.home.maker.webhook();
      await send('DELETE webhooks/:id', { at: { id } });
      expect((await send('GET webhooks', {})).body.payload.map((hook: { id: number }) => hook.id)).not.to.include(id);
    });
  });

  it('refuses a title that another label has', async () => {
    const { maker, label } = world.home;
    const twin = await send('POST labels', { body: { title: label.title } });
    expect(twin.status).to.equal(422);
    expectForm(twin.body, { error: text });
    const other = await maker.label();
    expect((await send('PATCH labels/:id', { at: { id: other.id }, body: { title: label.title } })).status).to.equal(
      422,
    );
  });
});
