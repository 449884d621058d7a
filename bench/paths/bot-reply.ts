import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from 'pg';
import type { Bench, Cost, Figure } from '../bench.ts';
import { withClient } from '../support/database.ts';
import { median, percentile } from '../support/figures.ts';
import { load } from '../support/load.ts';
import { call, serviceEnv, withService } from '../support/service.ts';
import { difference, onWire, type Wire } from '../support/wire.ts';

const warmUps = 10;
const counted = 40;
const conversations = 80;
const patienceMs = 10_000;
const burst = { connections: 8, roundMs: 5_000 };
const question = { content: 'opening hours?', message_type: 'incoming' };

/** From the commit of a customer's message to that of the sandboxed bot's answer: one at a time, then as many as come. */
export const botReply: Bench = {
  name: 'bot-reply',
  needs: 'database',
  boundMs: 180_000,
  run: ({ databaseUrl }) =>
    withClient(databaseUrl, async (database) => {
      const isolate = await bareIsolate();
      const measured = await withService(serviceEnv(databaseUrl), async ({ url }) => {
        const delays = (await oneAtATime(url, database)).map(({ ms }) => ms);
        return { delays: delays.slice(warmUps), perSecond: await manyAtOnce(url, database) };
      });
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
        { path: `${path}, p50`, unit: 'ms', ours: median(measured.delays), limit, cost },
        { path: `${path}, p95`, unit: 'ms', ours: percentile(measured.delays, 0.95) },
        { path: 'bot replies', unit: '/s', ours: measured.perSecond },
      ];
      return figures;
    }),
};

/** How long each of as many runs took in the child of the limit, in milliseconds. */
async function bareIsolate(): Promise<number[]> {
  const script = fileURLToPath(new URL('../limits/bare-isolate.ts', import.meta.url));
  const child = fork(script, { execArgv: ['--no-node-snapshot', '--disable-warning=ExperimentalWarning'] });
  await once(child, 'message');
  const took: number[] = [];
  for (let run = 0; run < warmUps + counted; run++) {
    const begun = performance.now();
    child.send(question.content);
    await once(child, 'message');
    took.push(performance.now() - begun);
  }
  child.disconnect();
  await once(child, 'exit');
  return took.slice(warmUps);
}

/** Tells, at each commit of a message, when it was seen. */
const announcing = `
  CREATE OR REPLACE FUNCTION bench_announce() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN PERFORM pg_notify('bench', NEW.conversation_id || ' ' || NEW.sender_kind); RETURN NULL; END $$;
  CREATE OR REPLACE TRIGGER bench_announce AFTER INSERT ON messages FOR EACH ROW EXECUTE FUNCTION bench_announce();
  LISTEN bench`;

/** What passed from one commit to the other. */
interface Reply {
  ms: number;
  cost: Cost;
}

async function oneAtATime(url: string, database: Client, wire?: Wire): Promise<Reply[]> {
  await database.query(announcing);
  const seen = new Map<string, { at: number; total: Cost }>();
  const see = ({ payload = '' }: { payload?: string | undefined }) =>
    seen.set(payload, { at: performance.now(), total: wire?.total ?? { trips: 0, statements: 0 } });
  database.on('notification', see);
  const seenInTime = async (what: string) => {
    const until = performance.now() + patienceMs;
    while (!seen.has(what) && performance.now() < until) await sleep(1);
    const found = seen.get(what);
    if (!found) throw new Error(`There was no message of ${what}`);
    return found;
  };
  const open = await opener(url);
  const replies: Reply[] = [];
  for (let count = 0; count < warmUps + counted; count++) {
    const { id } = await open();
    await call(url, 'POST', `conversations/${id}/messages`, question);
    const [asked, answered] = [await seenInTime(`${id} contact`), await seenInTime(`${id} agent_bot`)];
    replies.push({ ms: answered.at - asked.at, cost: difference(asked.total, answered.total) });
  }
  database.off('notification', see);
  // Notifying takes a lock at each commit, which commits at once would wait for.
  await database.query('UNLISTEN bench; DROP TRIGGER bench_announce ON messages');
  return replies;
}

/** Answers per second, from the first question to the last answer. */
async function manyAtOnce(url: string, database: Client): Promise<number> {
  const open = await opener(url);
  const ids: number[] = [];
  for (let made = 0; made < conversations; made++) ids.push((await open()).id);
  const answers = async (): Promise<number> => {
    const { rows } = await database.query<{ count: string }>(
      `SELECT count(*) FROM messages WHERE sender_kind = 'agent_bot'`,
    );
    return Number(rows[0]?.count);
  };
  const before = await answers();
  const begun = performance.now();
  let next = 0;
  const ask = () =>
    ({ method: 'POST', path: `conversations/${ids[next++ % ids.length]}/messages`, body: question }) as const;
  await load(url, { ...burst, next: ask });
  const asked = next;
  while ((await answers()) < before + asked && performance.now() < begun + 2 * burst.roundMs) await sleep(20);
  return ((await answers()) - before) / ((performance.now() - begun) / 1000);
}

async function opener(url: string): Promise<() => Promise<{ id: number }>> {
  const { payload } = await call<{ payload: { id: number }[] }>(url, 'GET', 'inboxes');
  const contact = await call<{ id: number }>(url, 'POST', 'contacts', { name: 'Load' });
  return () => call<{ id: number }>(url, 'POST', 'conversations', { inbox_id: payload[0]?.id, contact_id: contact.id });
}
