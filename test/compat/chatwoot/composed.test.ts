import { expect } from 'chai';
import { Profile } from '../../support/chatwoot.ts';
import { World } from '../../support/world.ts';

describe('Chatwoot profile: more operations', function () {
  this.timeout(60_000);
  let world: World;
  let theirs: Profile;

  before(async () => {
    world = await World.build();
    theirs = new Profile(world.app);
  });

  beforeEach(() => world.app.eventNames());

  after(() => world.stop());

  const ids = (list: { id: number }[]) => list.map(({ id }) => id);
  const statusOf = async (method: string, path: string, headers?: Record<string, string>) =>
    (await theirs.call(method, path, undefined, headers)).status;

  it('show one label', async () => {
    const { label, member } = world.home;
    const found = await theirs.succeed('GET', `labels/${label.id}`, undefined, member.headers);
    const { payload } = await theirs.succeed('GET', 'labels');
    expect(found).to.deep.equal(payload.find(({ id }: { id: number }) => id === label.id));
    expect(found).to.include({ id: label.id, title: label.title });
    for (const id of [world.other.label.id, 999_999, 'x', '0'])
      expect(await statusOf('GET', `labels/${id}`), String(id)).to.equal(404);
    expect(await statusOf('GET', `labels/${label.id}`, { api_access_token: 'nonsense' })).to.equal(401);
    expect(await statusOf('GET', `labels/${label.id}`, world.home.bot.headers)).to.equal(401);
  });

  it('list who may be assigned in all of several inboxes', async () => {
    const { maker, inbox, member, mate, administrator } = world.home;
    const second = await maker.inbox({ members: [mate, member] });
    const list = async (query: string) => {
      const { payload } = await theirs.succeed('GET', `assignable_agents?${query}`);
      for (const agent of payload) expect(agent).to.include.keys('available_name', 'thumbnail');
      return ids(payload);
    };
    const both = await list(`inbox_ids[]=${inbox}&inbox_ids[]=${second}`);
    expect(both).to.include.members([member.id, administrator.id]).and.not.include(mate.id);
    expect(await list(`inbox_ids[]=${second}`)).to.include.members([member.id, mate.id, administrator.id]);
    for (const query of ['', 'inbox_ids[]=x', 'inbox_ids[]=-1', 'inbox_ids[]=1/../2'])
      expect(await statusOf('GET', `assignable_agents?${query}`), query).to.equal(422);
    expect(await statusOf('GET', `assignable_agents?inbox_ids[]=${world.other.inbox}`)).to.equal(404);
    expect(await statusOf('GET', `assignable_agents?inbox_ids[]=${inbox}`, mate.headers)).to.equal(401);
  });

  it('list contacts who wrote a moment ago', async () => {
    const { maker, inbox } = world.home;
    const contact = await maker.contact();
    const active = async () => ids((await theirs.succeed('GET', 'contacts/active')).payload);
    expect(await active()).not.to.include(contact);
    await maker.message(await maker.conversation(inbox, { contact_id: contact }));
    const { payload, meta } = await theirs.succeed('GET', 'contacts/active');
    expect(payload[0]).to.include({ id: contact, availability_status: 'offline' });
    expect(payload[0].contact_inboxes).to.be.an('array');
    expect(meta).to.deep.equal({ count: payload.length, current_page: 1, has_more: false });
    expect((await theirs.succeed('GET', 'contacts/active?page=2')).payload).to.deep.equal([]);
    await world.app.query(`UPDATE contacts SET last_activity_at = now() - interval '6 minutes' WHERE id = $1`, [
      contact,
    ]);
    expect(await active()).not.to.include(contact);
  });

  it('mute a conversation: its contact is blocked and it is resolved; unmute lets the contact in again', async () => {
    const { maker, inbox, member, outsider, bot } = world.home;
    const contact = await maker.contact();
    const id = await maker.conversation(inbox, { contact_id: contact, status: 'open' });
    const state = async () => [
      (await world.app.get(`contacts/${contact}`)).body.blocked,
      (await world.app.get(`conversations/${id}`)).body.status,
    ];
    for (const { headers } of [outsider, bot]) {
      expect(await statusOf('POST', `conversations/${id}/mute`, headers)).to.equal(401);
      expect(await state()).to.deep.equal([false, 'open']);
    }
    await world.app.eventNames();
    expect(await statusOf('POST', `conversations/${id}/mute`, member.headers)).to.equal(200);
    expect(await state()).to.deep.equal([true, 'resolved']);
    expect(await world.app.eventNames()).to.have.members([
      'contact_updated',
      'conversation_status_changed',
      'conversation_resolved',
    ]);
    expect(await statusOf('POST', `conversations/${id}/mute`, member.headers)).to.equal(200);
    expect(await world.app.eventNames()).to.deep.equal([]);
    expect(await statusOf('POST', `conversations/${id}/unmute`, member.headers)).to.equal(200);
    expect(await state()).to.deep.equal([false, 'resolved']);
    expect(await world.app.eventNames()).to.deep.equal(['contact_updated']);
    expect(await statusOf('POST', 'conversations/999999/mute')).to.equal(404);
    expect(await statusOf('POST', `conversations/${world.other.conversation}/mute`)).to.equal(404);
  });

  it('keep kinds of messages that are text here, with their items, and answer them as they were sent', async () => {
    const { maker, inbox } = world.home;
    const path = `conversations/${await maker.conversation(inbox)}/messages`;
    const items = [
      { title: 'Lamp', description: 'Bright', actions: [{ type: 'link', text: 'See', uri: 'https://a.b' }] },
    ];
    await world.app.eventNames();
    const sent = await theirs.succeed('POST', path, {
      content_type: 'cards',
      content_attributes: { items },
      content: '',
    });
    expect(await world.app.eventNames()).to.include('message_created');
    expect(sent).to.deep.include({ content_type: 'cards', content: 'Lamp' });
    expect(sent.content_attributes.items).to.deep.equal(items);
    const odd = { content_type: 'cards', content: 'Odd', content_attributes: { items: [{ name: 'Lamp' }] } };
    expect(await theirs.succeed('POST', path, odd)).to.deep.include({ content_type: 'cards', content: 'Odd' });
    const form = { content_type: 'form', content: 'Who are you?', content_attributes: JSON.stringify({ items }) };
    expect(await theirs.succeed('POST', path, form)).to.deep.include({ content_type: 'form', content: 'Who are you?' });
    const csat = { content_type: 'input_csat', content: 'How did we do?' };
    expect((await theirs.succeed('POST', path, csat)).content_type).to.equal('input_csat');
    const [cards, oddOnes] = (await world.app.get(path)).body.payload;
    expect(cards).to.deep.include({ content_type: 'cards', content: 'Lamp', content_attributes: { items } });
    const kept = { items: [{ name: 'Lamp' }], chatwoot: { content_type: 'cards' } };
    expect(oddOnes).to.deep.include({ content_type: 'text', content: 'Odd', content_attributes: kept });
    for (const body of [{ content: 'x', content_type: 'hologram' }, { content_type: 'cards' }])
      expect((await theirs.post(path, body)).status).to.equal(422);
  });

  it('leave no webhook of an inbox unsaid where it is not made', async () => {
    const channel = { type: 'api', webhook_url: 'https://example.com/hook' };
    const { status, body } = await world.app.post('inboxes', { name: 'Bridge', channel });
    const sentence = '`channel.webhook_url` must be blank: create a webhook with the `inbox_id` (POST …/webhooks)';
    expect([status, body.error]).to.deep.equal([422, sentence]);
    const blank = await world.app.post('inboxes', { name: 'Plain', channel: { type: 'api', webhook_url: '' } });
    expect(blank.status).to.equal(201);
  });

  it('list who takes part in a conversation, and the files of conversations and contacts', async () => {
    const { maker, inbox, member, administrator, outsider, bot } = world.home;
    const contact = await maker.contact();
    const id = await maker.conversation(inbox, { contact_id: contact, assignee_id: member.id });
    const list = async (headers?: Record<string, string>) =>
      theirs.succeed('GET', `conversations/${id}/participants`, undefined, headers);
    expect(ids(await list())).to.deep.equal([member.id]);
    await theirs.succeed(
      'POST',
      `conversations/${id}/messages`,
      { content: 'n', private: true },
      administrator.headers,
    );
    await theirs.succeed('POST', `conversations/${id}/assignments`, { assignee_id: 0 });
    const [alone, ...others] = await list();
    expect([alone.id, others]).to.deep.equal([administrator.id, []]);
    expect(alone).to.include.keys('available_name', 'thumbnail');

    const send = async (conversation: number, names: string[]) => {
      const form = new FormData();
      form.set('content', 'With files');
      for (const name of names) form.append('attachments[]', new Blob(['plain words'], { type: 'text/plain' }), name);
      const url = `${theirs.url}/api/v1/accounts/1/conversations/${conversation}/messages`;
      const answer = await fetch(url, { method: 'POST', headers: member.headers, body: form });
      expect(answer.status).to.equal(200);
      return (await answer.json()) as { id: number; created_at: number };
    };
    const sent = await send(id, ['one.txt', 'two.txt']);
    const second = await maker.conversation(inbox, { contact_id: contact });
    const later = await send(second, ['three.txt']);
    await send(await maker.conversation(inbox), ['elsewhere.txt']);
    const filesAt = async (path: string, headers?: Record<string, string>) => {
      const { payload, meta } = await theirs.succeed('GET', path, undefined, headers);
      expect(meta.total_count).to.equal(payload.length);
      return payload.map((file: { file_name: string }) => file.file_name) as string[];
    };
    expect(await filesAt(`conversations/${id}/attachments`)).to.deep.equal(['two.txt', 'one.txt']);
    expect(await filesAt(`contacts/${contact}/attachments`)).to.deep.equal(['three.txt', 'two.txt', 'one.txt']);
    // Those alone of conversations that the caller may see.
    expect(await filesAt(`contacts/${contact}/attachments`, outsider.headers)).to.deep.equal([]);
    const [file] = (await theirs.succeed('GET', `conversations/${id}/attachments`)).payload;
    expect(file).to.include({ message_id: sent.id, file_type: 'file', created_at: sent.created_at, extension: 'txt' });
    expect(file.sender).to.include({ id: member.id, type: 'user' });
    expect(await (await fetch(file.data_url)).text()).to.equal('plain words');
    expect((await theirs.succeed('GET', `conversations/${id}/attachments?page=2`)).payload).to.deep.equal([]);
    await theirs.call('DELETE', `conversations/${second}/messages/${later.id}`);
    expect(await filesAt(`conversations/${second}/attachments`)).to.deep.equal([]);
    for (const path of [`conversations/${id}/participants`, `conversations/${id}/attachments`]) {
      expect(await statusOf('GET', path, outsider.headers)).to.equal(401);
      expect(await statusOf('GET', path, bot.headers)).to.equal(401);
      expect(await statusOf('GET', path.replace(String(id), String(world.other.conversation)))).to.equal(404);
    }
  });
});
