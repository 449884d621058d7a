import { expect } from 'chai';
import { routes } from '../../../src/api/index.ts';
import { deleteExpiredSignIns } from '../../../src/domain/people/sign-ins/expiry.ts';
import { addPerson, addAccount, type Person } from '../../support/people.ts';
import { fillPath, nameOf, operations, readName } from '../../support/operations.ts';
import { Sending, type Body } from '../../support/sending.ts';
import { ownPage } from '../../support/sign-in.ts';
import { World } from '../../support/world.ts';

const opened = [
  'GET webhooks/:id/deliveries',
  'GET deliveries/:id',
  'POST deliveries/:id/resend',
  'POST webhooks/:id/test',
  'GET webhooks/:id/health',
];
const onlyTheLog = 'This token opens the deliveries, tests and health of one webhook, and nothing else';
const hour = 3_600;

describe('a link that shares a webhook', () => {
  let aheadMs = 0;
  const sending = Sending.use({ clock: { now: () => new Date(Date.now() + aheadMs) } });

  afterEach(() => (aheadMs = 0));

  async function share(webhook: Body, by?: Person, expiresIn = hour): Promise<Body> {
    const { status, body } = await sending.app.post(
      `webhooks/${webhook.id}/share`,
      { expires_in: expiresIn },
      by?.headers,
    );
    expect(status, JSON.stringify(body)).to.equal(201);
    return { ...body, headers: { api_access_token: body.token } };
  }

  const statusAs = async (headers: Record<string, string>, method: string, path: string, body?: unknown) =>
    (await sending.app.call(method, path, body, headers)).status;

  it('lets its holder read the log, resend, test and see the health, and is shown once', async () => {
    const webhook = await sending.webhookFor('contact_created');
    const { headers, token, url, expires_at: end } = await share(webhook);
    expect(token).to.match(/^sww_[0-9A-Za-z]{49}$/);
    expect(url).to.match(new RegExp(`/console/shared/1/${webhook.id}#token=${token}$`));
    expect(end).to.be.closeTo(Date.now() / 1000 + hour, 60);

    await sending.made('contacts', { name: 'Ada' });
    await sending.receiver.waitFor(1);
    const [delivery] = await sending.eventuallyIn(webhook, 'delivered');
    await sending.app.events();
    const listed = await sending.app.get(`webhooks/${webhook.id}/deliveries?event=contact_created`, headers);
    expect(listed.body.payload.map(({ id }: Body) => id)).to.deep.equal([delivery.id]);
    const detail = await sending.app.get(`deliveries/${delivery.id}`, headers);
    expect(JSON.parse(detail.body.attempts[0].request.body).name).to.equal('Ada');
    const again = await sending.app.post(`deliveries/${delivery.id}/resend`, {}, headers);
    expect(again.status).to.equal(202);
    expect(again.body).to.include({ trigger: 'resend', webhook_id: webhook.id });
    const test = await sending.app.post(`webhooks/${webhook.id}/test`, { event: 'contact_created' }, headers);
    expect(test.status).to.equal(202);
    expect(test.body.trigger).to.equal('test');
    await sending.receiver.waitFor(3);
    const health = await sending.app.get(`webhooks/${webhook.id}/health`, headers);
    expect(health.body).to.include({ paused: false, consecutive_failures: 0 });
    // Neither is something that happened.
    expect(await sending.app.eventNames()).to.deep.equal([]);

    const stored = await sending.app.query<{ row: string }>('SELECT k::text AS row FROM access_tokens k');
    for (const { row } of stored) expect(row).to.not.include(token);
  });

  it('repeats nothing under an Idempotency-Key, and takes conditions', async () => {
    const webhook = await sending.webhookFor('contact_created');
    const { headers } = await share(webhook);
    const keyed = { ...headers, 'idempotency-key': 'once' };
    const first = await sending.app.post(`webhooks/${webhook.id}/test`, {}, keyed);
    const second = await sending.app.post(`webhooks/${webhook.id}/test`, {}, keyed);
    expect(second.body).to.deep.equal(first.body);
    const conditional = { ...headers, 'if-match': '"another"' };
    expect(await statusAs(conditional, 'POST', `webhooks/${webhook.id}/test`, {})).to.equal(412);
  });

  it('shows no secret of the webhook', async () => {
    const webhook = await sending.made('webhooks', {
      url: sending.receiver.url,
      subscriptions: ['contact_created'],
      headers: [{ name: 'x-key', value: 'a-sealed-header' }],
      auth: { type: 'bearer', token: 'a-sealed-token' },
    });
    const { headers } = await share(webhook);
    await sending.app.post(`webhooks/${webhook.id}/test`, {}, headers);
    await sending.receiver.waitFor(1);
    const [delivery] = await sending.eventuallyIn(webhook, 'delivered');
    for (const path of [
      `webhooks/${webhook.id}/deliveries`,
      `deliveries/${delivery.id}`,
      `webhooks/${webhook.id}/health`,
    ]) {
      const { status, body } = await sending.app.get(path, headers);
      expect(status).to.equal(200);
      expect(JSON.stringify(body)).to.not.match(/a-sealed|whsec_|sww_/);
    }
  });

  it('finds nothing of other webhooks, and does not tell which conversations there are', async () => {
    const [own, other] = [await sending.webhookFor('contact_created'), await sending.webhookFor('message_created')];
    const { headers } = await share(own);
    const conversation = await sending.conversation();
    await sending.say(conversation, 'Hello');
    const [theirs] = await sending.eventuallyIn(other, 'delivered');
    const count = async () =>
      (await sending.app.query<{ count: number }>('SELECT count(*)::int AS count FROM deliveries'))[0]?.count;
    const before = await count();
    const tries: [string, string][] = [
      ['GET', `webhooks/${other.id}/deliveries`],
      ['GET', `webhooks/${other.id}/health`],
      ['POST', `webhooks/${other.id}/test`],
      ['GET', `deliveries/${theirs.id}`],
      ['POST', `deliveries/${theirs.id}/resend`],
      ['GET', 'deliveries/999999'],
      ['POST', 'deliveries/999999/resend'],
    ];
    for (const [method, path] of tries)
      expect(await statusAs(headers, method, path, method === 'POST' ? {} : undefined), path).to.equal(404);
    expect(await count()).to.equal(before);
    for (const id of [conversation, 999_999]) {
      const { status, body } = await sending.app.get(`webhooks/${own.id}/deliveries?conversation_id=${id}`, headers);
      expect([status, body.payload], String(id)).to.deep.equal([200, []]);
    }
  });

  it('ends at its time, and is deleted then', async () => {
    const webhook = await sending.webhookFor('contact_created');
    const { headers } = await share(webhook, undefined, 60);
    const health = `webhooks/${webhook.id}/health`;
    const test = `webhooks/${webhook.id}/test`;
    expect(await statusAs(headers, 'POST', test, {})).to.equal(202);
    aheadMs = 61_000;
    expect(await statusAs(headers, 'GET', health)).to.equal(401);
    expect(await statusAs(headers, 'POST', test, {})).to.equal(401);
    expect((await sending.app.get(`webhooks/${webhook.id}/shares`)).body.payload).to.deep.equal([]);
    expect(await deleteExpiredSignIns(sending.app.app.database)).to.equal(1);
  });

  it('is listed without its token, and revoked', async () => {
    const webhook = await sending.webhookFor('contact_created');
    const other = await sending.webhookFor('contact_created');
    const ada = await addPerson(sending.app, { name: 'Ada Shares', role: 'administrator' });
    const kept = await share(webhook);
    const ended = await share(webhook, ada);
    const test = `webhooks/${webhook.id}/test`;
    expect(await statusAs(ended.headers, 'POST', test, {})).to.equal(202);
    const { payload } = (await sending.app.get(`webhooks/${webhook.id}/shares`)).body;
    expect(payload.map((one: Body) => one.last_four)).to.deep.equal([ended.token.slice(-4), kept.token.slice(-4)]);
    expect(payload[0].created_by).to.equal('Ada Shares');
    expect(JSON.stringify(payload)).to.not.include('sww_');
    const [{ id }] = payload;
    expect((await sending.app.delete(`webhooks/${other.id}/shares/${id}`)).status).to.equal(404);
    expect((await sending.app.delete(`webhooks/${webhook.id}/shares/${id}`)).status).to.equal(200);
    expect((await sending.app.delete(`webhooks/${webhook.id}/shares/${id}`)).status).to.equal(404);
    // Also where the process remembers its holder.
    expect(await statusAs(ended.headers, 'POST', test, {})).to.equal(401);
    expect(await statusAs(kept.headers, 'POST', test, {})).to.equal(202);
  });

  it('ends with the webhook', async () => {
    const webhook = await sending.webhookFor('contact_created');
    const { headers } = await share(webhook);
    await sending.app.delete(`webhooks/${webhook.id}`);
    expect(await statusAs(headers, 'GET', `webhooks/${webhook.id}/deliveries`)).to.equal(401);
    expect(await statusAs(headers, 'GET', 'webhooks')).to.equal(401);
  });

  it('opens nothing while its creator is no administrator', async () => {
    const webhook = await sending.webhookFor('contact_created');
    const eve = await addPerson(sending.app, { name: 'Eve Shares', role: 'administrator' });
    const { headers } = await share(webhook, eve);
    const test = () => statusAs(headers, 'POST', `webhooks/${webhook.id}/test`, {});
    expect(await test()).to.equal(202);
    expect((await sending.app.patch(`agents/${eve.id}`, { role: 'agent' })).status).to.equal(200);
    expect(await test()).to.equal(401);
    expect(await statusAs(headers, 'GET', `webhooks/${webhook.id}/health`)).to.equal(401);
    await sending.app.patch(`agents/${eve.id}`, { role: 'administrator' });
    expect(await test()).to.equal(202);
    expect((await sending.app.delete(`agents/${eve.id}`)).status).to.equal(200);
    expect(await test()).to.equal(401);
  });

  it('is made by administrators, for 30 days at most, and for twenty developers', async () => {
    const webhook = await sending.webhookFor('contact_created');
    const agent = await addPerson(sending.app, { name: 'An Agent' });
    const path = `webhooks/${webhook.id}/share`;
    expect(await statusAs(agent.headers, 'POST', path, { expires_in: hour })).to.equal(403);
    const { headers } = await share(webhook, undefined, 30 * 24 * hour);
    expect(await statusAs(headers, 'POST', path, { expires_in: hour })).to.equal(403);
    for (const body of [{}, { expires_in: 0 }, { expires_in: 30 * 24 * hour + 1 }, { expires_in: '5 minutes' }])
      expect((await sending.app.post(path, body)).status, JSON.stringify(body)).to.equal(422);
    expect((await sending.app.post('webhooks/999999/share', { expires_in: hour })).status).to.equal(404);
    for (let made = 1; made < 20; made += 1) await share(webhook);
    expect((await sending.app.post(path, { expires_in: hour })).status).to.equal(422);
  });

  it('signs nobody in, and opens no other account', async () => {
    const webhook = await sending.webhookFor('contact_created');
    const { headers, token } = await share(webhook);
    const body = { access_token: token };
    expect(await statusAs({ ...ownPage, api_access_token: '' }, 'POST', '/sign_in', body)).to.equal(403);
    const cookie = { ...ownPage, api_access_token: '', cookie: `switchboard_sign_in=${token}` };
    expect((await sending.app.get('/sign_in', cookie)).body.profile).to.equal(null);
    expect(await statusAs(cookie, 'GET', `webhooks/${webhook.id}/health`)).to.equal(401);
    const elsewhere = await addAccount(sending.app, 'Elsewhere');
    const path = `/api/v1/accounts/${elsewhere.id}/webhooks/${webhook.id}/health`;
    expect(await statusAs(headers, 'GET', path)).to.equal(404);
    expect(await statusAs({ 'x-contact-token': token }, 'GET', '/public/api/v1/inboxes/none/conversation')).to.equal(
      404,
    );
    // In the words of Chatwoot, who may not is answered 401.
    for (const said of ['accounts/1/conversations', 'accounts/1/webhooks', 'accounts/1/agents', 'profile']) {
      const { status, body: refusal } = await sending.app.get(`/chatwoot/api/v1/${said}`, headers);
      expect([status, refusal.code, refusal.reason], said).to.deep.equal([401, 'forbidden', onlyTheLog]);
    }
  });
});

