import { expect } from 'chai';
import { adminToken, TestApp } from '../../support/app.ts';
import { Customers } from '../../support/conversing.ts';
import { addPerson, type User } from '../../support/people.ts';
import { Profile } from '../../support/chatwoot.ts';

type Action = { action_name: string; action_params?: unknown };

const administrator = { headers: { api_access_token: adminToken } };

describe('macros', function () {
  this.timeout(60_000);
  let app: TestApp;
  let customers: Customers;
  let inbox: number;
  let other: number;
  let ada: User;
  let bert: User;

  before(async () => {
    app = await TestApp.start({ engine: false });
    customers = new Customers(app);
    inbox = await customers.inbox('Shop');
    other = await customers.inbox('Other');
    ada = await addPerson(app, { name: 'Ada' });
    bert = await addPerson(app, { name: 'Bert' });
    await app.post(`inboxes/${inbox}/members`, { user_ids: [ada.id] });
    for (const title of ['vip', 'late', 'old']) await app.post('labels', { title });
  });

  after(() => app.stop());

  const make = async (actions: Action[], fields: object = {}, { headers } = administrator): Promise<number> => {
    const { status, body } = await app.post(
      'macros',
      { name: 'Macro', visibility: 'global', actions, ...fields },
      headers,
    );
    expect(status, JSON.stringify(body)).to.equal(201);
    return body.id;
  };
  const run = (id: number, ids: number[], { headers }: Pick<User, 'headers'> = ada) =>
    app.post(`macros/${id}/execute`, { conversation_ids: ids }, headers);
  const record = async (id: number) => (await app.get(`conversations/${id}`)).body;
  const said = async (id: number) =>
    (await app.get(`conversations/${id}/messages`)).body.payload.map((one: Record<string, unknown>) => [
      one['content'],
      one['private'],
      (one['sender'] as { name: string }).name,
    ]);

  it('do their actions in their order, in the name of the agent, and say what those say', async () => {
    const team = (await app.post('teams', { name: 'Returns' })).body.id;
    const id = await make([
      { action_name: 'assign_team', action_params: [team] },
      { action_name: 'assign_agent', action_params: ['self'] },
      { action_name: 'add_label', action_params: ['vip', 'late'] },
      { action_name: 'change_priority', action_params: ['urgent'] },
      { action_name: 'send_message', action_params: ['We look into it.'] },
      { action_name: 'add_private_note', action_params: ['Angry'] },
      { action_name: 'resolve_conversation' },
    ]);
    const conversation = await customers.writes(inbox, 'Cleo', 'Hello');
    await app.post(`conversations/${conversation}/labels`, { labels: ['old'] });
    await app.eventNames();
    const { status, body } = await run(id, [conversation, conversation]);
    expect([status, body.payload]).to.deep.equal([
      200,
      [{ conversation_id: conversation, success: true, action_name: null, code: null, error: null }],
    ]);
    const after = await record(conversation);
    expect(after).to.deep.include({ status: 'resolved', priority: 'urgent', labels: ['late', 'old', 'vip'] });
    expect([after.meta.assignee.id, after.meta.team.id]).to.deep.equal([ada.id, team]);
    expect((await said(conversation)).slice(1)).to.deep.equal([
      ['We look into it.', false, 'Ada'],
      ['Angry', true, 'Ada'],
    ]);
    expect(await app.eventNames()).to.deep.equal([
      ...['team', 'agent', 'labels', 'priority'].map(() => 'conversation_updated'),
      'message_created',
      'message_created',
      'conversation_status_changed',
    ]);
  });

  it('undo assignments, labels, priority and status, and snooze for a time', async () => {
    const conversation = await customers.writes(inbox, 'Dora', 'Hello');
    await app.post(`conversations/${conversation}/assignments`, { assignee_id: ada.id });
    await app.post(`conversations/${conversation}/labels`, { labels: ['old', 'vip'] });
    const id = await make([
      { action_name: 'assign_agent', action_params: ['nil'] },
      { action_name: 'remove_assigned_team' },
      { action_name: 'remove_label', action_params: ['old', 'unknown'] },
      { action_name: 'change_priority', action_params: ['nil'] },
      { action_name: 'change_status', action_params: ['open'] },
      { action_name: 'snooze_conversation', action_params: [3600] },
    ]);
    expect((await run(id, [conversation], administrator)).body.payload[0].success).to.equal(true);
    const after = await record(conversation);
    expect(after).to.deep.include({ status: 'snoozed', priority: null, labels: ['vip'] });
    expect(after.meta.assignee).to.equal(null);
    expect(after.snoozed_until).to.be.greaterThan(Date.now() / 1000 + 3000);
  });

  it('are refused per conversation, which stays as it was, and go on in the others', async () => {
    const id = await make([
      { action_name: 'add_private_note', action_params: ['Seen'] },
      { action_name: 'add_label', action_params: ['gone'] },
    ]);
    await app.post('labels', { title: 'gone' });
    const mine = await customers.writes(inbox, 'Emil', 'Hello');
    const hidden = await customers.writes(other, 'Fred', 'Hello');
    const { status, body } = await run(id, [hidden, mine]);
    expect(status).to.equal(200);
    expect(body.payload[0]).to.deep.include({
      conversation_id: hidden,
      success: false,
      action_name: 'add_private_note',
      code: 'forbidden',
    });
    expect(body.payload[1]).to.deep.include({ conversation_id: mine, success: true, error: null });
    expect([(await said(hidden)).length, (await said(mine)).length]).to.deep.equal([1, 2]);
    const [label] = (await app.get('labels')).body.payload.filter(({ title }: { title: string }) => title === 'gone');
    await app.delete(`labels/${label.id}`);
    await app.eventNames();
    const again = (await run(id, [mine])).body.payload[0];
    expect(again).to.deep.include({ success: false, action_name: 'add_label', code: 'validation_failed' });
    expect(again.error).to.include('gone');
    expect([(await said(mine)).length, await app.eventNames()]).to.deep.equal([2, []]);
    expect((await run(id, [mine, 999_999])).status).to.equal(404);
    expect((await said(mine)).length).to.equal(2);
  });

  it('are personal or global: others run global ones only, and administrators alone change those', async () => {
    const actions = [{ action_name: 'open_conversation' }];
    const shared = await make(actions, { name: 'Shared' });
    const own = await make(actions, { name: 'Own' }, ada);
    expect((await app.get(`macros/${own}`, ada.headers)).body).to.include({
      visibility: 'personal',
      created_by_id: ada.id,
    });
    const seen = async ({ headers }: User) =>
      (await app.get('macros', headers)).body.payload.map(({ id }: { id: number }) => id);
    expect(await seen(ada)).to.include.members([shared, own]);
    expect(await seen(bert))
      .to.include(shared)
      .and.not.include(own);
    for (const headers of [bert.headers, administrator.headers]) {
      for (const answer of [
        await app.get(`macros/${own}`, headers),
        await app.patch(`macros/${own}`, { name: 'Taken' }, headers),
        await app.delete(`macros/${own}`, headers),
        await run(own, [1], { headers }),
      ])
        expect(answer.status).to.equal(404);
    }
    expect((await app.patch(`macros/${shared}`, { name: 'Taken' }, ada.headers)).status).to.equal(403);
    expect((await app.delete(`macros/${shared}`, ada.headers)).status).to.equal(403);
    const changed = await app.patch(`macros/${own}`, { name: 'Ours', visibility: 'global' }, ada.headers);
    expect(changed.body).to.include({ name: 'Ours', visibility: 'personal' });
    expect((await app.patch(`macros/${shared}`, { visibility: 'personal' })).body.visibility).to.equal('personal');
    expect((await app.delete(`macros/${shared}`)).status).to.equal(200);
    expect((await app.delete(`agents/${ada.id}`)).status).to.equal(200);
    const left = await app.query('SELECT FROM macros WHERE id = $1', [own]);
    expect(left).to.have.length(0);
  });

  it('are refused with a sentence for actions that do not exist, and for parameters that these do not take', async () => {
    const refused: Action[] = [
      { action_name: 'mute_conversation' },
      { action_name: 'constructor' },
      { action_name: 'assign_agent' },
      { action_name: 'assign_agent', action_params: ['last_responding_agent'] },
      { action_name: 'assign_team', action_params: [0] },
      { action_name: 'add_label', action_params: [] },
      { action_name: 'change_status', action_params: ['snoozed'] },
      { action_name: 'snooze_conversation' },
      { action_name: 'change_priority', action_params: ['huge'] },
      { action_name: 'send_message', action_params: [' '] },
      { action_name: 'send_message', action_params: ['x'.repeat(20_001)] },
      { action_name: 'resolve_conversation', action_params: ['now'] },
      { action_name: 'add_label', action_params: 'vip' },
    ];
    for (const action of refused) {
      const { status, body } = await app.post('macros', { name: 'Bad', actions: [action] });
      expect([status, body.details[0].path.startsWith('/actions/0')], JSON.stringify(body)).to.deep.equal([422, true]);
    }
    for (const actions of [[], Array.from({ length: 21 }, () => ({ action_name: 'open_conversation' }))])
      expect((await app.post('macros', { name: 'Bad', actions })).status).to.equal(422);
    const id = await make([{ action_name: 'open_conversation' }]);
    for (const ids of [[], Array.from({ length: 101 }, (_, index) => index + 1)])
      expect((await run(id, ids, administrator)).status).to.equal(422);
  });

  it('have the fields of theirs through the profile of Chatwoot', async () => {
    const theirs = new Profile(app);
    const actions = [{ action_name: 'resolve_conversation' }];
    const { payload: made } = await theirs.succeed('POST', 'macros', { name: 'Close', visibility: 'global', actions });
    expect(made).to.have.all.keys('id', 'account_id', 'name', 'visibility', 'actions', 'created_by', 'updated_by');
    expect(made.actions).to.deep.equal([{ action_name: 'resolve_conversation', action_params: [] }]);
    expect(await theirs.succeed('GET', `macros/${made.id}`)).to.deep.equal({ payload: made });
    expect((await theirs.succeed('GET', 'macros')).payload).to.deep.include(made);
    const renamed = (await theirs.succeed('PATCH', `macros/${made.id}`, { name: 'Done' })).payload;
    expect(renamed).to.deep.equal({ ...made, name: 'Done' });
    const conversation = await customers.writes(inbox, 'Gina', 'Hello');
    await theirs.succeed('POST', `macros/${made.id}/execute`, { conversation_ids: [conversation] });
    expect((await record(conversation)).status).to.equal('resolved');
    expect((await theirs.call('DELETE', `macros/${made.id}`)).status).to.equal(200);
    expect((await theirs.get(`macros/${made.id}`)).status).to.equal(404);
  });
});
