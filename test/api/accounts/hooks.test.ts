import { expect } from 'chai';
import { BotHouse } from '../../runs/house.ts';
import { makeHook, send } from '../../support/hook-senders.ts';

const hooks = { open: { verify: 'none', id: '/id' }, github: { verify: 'github', secret: 'GITHUB' } };

describe('hooks, as their account manages them', function () {
  this.timeout(60_000);
  let house: BotHouse;

  before(async () => {
    house = await BotHouse.open(
      {
        desk: { on: { message_created: '' }, hooks, permissions: { hooks: true } },
        plain: { on: { message_created: '' } },
      },
      { engine: false },
    );
  });
  after(() => house.close());

  it('creates a hook, whose URL no other answer shows whole', async () => {
    const bot = house.botOf('desk');
    const { status, body } = await house.app.post('hooks', { name: 'Shop', agent_bot_id: bot, handler: 'open' });
    expect(status).to.equal(201);
    expect(body).to.deep.include({
      name: 'Shop',
      agent_bot_id: bot,
      automation_id: null,
      handler: 'open',
      last_received_at: null,
    });
    // 128 bits at least: 43 characters of 62.
    expect(body.url).to.match(/^http:\/\/127\.0\.0\.1:\d+\/hooks\/swh_[0-9A-Za-z]{49}$/);
    const shown = (await house.app.get(`hooks/${body.id}`)).body;
    expect(shown.url).to.equal(body.url.replace(/swh_.*(?=....$)/, '…'));
    expect((await house.app.get('hooks')).body.payload).to.deep.include(shown);
    expect((await house.app.delete(`hooks/${body.id}`)).status).to.equal(200);
    expect((await house.app.get(`hooks/${body.id}`)).status).to.equal(404);
    expect((await send(body.url, '{}')).status).to.equal(404);
  });

  it('refuses what no plugin could handle', async () => {
    const hook = { name: 'x', agent_bot_id: house.botOf('desk'), handler: 'open' };
    const refused = async (change: object) => {
      const { status, body } = await house.app.post('hooks', { ...hook, ...change });
      return [status, body.details?.[0]?.path ?? body.error];
    };
    expect(await refused({ handler: 'other' })).to.deep.equal([422, '/handler']);
    expect(await refused({ agent_bot_id: house.botOf('plain') })).to.deep.equal([422, '/handler']);
    const { body: server } = await house.app.post('agent_bots', { name: 's', outgoing_url: 'https://127.0.0.1:9/' });
    expect(await refused({ agent_bot_id: server.id })).to.deep.equal([422, '/handler']);
    expect(await refused({ agent_bot_id: 999_999 })).to.deep.equal([404, 'Agent bot not found']);
    expect(await refused({ agent_bot_id: undefined, automation_id: house.botOf('desk') })).to.deep.equal([
      404,
      'Automation not found',
    ]);
    expect(await refused({ agent_bot_id: undefined })).to.deep.equal([422, '/agent_bot_id']);
    expect(await refused({ automation_id: 1 })).to.deep.equal([404, 'Automation not found']);
  });

  it('rotates the URL; the one before serves for the overlap', async () => {
    const { app } = house;
    const { id, url: first } = await makeHook(app, house.botOf('desk'), 'open');
    const { body: rotated } = await app.post(`hooks/${id}/rotate`, { overlap_seconds: 3_600 });
    expect(rotated.url).to.match(/swh_[0-9A-Za-z]{49}$/);
    expect((await send(first, '{"id":1}')).status).to.equal(202);
    expect((await send(rotated.url, '{"id":1}')).body.duplicate).to.equal(true);
    await app.query(`UPDATE hook_tokens SET expires_at = now() WHERE hook_id = $1 AND expires_at IS NOT NULL`, [id]);
    expect((await send(first, '{"id":2}')).status).to.equal(404);
    const { body: last } = await app.post(`hooks/${id}/rotate`, { overlap_seconds: 0 });
    expect((await send(rotated.url, '{"id":3}')).status).to.equal(404);
    expect((await send(last.url, '{"id":3}')).status).to.equal(202);
    for (let n = 0; n < 9; n += 1) expect((await app.post(`hooks/${id}/rotate`)).status).to.equal(200);
    expect((await app.post(`hooks/${id}/rotate`)).body.code).to.equal('too_many_urls');
    expect((await app.post(`hooks/${id}/rotate`, { overlap_seconds: 0 })).status).to.equal(200);
  });

  it('names the secrets of hooks that a bot lacks, and takes them', async () => {
    const bot = `agent_bots/${house.botOf('desk')}`;
    const needs = async () => (await house.app.get(bot)).body.missing_secrets;
    expect(await needs()).to.deep.equal(['GITHUB']);
    const { payload } = (await house.app.get('plugins')).body;
    expect(payload.find(({ id }: { id: string }) => id === 'desk').secrets).to.deep.equal([
      { name: 'GITHUB', hosts: [] },
    ]);
    expect((await house.app.patch(bot, { secrets: { GITHUB: 'a-secret' } })).status).to.equal(200);
    expect(await needs()).to.deep.equal([]);
  });

  it('lists requests by pages, newest first', async () => {
    const { id, url } = await makeHook(house.app, house.botOf('desk'), 'open');
    for (let n = 0; n < 27; n += 1) await send(url, JSON.stringify({ id: n }));
    const { body } = await house.app.get(`hooks/${id}/requests?page=2`);
    expect(body.meta).to.deep.equal({ count: 27, current_page: 2, total_pages: 2 });
    expect(body.payload).to.have.length(2);
    expect((await house.app.get(`hooks/${id}/requests/${body.payload[0].id + 10_000}`)).status).to.equal(404);
  });

  it('deletes everything of a hook with its bot', async () => {
    const { app } = house;
    const { body: bot } = await app.post('agent_bots', { name: 'gone', kind: 'plugin', plugin_id: 'desk' });
    const { id, url } = await makeHook(app, bot.id, 'open');
    await send(url, '{"id":1}');
    expect((await app.delete(`agent_bots/${bot.id}`)).status).to.equal(200);
    expect((await send(url, '{"id":2}')).status).to.equal(404);
    for (const table of ['hook_tokens', 'hook_requests'])
      expect(await app.query(`SELECT FROM ${table} WHERE hook_id = $1`, [id])).to.have.length(0);
  });
});
