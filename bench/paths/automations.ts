import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from 'pg';
import type { Bench, Figure } from '../bench.ts';
import { withClient, withFolder } from '../support/database.ts';
import { median, percentile } from '../support/figures.ts';
import { load, summary, type Round } from '../support/load.ts';
import { hireBot, timeReply, writePlugins } from '../support/plugins.ts';
import { createConversations, messages } from '../support/records.ts';
import { call, serviceEnv, withService } from '../support/service.ts';

const count = 10;
const conversations = 64;
const [connections, roundMs, rounds] = [16, 2_000, 4];
const floodMs = 3_000;
const [replies, warmUps] = [60, 10];
const [patienceMs, pauseMs] = [30_000, 20];
const waiting = `SELECT FROM deliveries WHERE endpoint_kind = 'automation' AND state = 'pending' LIMIT 1`;

/** A message's commit with ten automations beside none, and a bot's reply beside an automation over a flood of messages. */
export const automations: Bench = {
  name: 'automations',
  needs: 'database',
  boundMs: 300_000,
  run: ({ databaseUrl }) =>
    withFolder(async (folder) => {
      const plugins = join(folder, 'plugins');
      await writePlugins(plugins, { quick: `ctx.reply('quick');` }, { conversation: ['reply'] });
      const seen = 'ctx.attributes({ seen: ctx.message.id });';
      await writePlugins(plugins, { seen }, { conversation: ['attributes'] }, 'automation');
      const env = serviceEnv(databaseUrl, { PLUGIN_DIRS: plugins });
      const ofReplies = await withClient(databaseUrl, (database) =>
        withService(env, ({ url }) => compareReplies(url, database)),
      );
      // Last: without an engine, what it leaves waits for ever.
      const ofCommits = await withService({ ...env, ROLE: 'web' }, ({ url }) => compareCommits(url));
      return [...ofCommits, ...ofReplies];
    }),
};

async function compareCommits(url: string): Promise<Figure[]> {
  const next = messages(await createConversations(url, conversations));
  const ids = await makeAutomations(url, count);
  const measured: { none: Round[]; ten: Round[] } = { none: [], ten: [] };
  for (let round = 0; round <= rounds; round++) {
    measured.none.push(await load(url, { connections, roundMs, next }));
    await turn(url, ids, true);
    measured.ten.push(await load(url, { connections, roundMs, next }));
    await turn(url, ids, false);
  }
  const [none, ten] = [summary(measured.none), summary(measured.ten)];
  const path = `message create with ${count} automations, ${connections} connections`;
  const name = 'the same with none';
  return [
    { path, unit: '/s', ours: ten.perSecond, limit: { name, value: none.perSecond } },
    { path: `${path}, p50`, unit: 'ms', ours: ten.p50, limit: { name, value: none.p50 } },
  ];
}

async function compareReplies(url: string, database: Client): Promise<Figure[]> {
  const quick = await hireBot(url, 'quick');
  // A bot writes ten messages a minute to a conversation.
  const reply = async () => timeReply(url, database, { conversation: await quick.open(), patienceMs });
  for (let warmUp = 0; warmUp < warmUps; warmUp++) await reply();
  const calm: number[] = [];
  while (calm.length < replies) calm.push(await reply());
  const next = messages(await createConversations(url, conversations));
  const [id = 0] = await makeAutomations(url, 1);
  await turn(url, [id], true);
  const beside: number[] = [];
  while (beside.length < replies) {
    await load(url, { connections, roundMs: floodMs, next });
    const before = beside.length;
    while (beside.length < replies && (await database.query(waiting)).rows.length > 0) beside.push(await reply());
    if (beside.length === before) throw new Error('The flood is over before a bot has replied');
  }
  await turn(url, [id], false);
  await settled(database);
  const path = `a bot's reply beside an automation over a flood`;
  const inCalm = (share: number) => ({ name: 'the same in calm', value: percentile(calm, share) });
  const [p95, more] = [percentile(beside, 0.95), percentile(beside, 0.95) - percentile(calm, 0.95)];
  return [
    { path: `${path}, p50`, unit: 'ms', ours: median(beside), limit: inCalm(0.5) },
    { path: `${path}, p95`, unit: 'ms', ours: p95, limit: inCalm(0.95) },
    { path: `${path}, p95, more than in calm`, unit: 'ms', ours: more },
  ];
}

/** Makes automations that are off; resolves with their ids. */
async function makeAutomations(url: string, many: number): Promise<number[]> {
  const ids: number[] = [];
  for (let made = 0; made < many; made++) {
    const body = { name: `Seen ${made}`, plugin_id: 'seen', active: false };
    ids.push((await call<{ id: number }>(url, 'POST', 'automations', body)).id);
  }
  return ids;
}

async function turn(url: string, ids: readonly number[], active: boolean): Promise<void> {
  for (const id of ids) await call(url, 'PATCH', `automations/${id}`, { active });
}

async function settled(database: Client): Promise<void> {
  const until = performance.now() + patienceMs;
  while ((await database.query(waiting)).rows.length > 0 && performance.now() < until) await sleep(pauseMs);
}
