import { createHmac } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from 'pg';
import { Pool } from 'undici';
import type { Bench, Figure } from '../bench.ts';
import { createLeanTables } from '../limits/lean.ts';
import { listenForMessages } from '../support/announced-messages.ts';
import { withClient, withFolder } from '../support/database.ts';
import { median, percentile } from '../support/figures.ts';
import { hireBot, ask, type BenchBot } from '../support/plugins.ts';
import { call, serviceEnv, startProcess, token, withProcess, withService } from '../support/service.ts';

const warmUps = 10;
const counted = 40;
const patienceMs = 10_000;
const perMinute = 10_000;
/** How long requests come at that rate. */
const seconds = 20;
/** Requests from one that somebody else signs to the next. */
const forgeEvery = 100;
const connections = 64;
const leanConversations = 64;
const backlogMs = 60_000;
const [secret, foreign] = ['the secret of the shop', 'of somebody else'];

const code = `export default { on: {
  message_created(ctx) { ctx.reply('Answer'); },
  async hook_received(ctx) {
    const { conversation, person } = ctx.hook.json;
    if (conversation) return ctx.reply('Answer', { conversation_id: conversation });
    if (!person) return;
    const contact = await ctx.contacts.findOrCreate({ identifier: person });
    const { id } = await ctx.conversations.open({ contact_id: contact.id, inbox_id: ctx.config.inbox });
    ctx.reply('Answer', { conversation_id: id });
  } } };`;

/** From another system's request to the bot's committed reply, one at a time; then 10,000 requests a minute, some of them forged. */
export const hooks: Bench = {
  name: 'hooks',
  needs: 'database',
  boundMs: 300_000,
  run: ({ databaseUrl }) =>
    withFolder(async (folder) => {
      await writeShop(folder);
      const env = serviceEnv(databaseUrl, { PLUGIN_DIRS: folder, HOOKS_PER_MINUTE: '1000000' });
      return withClient(databaseUrl, (database) =>
        withService(env, async ({ url }) => {
          const bot = await hireBot(url, 'shop');
          const hook = await makeHook(url, bot);
          return [...(await replies(url, database, { bot, hook })), ...(await rate(databaseUrl, database, hook))];
        }),
      );
    }),
};

async function writeShop(folder: string): Promise<void> {
  const manifest = {
    id: 'shop',
    name: 'Shop',
    version: '1.0.0',
    apiVersion: '1',
    main: 'bot.js',
    events: ['message_created'],
    hooks: { orders: { verify: 'github', secret: 'SHOP', key: '/key' } },
    permissions: { hooks: true, contacts: 'write', conversations: 'write', conversation: ['reply'] },
    config: { type: 'object', properties: { inbox: { type: 'integer' } } },
  };
  await mkdir(join(folder, 'shop'), { recursive: true });
  await writeFile(join(folder, 'shop', 'plugin.json'), JSON.stringify(manifest));
  await writeFile(join(folder, 'shop', 'bot.js'), code);
}

/** Creates a hook of the bot; returns its URL. */
async function makeHook(url: string, { id }: BenchBot): Promise<string> {
  const inbox = await call<{ id: number }>(url, 'POST', 'inboxes', { name: 'Orders', channel: { type: 'api' } });
  await call(url, 'POST', `inboxes/${inbox.id}/set_agent_bot`, { agent_bot: id });
  await call(url, 'PATCH', `agent_bots/${id}`, { secrets: { SHOP: secret }, config: { inbox: inbox.id } });
  const hook = { name: 'Orders', agent_bot_id: id, handler: 'orders' };
  return new URL((await call<{ url: string }>(url, 'POST', 'hooks', hook)).url, url).href;
}

let sent = 0;

function signed(body: object, key: string): { body: string; headers: Record<string, string> } {
  sent += 1;
  const text = JSON.stringify(body);
  const signature = `sha256=${createHmac('sha256', key).update(text).digest('hex')}`;
  const headers = {
    'content-type': 'application/json',
    'x-hub-signature-256': signature,
    'x-github-delivery': `delivery-${sent}`,
  };
  return { body: text, headers };
}

async function post(hook: string, body: object): Promise<void> {
  const response = await fetch(hook, { method: 'POST', ...signed(body, secret) });
  if (response.status !== 202) throw new Error(`A hook was answered ${response.status} ${await response.text()}`);
}

