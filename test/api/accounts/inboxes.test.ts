import { expect } from 'chai';
import { TestApp } from '../../support/app.ts';
import { addAccount, addPerson, type Person } from '../../support/people.ts';

const usualDay = {
  closed_all_day: false,
  open_all_day: false,
  open_hour: 9,
  open_minutes: 0,
  close_hour: 17,
  close_minutes: 0,
};
const week = [0, 1, 2, 3, 4, 5, 6].map((day) => ({ day_of_week: day, closed_all_day: true }));

describe('inboxes', () => {
  let app: TestApp;
  let agent: Person;
  let stranger: Person;

  before(async () => {
    app = await TestApp.start({ engine: false });
    agent = await addPerson(app, { name: 'Ann' });
    ({ administrator: stranger } = await addAccount(app, 'Other'));
    await app.events();
  });

  after(() => app.stop());

  afterEach(async () => expect(await app.eventNames()).to.deep.equal([]));

  async function create(body: object = {}): Promise<number> {
    const answer = await app.post('inboxes', { name: 'Support', ...body });
    expect(answer.status).to.equal(201);
    return answer.body.id;
  }

  it('one is created with the defaults', async () => {
    const { status, body } = await app.post('inboxes', { name: 'Support', unknown: 1 });
    expect(status).to.equal(201);
    expect(body).to.deep.include({
      account_id: 1,
      name: 'Support',
      channel_type: 'Channel::Api',
      allowed_origins: [],
      greeting_enabled: false,
      greeting_message: null,
      enable_auto_assignment: false,
      timezone: 'UTC',
      working_hours_enabled: false,
      out_of_office_message: null,
      csat_survey_enabled: false,
      avatar_url: null,
      agent_bot_id: null,
    });
    expect(body.identifier).to.match(/^[0-9a-f-]{36}$/);
    expect(body.working_hours).to.have.lengthOf(7);
    expect(body.working_hours[1]).to.deep.equal({ day_of_week: 1, ...usualDay });
    expect(body.working_hours[0]).to.include({ day_of_week: 0, closed_all_day: true, open_hour: null });
    expect((await app.get(`inboxes/${body.id}`)).body).to.deep.equal(body);
  });

  it('one is created with everything', async () => {
    const settings = {
      name: 'Shop',
      channel_type: 'Channel::WebWidget',
      greeting_enabled: true,
      greeting_message: 'Hello!',
      enable_auto_assignment: true,
      timezone: 'Europe/Berlin',
      working_hours_enabled: true,
      out_of_office_message: 'We are asleep.',
      csat_survey_enabled: true,
      avatar_url: 'https://example.com/a.png',
      allowed_origins: ['https://www.example.com', 'http://localhost:8080'],
    };
    const days = week.map((day) => (day.day_of_week === 3 ? { day_of_week: 3, open_hour: 8, close_hour: 24 } : day));
    const { status, body } = await app.post('inboxes', { ...settings, working_hours: days.toReversed() });
    expect(status).to.equal(201);
    expect(body).to.deep.include(settings);
    const day = { ...usualDay, open_hour: 8, close_hour: 24 };
    expect(body.working_hours[3]).to.deep.equal({ day_of_week: 3, ...day });
    expect(body.working_hours.map((one: { day_of_week: number }) => one.day_of_week)).to.deep.equal([
      0, 1, 2, 3, 4, 5, 6,
    ]);
  });

  it('a day that is open or closed all day has no hours, whatever stood beside it', async () => {
    const hours = { open_hour: 8, open_minutes: 30, close_hour: 18, close_minutes: 0 };
    const none = { open_hour: null, open_minutes: null, close_hour: null, close_minutes: null };
    const days = week.map((day) => ({ ...day, ...hours, closed_all_day: false, open_all_day: false }));
    days[2]!.open_all_day = true;
    days[4]!.closed_all_day = true;
    const { status, body } = await app.post('inboxes', { name: 'Hours', working_hours: days });
    expect(status).to.equal(201);
    expect(body.working_hours[1]).to.include(hours);
    expect(body.working_hours[2]).to.include({ open_all_day: true, closed_all_day: false, ...none });
    expect(body.working_hours[4]).to.include({ open_all_day: false, closed_all_day: true, ...none });
  });

  it('settings are changed one by one, and null clears', async () => {
    const id = await create({ greeting_message: 'Hello!', avatar_url: 'https://example.com/a.png' });
    const { status, body } = await app.patch(`inboxes/${id}`, { greeting_message: null, timezone: 'Asia/Kolkata' });
    expect(status).to.equal(200);
    expect(body).to.include({
      name: 'Support',
      greeting_message: null,
      timezone: 'Asia/Kolkata',
      avatar_url: 'https://example.com/a.png',
    });
    expect((await app.patch(`inboxes/${id}`, { channel_type: 'Channel::Email' })).body.channel_type).to.equal(
      'Channel::Api',
    );
  });

  it('settings that make no sense are refused with their place', async () => {
    const id = await create();
    const refused: [object, string][] = [
      [{ name: ' ' }, '/name'],
      [{ timezone: 'Europe/Atlantis' }, '/timezone'],
      [{ timezone: '+01:00' }, '/timezone'],
      [{ working_hours: week.slice(1) }, '/working_hours'],
      [{ working_hours: [...week.slice(1), week[1]] }, '/working_hours'],
      [{ working_hours: [{ day_of_week: 0 }, ...week.slice(1)] }, '/working_hours/0'],
      [{ working_hours: [{ day_of_week: 0, open_hour: 17, close_hour: 9 }, ...week.slice(1)] }, '/working_hours/0'],
      [
        { working_hours: [{ day_of_week: 0, open_hour: 9, close_hour: 24, close_minutes: 1 }, ...week.slice(1)] },
        '/working_hours/0',
      ],
      [
        { working_hours: [{ day_of_week: 0, closed_all_day: true, open_all_day: true }, ...week.slice(1)] },
        '/working_hours/0',
      ],
      [
        { working_hours: [{ day_of_week: 0, open_hour: 25, close_hour: 26 }, ...week.slice(1)] },
        '/working_hours/0/open_hour',
      ],
      [{ allowed_origins: ['https://example.com', 'https://example.com/path'] }, '/allowed_origins/1'],
      [{ allowed_origins: ['https://example.com:443'] }, '/allowed_origins/0'],
      [{ allowed_origins: ['ftp://example.com'] }, '/allowed_origins/0'],
      [{ allowed_origins: ['*'] }, '/allowed_origins/0'],
      [{ avatar_url: 'javascript:alert(1)' }, '/avatar_url'],
      [{ greeting_enabled: 'yes' }, '/greeting_enabled'],
    ];
    for (const [body, path] of refused) {
      const answer = await app.patch(`inboxes/${id}`, body);
      expect(answer.status, JSON.stringify(body)).to.equal(422);
      expect(answer.body.details[0].path).to.equal(path);
    }
    expect((await app.post('inboxes', {})).body.details[0].path).to.equal('/name');
    expect((await app.post('inboxes', { name: 'X', channel_type: 'Channel::Pigeon' })).status).to.equal(422);
    for (const [channel, message] of [
      [
        { type: 'pigeon' },
        '`channel.type` must be one of web_widget, api, email, line, telegram, whatsapp, sms, plugin',
      ],
      [{ website_url: 'https://www.example.com' }, '`channel.type` is missing'],
      ['web_widget', '`channel` must be an object'],
    ] as const) {
      const { status, body } = await app.post('inboxes', { name: 'X', channel });
      expect([status, body.error]).to.deep.equal([422, message]);
    }
    const both = { name: 'X', channel: { type: 'email' }, channel_type: 'Channel::Api' };
    expect((await app.post('inboxes', both)).body.details[0]).to.include({
      path: '/channel/type',
      rule: 'contradiction',
    });
    expect((await app.get(`inboxes/${id}`)).body).to.include({ name: 'Support', timezone: 'UTC' });
  });

  it('agents see theirs and change none; other accounts see nothing', async () => {
    const id = await create();
    expect((await app.get(`inboxes/${id}`, agent.headers)).status).to.equal(403);
    expect((await app.get(`inboxes/${id}/members`, agent.headers)).status).to.equal(403);
    expect((await app.post(`inboxes/${id}/members`, { user_ids: [agent.id] })).status).to.equal(200);
    expect((await app.get(`inboxes/${id}`, agent.headers)).status).to.equal(200);
    const list = await app.get('inboxes', agent.headers);
    expect(list.body.payload.map((inbox: { id: number }) => inbox.id)).to.deep.equal([id]);
    expect(list.body.meta).to.deep.equal({ count: 1, current_page: 1, total_pages: 1 });
    expect((await app.post('inboxes', { name: 'X' }, agent.headers)).status).to.equal(403);
    expect((await app.patch(`inboxes/${id}`, { name: 'X' }, agent.headers)).status).to.equal(403);
    expect((await app.delete(`inboxes/${id}`, agent.headers)).status).to.equal(403);
    expect((await app.post(`inboxes/${id}/members`, { user_ids: [] }, agent.headers)).status).to.equal(403);
    expect((await app.get(`inboxes/${id}`, stranger.headers)).status).to.equal(404);
    const own = `/api/v1/accounts/2/inboxes/${id}`;
    for (const path of [own, `${own}/members`, `${own}/assignable_agents`, `${own}/agent_bot`]) {
      expect((await app.get(path, stranger.headers)).status, path).to.equal(404);
    }
    expect((await app.patch(own, { name: 'X' }, stranger.headers)).status).to.equal(404);
    expect((await app.delete(own, stranger.headers)).status).to.equal(404);
    expect((await app.post(`${own}/members`, { user_ids: [] }, stranger.headers)).status).to.equal(404);
  });

  it('members are added, replaced and removed', async () => {
    const id = await create();
    const bob = await addPerson(app, { name: 'Bob' });
    const ids = (answer: { body: { payload: { id: number }[] } }) => answer.body.payload.map((one) => one.id);
    const added = await app.post(`inboxes/${id}/members`, { user_ids: [bob.id, agent.id, bob.id] });
    expect(added.status).to.equal(200);
    expect(ids(added)).to.deep.equal([agent.id, bob.id]);
    expect(added.body.payload[0]).to.include({ name: 'Ann', role: 'agent', availability: 'online' });
    expect(added.body.meta.count).to.equal(2);
    expect(ids(await app.post(`inboxes/${id}/members`, { user_ids: [bob.id] }))).to.deep.equal([agent.id, bob.id]);
    expect(ids(await app.patch(`inboxes/${id}/members`, { user_ids: [bob.id] }))).to.deep.equal([bob.id]);
    expect(ids(await app.get(`inboxes/${id}/members`))).to.deep.equal([bob.id]);
    const assignable = await app.get(`inboxes/${id}/assignable_agents`, bob.headers);
    expect(ids(assignable)).to.have.members([1, bob.id]);
    const removed = await app.call('DELETE', `inboxes/${id}/members`, { user_ids: [bob.id, agent.id] });
    expect(removed).to.deep.include({ status: 200, body: {} });
    expect(ids(await app.get(`inboxes/${id}/members`))).to.deep.equal([]);
    expect((await app.post(`inboxes/${id}/members`, { user_ids: [stranger.id] })).status).to.equal(404);
    expect((await app.post(`inboxes/${id}/members`, { user_ids: 'all' })).status).to.equal(422);
    expect((await app.post(`inboxes/${id}/members`, {})).status).to.equal(422);
  });

  it('who leaves an inbox leaves its conversations, unless an administrator', async () => {
    const id = await create();
    const bob = await addPerson(app, { name: 'Bea' });
    await app.post(`inboxes/${id}/members`, { user_ids: [1, bob.id] });
    const { body: contact } = await app.post('contacts', { name: 'Carl' });
    const ids: number[] = [];
    for (const assignee of [bob.id, 1]) {
      const { body } = await app.post('conversations', { inbox_id: id, contact_id: contact.id, assignee_id: assignee });
      ids.push(body.id);
    }
    await app.events();
    await app.patch(`inboxes/${id}/members`, { user_ids: [] });
    const events = await app.events();
    expect(events.map(({ name, conversation_id: of }) => [name, of])).to.deep.equal([['conversation_updated', ids[0]]]);
    expect(events[0]!.account_payload!.changed_attributes).to.deep.equal({
      assignee_id: { previous: bob.id, current: null },
    });
    expect((await app.get(`conversations/${ids[0]}`)).body.meta.assignee).to.equal(null);
    expect((await app.get(`conversations/${ids[1]}`)).body.meta.assignee.id).to.equal(1);
  });

  it('who leaves one inbox keeps the conversations of the others', async () => {
    const [left, kept] = [await create(), await create()];
    const dan = await addPerson(app, { name: 'Dan' });
    const { body: contact } = await app.post('contacts', { name: 'Carl' });
    const ids: number[] = [];
    for (const inboxId of [left, kept]) {
      await app.post(`inboxes/${inboxId}/members`, { user_ids: [dan.id] });
      const opened = { inbox_id: inboxId, contact_id: contact.id, assignee_id: dan.id };
      ids.push((await app.post('conversations', opened)).body.id);
    }
    await app.events();
    expect((await app.call('DELETE', `inboxes/${left}/members`, { user_ids: [dan.id] })).status).to.equal(200);
    expect((await app.events()).map(({ conversation_id: of }) => of)).to.deep.equal([ids[0]]);
    expect((await app.get(`conversations/${ids[0]}`)).body.meta.assignee).to.equal(null);
    expect((await app.get(`conversations/${ids[1]}`)).body.meta.assignee.id).to.equal(dan.id);
  });

  it('who is assigned while leaving an inbox keeps no conversation of it', async () => {
    const id = await create();
    const cleo = await addPerson(app, { name: 'Cleo' });
    await app.post(`inboxes/${id}/members`, { user_ids: [cleo.id] });
    const { body: contact } = await app.post('contacts', { name: 'Carl' });
    const open = () => app.post('conversations', { inbox_id: id, contact_id: contact.id, assignee_id: cleo.id });
    const [left, ...opened] = await Promise.all([
      app.call('DELETE', `inboxes/${id}/members`, { user_ids: [cleo.id] }),
      ...Array.from({ length: 6 }, open),
    ]);
    expect(left.status).to.equal(200);
    for (const { status } of opened) expect(status).to.be.oneOf([201, 422]);
    expect(await app.query('SELECT FROM conversations WHERE assignee_id = $1', [cleo.id])).to.deep.equal([]);
    await app.events();
  });

  it('deleting one removes its conversations and all that hangs on them, and nothing else', async () => {
    const [gone, kept] = [await create(), await create()];
    const { body: contact } = await app.post('contacts', { name: 'Dora' });
    await app.post('webhooks', { url: 'http://127.0.0.1:9/', subscriptions: ['message_created'], inbox_id: gone });
    await app.post('webhooks', { url: 'http://127.0.0.1:9/', subscriptions: ['message_created'] });
    const conversations: number[] = [];
    for (const inbox of [gone, kept]) {
      const { body } = await app.post('conversations', {
        inbox_id: inbox,
        contact_id: contact.id,
        message: { content: 'Hi' },
      });
      conversations.push(body.id);
    }
    await app.events();
    const count = async () => {
      const of = (table: string, column: string) =>
        `(SELECT array_agg(DISTINCT ${column}::int) FROM ${table} WHERE ${column} = ANY ($1)) AS ${table}`;
      const [row] = await app.query<Record<string, number[]>>(
        `SELECT ${of('conversations', 'id')}, ${of('messages', 'conversation_id')}, ${of('events', 'conversation_id')},
           ${of('lanes', 'subject_id')}, (SELECT count(*) FROM deliveries) AS deliveries, (SELECT count(*) FROM webhooks) AS webhooks`,
        [conversations],
      );
      return row;
    };
    const both = { conversations, messages: conversations, events: conversations, lanes: conversations };
    expect(await count()).to.deep.equal({ ...both, deliveries: 3, webhooks: 2 });
    expect(await app.delete(`inboxes/${gone}`)).to.deep.include({ status: 200, body: {} });
    const [deleted, ...others] = await app.events();
    expect(deleted).to.include({ name: 'conversation_deleted', account_id: 1 });
    expect(deleted!.account_payload).to.include({ id: conversations[0], inbox_id: gone });
    expect(others).to.deep.equal([]);
    const rest = [conversations[1]!];
    expect(await count()).to.deep.equal({
      conversations: rest,
      messages: rest,
      events: rest,
      lanes: rest,
      deliveries: 1,
      webhooks: 1,
    });
    expect((await app.get(`inboxes/${gone}`)).status).to.equal(404);
    expect((await app.delete(`inboxes/${gone}`)).status).to.equal(404);
    expect((await app.get(`contacts/${contact.id}`)).status).to.equal(200);
  });
});
