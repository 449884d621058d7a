import { expect } from 'chai';
import { Profile } from '../../support/chatwoot.ts';
import { World } from '../../support/world.ts';

describe('Chatwoot profile: the public and the platform API', function () {
  this.timeout(60_000);
  let world: World;
  let theirs: Profile;

  before(async () => {
    world = await World.build();
    theirs = new Profile(world.app);
  });

  after(() => world.stop());

  it('lets a client in, which writes and reads in their words', async () => {
    const inbox = await world.home.maker.inbox();
    const { inbox_identifier: identifier } = await theirs.succeed('GET', `inboxes/${inbox}`);
    const base = `/public/api/v1/inboxes/${identifier}/contacts`;
    const noToken = { api_access_token: '' };
    const call = (method: string, path: string, body?: object) => theirs.succeed(method, path, body, noToken);
    const blanks = {
      identifier: '',
      identifier_hash: '',
      email: '',
      phone_number: '',
      avatar_url: '',
      custom_attributes: '',
    };
    const contact = await call('POST', base, { name: 'Ada', ...blanks });
    expect(contact).to.include({ name: 'Ada', email: null });
    const own = `${base}/${contact.source_id}`;
    const conversation = await call('POST', `${own}/conversations`, {});
    const messages = `${own}/conversations/${conversation.id}/messages`;
    await world.app.eventNames();
    const sent = await call('POST', messages, { content: 'Anybody there?', echo_id: 'e' });
    expect(sent).to.deep.include({ content: 'Anybody there?', message_type: 0, echo_id: 'e' });
    expect(await world.app.eventNames()).to.include('message_created');
    await theirs.succeed('POST', `conversations/${conversation.id}/messages`, { content: 'Yes' });
    const list = await call('GET', messages);
    expect(list.map((one: { message_type: number }) => one.message_type)).to.deep.equal([0, 1]);
    expect(
      (await call('GET', `${messages}?after=${sent.id}`)).map(({ content }: { content: string }) => content),
    ).to.deep.equal(['Yes']);
    expect((await call('GET', `${messages}?before=${list[1].id}`)).map(({ id }: { id: number }) => id)).to.deep.equal([
      sent.id,
    ]);
    const [listed] = await call('GET', `${own}/conversations`);
    expect(listed.messages[0]).to.include({ message_type: 1 });
    await call('POST', `${own}/conversations/${conversation.id}/update_last_seen`, {});
    await call('POST', `${own}/conversations/${conversation.id}/toggle_typing`, { typing_status: 'on' });
    expect((await call('PATCH', own, { name: 'Ada L.', email: '' })).name).to.equal('Ada L.');
    const nobody = await theirs.get(`${base}/unknown`, noToken);
    expect([nobody.status, nobody.body.error]).to.deep.equal([404, 'Resource could not be found']);
  });

  it('serves the platform, to whom it belongs', async () => {
    const { headers } = world.platform;
    const account = await theirs.succeed('POST', '/platform/api/v1/accounts', { name: 'New' }, headers);
    expect(account).to.include({ name: 'New' });
    const bots = await theirs.succeed('GET', '/platform/api/v1/agent_bots', undefined, headers);
    expect(bots).to.be.an('array');
    const refused = await theirs.post('/platform/api/v1/accounts', { name: 'New' }, world.home.member.headers);
    expect(refused.status).to.equal(401);
  });

  it('answers which service it is, as clients try an address', async () => {
    for (const path of ['/api', '/api/']) {
      const answer = await fetch(theirs.url + path);
      expect(answer.status).to.equal(200);
      expect(await answer.json()).to.include.keys('version', 'timestamp', 'queue_services', 'data_services');
    }
  });
});
