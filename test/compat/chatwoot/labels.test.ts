import { expect } from 'chai';
import { Profile } from '../../support/chatwoot.ts';
import { World } from '../../support/world.ts';

describe('Chatwoot profile: labels', function () {
  this.timeout(60_000);
  let world: World;
  let theirs: Profile;
  let id: number;

  before(async () => {
    world = await World.build();
    theirs = new Profile(world.app);
  });

  beforeEach(async () => {
    id = await world.home.maker.conversation(world.home.inbox);
    await world.app.eventNames();
  });

  after(() => world.stop());

  const titles = async () =>
    (await world.app.get('labels')).body.payload.map(({ title }: { title: string }) => title) as string[];

  it('are made in small letters, with or without their wrapper', async () => {
    const made = await theirs.succeed('POST', 'labels', {
      title: 'VIP-One',
      color: '',
      description: '',
      show_on_sidebar: true,
    });
    expect(made).to.include({ title: 'vip-one', show_on_sidebar: true });
    expect((await theirs.succeed('POST', 'labels', { label: { title: 'vip-two' } })).title).to.equal('vip-two');
    const twice = await theirs.post('labels', { title: 'VIP-one' });
    expect([twice.status, twice.body.message, twice.body.attributes]).to.deep.equal([
      422,
      'Title has already been taken',
      ['title'],
    ]);
    expect((await theirs.succeed('PATCH', `labels/${made.id}`, { title: 'VIP-Three' })).title).to.equal('vip-three');
    expect((await theirs.succeed('GET', 'labels')).payload.map(({ title }: { title: string }) => title)).to.include(
      'vip-three',
    );
  });

  it('of a conversation are made on their first use, with one event for the conversation', async () => {
    const { label } = world.home;
    const path = `conversations/${id}/labels`;
    const body = { labels: ['Fresh', label.title, 'fresh-too', 'fresh'] };
    const { status, body: answer } = await theirs.post(path, body);
    expect(status, JSON.stringify(answer)).to.equal(200);
    expect(answer.payload).to.have.members(['fresh', 'fresh-too', label.title]);
    expect(await titles()).to.include.members(['fresh', 'fresh-too']);
    expect((await world.app.eventNames()).filter((name) => name === 'conversation_updated')).to.have.length(1);
    const again = await theirs.succeed('POST', path, body);
    expect(again).to.deep.equal(answer);
    expect(await world.app.eventNames()).to.deep.equal([]);
    expect((await theirs.succeed('POST', path, { labels: [] })).payload).to.deep.equal([]);
  });

  it('are made by nobody who may not, and for no conversation that cannot be seen', async () => {
    const before = await titles();
    const path = `conversations/${id}/labels`;
    const agent = await theirs.post(path, { labels: ['unheard-of'] }, world.home.member.headers);
    expect([agent.status, agent.body.attributes]).to.deep.equal([422, ['labels']]);
    const bot = await theirs.post(path, { labels: ['unheard-of'] }, world.home.bot.headers);
    expect(bot.status).to.equal(422);
    const known = await theirs.succeed('POST', path, { labels: [world.home.label.title] }, world.home.member.headers);
    expect(known.payload).to.deep.equal([world.home.label.title]);
    const missing = await theirs.post('conversations/999999/labels', { labels: ['unheard-of'] });
    expect(missing.status).to.equal(404);
    const foreign = await theirs.post(`conversations/${world.other.conversation}/labels`, { labels: ['unheard-of'] });
    expect(foreign.status).to.equal(404);
    for (const labels of [
      ['not a label'],
      [7],
      'unheard-of',
      ['unheard-of', null],
      ['unheard-of', 'not a label'],
      Array.from({ length: 101 }, (_, n) => `l${n}`),
    ]) {
      expect((await theirs.post(path, { labels })).status, JSON.stringify(labels).slice(0, 40)).to.equal(422);
    }
    expect(await titles()).to.have.members(before);
  });

  it('are made by no repeated request', async () => {
    const path = `conversations/${id}/labels`;
    const body = { labels: ['once-made'] };
    const key = { 'idempotency-key': 'labels once' };
    const first = await theirs.post(path, body, key);
    const { payload } = (await world.app.get('labels')).body;
    const made = payload.find(({ title }: { title: string }) => title === 'once-made');
    await world.app.delete(`labels/${made.id}`);
    const again = await theirs.post(path, body, key);
    expect([first.status, again.status, again.body]).to.deep.equal([200, 200, first.body]);
    expect(await titles()).not.to.include('once-made');
  });

  it('are made all or none: where there is room for some of them, nothing changes and a sentence says so', async () => {
    const { label } = world.home;
    const path = `conversations/${id}/labels`;
    const before = await titles();
    await world.app.query(
      `INSERT INTO labels (account_id, title) SELECT 1, 'filler-' || n FROM generate_series(1, $1::int) AS n`,
      [999 - before.length],
    );
    try {
      const contact = await world.home.maker.contact();
      await world.app.eventNames();
      for (const at of [path, `contacts/${contact}/labels`]) {
        const { status, body } = await theirs.post(at, { labels: [label.title, 'no-room-one', 'no-room-two'] });
        expect([status, body.attributes], body.error).to.deep.equal([422, ['labels']]);
        expect(body.message).to.include('at most 1000 labels');
        expect((await theirs.succeed('GET', at)).payload).to.deep.equal([]);
      }
      expect(await titles()).to.have.lengthOf(999);
      expect(await world.app.eventNames()).to.deep.equal([]);
      // There is room for one, whatever else is named that is there.
      const { payload } = await theirs.succeed('POST', path, { labels: [label.title, 'filler-1', 'last-one'] });
      expect(payload).to.have.members([label.title, 'filler-1', 'last-one']);
    } finally {
      await world.app.query(`DELETE FROM labels WHERE title LIKE 'filler-%'`);
    }
  });

  it('of a contact are made on their first use', async () => {
    const contact = await world.home.maker.contact();
    const { payload } = await theirs.succeed('POST', `contacts/${contact}/labels`, { labels: ['Of-Contacts'] });
    expect(payload).to.deep.equal(['of-contacts']);
    expect((await theirs.succeed('GET', `contacts/${contact}/labels`)).payload).to.deep.equal(['of-contacts']);
  });

  it('are made once by two who use them at the same time', async () => {
    const second = await world.home.maker.conversation(world.home.inbox);
    const answers = await Promise.all(
      [id, second, id, second].map((one) => theirs.post(`conversations/${one}/labels`, { labels: ['at-once'] })),
    );
    expect(answers.map(({ status }) => status)).to.deep.equal([200, 200, 200, 200]);
    expect((await titles()).filter((title) => title === 'at-once')).to.have.length(1);
  });
});
