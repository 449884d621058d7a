import { expect } from 'chai';
import { Profile } from '../../support/chatwoot.ts';
import { World } from '../../support/world.ts';

describe('Chatwoot profile: what bridges do', function () {
  this.timeout(60_000);
  let world: World;
  let theirs: Profile;

  before(async () => {
    world = await World.build();
    theirs = new Profile(world.app);
  });

  after(() => world.stop());

  it("Botpress' bridge answers as the bot, hands over, and knows when a conversation is gone", async () => {
    const { maker, inbox, bot, team } = world.home;
    const id = await maker.conversation(inbox);
    await maker.message(id);
    const path = `conversations/${id}`;
    const items = [
      { title: 'Sales', value: 'sales' },
      { title: 'Help', value: 'help' },
    ];
    await world.app.events();
    const said = await theirs.post(`${path}/messages`, { content: 'Hello' }, bot.headers);
    const asked = await theirs.post(
      `${path}/messages`,
      { content: 'Whom?', content_type: 'input_select', content_attributes: { items } },
      bot.headers,
    );
    expect([said.status, asked.status]).to.deep.equal([200, 200]);
    expect(asked.body).to.deep.include({
      message_type: 1,
      content_type: 'input_select',
      content_attributes: { items },
    });
    const created = (await world.app.eventNames()).filter((name) => name === 'message_created');
    expect(created).to.have.length(2);
    expect((await theirs.post(`${path}/assignments`, { team_id: team }, bot.headers)).body).to.include({ id: team });
    const handed = await theirs.post(`${path}/toggle_status`, { status: 'open' }, bot.headers);
    expect([handed.status, handed.body.current_status]).to.deep.equal([200, 'open']);
    await world.app.delete(path);
    const gone = await theirs.post(`${path}/messages`, { content: 'Still there?' }, bot.headers);
    expect([gone.status, JSON.stringify(gone.body)]).to.satisfy(
      ([status, text]: [number, string]) => status === 404 && text.includes('Resource could not be found'),
    );
  });

  it("Evolution API's module finds or makes inbox, contact and conversation, and passes messages on", async () => {
    const name = 'Evolution';
    const findInbox = async () =>
      (await theirs.succeed('GET', 'inboxes')).payload.find((one: { name: string }) => one.name === name);
    expect(await findInbox()).to.equal(undefined);
    const webhookUrl = 'http://127.0.0.1:9/chatwoot/webhook/Evolution';
    await theirs.succeed('POST', 'inboxes', { name, channel: { type: 'api', webhook_url: webhookUrl } });
    const inbox = await findInbox();

    const filter = {
      payload: ['5511988887777', '551188887777'].map((value, index) => ({
        attribute_key: 'phone_number',
        filter_operator: 'equal_to',
        values: [value],
        query_operator: index === 0 ? 'OR' : null,
      })),
    };
    expect((await theirs.succeed('POST', 'contacts/filter', filter)).payload).to.deep.equal([]);
    const created = await theirs.succeed('POST', 'contacts', {
      inbox_id: inbox.id,
      name: 'Carla',
      identifier: '5511988887777@s.whatsapp.net',
      avatar_url: '',
      phone_number: '+5511988887777',
    });
    const [found] = (await theirs.succeed('POST', 'contacts/filter', filter)).payload;
    expect(found.id).to.equal(created.payload.contact.id);
    const renamed = await theirs.succeed('PUT', `contacts/${found.id}`, { name: 'Carla S.', avatar_url: '' });
    expect(renamed.payload).to.include({ id: found.id, name: 'Carla S.' });

    expect((await theirs.succeed('GET', `contacts/${found.id}/conversations`)).payload).to.deep.equal([]);
    const conversation = await theirs.succeed('POST', 'conversations', {
      contact_id: String(found.id),
      inbox_id: String(inbox.id),
      status: 'pending',
    });
    expect(conversation.status).to.equal('pending');
    const [again] = (await theirs.succeed('GET', `contacts/${found.id}/conversations`)).payload;
    expect([again.id, again.inbox_id]).to.deep.equal([conversation.id, inbox.id]);

    await world.app.events();
    const form = new FormData();
    form.set('content', 'From WhatsApp');
    form.set('message_type', 'incoming');
    form.set('source_id', 'WAID:3EB0');
    form.set('content_attributes', JSON.stringify({ in_reply_to_external_id: 'WAID:3EAF' }));
    form.append('attachments[]', new Blob(['a note'], { type: 'text/plain' }), 'note.txt');
    const path = `conversations/${conversation.id}`;
    const { headers } = world.home.administrator;
    const answer = await fetch(`${theirs.url}/api/v1/accounts/1/${path}/messages`, {
      method: 'POST',
      headers,
      body: form,
    });
    const message = (await answer.json()) as Record<string, unknown>;
    expect([answer.status, message['message_type'], message['source_id']]).to.deep.equal([200, 0, 'WAID:3EB0']);
    expect((await world.app.eventNames()).filter((event) => event === 'message_created')).to.have.length(1);
    expect((await theirs.succeed('POST', `${path}/toggle_status`, { status: 'open' })).current_status).to.equal('open');

    const { source_id: source } = created.payload.contact_inbox;
    const seen = `/public/api/v1/inboxes/${inbox.inbox_identifier}/contacts/${source}/${path}/update_last_seen`;
    expect((await theirs.post(seen, {}, { api_access_token: '' })).status).to.equal(200);
    expect((await theirs.call('DELETE', `${path}/messages/${String(message['id'])}`)).status).to.equal(200);
  });
});
