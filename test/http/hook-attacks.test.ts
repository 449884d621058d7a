import { expect } from 'chai';
import { BotHouse } from '../runs/house.ts';
import { byGithub, byStandard, makeHook, send } from '../support/hook-senders.ts';
import { slowSend } from '../support/slow-send.ts';

const hooks = {
  open: { verify: 'none', id: '/id' },
  shop: { verify: 'standard-webhooks', secret: 'SHOP' },
  github: { verify: 'github', secret: 'GITHUB' },
};
const text = { 'content-type': 'text/plain' };

describe('hooks under attack', function () {
  this.timeout(120_000);
  let house: BotHouse;

  before(async () => {
    house = await BotHouse.open({
      desk: {
        on: { hook_received: 'ctx.log.info(ctx.hook.text.slice(0, 20), { json: ctx.hook.json === null });' },
        events: [],
        hooks,
        permissions: { hooks: true },
      },
    });
  });
  after(() => house.close());

  const setSecrets = (secrets: Record<string, string>) =>
    house.app.patch(`agent_bots/${house.botOf('desk')}`, { secrets });
  const dueNow = async () => {
    await house.app.query(`UPDATE deliveries SET next_attempt_at = now() WHERE state = 'pending'`);
    await house.app.query('UPDATE lanes SET due_at = now() WHERE due_at IS NOT NULL');
  };
  const requests = async (id: number) => (await house.app.get(`hooks/${id}/requests`)).body;
  const settled = (id: number, count: number): Promise<{ state: string; outcome: string }[]> =>
    house.app.eventually(async () => {
      const { payload } = await requests(id);
      const ended = payload.filter(({ state }: { state: string }) => state === 'done' || state === 'failed');
      return ended.length === count ? ended : null;
    }) as Promise<{ state: string; outcome: string }[]>;

  it('accepts no signature by the empty key of a secret without a key', async () => {
    const hook = await makeHook(house.app, house.botOf('desk'), 'shop');
    for (const secret of ['whsec_', '!!!', '[]', '[""]']) {
      await setSecrets({ SHOP: secret });
      const answer = await send(hook.url, '{}', byStandard('{}', 'whsec_', `forged by ${secret}`));
      expect([answer.status, answer.headers.get('retry-after')], secret).to.deep.equal([503, '60']);
    }
    const { payload } = await requests(hook.id);
    expect(payload.map(({ reason }: { reason: string }) => reason)).to.include('secret_unusable');
  });

  it('stores nothing for a URL that was rotated, or deleted, while the body arrives', async () => {
    const { app } = house;
    const hook = await makeHook(app, house.botOf('desk'), 'open');
    const first = await slowSend(hook.url, '{"id":1}');
    await app.post(`hooks/${hook.id}/rotate`, { overlap_seconds: 0 });
    expect(await first.finish()).to.equal(404);
    expect((await requests(hook.id)).payload).to.have.length(0);
    const other = await makeHook(app, house.botOf('desk'), 'open');
    const second = await slowSend(other.url, '{"id":1}');
    await app.delete(`hooks/${other.id}`);
    expect(await second.finish()).to.equal(404);
    const third = await makeHook(app, house.botOf('desk'), 'open');
    const refused = await slowSend(third.url, 'no JSON');
    await app.delete(`hooks/${third.id}`);
    expect(await refused.finish()).to.equal(400);
  });

  it('has the sender come again where a secret is changed while the body arrives', async () => {
    await setSecrets({ GITHUB: 'the first' });
    const hook = await makeHook(house.app, house.botOf('desk'), 'github');
    const request = await slowSend(hook.url, '{"id":1}', byGithub('{"id":1}', 'the first', 'slow'));
    await setSecrets({ GITHUB: 'the second' });
    // Verified by the secret of the moment in which it had begun: this one is not valid any more.
    expect(await request.finish()).to.equal(503);
    const again = await send(hook.url, '{"id":1}', byGithub('{"id":1}', 'the second', 'slow'));
    expect([again.status, again.body.code ?? null, again.text]).to.deep.equal([202, null, again.text]);
  });

  it('keeps a bounded number of rows of a request that comes again and again', async () => {
    const hook = await makeHook(house.app, house.botOf('desk'), 'open');
    for (let n = 0; n < 70; n += 1) expect((await send(hook.url, '{"id":1}')).status).to.equal(202);
    expect((await requests(hook.id)).meta.count).to.equal(61);
  });

  it('handles bodies that cannot be written as JSON, or stored as text', async () => {
    const hook = await makeHook(house.app, house.botOf('desk'), 'open');
    const deep = '['.repeat(400_000) + ']'.repeat(400_000);
    expect((await send(hook.url, deep, text)).status).to.equal(202);
    expect((await send(hook.url, 'a\0b', text)).status).to.equal(202);
    expect((await send(hook.url, Buffer.from([0xff, 0xfe, 0xed, 0xa0, 0x80]), text)).status).to.equal(202);
    expect((await send(hook.url, '\0'.repeat(1_048_576), text)).status).to.equal(202);
    // A value that cannot be stored hides the depth behind it.
    expect((await send(hook.url, `{"a":"\\u0000","b":${deep}}`)).status).to.equal(400);
    // As large as the door admits, and larger as JSON.
    expect((await send(hook.url, `{"a":"${'\\"'.repeat(500_000)}"}`)).status).to.equal(202);
    const handled = await settled(hook.id, 5);
    expect(handled.map(({ state }) => state)).to.deep.equal(['done', 'done', 'done', 'done', 'done']);
  });

  it('stores no value of a header that may be a secret', async () => {
    const hook = await makeHook(house.app, house.botOf('desk'), 'open');
    const canary = 'canary-of-a-header';
    const names = ['x-auth', 'x-access-key', 'x-auth-signature-key', 'x-session', 'x-apikey', 'proxy-authorization'];
    const sent = Object.fromEntries(names.map((name) => [name, canary]));
    const { body } = await send(hook.url, '{"id":1}', {
      ...sent,
      'content-type': 'application/json',
      'idempotency-key': 'shown',
    });
    const { body: whole } = await house.app.get(`hooks/${hook.id}/requests/${body.id}`);
    expect(JSON.stringify(whole)).to.not.include(canary);
    expect(whole.headers).to.deep.include({ name: 'idempotency-key', value: 'shown' });
  });

  it('gives up a request whose plugin could not run for 72 hours, and says so', async () => {
    const { app } = house;
    const hook = await makeHook(app, house.botOf('desk'), 'open');
    await app.patch('/platform/api/v1/plugins/desk', { enabled: false });
    const late = (await send(hook.url, '{"id":"late"}')).body.id;
    await send(hook.url, '{"id":"waits"}');
    await app.query(`UPDATE hook_requests SET received_at = now() - interval '73 hours' WHERE id = $1`, [late]);
    await dueNow();
    const [failed] = await settled(hook.id, 1);
    expect(failed).to.deep.include({ id: late, state: 'failed' });
    await app.patch('/platform/api/v1/plugins/desk', { enabled: true });
    await dueNow();
    await settled(hook.id, 2);
  });
});
