import { expect } from 'chai';
import { mailNotifications } from '../../../src/domain/conversations/notifications.ts';
import { deleteOldEvents } from '../../../src/domain/upkeep/retention.ts';
import { TestApp } from '../../support/app.ts';
import { Customers } from '../../support/conversing.ts';
import { rowsOf } from '../../support/kept-client.ts';
import { addPerson, type User } from '../../support/people.ts';

describe('notifications', function () {
  this.timeout(120_000);
  let app: TestApp;
  let customers: Customers;
  let inbox: number;
  let foreign: number;
  let ada: User;
  let bert: User;
  let cleo: User;

  before(async () => {
    app = await TestApp.start({ engine: false });
    customers = new Customers(app);
    inbox = await customers.inbox('Shop');
    foreign = await customers.inbox('Other');
    [ada, bert, cleo] = [
      await addPerson(app, { name: 'Ada' }),
      await addPerson(app, { name: 'Bert' }),
      await addPerson(app, { name: 'Cleo' }),
    ];
    await app.post(`inboxes/${inbox}/members`, { user_ids: [ada.id, bert.id] });
    await app.post(`inboxes/${foreign}/members`, { user_ids: [cleo.id] });
  });

  after(() => app.stop());

  const list = async ({ headers }: User) => (await app.get('notifications', headers)).body;
  const shown = async (user: User) =>
    (await list(user)).payload.map((one: Record<string, unknown>) => [
      one['notification_type'],
      one['primary_actor_id'],
      one['read_at'] !== null,
    ]);
  const unread = async ({ headers }: User) => (await app.get('notifications/unread_count', headers)).body.unread_count;
  const note = async (id: number, content: string, { headers }: User) => {
    const { status, body } = await app.post(
      `conversations/${id}/messages`,
      { content, private: true, message_type: 'outgoing' },
      headers,
    );
    expect([status, body.private], JSON.stringify(body)).to.deep.equal([201, true]);
  };
  const readAll = ({ headers }: User, body: object = {}) => app.post('notifications/read_all', body, headers);
  const mention = (kind: 'user' | 'team', id: number) => `[@Somebody](mention://${kind}/${id}/Some%20body)`;
  const ages = (minutes: number) =>
    rowsOf(app.databaseUrl, `UPDATE notifications SET created_at = created_at - make_interval(mins => ${minutes})`);

  it('tell the assignee of an assignment by somebody else, and of messages of the customer, the latest of each', async () => {
    const id = await customers.writes(inbox, 'Dora', 'Hello');
    await app.post(`conversations/${id}/assignments`, { assignee_id: ada.id }, ada.headers);
    expect(await shown(ada)).to.deep.equal([]);
    await app.post(`conversations/${id}/assignments`, { assignee_id: bert.id }, ada.headers);
    await app.post(`conversations/${id}/assignments`, { assignee_id: bert.id }, ada.headers);
    await app.post(`conversations/${id}/messages`, { content: 'Are you there?', message_type: 'incoming' });
    await app.post(`conversations/${id}/messages`, { content: 'Hello?', message_type: 'incoming' });
    expect(await shown(bert)).to.deep.equal([
      ['assigned_conversation_new_message', id, false],
      ['conversation_assignment', id, false],
    ]);
    expect((await list(bert)).meta).to.deep.equal({ count: 2, current_page: 1, total_pages: 1, unread_count: 2 });
    const [message, assignment] = (await list(bert)).payload;
    expect(message.primary_actor).to.deep.equal({ id, contact_name: 'Dora', inbox_name: 'Shop' });
    expect(assignment.push_message_title).to.equal(`You have been assigned conversation #${id}`);
    expect([await unread(bert), await unread(ada)]).to.deep.equal([2, 0]);

    const read = await app.patch(`notifications/${message.id}`, {}, bert.headers);
    expect([read.status, read.body.read_at === null]).to.deep.equal([200, false]);
    expect((await app.patch(`notifications/${message.id}`, {}, ada.headers)).status).to.equal(404);
    expect(await unread(bert)).to.equal(1);
    await app.post(`conversations/${id}/messages`, { content: 'Somebody?', message_type: 'incoming' });
    expect(await unread(bert)).to.equal(2);
    await app.post(`conversations/${id}/update_last_seen`, {}, ada.headers);
    expect(await unread(bert)).to.equal(2);
    await app.post(`conversations/${id}/update_last_seen`, {}, bert.headers);
    expect(await unread(bert)).to.equal(0);
  });

  it('tell whom a note mentions, alone or in a team, of those who may see the conversation', async () => {
    const id = await customers.writes(inbox, 'Eva', 'Hello');
    const team = (await app.post('teams', { name: 'Returns' })).body.id;
    await app.post(`teams/${team}/team_members`, { user_ids: [ada.id, cleo.id] });
    await readAll(bert);
    await note(id, `Look, ${mention('user', bert.id)} and ${mention('team', team)}`, ada);
    expect([await unread(ada), await unread(bert), await unread(cleo)]).to.deep.equal([0, 1, 0]);
    const [latest] = (await list(bert)).payload;
    expect(latest.push_message_title).to.equal(`Ada mentioned you in conversation #${id}`);
    await readAll(bert);
    await note(id, `[@Bert](mention://user/${bert.id}) ${mention('user', 99_999_999)} @Bert`, ada);
    await app.post(
      `conversations/${id}/messages`,
      { content: mention('user', bert.id), message_type: 'outgoing' },
      ada.headers,
    );
    expect(await unread(bert)).to.equal(0);
    await app.post(`conversations/${id}/assignments`, { team_id: team }, ada.headers);
    await note(id, mention('user', cleo.id), ada);
    expect(await unread(cleo)).to.equal(1);
  });

  it('are read together, all or those about a conversation, and go with the conversation and the agent', async () => {
    const ids = [await customers.writes(inbox, 'Fay', 'Hello'), await customers.writes(inbox, 'Gus', 'Hello')];
    await readAll(bert);
    for (const id of ids) await note(id, mention('user', bert.id), ada);
    await readAll(bert, { primary_actor_type: 'Conversation', primary_actor_id: ids[0] });
    expect(await unread(bert)).to.equal(1);
    expect((await readAll(bert, { primary_actor_id: 99_999_999 })).status).to.equal(404);
    await app.call('DELETE', `conversations/${ids[1]}`);
    expect(await unread(bert)).to.equal(0);
    expect(await app.get(`notifications?page=2`, bert.headers)).to.have.nested.property('body.payload').that.is.empty;
    const gone = await addPerson(app, { name: 'Hal' });
    await app.post(`inboxes/${inbox}/members`, { user_ids: [gone.id] });
    await note(ids[0]!, mention('user', gone.id), ada);
    await app.call('DELETE', `agents/${gone.id}`);
    const left = await rowsOf(app.databaseUrl, 'SELECT FROM notifications WHERE agent_id = $1', [gone.id]);
    expect(left).to.have.length(0);
    await rowsOf(app.databaseUrl, `UPDATE notifications SET last_activity_at = now() - interval '91 days'`);
    await deleteOldEvents(app.app.database, 30);
    expect((await list(bert)).payload).to.deep.equal([]);
  });

  it('are mailed to agents who are away after two minutes, once in a quarter of an hour for each conversation', async () => {
    const mailed: string[] = [];
    app.app.database.announcements.on(
      'notification',
      ({ email, conversationId }: { email: string; conversationId: number }) =>
        mailed.push(`${email} ${conversationId}`),
    );
    const id = await customers.writes(inbox, 'Ida', 'Hello');
    await note(id, mention('user', bert.id), ada);
    const mail = () => mailNotifications(app.app.database);
    await ages(3);
    await mail();
    expect(mailed, 'online').to.deep.equal([]);
    await app.patch(`agents/${bert.id}`, { availability: 'busy' });
    await mail();
    await mail();
    const first = `${bert.email} ${id}`;
    expect(mailed).to.deep.equal([first]);
    await app.post(`conversations/${id}/assignments`, { assignee_id: bert.id }, ada.headers);
    await mail();
    await ages(3);
    await mail();
    expect(mailed, 'within the quarter').to.deep.equal([first]);
    await rowsOf(app.databaseUrl, `UPDATE notifications SET mailed_at = mailed_at - interval '16 minutes'`);
    await mail();
    expect(mailed).to.deep.equal([first, first]);
    await readAll(bert);
    await note(id, mention('user', bert.id), ada);
    await readAll(bert);
    await ages(20);
    await rowsOf(app.databaseUrl, `UPDATE notifications SET mailed_at = mailed_at - interval '16 minutes'`);
    await mail();
    expect(mailed, 'read meanwhile').to.deep.equal([first, first]);
  });
});
