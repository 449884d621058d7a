import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from 'pg';
import type { Bench } from '../bench.ts';
import { withClient, withFolder } from '../support/database.ts';
import { median, percentile } from '../support/figures.ts';
import { ask, hireBot, timeReply, writePlugins, type BenchBot } from '../support/plugins.ts';
import { serviceEnv, withService } from '../support/service.ts';
import { openShops } from '../support/shop.ts';

// Longer than 200 runs take to begin on a busy machine, shorter than a request may take.
const shopMs = 8_000;
const waitingAtOnce = 200;
const rounds = 3;
const repliesPerRound = 20;
const warmUps = 10;
const patienceMs = 20_000;
const opensAtOnce = 8;
// So many, that the bound on connections to one origin holds up none of the runs.
const shopCount = 5;
// Addresses that localhost resolves to.
const loopback = { OUTBOUND_ALLOW_CIDRS: '127.0.0.0/8,::1/128' };

/** A bot's reply while 200 runs of another bot of the account wait for `ctx.fetch`, beside the same reply in calm. */
export const waitingBots: Bench = {
  name: 'waiting-bots',
  needs: 'database',
  boundMs: 300_000,
  run: ({ databaseUrl }) =>
    withFolder(async (folder) => {
      const shops = await openShops(shopCount, shopMs);
      try {
        const certificates = join(folder, 'shop.pem');
        await writeFile(certificates, shops[0]?.certificate ?? '');
        const hosts = shops.map(({ host }) => host);
        const plugins = join(folder, 'plugins');
        const permissions = { conversation: ['reply'], network: { hosts } };
        const late = `const hosts = ${JSON.stringify(hosts)};
          const { status } = await ctx.fetch('https://' + hosts[ctx.conversation.id % hosts.length] + '/'); ctx.reply('' + status);`;
        await writePlugins(plugins, { late, quick: `ctx.reply('quick');` }, permissions);
        const env = serviceEnv(databaseUrl, { PLUGIN_DIRS: plugins, NODE_EXTRA_CA_CERTS: certificates, ...loopback });
        const { calm, beside } = await withService(env, ({ url }) =>
          withClient(databaseUrl, (database) => compare(url, database, () => sum(shops.map(({ waiting }) => waiting)))),
        );
        const path = `a bot's reply beside ${waitingAtOnce} runs that wait for \`fetch\``;
        const inCalm = (share: number) => ({ name: 'the same in calm', value: percentile(calm, share) });
        return [
          { path: `${path}, p50`, unit: 'ms', ours: median(beside), limit: inCalm(0.5) },
          { path: `${path}, p95`, unit: 'ms', ours: percentile(beside, 0.95), limit: inCalm(0.95) },
        ];
      } finally {
        for (const shop of shops) shop.close();
      }
    }),
};

/** How long replies took in calm and beside the waiting runs, in turns. */
async function compare(
  url: string,
  database: Client,
  waiting: () => number,
): Promise<{ calm: number[]; beside: number[] }> {
  const [late, quick] = [await hireBot(url, 'late'), await hireBot(url, 'quick')];
  // A bot writes ten messages a minute to a conversation.
  const reply = async () => timeReply(url, database, { conversation: await quick.open(), patienceMs });
  for (let count = 0; count < warmUps; count++) await reply();
  // A bot that has not answered yet gets one run at a time.
  await timeReply(url, database, { conversation: await late.open(), patienceMs });
  const calm: number[] = [];
  const beside: number[] = [];
  for (let round = 0; round < rounds; round++) {
    for (let count = 0; count < repliesPerRound; count++) calm.push(await reply());
    await fill(url, waiting, late);
    while (waiting() === waitingAtOnce) {
      const ms = await reply();
      if (waiting() === waitingAtOnce) beside.push(ms);
    }
    while (waiting() > 0) await sleep(10);
    await settled(database);
  }
  return { calm, beside };
}

/** Returns once all runs wait for the shop. */
async function fill(url: string, waiting: () => number, late: BenchBot): Promise<void> {
  const ids: number[] = [];
  const some = Array.from({ length: opensAtOnce });
  while (ids.length < waitingAtOnce) ids.push(...(await Promise.all(some.map(() => late.open()))));
  await Promise.all(ids.slice(0, waitingAtOnce).map((id) => ask(url, id)));
  const until = performance.now() + patienceMs;
  let most = 0;
  while (waiting() < waitingAtOnce) {
    most = Math.max(most, waiting());
    if (performance.now() > until) throw new Error(`Only ${most} of ${waitingAtOnce} runs waited at once`);
    await sleep(1);
  }
}

async function settled(database: Client): Promise<void> {
  const until = performance.now() + patienceMs;
  const pending = `SELECT FROM deliveries WHERE endpoint_kind = 'bot' AND state = 'pending' LIMIT 1`;
  while ((await database.query(pending)).rows.length > 0) {
    if (performance.now() > until) throw new Error('Runs that waited do not end');
    await sleep(20);
  }
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);
