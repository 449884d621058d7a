import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from 'pg';
import type { Bench, Cost, Figure } from '../bench.ts';
import { listenForMessages } from '../support/announced-messages.ts';
import { withBareIsolate } from '../support/bare-isolate.ts';
import { withClient } from '../support/database.ts';
import { median, percentile } from '../support/figures.ts';
import { hireBot } from '../support/plugins.ts';
import { call, serviceEnv, withService } from '../support/service.ts';
import { difference, onWire, type Wire } from '../support/wire.ts';

const warmUps = 10;
const counted = 40;
// Questions in as many conversations; the rate is counted from `settled` answers on.
const backlog = 400;
const settled = 100;
const askedAtOnce = 8;
const patienceMs = 10_000;
const question = { content: 'opening hours?', message_type: 'incoming' };

/** From the commit of a customer's message to that of the sandboxed bot's answer: one at a time, then as many as it can. */
export const botReply: Bench = {
  name: 'bot-reply',
  needs: 'database',
  boundMs: 180_000,
  run: ({ databaseUrl }) =>
    withClient(databaseUrl, async (database) => {
      const isolate = await bareIsolate();
      const delays = await withService(serviceEnv(databaseUrl), async ({ url }) =>
        (await oneAtATime(url, database)).slice(warmUps).map(({ ms }) => ms),
      );
      const perSecond = await fromBacklog(databaseUrl, database);
      const cost = await onWire(databaseUrl, (wire) =>
        withService(serviceEnv(wire.url), async ({ url }) => {
          const costs = (await oneAtATime(url, database, wire)).slice(warmUps).map(({ cost: one }) => one);
          return {
            trips: median(costs.map(({ trips }) => trips)),
            statements: median(costs.map(({ statements }) => statements)),
          };
        }),
      );
      const path = 'event to committed bot reply';
      const limit = { name: 'bare isolate in a child', value: median(isolate) };
      const figures: Figure[] = [
        { path: `${path}, p50`, unit: 'ms', ours: median(delays), limit, cost },
        { path: `${path}, p95`, unit: 'ms', ours: percentile(delays, 0.95) },
        { path: 'bot replies from a backlog', unit: '/s', ours: perSecond },
      ];
      return figures;
    }),
};

/** How long each of as many runs took in the child of the limit, in milliseconds. */
function bareIsolate(): Promise<number[]> {
  return withBareIsolate(async (run) => {
    const took: number[] = [];
    for (let count = 0; count < warmUps + counted; count++) took.push(await run(question.content));
    return took.slice(warmUps);
  });
}

/** Time and statements between the commit of a question and the commit of its reply. */
interface Reply {
  ms: number;
  cost: Cost;
}

async function oneAtATime(url: string, database: Client, wire?: Wire): Promise<Reply[]> {
  const note = () => ({ at: performance.now(), total: wire?.total ?? { trips: 0, statements: 0 } });
  const announced = await listenForMessages(database, { note, patienceMs });
  const open = await opener(url);
  const replies: Reply[] = [];
  for (let count = 0; count < warmUps + counted; count++) {
    const { id } = await open();
    await call(url, 'POST', `conversations/${id}/messages`, question);
    const [asked, answered] = [await announced.seen(`${id} contact`), await announced.seen(`${id} agent_bot`)];
    replies.push({ ms: answered.at - asked.at, cost: difference(asked.total, answered.total) });
  }
  await announced.stop();
  return replies;
}

/** Answers per second, once the first hundred are there, of a service that finds the questions waiting. */
async function fromBacklog(databaseUrl: string, database: Client): Promise<number> {
  const answers = async (): Promise<number> => {
    const { rows } = await database.query<{ count: number }>(
      `SELECT count(*)::int AS count FROM messages WHERE sender_kind = 'agent_bot'`,
    );
    return rows[0]?.count ?? 0;
  };
  await withService(serviceEnv(databaseUrl, { ROLE: 'web' }), async ({ url }) => {
    const open = await opener(url);
    const ask = async (): Promise<void> => {
      const { id } = await open();
      await call(url, 'POST', `conversations/${id}/messages`, question);
    };
    for (let asked = 0; asked < backlog; asked += askedAtOnce)
      await Promise.all(Array.from({ length: askedAtOnce }, ask));
  });
  const before = await answers();
  return withService(serviceEnv(databaseUrl), async () => {
    const until = performance.now() + 3 * patienceMs;
    let [first, begun] = [0, 0];
    for (let count = 0; performance.now() < until; await sleep(10)) {
      count = (await answers()) - before;
      if (count < settled) continue;
      if (first === 0) [first, begun] = [count, performance.now()];
      if (count >= backlog) return (count - first) / ((performance.now() - begun) / 1000);
    }
    throw new Error('The bot did not answer all');
  });
}

async function opener(url: string): Promise<() => Promise<{ id: number }>> {
  const bot = await hireBot(url, 'faq');
  return async () => ({ id: await bot.open() });
}
