import { expect } from 'chai';
import { claiming } from '../../src/deliveries/lanes/claim.ts';
import { toPlugin } from '../../src/engine/send/to-plugin.ts';
import { systemClock, systemRandom } from '../../src/lib/ports.ts';
import { foundWithBot } from '../../src/records/bots/bot-to-run.ts';
import { BotRunner } from '../../src/runs/bot-runner.ts';
import { ChannelRunner } from '../../src/runs/channel-runner.ts';
import { FreeRunner } from '../../src/runs/free-runner.ts';
import type { RunResult } from '../../src/sandbox/run.ts';
import { openConversation, pluginRootOf, serveInboxes } from '../faults/plugins.ts';
import { TestApp } from '../support/app.ts';

const holdAttempts = 3;
const claimBots = claiming({ kind: 'bot', isSide: false }, foundWithBot);
const ended: RunResult = { outcome: 'ok', actions: [], logs: [], calls: [], wallMs: 1, cpuMs: 0 };
const results: Readonly<Record<string, RunResult>> = {
  'that replied': { ...ended, actions: [{ type: 'reply', content: 'Too late' }] },
  'that threw': { ...ended, outcome: 'threw', error: 'Error: no' },
};
/** What may happen to the delivery of a run, and in what state it is then. */
const losses = {
  'another process has claimed': ['UPDATE lanes SET lease_token = gen_random_uuid() WHERE id = $1', 'pending'],
  'was cancelled': [`UPDATE deliveries SET state = 'cancelled', lease_token = NULL WHERE lane_id = $1`, 'cancelled'],
} as const;

describe('a run', () => {
  let app: TestApp;
  let root: { path: string; remove: () => void };
  let inboxId: number | undefined;

  before(async () => {
    root = pluginRootOf({ thinker: '' });
    app = await TestApp.start({ engine: false, pluginRoot: root.path });
    inboxId = (await serveInboxes(app, ['thinker'])).get('thinker');
  });

  after(async () => {
    await app.stop();
    root.remove();
  });

  /** Lets a run end with the result, after `meanwhile`, which gets the id of its lane. */
  async function play(result: RunResult, meanwhile: string) {
    const id = await openConversation(app, inboxId);
    await app.post(`conversations/${id}/messages`, { content: 'Hello', message_type: 'incoming' });
    const { database, plugins } = app.app;
    const [bot] = await app.query<{ id: number }>(`SELECT id FROM agent_bots WHERE plugin_id = 'thinker'`);
    const due = { id: bot!.id, accountId: 1, isProven: null, circuit: 'closed', rate: null } as const;
    const bounds = {
      shares: [{ ...due, lanes: 1 }],
      leaseSeconds: 30,
      token: systemRandom.uuid(),
      holdAttempts,
      isHeld: false,
    };
    const [claimed] = (await claimBots(database.sql, bounds)).heads;
    const log = { info: () => undefined, warn: () => undefined };
    const sandbox = {
      queued: 0,
      warm: () => undefined,
      close: async () => undefined,
      run: async () => {
        await app.query(meanwhile, [claimed!.laneId]);
        return result;
      },
    };
    const running = {
      database,
      storageBytes: 1e6,
      plugins,
      clock: systemClock,
      random: systemRandom,
      log,
      sandbox,
    };
    const deliver = toPlugin({
      database,
      holdAttempts,
      log,
      botRunner: new BotRunner(running),
      freeRunner: new FreeRunner(running),
      channelRunner: new ChannelRunner(running),
      forward: () => Promise.reject(new Error('The bot forwards nothing')),
    });
    await app.events();
    const attempted = await deliver(claimed!, due);
    const count = async (table: string) =>
      (await app.query(`SELECT FROM ${table} WHERE conversation_id = $1`, [id])).length;
    const [delivery] = await app.query<{ state: string; lane_id: number }>(
      'SELECT state FROM deliveries WHERE id = $1',
      [claimed!.deliveryId],
    );
    return {
      attempted,
      state: delivery!.state,
      left: { messages: await count('messages'), runs: await count('bot_runs'), events: await app.eventNames() },
    };
  }

  for (const [which, result] of Object.entries(results)) {
    for (const [loss, [meanwhile, state]] of Object.entries(losses)) {
      it(`${which} leaves nothing when its delivery ${loss} meanwhile`, async () => {
        const played = await play(result, meanwhile);
        expect(played.left).to.deep.equal({ messages: 1, runs: 0, events: [] });
        expect(played.state).to.equal(state);
        expect(played.attempted).to.include({ outcome: 'skipped', finished: null, retryInMs: null });
      });
    }

    it(`${which} leaves its effects when nobody took its delivery`, async () => {
      const played = await play(result, 'SELECT $1::bigint');
      expect(played.left).to.include({ messages: 2, runs: 1 });
      expect(played.state).to.equal(result.outcome === 'ok' ? 'delivered' : 'exhausted');
    });
  }
});
