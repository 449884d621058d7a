import { expect } from 'chai';
import { expectLedger } from '../../faults/ledger.ts';
import { rowsOf } from '../../faults/helpers.ts';
import { addAccount, addPerson } from '../../support/people.ts';
import { Sending, type Body } from '../../support/sending.ts';

type Condition = [attribute: string, operator: string, values?: unknown[]];

const conditionsOf = (conditions: Condition[]) =>
  conditions.map(([attribute, operator, values]) => ({ attribute, operator, ...(values ? { values } : {}) }));
const all = (...conditions: Condition[]) => ({ all: conditionsOf(conditions) });
const any = (...conditions: Condition[]) => ({ any: conditionsOf(conditions) });

// Ids of the records of the test stand in filters as words.
type Ids = Record<'inbox' | 'team' | 'agent', number>;

/** Which of the events pass: a customer's message, an agent's note, and a new contact. */
type Passed = [message: boolean, note: boolean, contact: boolean];

const cases: [title: string, filter: (ids: Ids) => object, passed: Passed][] = [
  ['an inbox', ({ inbox }) => all(['inbox_id', 'equal_to', [inbox]]), [true, true, false]],
  ['an inbox as a text', ({ inbox }) => all(['inbox_id', 'equal_to', [String(inbox)]]), [true, true, false]],
  ['another inbox', ({ inbox }) => all(['inbox_id', 'equal_to', [inbox + 1]]), [false, false, false]],
  ['no such inbox', ({ inbox }) => all(['inbox_id', 'not_equal_to', [inbox]]), [false, false, true]],
  ['one of several teams', ({ team }) => all(['team_id', 'equal_to', [9_999, team]]), [true, true, false]],
  ['any team', () => all(['team_id', 'is_present']), [true, true, false]],
  ['no team', () => all(['team_id', 'is_not_present']), [false, false, true]],
  ['an assignee', ({ agent }) => all(['assignee_id', 'equal_to', [agent]]), [true, true, false]],
  ['a label', () => all(['labels', 'equal_to', ['vip', 'nobody']]), [true, true, false]],
  ['another label', () => all(['labels', 'equal_to', ['vi']]), [false, false, false]],
  ['not a label', () => all(['labels', 'not_equal_to', ['vip']]), [false, false, true]],
  ['a part of a label, in any case', () => all(['labels', 'contains', ['NORTH']]), [true, true, false]],
  ['no part of a label', () => all(['labels', 'contains', ['south']]), [false, false, false]],
  ['labels at all', () => all(['labels', 'is_present']), [true, true, false]],
  ['incoming messages', () => all(['message_type', 'equal_to', ['incoming']]), [true, false, false]],
  ['notes', () => all(['private', 'equal_to', [true]]), [false, true, false]],
  ['no notes', () => all(['private', 'not_equal_to', ['true']]), [true, false, true]],
  ['customers', () => all(['sender_type', 'equal_to', ['Contact']]), [true, false, false]],
  ['agents', () => all(['sender_type', 'equal_to', ['User', 'AgentBot']]), [false, true, false]],
  ['a status', () => all(['status', 'equal_to', ['open']]), [true, true, false]],
  ['another status', () => all(['status', 'equal_to', ['resolved']]), [false, false, false]],
  ['a priority', () => all(['priority', 'equal_to', ['urgent', 'high']]), [true, true, false]],
  [
    'all of several conditions',
    ({ team }) => all(['team_id', 'equal_to', [team]], ['private', 'equal_to', [false]]),
    [true, false, false],
  ],
  [
    'any of several conditions',
    () => any(['priority', 'equal_to', ['low']], ['sender_type', 'equal_to', ['User']], ['status', 'is_not_present']),
    [false, true, true],
  ],
];

