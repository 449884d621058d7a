import { expect } from 'chai';
import { Profile } from '../../support/chatwoot.ts';
import { World } from '../../support/world.ts';

describe('Chatwoot profile: messages', function () {
  this.timeout(60_000);
  let world: World;
  let theirs: Profile;
  let path: string;

  before(async () => {
    world = await World.build();
    theirs = new Profile(world.app);
  });

  beforeEach(async () => {
    path = `conversations/${await world.home.maker.conversation(world.home.inbox)}/messages`;
    await world.app.eventNames();
  });

  after(() => world.stop());

  const send = (body: object, headers?: Record<string, string>) => theirs.succeed('POST', path, body, headers);
  const inDefault = async () => (await world.app.get(path)).body.payload;

  it('are sent without a type, with a number or a word, and are answered with a number, in one event each', async () => {
    const cases: [unknown, number, string][] = [
      [undefined, 1, 'outgoing'],
      ['', 1, 'outgoing'],
      [null, 1, 'outgoing'],
      [1, 1, 'outgoing'],
      ['1', 1, 'outgoing'],
      ['outgoing', 1, 'outgoing'],
      [0, 0, 'incoming'],
      ['0', 0, 'incoming'],
      ['incoming', 0, 'incoming'],
    ];
    for (const [type, number, word] of cases) {
      const message = await send({ content: `as ${String(type)}`, message_type: type });
      expect(message.message_type, String(type)).to.equal(number);
      expect((await world.app.eventNames()).filter((name) => name === 'message_created')).to.have.length(1);
      const kept = (await inDefault()).at(-1);
      expect(kept).to.deep.include({ id: message.id, message_type: word, content: `as ${String(type)}` });
    }
  });

  it('of no such type are refused, and nothing is written', async () => {
    for (const type of [2, 3, '2', ' 1', '1e0', '01', -1, 1.5, true, {}, [0], 'OUTGOING', 'activity']) {
      const { status, body } = await theirs.post(path, { content: 'x', message_type: type });
      expect([status, body.attributes], JSON.stringify(type)).to.deep.equal([422, ['message_type']]);
      expect(body.message).to.be.a('string').and.not.equal('');
    }
    expect(await inDefault()).to.deep.equal([]);
    expect(await world.app.eventNames()).to.deep.equal([]);
  });

  it('are as theirs: senders in small letters, files where there are any, an echo of what was asked', async () => {
    const bot = await send({ content: 'From the bot' }, world.home.bot.headers);
    expect(bot.sender.type).to.equal('agent_bot');
    const sent = await send({
      content: 'Hello',
      echo_id: 'e-1',
      private: false,
      content_type: '',
      content_attributes: '{"a":1}',
    });
    const { administrator } = world.home;
    expect(sent).to.deep.include({
      echo_id: 'e-1',
      content_type: 'text',
      content_attributes: { a: 1 },
      status: 'sent',
    });
    expect(sent.sender).to.deep.include({ type: 'user', available_name: sent.sender.name });
    expect(sent).not.to.have.property('attachments');
    expect(sent.created_at).to.be.a('number');
    const said = await send({ content: 'From the customer', message_type: 0 }, administrator.headers);
    expect(said.sender).to.deep.include({ type: 'contact' });
    const { payload, meta } = await theirs.succeed('GET', path);
    expect(meta).to.be.an('object');
    expect(payload.map((one: { message_type: number }) => one.message_type)).to.deep.equal([1, 1, 0]);
  });

  it('come as forms with files, as the SDK sends them always', async () => {
    const form = new FormData();
    for (const [name, value] of Object.entries({ content: 'With a file', private: 'false', message_type: 'incoming' }))
      form.set(name, value);
    form.append('attachments[]', new Blob(['plain words'], { type: 'text/plain' }), 'words.txt');
    const { headers } = world.home.administrator;
    const answer = await fetch(`${theirs.url}/api/v1/accounts/1/${path}`, { method: 'POST', headers, body: form });
    expect(answer.status).to.equal(200);
    const message = (await answer.json()) as { message_type: number; attachments: { data_url: string }[] };
    expect(message.message_type).to.equal(0);
    expect(message.attachments).to.have.length(1);
    const file = await fetch(message.attachments[0]!.data_url);
    expect(await file.text()).to.equal('plain words');
    const plain = new FormData();
    plain.set('content', 'Without a type');
    const second = await fetch(`${theirs.url}/api/v1/accounts/1/${path}`, { method: 'POST', headers, body: plain });
    expect([second.status, ((await second.json()) as { message_type: number }).message_type]).to.deep.equal([200, 1]);
  });

  it('are paged by the ids of messages', async () => {
    const ids: number[] = [];
    for (let count = 0; count < 25; count += 1) ids.push((await send({ content: `number ${count}` })).id);
    const list = async (query: string) =>
      (await theirs.succeed('GET', `${path}?${query}`)).payload.map(({ id }: { id: number }) => id);
    expect(await list('')).to.deep.equal(ids.slice(5));
    expect(await list(`before=${ids[5]}`)).to.deep.equal(ids.slice(0, 5));
    expect(await list(`before=${ids[24]}`)).to.deep.equal(ids.slice(4, 24));
    expect(await list(`after=${ids[3]}`)).to.deep.equal(ids.slice(4));
    expect(await list(`after=${ids[3]}&before=${ids[7]}`)).to.deep.equal(ids.slice(4, 7));
    expect(await list(`before=&after=0`)).to.deep.equal(ids.slice(5));
    for (const bad of ['12x', '1e3', '%2012', '-1', '1.5']) {
      const { status, body } = await theirs.get(`${path}?before=${bad}`);
      expect([status, body.code], bad).to.deep.equal([400, 'bad_query']);
    }
  });

  it('are written once under a key, and answered again in the same words', async () => {
    const key = { 'idempotency-key': 'once in the profile' };
    const first = await theirs.post(path, { content: 'Once' }, key);
    const again = await theirs.post(path, { content: 'Once' }, key);
    expect([first.status, again.status]).to.deep.equal([200, 200]);
    expect(again.body).to.deep.equal(first.body);
    expect(again.body.message_type).to.equal(1);
    expect(again.headers.get('idempotency-replayed')).to.equal('true');
    expect(await inDefault()).to.have.length(1);
    expect((await theirs.post(path, { content: 'Other' }, key)).status).to.equal(422);
  });

  it('are changed and deleted', async () => {
    const { id } = await send({ content: 'Wrong' });
    await world.app.eventNames();
    const changed = await theirs.succeed('PATCH', `${path}/${id}`, { content: 'Right', content_attributes: '' });
    expect(changed).to.deep.include({ id, content: 'Right', message_type: 1 });
    expect(await world.app.eventNames()).to.deep.equal(['message_updated']);
    expect((await theirs.call('DELETE', `${path}/${id}`)).status).to.equal(200);
    expect(await world.app.eventNames()).to.include('message_deleted');
  });

  it('without text are refused in both words', async () => {
    for (const body of [{}, { content: '' }, { content: ' ' }, { content: 5 }]) {
      const { status, body: refusal } = await theirs.post(path, body);
      expect([status, refusal.attributes, refusal.error === undefined]).to.deep.equal([422, ['content'], false]);
    }
    expect(await inDefault()).to.deep.equal([]);
  });
});
