import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from 'pg';
import type { Bench } from '../bench.ts';
import { withClient } from '../support/database.ts';
import { median } from '../support/figures.ts';
import { body } from '../support/post.ts';
import { createSurroundings } from '../support/records.ts';
import { call, serviceEnv, withService } from '../support/service.ts';

const perRound = 1_000;
const lanes = 100;
const rounds = 3;
const patienceMs = 60_000;

/**
 * Messages that the channel `http-channel` sends, in turns with as many deliveries of the same service to a webhook: both are answered at
 * once, by one server. A send is a run in the sandbox and the message's new status beside the request.
 */
export const channelSends: Bench = {
  name: 'channel-sends',
  needs: 'database',
  boundMs: 300_000,
  async run({ databaseUrl }) {
    const server = await Counter.start();
    try {
      return await withClient(databaseUrl, (database) =>
        withService(serviceEnv(databaseUrl), async ({ url }) => {
          const { channel, webhook, inbox } = await prepare(database, url, server.url);
          const results: { ours: number[]; webhook: number[] } = { ours: [], webhook: [] };
          for (let round = 0; round <= rounds; round++) {
            await database.query(fillSends, [round * perRound, perRound, channel, inbox]);
            results.ours.push(await server.round(perRound));
            await database.query(fillDeliveries, [round * perRound, perRound, webhook, inbox, body]);
            results.webhook.push(await server.round(perRound));
          }
          const [ours, beside] = [median(results.ours.slice(1)), median(results.webhook.slice(1))];
          console.error(`sends beside deliveries: ${(ours / beside).toFixed(2)}`);
          const limit = { name: 'deliveries to a webhook by the same service', value: beside };
          return [{ path: 'messages sent by a channel', unit: '/s', ours, limit }];
        }),
      );
    } finally {
      server.stop();
    }
  },
};

/** Answers each request with a new id, and counts them. */
class Counter {
  readonly #server: Server;
  #ids = 0;
  #times: number[] = [];
  url = '';

  private constructor() {
    this.#server = createServer((request, response) => {
      request.resume();
      request.on('end', () => {
        this.#ids += 1;
        this.#times.push(performance.now());
        response.writeHead(200, { 'content-type': 'application/json' }).end(`{"id":"m-${this.#ids}"}`);
      });
    });
  }

  static async start(): Promise<Counter> {
    const counter = new Counter();
    await new Promise<void>((resolve) => counter.#server.listen(0, '127.0.0.1', resolve));
    counter.url = `http://127.0.0.1:${(counter.#server.address() as AddressInfo).port}`;
    return counter;
  }

  /** Waits until so many requests came; resolves with requests per second, from the first to the last. */
  async round(requests: number): Promise<number> {
    const until = performance.now() + patienceMs;
    while (this.#times.length < requests) {
      if (performance.now() > until) throw new Error(`Only ${this.#times.length} of ${requests} requests came`);
      await sleep(5);
    }
    const [first = 0, last = 0] = [this.#times[0], this.#times.at(-1)];
    this.#times = [];
    return requests / ((last - first) / 1000);
  }

  stop(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}

async function prepare(
  database: Client,
  service: string,
  url: string,
): Promise<{ channel: number; webhook: number; inbox: number }> {
  const { contact_id: contact } = await createSurroundings(service);
  const config = { api_url: url };
  const secrets = { API_TOKEN: 'token', HOOK_SECRET: 'secret' };
  const channel = { type: 'plugin', plugin_id: 'http-channel', config, secrets };
  const inbox = await call<{ id: number }>(service, 'POST', 'inboxes', { name: 'Channel', channel });
  await database.query(
    `INSERT INTO conversations (account_id, inbox_id, contact_id, status, source_id)
     SELECT 1, $1, $2, 'open', 'customer-' || n FROM generate_series(1, ${lanes}) n`,
    [inbox.id, contact],
  );
  // No event of the sends goes to the webhook: its subscription is none of theirs.
  const webhook = await call<{ id: number }>(service, 'POST', 'webhooks', { url, subscriptions: ['contact_created'] });
  const { rows } = await database.query<{ id: string }>('SELECT channel_id AS id FROM inboxes WHERE id = $1', [
    inbox.id,
  ]);
  return { channel: Number(rows[0]?.id), webhook: webhook.id, inbox: inbox.id };
}

const chosen = `SELECT id, inbox_id FROM conversations WHERE inbox_id = $4 ORDER BY id LIMIT ${lanes}`;
const lanesOf = (kind: string): string => `
  INSERT INTO lanes (account_id, endpoint_kind, endpoint_id, subject_kind, subject_id, due_at)
  SELECT DISTINCT 1, '${kind}', $3::bigint, 'conversation', conversation_id, now() FROM event
  ON CONFLICT (account_id, subject_kind, subject_id, endpoint_kind, endpoint_id, side) DO UPDATE SET due_at = now()
  RETURNING id, subject_id`;
const deliver = (kind: string): string => `
  INSERT INTO deliveries (account_id, event_id, lane_id, endpoint_kind, endpoint_id)
  SELECT 1, event.id, lane.id, '${kind}', $3 FROM event JOIN lane ON lane.subject_id = event.conversation_id`;

// As transactions leave them.
const fillDeliveries = `
  WITH event AS (
    INSERT INTO events (account_id, name, conversation_id, inbox_id, sequence, account_payload)
    SELECT 1, 'message_created', c.id, c.inbox_id, 1000000 + $1 + n, $5::json
    FROM generate_series(1, $2 / ${lanes}) n, (${chosen}) c RETURNING id, conversation_id
  ), lane AS (${lanesOf('webhook')})
  ${deliver('webhook')}`;

const fillSends = `
  WITH message AS (
    INSERT INTO messages (account_id, conversation_id, message_type, content, sender_kind, status)
    SELECT 1, c.id, 'outgoing', 'Your order is on its way', 'system', 'pending'
    FROM generate_series(1, $2 / ${lanes}) n, (${chosen}) c RETURNING id, conversation_id
  ), event AS (
    INSERT INTO events (account_id, name, conversation_id, inbox_id, sequence, channel_id, account_payload)
    SELECT 1, 'message_created', conversation_id, $4, 2000000 + $1 + row_number() OVER (ORDER BY id), $3, json_build_object('id', id)
    FROM message RETURNING id, conversation_id
  ), lane AS (${lanesOf('channel')})
  ${deliver('channel')}`;
