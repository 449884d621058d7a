import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { TestApp } from '../support/app.ts';
import { makeHook, send } from '../support/hook-senders.ts';
import { writePackage } from '../support/packages.ts';

describe('hooks over a restart', function () {
  this.timeout(120_000);

  it('handles each request that was answered, once, in the process that comes after', async () => {
    const root = mkdtempSync(join(tmpdir(), 'switchboard-hooks-'));
    const code = `export default { on: { hook_received(ctx) { ctx.log.info(ctx.hook.text); } } };`;
    const hooks = { any: { verify: 'none', id: '/id', key: '/key' } };
    writePackage(join(root, 'bots', 'desk'), { id: 'desk', events: [], hooks, permissions: { hooks: true } }, code);
    const before = await TestApp.start({ pluginRoot: root, engine: false });
    const { body: bot } = await before.post('agent_bots', { name: 'desk', kind: 'plugin', plugin_id: 'desk' });
    const hook = await makeHook(before, bot.id, 'any');
    for (let n = 0; n < 20; n += 1)
      expect((await send(hook.url, JSON.stringify({ id: n, key: n % 3 }))).status).to.equal(202);
    await before.app.stop();
    const after = await TestApp.start({ pluginRoot: root, databaseUrl: before.databaseUrl });
    try {
      await after.eventually(async () => {
        const { payload } = (await after.get(`hooks/${hook.id}/requests`)).body;
        return payload.every(({ state }: { state: string }) => state === 'done');
      });
      const runs = await after.query<{ text: string }>(`SELECT logs->0->>'message' AS text FROM bot_runs ORDER BY id`);
      const ids = runs.map(({ text }) => JSON.parse(text) as { id: number; key: number });
      expect(ids).to.have.length(20);
      for (const key of [0, 1, 2]) {
        const own = ids.filter((one) => one.key === key).map(({ id }) => id);
        expect(own).to.deep.equal(own.toSorted((one, other) => one - other));
      }
      // Requests from before the restart are known after it.
      const again = await send(`${after.url}${new URL(hook.url).pathname}`, '{"id":3}');
      expect(again.body.duplicate).to.equal(true);
    } finally {
      await after.stop();
      rmSync(root, { recursive: true });
    }
  });
});