/** The replies to hooks and to customers, in turns, each from the request to the commit. */
async function replies(
  url: string,
  database: Client,
  { bot, hook }: { bot: BenchBot; hook: string },
): Promise<Figure[]> {
  const announced = await listenForMessages(database, { note: () => performance.now(), patienceMs });
  const [known, customers, found]: number[][] = [[], [], []];
  const timed = async (into: number[] | undefined, send: (conversation: number) => Promise<void>): Promise<void> => {
    const conversation = await bot.open();
    const begun = performance.now();
    await send(conversation);
    into?.push((await announced.seen(`${conversation} agent_bot`)) - begun);
  };
  for (let count = 0; count < warmUps + counted; count += 1) {
    await timed(known, (conversation) => post(hook, { conversation }));
    await timed(customers, (conversation) => ask(url, conversation));
    announced.forget();
    const begun = performance.now();
    await post(hook, { person: `person-${count}` });
    found?.push((await announced.seen('agent_bot')) - begun);
  }
  await announced.stop();
  const [toKnown, toCustomer, toFound] = [known, customers, found].map((all = []) => all.slice(warmUps));
  const limit = (share: number) => ({
    name: "a customer's message to the same bot's reply",
    value: percentile(toCustomer ?? [], share),
  });
  const path = 'hook to committed reply';
  return [
    { path: `${path}, p50`, unit: 'ms', ours: median(toKnown ?? []), limit: limit(0.5) },
    { path: `${path}, p95`, unit: 'ms', ours: percentile(toKnown ?? [], 0.95), limit: limit(0.95) },
    {
      path: `${path} to a new contact in a new conversation, p50`,
      unit: 'ms',
      ours: median(toFound ?? []),
      limit: limit(0.5),
    },
  ];
}

interface Answers {
  latenciesMs: number[];
  statuses: Map<number, number>;
}

type Next = (count: number) => { path: string; body: string; headers: Record<string, string> };

/** Sends at the rate whatever the answers; a late answer counts from when its request was due. */
async function atRate(origin: string, next: Next): Promise<Answers> {
  const pool = new Pool(origin, { connections });
  const answers: Answers = { latenciesMs: [], statuses: new Map() };
  const total = Math.floor((perMinute / 60) * seconds);
  const begun = performance.now();
  const one = async (count: number): Promise<void> => {
    const due = begun + (count * 60_000) / perMinute;
    await sleep(Math.max(0, due - performance.now()));
    const { path, ...request } = next(count);
    const { statusCode, body } = await pool.request({ method: 'POST', path, ...request });
    await body.dump();
    answers.latenciesMs.push(performance.now() - due);
    answers.statuses.set(statusCode, (answers.statuses.get(statusCode) ?? 0) + 1);
  };
  await Promise.all(Array.from({ length: total }, (_, count) => one(count)));
  await pool.close();
  return answers;
}

async function rate(databaseUrl: string, database: Client, hook: string): Promise<Figure[]> {
  await createLeanTables(databaseUrl, leanConversations);
  const { origin, pathname } = new URL(hook);
  const ours = await atRate(origin, (count) => {
    const isForged = count % forgeEvery === forgeEvery - 1;
    return { path: pathname, ...signed({ key: count % leanConversations, count }, isForged ? foreign : secret) };
  });
  const handled = await untilHandled(database);
  const bare = startProcess('bench/limits/bare-koa.ts', [], { DATABASE_URL: databaseUrl });
  const limit = await withProcess(bare, ({ url }) =>
    atRate(url, (count) => ({
      path: `/api/v1/accounts/1/conversations/${1 + (count % leanConversations)}/messages`,
      body: JSON.stringify({ content: `Order ${count}` }),
      headers: { api_access_token: token, 'content-type': 'application/json' },
    })),
  );
  const total = ours.latenciesMs.length;
  const forged = Math.floor(total / forgeEvery);
  const name = 'bare Koa, one statement, lean tables';
  const path = `${perMinute.toLocaleString('en')} hooks a minute, 1 % forged`;
  const ratio = (share: number) => ({ name, value: percentile(limit.latenciesMs, share) });
  return [
    {
      path: `${path}: accepted of the others`,
      unit: '%',
      ours: (100 * (ours.statuses.get(202) ?? 0)) / (total - forged),
    },
    { path: `${path}: refused of the forged`, unit: '%', ours: (100 * (ours.statuses.get(401) ?? 0)) / forged },
    { path: `${path}: answer, p50`, unit: 'ms', ours: percentile(ours.latenciesMs, 0.5), limit: ratio(0.5) },
    { path: `${path}: answer, p99`, unit: 'ms', ours: percentile(ours.latenciesMs, 0.99), limit: ratio(0.99) },
    { path: `${path}: until all are handled after the last`, unit: 's', ours: handled / 1000 },
  ];
}

/** Milliseconds until no request waits. */
async function untilHandled(database: Client): Promise<number> {
  const begun = performance.now();
  while (performance.now() < begun + backlogMs) {
    const { rows } = await database.query(`SELECT FROM deliveries WHERE state = 'pending' LIMIT 1`);
    if (rows.length === 0) return performance.now() - begun;
    await sleep(50);
  }
  throw new Error('Hooks still wait');
}