describe('the token of a shared webhook', function () {
  this.timeout(120_000);
  let world: World;

  before(async () => {
    world = await World.build();
  });

  after(() => world.stop());

  it('is refused by every other operation before a body is looked at', async () => {
    const { maker, webhook } = world.home;
    const { token } = await maker.call('POST', `webhooks/${webhook}/share`, { expires_in: hour });
    const headers = { api_access_token: token as string, 'content-type': 'application/json' };
    const roleOf = (name: string) => routes.find((route) => nameOf(route) === readName(name).operation)?.contract.role;
    const closed = Object.keys(operations).filter((name) => {
      const role = roleOf(name);
      const needsToken = ['bot', 'agent', 'administrator', 'developer', 'user', 'platform'].includes(role ?? '');
      return needsToken && !opened.includes(name);
    });
    expect(closed).to.have.length.above(150);
    expect(Object.keys(operations).filter((name) => roleOf(name) === 'developer')).to.have.members(opened);
    for (const name of closed) {
      const { method, path } = readName(name);
      const request = await operations[name]!(world.home, world);
      const response = await fetch(world.app.url + fillPath(path, maker.accountId, request), {
        method,
        headers,
        ...(method === 'GET' ? {} : { body: '{ no JSON' }),
      });
      expect([response.status, ((await response.json()) as Body).code], name).to.deep.equal([403, 'forbidden']);
    }
    for (const name of opened) {
      const { method, path } = readName(name);
      const request = await operations[name]!(world.home, world);
      const own = {
        ...request,
        at: { id: path.startsWith('/api/v1/accounts/:account_id/webhooks') ? webhook : world.home.delivery },
      };
      const full = fillPath(path, maker.accountId, own);
      const sent = method === 'GET' ? {} : { body: JSON.stringify(request.body ?? {}) };
      const response = await fetch(world.app.url + full, { method, headers, ...sent });
      expect(response.status, name).to.be.oneOf([200, 202, 409]);
      await response.body?.cancel();
    }
  });
});
