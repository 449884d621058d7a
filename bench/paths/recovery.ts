import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from 'pg';
import type { Bench, Figure } from '../bench.ts';
import { withClient } from '../support/database.ts';
import { percentile } from '../support/figures.ts';
import { createSurroundings } from '../support/records.ts';
import { call, serviceEnv, withService } from '../support/service.ts';

const lost = 100_000;
const conversations = 500;
// Messages a second, sent whether or not the ones before have arrived.
const rate = 25;
const measuredMs = 20_000;
const patienceMs = 60_000;

/** How long live deliveries take, calm and while 100,000 that were given up are sent again to the same webhook. */
export const recovery: Bench = {
  name: 'recovery',
  needs: 'database',
  boundMs: 240_000,
  run: ({ databaseUrl }) =>
    withClient(databaseUrl, async (database) => {
      const receiver = new Arrivals();
      const url = await receiver.listen();
      try {
        return await withService(serviceEnv(databaseUrl), (service) =>
          measure({ database, receiver, url }, service.url),
        );
      } finally {
        receiver.close();
      }
    }),
};

interface Parts {
  database: Client;
  receiver: Arrivals;
  /** Where the receiver listens. */
  url: string;
}

interface Progress {
  state: string;
  delivered: number;
}

async function measure({ database, receiver, url }: Parts, service: string): Promise<Figure[]> {
  const { inbox_id, contact_id } = await createSurroundings(service);
  const webhook = await call<{ id: number }>(service, 'POST', 'webhooks', { url, subscriptions: ['message_created'] });
  const { rows } = await database.query<{ id: number }>(
    `INSERT INTO conversations (account_id, inbox_id, contact_id, status)
     SELECT 1, $1, $2, 'open' FROM generate_series(1, ${conversations}) RETURNING id`,
    [inbox_id, contact_id],
  );
  await database.query(lose, [webhook.id]);
  const ids = rows.map(({ id }) => id);
  await talk(service, receiver, ids);
  const calm = await talk(service, receiver, ids);
  const at = `webhooks/${webhook.id}/recover`;
  const { id } = await call<{ id: number }>(service, 'POST', at, { since: 1 });
  const progress = () => call<Progress>(service, 'GET', `${at}/${id}`);
  for (const until = performance.now() + patienceMs; (await progress()).state === 'preparing'; await sleep(200))
    if (performance.now() > until) throw new Error('The recovery does not begin');
  const [before, begun] = [await progress(), performance.now()];
  const beside = await talk(service, receiver, ids);
  const [after, ended] = [await progress(), performance.now()];
  if (after.state !== 'sending') throw new Error('The recovery ended too soon to measure beside it');
  const limit = { name: 'calm', value: percentile(calm, 0.95) };
  return [
    { path: 'live delivery beside a recovery of 100,000, p95', unit: 'ms', ours: percentile(beside, 0.95), limit },
    {
      path: 'recovered deliveries beside live ones',
      unit: '/s',
      ours: (after.delivered - before.delivered) / ((ended - begun) / 1000),
    },
  ];
}

let said = 0;

/** Milliseconds from each request to the arrival of its delivery. */
async function talk(service: string, receiver: Arrivals, ids: readonly number[]): Promise<number[]> {
  const sent = new Map<string, number>();
  const asked: Promise<unknown>[] = [];
  for (const end = performance.now() + measuredMs; performance.now() < end; await sleep(1000 / rate)) {
    const content = `live ${(said += 1)};`;
    sent.set(content, performance.now());
    const path = `conversations/${ids[said % ids.length]}/messages`;
    asked.push(call(service, 'POST', path, { content, message_type: 'incoming' }));
  }
  await Promise.all(asked);
  for (
    const until = performance.now() + patienceMs;
    [...sent.keys()].some((content) => !receiver.at.has(content));
    await sleep(20)
  )
    if (performance.now() > until) throw new Error('Live deliveries do not arrive');
  return Array.from(sent, ([content, from]) => (receiver.at.get(content) ?? Number.NaN) - from);
}

/** A receiver that notes when each live message came. */
class Arrivals {
  readonly at = new Map<string, number>();
  readonly #server: Server = createServer((request, response) => {
    let text = '';
    request.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
    request.on('end', () => {
      const [content] = /live \d+;/.exec(text) ?? [];
      if (content !== undefined && !this.at.has(content)) this.at.set(content, performance.now());
      response.end();
    });
  });

  /** Resolves with where it listens. */
  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}

// As a receiver leaves them that has answered 410.
const lose = `
  WITH event AS (
    INSERT INTO events (account_id, name, conversation_id, inbox_id, sequence, account_payload)
    SELECT 1, 'message_created', c.id, c.inbox_id, 1000000 + n, json_build_object('event', 'message_created', 'content', repeat('x', 400))
    FROM generate_series(1, ${lost / conversations}) n, (SELECT id, inbox_id FROM conversations ORDER BY id DESC LIMIT ${conversations}) c
    RETURNING id, conversation_id
  ), lane AS (
    INSERT INTO lanes (account_id, endpoint_kind, endpoint_id, subject_kind, subject_id)
    SELECT DISTINCT 1, 'webhook', $1::bigint, 'conversation', conversation_id FROM event RETURNING id, subject_id
  )
  INSERT INTO deliveries (account_id, event_id, lane_id, endpoint_kind, endpoint_id, state, attempt, failures, finished_at)
  SELECT 1, event.id, lane.id, 'webhook', $1, 'cancelled', 0, 0, now() FROM event JOIN lane ON lane.subject_id = event.conversation_id`;
