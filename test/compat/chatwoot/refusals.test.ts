import { expect } from 'chai';
import { routes } from '../../../src/api/index.ts';
import { factsOf } from '../../../src/http/route/admission/roles.ts';
import { TestApp } from '../../support/app.ts';
import { Profile } from '../../support/chatwoot.ts';
import { fillPath, nameOf, operations, readName } from '../../support/operations.ts';
import { World, type PrincipalName, type Reply } from '../../support/world.ts';

const signIn = 'You need to sign in or sign up before continuing.';

describe('Chatwoot profile: refusals and the rules for everything', function () {
  this.timeout(120_000);
  let world: World;
  let theirs: Profile;

  before(async () => {
    world = await World.build();
    theirs = new Profile(world.app);
  });

  after(() => world.stop());

  it('tell a missing token from one that is not valid', async () => {
    const none = await fetch(`${theirs.url}/api/v1/accounts/1/contacts`);
    expect(none.status).to.equal(401);
    expect(await none.json()).to.deep.include({ errors: [signIn], error: signIn, code: 'unauthenticated' });
    const bad = await theirs.get('contacts', { api_access_token: 'nobody' });
    expect([bad.status, bad.body.error]).to.deep.equal([401, 'Invalid Access Token']);
    const dashed = await fetch(`${theirs.url}/api/v1/accounts/1/contacts`, {
      headers: { 'Api-Access-Token': 'nobody' },
    });
    expect(await dashed.json()).to.include({ error: 'Invalid Access Token' });
    const unread = await fetch(`${theirs.url}/api/v1/accounts/1/contacts`, {
      method: 'POST',
      body: '{',
      headers: { 'content-type': 'application/json' },
    });
    expect(unread.status).to.equal(401);
  });

  it('tell who may not do it with 401, and keep a reason of its own at 403', async () => {
    const agent = await theirs.get('webhooks', world.home.member.headers);
    expect([agent.status, agent.body.error]).to.deep.equal([401, 'You are not authorized to do this action']);
    expect(agent.body).to.include({ code: 'forbidden', reason: 'Only administrators may do this' });
    const bot = await theirs.get('contacts', world.home.bot.headers);
    expect([bot.status, bot.body.error]).to.deep.equal([401, 'Access to this endpoint is not authorized for bots']);
    const { inbox, member } = world.home;
    const id = await world.home.maker.conversation(inbox, { assignee_id: member.id });
    const silent = await theirs.post(`conversations/${id}/messages`, { content: 'x' }, world.home.bot.headers);
    expect([silent.status, silent.body.code]).to.deep.equal([403, 'bot_suppressed']);
  });

  it('tell what is not there in their words, foreign records too, and a path that nobody serves in ours', async () => {
    for (const path of [
      'conversations/999999',
      `conversations/${world.other.conversation}`,
      `/api/v1/accounts/${world.other.maker.accountId}/contacts`,
    ]) {
      const { status, body } = await theirs.get(path);
      expect([status, body.error, body.code], path).to.deep.equal([404, 'Resource could not be found', 'not_found']);
    }
    for (const path of ['automation_rules', '/api/v2/accounts/1/reports', '/nothing']) {
      const { status, body } = await theirs.get(path);
      expect([status, body.error], path).to.deep.equal([404, 'There is nothing at this path']);
    }
    expect((await fetch(theirs.url)).status).to.equal(404);
    expect((await fetch(`${world.app.url}/chatwootapi/v1/profile`)).status).to.equal(404);
  });

  it('refuse what cannot be read, with nothing written', async () => {
    await world.app.eventNames();
    const broken = await theirs.post('contacts', '{"name":');
    expect([broken.status, broken.body.code]).to.deep.equal([400, 'invalid_json']);
    for (const body of ['[]', '"x"', '5', 'null'])
      expect((await theirs.post('contacts', body)).status, body).to.equal(422);
    expect((await theirs.post('contacts', 'name=Ada', { 'content-type': 'text/plain' })).status).to.equal(415);
    expect((await theirs.get('contacts?page=%zz')).status).to.equal(400);
    expect((await theirs.get('conversations?page=x')).status).to.equal(400);
    expect((await theirs.get('conversations/12x')).status).to.equal(400);
    const large = await theirs.post('contacts', { name: 'x'.repeat(1_100_000) });
    expect(large.status).to.equal(413);
    expect(await world.app.eventNames()).to.deep.equal([]);
  });

  it('stay those of the limits of the router, which count what is asked for beside a request too', async () => {
    const app = await TestApp.start({ engine: false, config: { rateLimitPerMinute: 5 } });
    try {
      const limited = new Profile(app);
      // Each reads the contact, and the inboxes in which it is known.
      const { payload } = await limited.succeed('POST', 'contacts', { name: 'Ada' });
      const path = `contacts/${payload.contact.id}`;
      expect((await limited.get(path)).headers.get('x-ratelimit-limit')).to.equal('5');
      expect((await app.get(path)).status).to.equal(200);
      const { status, body, headers } = await limited.get(path);
      expect([status, body.code]).to.deep.equal([429, 'rate_limited']);
      expect(Number(headers.get('retry-after'))).to.be.above(0);
    } finally {
      await app.stop();
    }
  });

  const mapped = (status: number, code: unknown) =>
    status === 201 ? 200 : status === 403 && code === 'forbidden' ? 401 : status;

  async function callBoth(name: string, who: PrincipalName): Promise<[Reply, Reply]> {
    const { method, path } = readName(name);
    const replies: Reply[] = [];
    for (const prefix of ['', '/chatwoot']) {
      const request = await operations[name]!(world.home, world);
      const full = prefix + fillPath(path, world.home.maker.accountId, request);
      replies.push(await world.send(who, { method, path: full, ...(request.body ? { body: request.body } : {}) }));
    }
    return [replies[0]!, replies[1]!];
  }

  /** Leaves room for the next principal: an account has at most 100 webhooks, and each operation makes some. */
  async function deleteNewWebhooks(): Promise<void> {
    const { maker, webhook } = world.home;
    const { payload } = await maker.call('GET', 'webhooks');
    for (const { id } of payload) if (id !== webhook) await maker.call('DELETE', `webhooks/${id}`);
  }

  const inAccount = routes.filter(({ contract }) => factsOf(contract.role).door === 'account' && !contract.upload);

  for (const who of ['administrator', 'outsider', 'bot', 'otherAdmin', 'nobody'] as const) {
    it(`every operation is there as in ours, for ${who}`, async () => {
      for (const route of inAccount) {
        const name = nameOf(route);
        if (!operations[name]) continue;
        const [ours, reply] = await callBoth(name, who);
        const said = `${name}: ${ours.text.slice(0, 200)} | ${reply.text.slice(0, 200)}`;
        expect(reply.status, said).to.equal(mapped(ours.status, ours.body?.code));
      }
      await deleteNewWebhooks();
    });
  }
});
