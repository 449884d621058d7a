import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Client } from 'pg';
import { median, show } from './figures.ts';
import { call, serviceEnv, startProcess, type Measured } from './service.ts';

const perRound = 10_000;
const lanes = 500;
const rounds = 3;
const patienceMs = 60_000;

// Inserts rows as the outbox does: events of many conversations, with a delivery and a due lane for each.
const fill = `
  WITH event AS (
    INSERT INTO events (account_id, name, conversation_id, inbox_id, sequence, account_payload)
    SELECT 1, 'message_created', c.id, c.inbox_id, $1 + n, json_build_object('event', 'message_created', 'content', repeat('x', 400))
    FROM generate_series(1, $2 / ${lanes}) n, (SELECT id, inbox_id FROM conversations ORDER BY id LIMIT ${lanes}) c
    RETURNING id, conversation_id
  ), lane AS (
    INSERT INTO lanes (account_id, endpoint_kind, endpoint_id, subject_kind, subject_id, due_at)
    SELECT DISTINCT 1, 'webhook', $3::bigint, 'conversation', conversation_id, now() FROM event
    ON CONFLICT (account_id, subject_kind, subject_id, endpoint_kind, endpoint_id) DO UPDATE SET due_at = now()
    RETURNING id, subject_id
  )
  INSERT INTO deliveries (account_id, event_id, lane_id, endpoint_kind, endpoint_id)
  SELECT 1, event.id, lane.id, 'webhook', $3 FROM event JOIN lane ON lane.subject_id = event.conversation_id`;

/** Measures deliveries to one receiver, alternating with a bare loop that signs and posts the same bytes. */
export async function benchDeliveries(databaseUrl: string): Promise<void> {
  console.log(`Deliveries: ${show(perRound)} in ${lanes} lanes to one receiver, ${rounds} rounds in turns`);
  const counter = new Counter();
  const receiver = await counter.listen();
  // More than the 64 concurrent posts of the bare loop: the engine claims and records others meanwhile.
  const env = serviceEnv(databaseUrl, { ENDPOINT_IN_FLIGHT: '256' });
  const service = await startProcess('bin/switchboard.js', ['start'], env);
  const database = new Client({ connectionString: databaseUrl });
  await database.connect();
  try {
    await compare({ service, database, counter, receiver });
  } finally {
    await service.stop();
    await database.end();
    counter.close();
  }
}

interface Setting {
  service: Measured;
  database: Client;
  counter: Counter;
  receiver: string;
}

/** A receiver that counts posts and measures the time between the first and the last of a round. */
class Counter {
  count = 0;
  #first = 0;
  #last = 0;
  readonly #server: Server;

  constructor() {
    this.#server = createServer((request, response) => {
      request.resume();
      request.on('end', () => {
        this.#last = performance.now();
        if (this.count++ === 0) this.#first = this.#last;
        response.end();
      });
    });
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`;
  }

  /** Waits for the end of a round and returns its posts per second. */
  async round(): Promise<number> {
    const until = performance.now() + patienceMs;
    while (this.count < perRound) {
      if (performance.now() > until) throw new Error(`Only ${this.count} of ${perRound} posts came`);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    const perSecond = perRound / ((this.#last - this.#first) / 1000);
    this.count = 0;
    return perSecond;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}

async function compare({ service, database, counter, receiver }: Setting): Promise<void> {
  await prepare(database, service.url);
  const subscriptions = ['message_created'];
  const webhook = await call<{ id: number; secret: string }>(service.url, 'POST', 'webhooks', {
    url: receiver,
    subscriptions,
  });
  const results: { ours: number[]; bare: number[] } = { ours: [], bare: [] };
  for (let round = 0; round < rounds; round++) {
    await database.query(fill, [round * perRound, perRound, webhook.id]);
    results.ours.push(await counter.round());
    const bare = await startProcess('bench/bare-undici.ts', [receiver, String(perRound), webhook.secret], {});
    results.bare.push(await counter.round());
    await bare.stop();
  }
  const [ours, bare] = [median(results.ours), median(results.bare)];
  console.log(
    `  Switchboard: ${show(ours)} deliveries/s; bare signed undici loop: ${show(bare)} posts/s; ratio ${show(ours / bare, 2)}`,
  );
}

async function prepare(database: Client, url: string): Promise<void> {
  const { payload } = await call<{ payload: { id: number }[] }>(url, 'GET', 'inboxes');
  const contact = await call<{ id: number }>(url, 'POST', 'contacts', { name: 'Load' });
  await database.query(
    `INSERT INTO conversations (account_id, inbox_id, contact_id, status)
     SELECT 1, $1, $2, 'open' FROM generate_series(1, ${lanes})`,
    [payload[0]?.id, contact.id],
  );
}
