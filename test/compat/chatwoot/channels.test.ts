import { expect } from 'chai';
import { TestApp } from '../../support/app.ts';
import { Profile } from '../../support/chatwoot.ts';
import { World } from '../../support/world.ts';

const url = 'http://127.0.0.1:9/channel';
const refused = 'gopher://nowhere';

interface Webhook {
  id: number;
  url: string;
  active: boolean;
  inbox_id: number | null;
}

describe('Chatwoot profile: the webhook of an inbox', function () {
  this.timeout(60_000);
  let world: World;
  let theirs: Profile;

  before(async () => {
    world = await World.build();
    theirs = new Profile(world.app);
  });

  after(() => world.stop());

  const all = async (): Promise<Webhook[]> => (await theirs.succeed('GET', 'webhooks')).payload.webhooks;
  const ofInbox = async (inboxId: number) => (await all()).filter((one) => one.inbox_id === inboxId);
  const told = async (inboxId: number) => (await ofInbox(inboxId)).map((one) => [one.url, one.active]);
  const inboxNames = async () =>
    (await world.app.get('inboxes')).body.payload.map(({ name }: { name: string }) => name) as string[];
  const bodyOf = (name: string, webhookUrl: string) => ({ name, channel: { type: 'api', webhook_url: webhookUrl } });

  /** Makes as many webhooks as an account may have, and returns how to take them away again. */
  async function fill(): Promise<() => Promise<void>> {
    const made: number[] = [];
    for (let count = (await all()).length; count < 100; count += 1) made.push(await world.home.maker.webhook());
    return async () => {
      for (const id of made) await world.app.delete(`webhooks/${id}`);
    };
  }

  it('with a URL that nobody can call makes nothing, and changes nothing', async () => {
    const made = await theirs.post('inboxes', bodyOf('Nowhere', refused));
    expect([made.status, made.body.attributes]).to.deep.equal([422, ['channel']]);
    expect(await inboxNames()).not.to.include('Nowhere');
    const { id } = await theirs.succeed('POST', 'inboxes', bodyOf('Before', url));
    await world.app.eventNames();
    for (const bad of [refused, `${url}/${'x'.repeat(2048)}`]) {
      const body = { name: 'Half done', channel: { webhook_url: bad } };
      expect((await theirs.call('PATCH', `inboxes/${id}`, body)).status).to.equal(422);
    }
    expect(await inboxNames())
      .to.include('Before')
      .and.not.include('Half done');
    expect(await told(id)).to.deep.equal([[url, true]]);
    expect(await world.app.eventNames()).to.deep.equal([]);
  });

  it('is made once by a repeated request; without a URL there is none, and agents make none', async () => {
    const key = { 'idempotency-key': 'one bridge' };
    const first = await theirs.post('inboxes', bodyOf('Somewhere', url), key);
    const again = await theirs.post('inboxes', bodyOf('Somewhere', url), key);
    expect([first.status, again.status, again.body.id]).to.deep.equal([200, 200, first.body.id]);
    expect(await told(first.body.id)).to.deep.equal([[url, true]]);
    const silent = await theirs.succeed('POST', 'inboxes', bodyOf('Silent', ''));
    expect(await told(silent.id)).to.deep.equal([]);
    const agent = await theirs.post('inboxes', bodyOf('By an agent', url), world.home.member.headers);
    expect(agent.status).to.equal(401);
  });

  it('stays as it was changed, and its inbox with its conversations, when the request is repeated later', async () => {
    const key = { 'idempotency-key': 'a bridge in use' };
    const { id } = (await theirs.post('inboxes', bodyOf('In use', url), key)).body;
    const conversation = await world.home.maker.conversation(id);
    await theirs.succeed('PATCH', `inboxes/${id}`, { channel: { webhook_url: `${url}/2` } });
    expect((await theirs.post('inboxes', bodyOf('In use', url), key)).body.id).to.equal(id);
    expect(await told(id)).to.deep.equal([[`${url}/2`, true]]);
    for (const webhook of await ofInbox(id)) await world.app.delete(`webhooks/${webhook.id}`);
    const empty = await fill();
    try {
      const { status, body } = await theirs.post('inboxes', bodyOf('In use', url), key);
      expect([status, body.id]).to.deep.equal([200, id]);
    } finally {
      await empty();
    }
    expect((await theirs.post('inboxes', bodyOf('In use', url), key)).status).to.equal(200);
    expect(await told(id)).to.deep.equal([]);
    expect((await world.app.get(`conversations/${conversation}`)).status).to.equal(200);
  });

  it('that an account has no room for is refused, and the new inbox is taken back', async () => {
    const empty = await fill();
    try {
      expect((await theirs.post('inboxes', bodyOf('No room', url))).status).to.equal(422);
    } finally {
      await empty();
    }
    expect(await inboxNames()).not.to.include('No room');
  });

  it('that fails for the moment leaves the inbox, and the repeated request makes it', async () => {
    const { databaseUrl } = world.app;
    const slow = await TestApp.start({ databaseUrl, engine: false, config: { rateLimitPerMinute: 1 } });
    const key = { 'idempotency-key': 'a bridge in a hurry' };
    try {
      const first = await new Profile(slow).post('inboxes', bodyOf('Hurried', url), key);
      expect([first.status, first.body.error]).to.satisfy(
        ([status, error]: [number, string]) => status === 429 && error.includes('is there, its webhook is not'),
      );
    } finally {
      await slow.app.stop();
    }
    expect((await inboxNames()).filter((name) => name === 'Hurried')).to.have.length(1);
    const { status, body } = await theirs.post('inboxes', bodyOf('Hurried', url), key);
    expect(status).to.equal(200);
    expect(await told(body.id)).to.deep.equal([[url, true]]);
    expect((await inboxNames()).filter((name) => name === 'Hurried')).to.have.length(1);
  });

  it('is one, whoever sets it at the same time', async () => {
    for (let round = 0; round < 5; round += 1) {
      const inbox = await world.home.maker.inbox();
      const body = { channel: { webhook_url: url } };
      const answers = await Promise.all([1, 2, 3].map(() => theirs.call('PATCH', `inboxes/${inbox}`, body)));
      expect(answers.map(({ status }) => status)).to.deep.equal([200, 200, 200]);
      expect(await told(inbox)).to.deep.equal([[url, true]]);
    }
  });

  it('is switched off where the URL is taken away, and on again where one is set', async () => {
    const { id } = await theirs.succeed('POST', 'inboxes', bodyOf('On and off', url));
    for (const nothing of ['', null]) {
      const off = await theirs.succeed('PATCH', `inboxes/${id}`, { channel: { webhook_url: nothing } });
      expect(off.webhook_url).to.equal('');
      expect(await told(id)).to.deep.equal([[url, false]]);
      const on = await theirs.succeed('PATCH', `inboxes/${id}`, { channel: { webhook_url: url } });
      expect(on.webhook_url).to.equal(url);
      expect(await told(id)).to.deep.equal([[url, true]]);
    }
    await theirs.succeed('PATCH', `inboxes/${id}`, { name: 'Still on', channel: {} });
    expect(await told(id)).to.deep.equal([[url, true]]);
  });
});