const refused: [filter: unknown, path: string][] = [
  [{}, '/filter'],
  [[], '/filter'],
  [{ all: [] }, '/filter/all'],
  [{ all: conditionsOf([['private', 'is_present']]), any: conditionsOf([['private', 'is_present']]) }, '/filter'],
  [{ none: conditionsOf([['private', 'is_present']]) }, '/filter/none'],
  [all(['content', 'equal_to', ['x']]), '/filter/all/0/attribute'],
  [any(['private', 'is_present'], ['status', 'greater_than', ['x']]), '/filter/any/1/operator'],
  [all(['status', 'contains', ['op']]), '/filter/all/0/operator'],
  [all(['status', 'equal_to']), '/filter/all/0/values'],
  [all(['status', 'equal_to', []]), '/filter/all/0/values'],
  [all(['status', 'equal_to', ['open', 'closed']]), '/filter/all/0/values/1'],
  [all(['inbox_id', 'equal_to', ['mine']]), '/filter/all/0/values/0'],
  [all(['private', 'equal_to', [1]]), '/filter/all/0/values/0'],
  [all(['sender_type', 'equal_to', ['contact']]), '/filter/all/0/values/0'],
];

describe('filters of webhooks', () => {
  const sending = Sending.use();
  let ids: Ids;
  let conversation: number;

  before(async () => {
    const inbox = (await sending.made('inboxes', { name: 'Filtered' })).id as number;
    const team = (await sending.made('teams', { name: 'Billing' })).id as number;
    const agent = (await addPerson(sending.app, { name: 'Grace', role: 'administrator' })).id;
    const { id: contact } = await sending.made('contacts', { name: 'Ada' });
    const about = { inbox_id: inbox, contact_id: contact, team_id: team, assignee_id: agent };
    conversation = (await sending.made('conversations', about)).id as number;
    for (const title of ['vip', 'north-west']) await sending.made('labels', { title });
    await sending.made(`conversations/${conversation}/labels`, { labels: ['vip', 'north-west'] }, 200);
    await sending.app.patch(`conversations/${conversation}`, { priority: 'high' });
    ids = { inbox, team, agent };
  });

  const hook = (filter: object | null, subscriptions = ['message_created', 'contact_created']): Promise<Body> =>
    sending.made('webhooks', { url: sending.receiver.url, subscriptions, filter });
  const note = (content: string) =>
    sending.made(`conversations/${conversation}/messages`, { content, message_type: 'outgoing', private: true });
  const lastEvent = async (): Promise<number> =>
    (await sending.app.query<{ id: number }>('SELECT max(id) AS id FROM events WHERE account_id = 1'))[0]!.id;
  const receiversOf = async (event: number): Promise<Body[]> =>
    (await sending.app.get(`events/${event}/deliveries`)).body.payload;

  it('decide at the commit, by the values of the conversation and the message', async () => {
    const hooks: Body[] = [];
    for (const [, filter] of cases) hooks.push(await hook(filter(ids)));
    expect(hooks.map(({ filter }) => filter)).to.deep.equal(cases.map(([, filter]) => filter(ids)));
    const events: number[] = [];
    for (const happen of [
      () => sending.say(conversation, 'hello'),
      () => note('a note'),
      () => sending.made('contacts', { name: 'Bob' }),
    ]) {
      await happen();
      events.push(await lastEvent());
    }
    const told = await Promise.all(events.map(receiversOf));
    const passed = cases.map(([title], index) => [
      title,
      told.map((receivers) => receivers.find(({ webhook_id }) => webhook_id === hooks[index].id).not_sent === null),
    ]);
    expect(passed).to.deep.equal(cases.map(([title, , expected]) => [title, expected]));
    for (const receiver of told.flat().filter(({ not_sent }) => not_sent !== null))
      expect(receiver).to.include({ state: 'not sent: filter', not_sent: 'filter' });
    const sent = cases.flatMap(([, , expected]) => expected).filter(Boolean).length;
    await sending.app.eventually(async () => sending.receiver.received.length >= sent);
    await sending.app.eventually(
      async () => (await sending.app.query(`SELECT FROM deliveries WHERE state = 'pending'`)).length === 0,
    );
    expect(sending.receiver.received.length).to.equal(sent);
    await expectLedger(sending.app.databaseUrl);
  });

  it('that change after the commit change nothing that was committed', async () => {
    const kept = await hook(null);
    const left = await hook(all(['private', 'equal_to', [true]]));
    await sending.app.post(`webhooks/${kept.id}/pause`);
    await sending.say(conversation, 'before');
    const event = await lastEvent();
    await sending.app.patch(`webhooks/${kept.id}`, { filter: all(['private', 'equal_to', [true]]) });
    await sending.app.patch(`webhooks/${left.id}`, { filter: null });
    await sending.app.post(`webhooks/${kept.id}/resume`);
    await sending.eventuallyIn(kept, 'delivered');
    await sending.say(conversation, 'after');
    await sending.eventuallyIn(left, 'delivered');
    expect(sending.contents).to.deep.equal(['before', 'after']);
    const [was, is] = await Promise.all([receiversOf(event), receiversOf(await lastEvent())]);
    const statesOf = (receivers: Body[]) =>
      [kept, left].map(({ id }) => receivers.find((one) => one.webhook_id === id).state);
    expect([statesOf(was), statesOf(is)]).to.deep.equal([
      ['delivered', 'not sent: filter'],
      ['not sent: filter', 'delivered'],
    ]);
    await expectLedger(sending.app.databaseUrl);
  });

  it('leave out nothing of a test', async () => {
    const { id } = await hook(all(['status', 'equal_to', ['resolved']]));
    await sending.made(`webhooks/${id}/test`, { event: 'message_created' }, 202);
    await sending.app.eventually(async () => sending.receiver.received.length > 0);
  });

  it('are judged by the ledger: a delivery that a filter left out, and a decision that no filter made', async () => {
    const { id } = await hook(all(['private', 'equal_to', [true]]));
    await sending.say(conversation, 'left out');
    const event = await lastEvent();
    const violations = async () => {
      const { body } = await sending.app.get('/platform/api/v1/ledger?step=1');
      return body.invariants[0].violations as number;
    };
    expect(await violations()).to.equal(0);
    await rowsOf(sending.app.databaseUrl, `UPDATE events SET left_out = NULL WHERE id = ${event}`);
    expect(await violations()).to.be.greaterThan(0);
    await rowsOf(sending.app.databaseUrl, `UPDATE events SET left_out = '{${id}}' WHERE id = ${event}`);
    expect(await violations()).to.equal(0);
    await note('sent');
    const sent = await lastEvent();
    await rowsOf(sending.app.databaseUrl, `UPDATE events SET left_out = '{${id}}' WHERE id = ${sent}`);
    expect(await violations()).to.be.greaterThan(0);
    await rowsOf(sending.app.databaseUrl, `UPDATE events SET left_out = NULL WHERE id = ${sent}`);
    expect(await violations()).to.equal(0);
  });

  it('stand beside the other reasons for which a webhook did not get an event', async () => {
    const off = await sending.made('webhooks', {
      url: sending.receiver.url,
      subscriptions: ['message_created'],
      active: false,
    });
    const unsubscribed = await hook(null, ['contact_deleted']);
    const elsewhere = await sending.made('webhooks', {
      url: sending.receiver.url,
      subscriptions: ['message_created'],
      inbox_id: (await sending.made('inboxes', { name: 'Elsewhere' })).id,
    });
    await sending.say(conversation, 'hello');
    const event = await lastEvent();
    const late = await hook(null);
    const receivers = await receiversOf(event);
    const reasonOf = ({ id }: Body) => receivers.find(({ webhook_id }) => webhook_id === id).not_sent;
    expect([off, unsubscribed, elsewhere, late].map(reasonOf)).to.deep.equal([
      'inactive',
      'subscriptions',
      'inbox',
      'changed',
    ]);
    const foreign = await addAccount(sending.app, 'Foreign');
    const asForeigner = await sending.app.call(
      'GET',
      `/api/v1/accounts/${foreign.id}/events/${event}/deliveries`,
      undefined,
      foreign.administrator.headers,
    );
    expect(asForeigner.status).to.equal(404);
  });

  for (const [filter, path] of refused) {
    it(`refuse ${JSON.stringify(filter)}`, async () => {
      const body = { url: sending.receiver.url, subscriptions: ['message_created'], filter };
      const created = await sending.app.post('webhooks', body);
      expect([created.status, created.body.details?.[0].path]).to.deep.equal([422, path]);
      const { id } = await hook(null);
      const changed = await sending.app.patch(`webhooks/${id}`, { filter });
      expect([changed.status, changed.body.details?.[0].path]).to.deep.equal([422, path]);
    });
  }
});
