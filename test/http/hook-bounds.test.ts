import { expect } from 'chai';
import { BotHouse } from '../runs/house.ts';
import { makeHook, send } from '../support/hook-senders.ts';
import { addAccount } from '../support/people.ts';

const desk = {
  on: { message_created: '' },
  hooks: { open: { verify: 'none', id: '/id' } },
  permissions: { hooks: true },
} as const;

describe('bounds of hooks', function () {
  this.timeout(60_000);

  async function opened(config: object) {
    const house = await BotHouse.open({ desk }, { engine: false, config });
    return { house, hook: await makeHook(house.app, house.botOf('desk'), 'open') };
  }

  it('answers more requests of a URL than HOOKS_PER_MINUTE 429, and those of others as before', async () => {
    const { house, hook } = await opened({ hooksPerMinute: 5 });
    try {
      const other = await makeHook(house.app, house.botOf('desk'), 'open');
      const answers = [];
      for (let n = 0; n < 8; n += 1) answers.push(await send(hook.url, JSON.stringify({ id: n })));
      expect(answers.map(({ status }) => status)).to.deep.equal([202, 202, 202, 202, 202, 429, 429, 429]);
      expect(Number(answers[7]!.headers.get('retry-after'))).to.be.within(1, 60);
      expect(answers[7]!.body.code).to.equal('rate_limited');
      expect((await send(other.url, '{"id":1}')).status).to.equal(202);
    } finally {
      await house.close();
    }
  });

  it('counts headers, and what each request costs, among what waits', async () => {
    const { house, hook } = await opened({ hookWaitingBytes: 1_048_576 });
    try {
      const headers = { 'content-type': 'application/json', 'x-large': 'x'.repeat(12_000) };
      const statuses = [];
      for (let n = 0; n < 90; n += 1) statuses.push((await send(hook.url, JSON.stringify({ id: n }), headers)).status);
      expect(statuses.filter((status) => status === 202)).to.have.length.within(70, 80);
      expect(statuses.at(-1)).to.equal(429);
    } finally {
      await house.close();
    }
  });

  it('answers 429 while too much waits in an account, and other accounts as before', async () => {
    const { house, hook } = await opened({ hookWaitingBytes: 1_048_576 });
    try {
      const { app } = house;
      const { id, administrator } = await addAccount(app, 'Elsewhere');
      const away = `/api/v1/accounts/${id}`;
      const { body: bot } = await app.post(
        `${away}/agent_bots`,
        { name: 'desk', kind: 'plugin', plugin_id: 'desk' },
        administrator.headers,
      );
      const elsewhere = { name: 'x', agent_bot_id: bot.id, handler: 'open' };
      const { body: theirs } = await app.post(`${away}/hooks`, elsewhere, administrator.headers);
      const body = (n: number) => JSON.stringify({ id: n, text: 'x'.repeat(300_000) });
      const statuses = [];
      for (let n = 0; n < 5; n += 1) statuses.push((await send(hook.url, body(n))).status);
      expect(statuses).to.deep.equal([202, 202, 202, 429, 429]);
      const refused = await send(hook.url, body(9));
      expect([refused.body.code, refused.headers.get('retry-after')]).to.deep.equal(['too_much_waits', '30']);
      expect((await send(theirs.url, body(1))).status).to.equal(202);
      // Handled requests make room.
      await app.query('UPDATE hook_requests SET is_settled = true');
      await app.eventually(async () => (await send(hook.url, body(10))).status === 202);
    } finally {
      await house.close();
    }
  });
});

describe('large bodies of hooks', function () {
  this.timeout(180_000);

  it('are taken up to what the manifest says, handled, and counted among what waits', async () => {
    const large = {
      on: { hook_received: 'ctx.log.info(String(ctx.hook.text.length), { keys: Object.keys(ctx.hook.json) });' },
      events: [],
      hooks: { mail: { verify: 'none', id: '/id', max_bytes: 12_000_000 } },
      permissions: { hooks: true },
      limits: { heapMb: 128 },
    };
    const house = await BotHouse.open({ large }, { config: { hookWaitingBytes: 20_000_000 } });
    try {
      const hook = await makeHook(house.app, house.botOf('large'), 'mail');
      const body = JSON.stringify({ id: 1, file: 'x'.repeat(10_000_000) });
      expect((await send(hook.url, body)).status).to.equal(202);
      await house.app.eventually(async () => {
        const [request] = (await house.app.get(`hooks/${hook.id}/requests`)).body.payload;
        expect(request.state).to.not.equal('failed');
        return request.state === 'done';
      });
      const [run] = await house.app.query<{ text: string }>(`SELECT logs->0->>'message' AS text FROM bot_runs`);
      expect(run!.text).to.equal(String(body.length));
      expect((await send(hook.url, 'x'.repeat(12_000_001))).status).to.equal(413);
      await house.app.patch('/platform/api/v1/plugins/large', { enabled: false });
      await house.app.eventually(async () => {
        await house.app.query('UPDATE hook_requests SET is_settled = true WHERE bytes > 0');
        return (await send(hook.url, body.replace('1', '2'))).status === 202;
      });
      expect((await send(hook.url, body.replace('1', '3'))).status).to.equal(429);
    } finally {
      await house.close();
    }
  });
});
