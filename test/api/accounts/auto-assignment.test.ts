import { expect } from 'chai';
import { wakeDueSnoozes } from '../../../src/domain/conversations/deadlines/snoozes.ts';
import { TestApp } from '../../support/app.ts';
import { addPerson, type Person } from '../../support/people.ts';
import { addContact, addTeam, addWebhookBot } from '../../support/records.ts';

const start = Date.parse('2026-11-20T12:00:00Z');

describe('auto-assignment', () => {
  let app: TestApp;
  // Stands still: turns must rotate within one tick of the clock too.
  let now = start;
  let ann: Person;
  let bea: Person;
  let cid: Person;
  let bot: Person;
  let contactId: number;

  before(async () => {
    app = await TestApp.start({ engine: false, clock: { now: () => new Date(now) } });
    [ann, bea, cid] = [
      await addPerson(app, { name: 'Ann' }),
      await addPerson(app, { name: 'Bea' }),
      await addPerson(app, { name: 'Cid' }),
    ];
    bot = await addWebhookBot(app, 'Robbi');
    contactId = await addContact(app);
    await app.events();
  });

  after(() => app.stop());

  async function addInbox(members: Person[], settings: object = {}): Promise<number> {
    const { body } = await app.post('inboxes', { name: 'Support', enable_auto_assignment: true, ...settings });
    await app.post(`inboxes/${body.id}/members`, { user_ids: members.map(({ id }) => id) });
    return body.id;
  }

  async function open(inboxId: number, fields: object = {}) {
    const { status, body } = await app.post('conversations', { inbox_id: inboxId, contact_id: contactId, ...fields });
    expect(status).to.equal(201);
    return body;
  }

  const assigneeOf = (conversation: { meta: { assignee: { id: number } | null } }) =>
    conversation.meta.assignee?.id ?? null;
  const read = async (id: number) => (await app.get(`conversations/${id}`)).body;
  const to = (id: number, status: string, rest: object = {}, headers = {}) =>
    app.post(`conversations/${id}/toggle_status`, { status, ...rest }, headers);
  const be = (person: Person, availability: string) => app.patch(`agents/${person.id}`, { availability });

  it('members take turns, and each is said once', async () => {
    const inboxId = await addInbox([ann, bea, cid]);
    const assignees: (number | null)[] = [];
    for (let count = 0; count < 6; count++) assignees.push(assigneeOf(await open(inboxId)));
    expect(assignees).to.deep.equal([ann.id, bea.id, cid.id, ann.id, bea.id, cid.id]);
    const events = await app.events();
    expect(events.slice(0, 2).map(({ name }) => name)).to.deep.equal(['conversation_created', 'conversation_updated']);
    expect(events).to.have.lengthOf(12);
    expect(events[0]!.account_payload).to.have.nested.property('meta.assignee', null);
    expect(events[1]!.account_payload!.changed_attributes).to.deep.equal({
      assignee_id: { previous: null, current: ann.id },
    });
    expect(events[1]!.account_payload).to.have.nested.property('meta.assignee.name', 'Ann');
  });

  it('those that come at once are spread evenly', async () => {
    const inboxId = await addInbox([ann, bea, cid]);
    const conversations = await Promise.all(Array.from({ length: 12 }, () => open(inboxId)));
    const counts = [ann, bea, cid].map(({ id }) => conversations.filter((one) => assigneeOf(one) === id).length);
    expect(counts).to.deep.equal([4, 4, 4]);
    await app.events();
  });

  it('only who is online takes part, and nobody may be there', async () => {
    const inboxId = await addInbox([ann, bea]);
    await be(ann, 'busy');
    expect(assigneeOf(await open(inboxId))).to.equal(bea.id);
    await be(bea, 'offline');
    const left = await open(inboxId);
    expect(assigneeOf(left)).to.equal(null);
    expect(await app.eventNames()).to.deep.equal([
      'conversation_created',
      'conversation_updated',
      'conversation_created',
    ]);
    await Promise.all([be(ann, 'online'), be(bea, 'online')]);
    await app.post(`conversations/${left.id}/messages`, { content: 'Hello?', message_type: 'incoming' });
    expect(assigneeOf(await read(left.id)), 'it was open already').to.equal(null);
    await app.events();
  });

  it('nothing happens where the inbox does not assign, somebody is named, or it is not open', async () => {
    const [manual, auto] = [await addInbox([ann], { enable_auto_assignment: false }), await addInbox([ann])];
    expect(assigneeOf(await open(manual))).to.equal(null);
    expect(assigneeOf(await open(auto, { assignee_id: 1 }))).to.equal(1);
    for (const status of ['pending', 'resolved']) expect(assigneeOf(await open(auto, { status }))).to.equal(null);
    expect(await app.eventNames()).to.deep.equal(Array.from({ length: 4 }, () => 'conversation_created'));
    await app.patch(`inboxes/${manual}`, { enable_auto_assignment: true });
    expect(assigneeOf(await open(manual))).to.equal(ann.id);
    await app.events();
  });

  it('a team narrows the choice to those in both, or forbids it', async () => {
    const inboxId = await addInbox([ann, bea]);
    const both = await addTeam(app, 'both', [bea, cid]);
    const forbidding = await addTeam(app, 'forbidding', [ann, bea]);
    await app.patch(`teams/${forbidding}`, { allow_auto_assign: false });
    for (let count = 0; count < 2; count++) expect(assigneeOf(await open(inboxId, { team_id: both }))).to.equal(bea.id);
    expect(assigneeOf(await open(inboxId, { team_id: forbidding }))).to.equal(null);
    expect(assigneeOf(await open(inboxId))).to.equal(ann.id);
    await app.events();
  });

  it('a conversation is assigned when it becomes open: by hand, by a word of the customer, by the end of a snooze', async () => {
    const inboxId = await addInbox([ann]);
    const byHand = await open(inboxId, { status: 'pending' });
    const byWord = await open(inboxId, { status: 'resolved' });
    const bySnooze = await open(inboxId, { status: 'snoozed', snoozed_until: start / 1000 + 60 });
    await app.events();
    expect(assigneeOf((await to(byHand.id, 'open')).body)).to.equal(ann.id);
    expect(await app.eventNames()).to.deep.equal(['conversation_status_changed', 'conversation_updated']);
    expect((await to(byHand.id, 'open')).status).to.equal(200);
    expect(await app.eventNames()).to.deep.equal([]);

    await app.post(`conversations/${byWord.id}/messages`, { content: 'Hello?', message_type: 'incoming' });
    expect(assigneeOf(await read(byWord.id))).to.equal(ann.id);
    expect(await app.eventNames()).to.deep.equal([
      'conversation_status_changed',
      'message_created',
      'conversation_updated',
    ]);

    now = start + 61_000;
    expect(await wakeDueSnoozes(app.app.database)).to.equal(1);
    expect(assigneeOf(await read(bySnooze.id))).to.equal(ann.id);
    expect(await app.eventNames()).to.deep.equal(['conversation_status_changed', 'conversation_updated']);
  });

  it('a bot that answers keeps it, until it hands off', async () => {
    const inboxId = await addInbox([ann]);
    await app.post(`inboxes/${inboxId}/set_agent_bot`, { agent_bot: bot.id });
    const conversation = await open(inboxId);
    expect(conversation.status).to.equal('pending');
    await app.post(`conversations/${conversation.id}/messages`, { content: 'Hello?', message_type: 'incoming' });
    const opened = await open(inboxId, { status: 'open' });
    expect(assigneeOf(opened), 'its bot answers').to.equal(null);
    await app.events();
    const handedOff = await to(conversation.id, 'open', {}, bot.headers);
    expect(assigneeOf(handedOff.body)).to.equal(ann.id);
    // The note for the agent, with the customer's last question.
    expect(await app.eventNames()).to.deep.equal([
      'conversation_status_changed',
      'message_created',
      'conversation_updated',
    ]);
  });

  it('a bot stopped for a loop leaves the conversation to the next in turn', async () => {
    const inboxId = await addInbox([ann]);
    await app.post(`inboxes/${inboxId}/set_agent_bot`, { agent_bot: bot.id });
    const { id } = await open(inboxId);
    const say = (count: number) =>
      app.post(`conversations/${id}/messages`, { content: `Message ${count}`, message_type: 'outgoing' }, bot.headers);
    for (let count = 1; count <= 10; count++) expect((await say(count)).status).to.equal(201);
    await app.events();
    expect((await say(11)).body.code).to.equal('loop_suspected');
    expect(assigneeOf(await read(id))).to.equal(ann.id);
    expect(await app.eventNames()).to.deep.equal([
      'conversation_status_changed',
      'message_created',
      'conversation_updated',
    ]);
  });
});
