import { expect } from 'chai';
import { finishConversationBulkActions } from '../../../src/domain/conversations/bulk-actions.ts';
import { systemRandom } from '../../../src/lib/ports.ts';
import { createSecretBox } from '../../../src/lib/secrets/secret-box.ts';
import { traceOf } from '../../../src/lib/trace.ts';
import { TestApp } from '../../support/app.ts';
import { Customers } from '../../support/conversing.ts';
import { addPerson, type User } from '../../support/people.ts';
import { rowsOf } from '../../support/kept-client.ts';

describe('bulk actions on conversations', function () {
  this.timeout(120_000);
  let app: TestApp;
  let customers: Customers;
  let inbox: number;
  let foreign: number;
  let ada: User;
  let bert: User;

  before(async () => {
    app = await TestApp.start({ engine: false });
    customers = new Customers(app);
    inbox = await customers.inbox('Shop');
    foreign = await customers.inbox('Other');
    ada = await addPerson(app, { name: 'Ada' });
    bert = await addPerson(app, { name: 'Bert' });
    await app.post(`inboxes/${inbox}/members`, { user_ids: [ada.id, bert.id] });
    for (const title of ['vip', 'late']) await app.post('labels', { title });
  });

  after(() => app.stop());

  const many = async (count: number, where = inbox): Promise<number[]> => {
    const ids: number[] = [];
    for (let at = 0; at < count; at++) ids.push(await customers.writes(where, `Customer ${at}`, 'Hello'));
    return ids;
  };
  const begin = (body: object, { headers }: Pick<User, 'headers'> = ada) =>
    app.post('bulk_actions', { type: 'Conversation', ...body }, headers);
  const progress = async (id: number, { headers }: Pick<User, 'headers'> = ada) =>
    app.get(`bulk_actions/${id}`, headers);
  const record = async (id: number) => (await app.get(`conversations/${id}`)).body;
  const finish = () => finishConversationBulkActions(app.app.database);

  it('change labels, priority, assignee, team and status in each, and say so as each alone would', async () => {
    const team = (await app.post('teams', { name: 'Returns' })).body.id;
    const ids = await many(2);
    await app.eventNames();
    const fields = { status: 'resolved', priority: 'high', assignee_id: bert.id, team_id: team };
    const { status, body } = await begin({ ids: [...ids, ids[0]], fields, labels: { add: ['vip'] } });
    expect(status, JSON.stringify(body)).to.equal(200);
    expect(body).to.deep.include({ state: 'done', total: 2, done: 2, failed: 0, failures: [] });
    for (const id of ids) {
      const after = await record(id);
      expect(after).to.deep.include({ status: 'resolved', priority: 'high', labels: ['vip'] });
      expect([after.meta.assignee.id, after.meta.team.id]).to.deep.equal([bert.id, team]);
    }
    const each = [
      ...['labels', 'priority', 'assignment'].map(() => 'conversation_updated'),
      'conversation_status_changed',
    ];
    expect(await app.eventNames()).to.deep.equal([...each, ...each]);
    const again = await begin({ ids, fields, labels: { add: ['vip'] } });
    expect([again.status, again.body.done, await app.eventNames()]).to.deep.equal([200, 2, []]);
  });

  it('change nothing in a conversation that refuses one of the changes, and the others all the same', async () => {
    const [mine] = await many(1);
    const [theirs] = await many(1, foreign);
    await app.eventNames();
    const { status, body } = await begin({
      ids: [theirs, mine],
      fields: { status: 'resolved' },
      labels: { add: ['late'] },
    });
    expect([status, body.done, body.failed]).to.deep.equal([200, 1, 1]);
    expect(body.failures).to.deep.equal([
      {
        conversation_id: theirs,
        code: 'forbidden',
        error: 'You may not see this conversation: it belongs to none of your inboxes and teams',
      },
    ]);
    expect((await record(theirs!)).labels).to.deep.equal([]);
    expect((await record(mine!)).labels).to.deep.equal(['late']);
    const unknown = await begin({ ids: [mine], fields: { priority: 'low' }, labels: { add: ['no_such_label'] } });
    expect(unknown.status, JSON.stringify(unknown.body)).to.equal(200);
    expect([unknown.body.failed, unknown.body.failures[0].code]).to.deep.equal([1, 'validation_failed']);
    expect((await record(mine!)).priority).to.equal(null);
    const stranger = await begin({ ids: [mine], fields: { assignee_id: 99_999_999 } });
    expect(stranger.status, JSON.stringify(stranger.body)).to.equal(200);
    expect([stranger.body.failed, stranger.body.failures[0].code]).to.deep.equal([1, 'not_found']);
  });

  it('snooze until a moment, and remove labels', async () => {
    const [id] = await many(1);
    await begin({ ids: [id], labels: { add: ['vip', 'late'] } });
    const until = Math.floor(Date.now() / 1000) + 3600;
    const { body } = await begin({
      ids: [id],
      fields: { status: 'snoozed' },
      snoozed_until: until,
      labels: { remove: ['late'] },
    });
    expect(body.done).to.equal(1);
    expect(await record(id!)).to.deep.include({ status: 'snoozed', snoozed_until: until, labels: ['vip'] });
  });

  it('answer 202 beyond a hundred; the sweep goes on with the rights that the agent has then', async () => {
    const ids = await many(125);
    const box = createSecretBox('a key that only the tests use, long enough', systemRandom);
    const trace = { 'switchboard-trace': traceOf(box, { accountId: 1, eventId: 1, depth: 2 }) };
    const { status, body } = await begin(
      { ids, fields: { priority: 'urgent' } },
      { headers: { ...ada.headers, ...trace } },
    );
    expect([status, body.state, body.total, body.done]).to.deep.equal([202, 'running', 125, 100]);
    expect((await progress(body.id, bert)).status).to.equal(404);
    expect((await app.get(`bulk_actions/${body.id}`)).body.done).to.equal(100);
    await finish();
    expect((await progress(body.id)).body).to.deep.include({ state: 'done', done: 125, failed: 0 });
    const read = await rowsOf<{ count: number }>(
      app.databaseUrl,
      `SELECT count(*)::int AS count FROM conversations WHERE priority = 'urgent'`,
    );
    expect(read[0]!.count).to.equal(125);
    // All changes tell the cause of the request, also those that are made later.
    const causes = await app.query(
      `SELECT account_payload #>> '{actor,id}' AS actor, depth, count(*)::int AS count FROM events
       WHERE name = 'conversation_updated' AND conversation_id = ANY ($1) GROUP BY 1, 2`,
      [ids],
    );
    expect(causes).to.deep.equal([{ actor: String(ada.id), depth: 3, count: 125 }]);

    const second = await begin({ ids, fields: { priority: 'low' } });
    await app.call('DELETE', `inboxes/${inbox}/members`, { user_ids: [ada.id] });
    await finish();
    const { body: after } = await progress(second.body.id);
    expect([after.state, after.done, after.failed, after.failures[0].code]).to.deep.equal([
      'done',
      100,
      25,
      'forbidden',
    ]);
    await app.post(`inboxes/${inbox}/members`, { user_ids: [ada.id] });

    const third = await begin({ ids, fields: { priority: 'medium' } }, bert);
    await app.call('DELETE', `agents/${bert.id}`);
    await finish();
    const left = (await app.get(`bulk_actions/${third.body.id}`)).body;
    expect([left.state, left.done, left.failed]).to.deep.equal(['done', 100, 25]);
  });

  it('are refused without a change, with an incomplete snooze, and for conversations of nobody', async () => {
    const [id] = await many(1);
    const refusals = [
      { ids: [id] },
      { ids: [id], fields: {} },
      { ids: [id], labels: { add: [] } },
      { ids: [], fields: { priority: 'low' } },
      { ids: [id], fields: { status: 'snoozed' } },
      { ids: [id], fields: { status: 'open' }, snoozed_until: 4_000_000_000 },
      { ids: [id], fields: { status: 'closed' } },
      { ids: [id], fields: { colour: 'red' } },
      { ids: Array.from({ length: 10_001 }, () => id), fields: { priority: 'low' } },
    ];
    for (const body of refusals) expect((await begin(body)).status, JSON.stringify(body).slice(0, 80)).to.equal(422);
    expect((await begin({ ids: [id, 99_999_999], fields: { priority: 'low' } })).status).to.equal(404);
    expect((await app.post('bulk_actions', { type: 'Contact', ids: [1], labels: { add: ['vip'] } })).status).to.equal(
      422,
    );
    expect((await record(id!)).priority).to.equal(null);
  });
});
