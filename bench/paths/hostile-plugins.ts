import { setTimeout as sleep } from 'node:timers/promises';
import type { Bench } from '../bench.ts';
import { withClient, withFolder } from '../support/database.ts';
import { load, summary, type Round } from '../support/load.ts';
import { ask, hireBot, writePlugins, type BenchBot } from '../support/plugins.ts';
import { createConversations, messages } from '../support/records.ts';
import { call, serviceEnv, withService } from '../support/service.ts';

const rounds = 4;
const roundMs = 8_000;
const connections = 2;
const feedMs = 1_000;

/** Plugins of each kind of the hostile corpus: compute, wait, grow, end only by a kill, or flood a door. */
const attacks: Readonly<Record<string, string>> = {
  loops: 'for (;;);',
  microtasks: 'for (;;) await 0',
  'never-settles': 'await new Promise(() => {})',
  arrays: 'const a = []; for (;;) a.push(new Array(1e5).fill(1.5))',
  texts: `const a = []; for (let i = 0; ; i++) { const s = 'x'.padStart(5e8, 'ab'); s.indexOf('z' + i); a.push(s) }`,
  'big-numbers': 'let b = 7n; for (let i = 0; i < 40; i++) b *= b',
  throws: `throw { get stack() { throw { get stack() { throw 1 } } } }`,
  'huge-log': `for (let i = 0; i < 1e6; i++) ctx.log.info('x'.repeat(1e4))`,
  'storage-flood': `for (let i = 0; ; i++) await ctx.storage.installation.set('k' + i, 'x'.repeat(8000)).catch(() => {})`,
  'storage-crowd': `for (;;) await Promise.all(Array.from({ length: 1000 }, (_, i) => ctx.storage.incr('k' + i))).catch(() => {})`,
  'schedule-flood': `for (let i = 0; i < 1e5; i++) ctx.schedule({ inSeconds: 60 }, 'n' + i, 'x'.repeat(1000))`,
  'fetch-flood': `await Promise.all(Array.from({ length: 1000 }, (_, i) => ctx.fetch('https://shop.test/' + i).catch(() => {})))`,
};

/** Permissions that the last four attacks need for their doors. */
const permissions = {
  conversation: ['reply'],
  storage: { scopes: ['conversation', 'installation'] },
  schedule: true,
  network: { hosts: ['shop.test'] },
};

/** Response times of the API while hostile plugins run without end, compared in turns with harmless plugins run as often. */
export const hostilePlugins: Bench = {
  name: 'hostile-plugins',
  needs: 'database',
  boundMs: 240_000,
  run: ({ databaseUrl }) =>
    withFolder(async (folder) => {
      const harmless = Object.fromEntries(Object.keys(attacks).map((id) => [`calm-${id}`, `ctx.reply('Hello')`]));
      await writePlugins(folder, { ...attacks, ...harmless }, permissions);
      return withService(serviceEnv(databaseUrl, { PLUGIN_DIRS: folder }), ({ url }) =>
        withClient(databaseUrl, async (database) => {
          const hire = (ids: string[]) => Promise.all(ids.map((plugin) => hireBot(url, plugin)));
          const [hostile, good] = [await hire(Object.keys(attacks)), await hire(Object.keys(harmless))];
          const send = messages(await createConversations(url, 64));
          let turn = 0;
          const next = () => (turn++ % 2 === 0 ? { method: 'GET' as const, path: 'conversations' } : send());
          const calm: Round[] = [];
          const hostileRounds: Round[] = [];
          const beside = async (bots: readonly BenchBot[]): Promise<Round> => {
            const enough = new AbortController();
            const feeding = Promise.all(bots.map((bot) => feed(url, bot, enough.signal)));
            const round = await load(url, { connections, roundMs, next });
            enough.abort();
            await feeding;
            return round;
          };
          for (let round = 0; round < rounds; round++) {
            calm.push(await beside(good));
            hostileRounds.push(await beside(hostile));
            await sleep(2_000);
          }
          const { rows } = await database.query<{ count: number }>(
            `SELECT count(*)::int AS count FROM bot_runs WHERE outcome <> 'ok'`,
          );
          const [ours, limit] = [summary(hostileRounds), summary(calm)];
          const path = `the API beside ${rows[0]?.count} hostile runs`;
          const inCalm = (value: number) => ({ name: 'beside harmless ones', value });
          return [
            { path: `${path}, p50`, unit: 'ms', ours: ours.p50, limit: inCalm(limit.p50) },
            { path: `${path}, p99`, unit: 'ms', ours: ours.p99, limit: inCalm(limit.p99) },
          ];
        }),
      );
    }),
};

/** Has the bot run again and again, each time in a new conversation, and out of quarantine. */
async function feed(url: string, bot: BenchBot, enough: AbortSignal): Promise<void> {
  while (!enough.aborted) {
    await call(url, 'POST', `agent_bots/${bot.id}/release`);
    await ask(url, await bot.open());
    await sleep(feedMs);
  }
}
