import type { Client } from 'pg';
import type { Bench, Cost, Named } from '../bench.ts';
import { withClient } from '../support/database.ts';
import { median } from '../support/figures.ts';
import { Receiver } from '../support/receiver.ts';
import { createSurroundings } from '../support/records.ts';
import { body } from '../support/post.ts';
import { call, serviceEnv, startProcess, withProcess, withService } from '../support/service.ts';
import { difference, onWire } from '../support/wire.ts';

const perRound = 10_000;
const lanes = 500;
const rounds = 3;
// Beside the 64 posts under way, as the bare loop has them, others are being claimed and written.
const inFlight = { ENGINE_IN_FLIGHT: '512', ENDPOINT_IN_FLIGHT: '512' };
const peers = { 'graphile-worker': perRound, 'pg-boss': perRound, agenda: 300 };

/**
 * Signed, recorded deliveries to one receiver, in turns with a bare loop, then with queues that carry the same posts; each has a
 * round to warm up.
 */
export const deliveries: Bench = {
  name: 'deliveries',
  needs: 'database',
  boundMs: 300_000,
  async run({ databaseUrl }) {
    const receiver = new Receiver();
    const url = await receiver.listen();
    try {
      return await withClient(databaseUrl, async (database) => {
        const setting = { databaseUrl, database, receiver, url };
        const { ours, bare } = await compare(setting);
        const cost = await costOnWire(setting);
        const limit = { name: 'bare signed undici loop', value: bare };
        const others = await measurePeers(setting);
        return [{ path: 'signed deliveries', unit: '/s', ours, limit, peers: others, cost }];
      });
    } finally {
      receiver.close();
    }
  },
};

interface Setting {
  databaseUrl: string;
  database: Client;
  receiver: Receiver;
  /** Where the receiver listens. */
  url: string;
}

function compare(setting: Setting): Promise<{ ours: number; bare: number }> {
  return withService(serviceEnv(setting.databaseUrl, inFlight), async (service) => {
    const webhook = await prepare(setting, service.url);
    const results: { ours: number[]; bare: number[] } = { ours: [], bare: [] };
    for (let round = 0; round <= rounds; round++) {
      await setting.database.query(fill, [round * perRound, perRound, webhook.id, body]);
      results.ours.push(await setting.receiver.round(perRound));
      results.bare.push(await postBy(setting, 'bench/limits/bare-undici.ts', { posts: perRound, rounds: 1 }));
    }
    return { ours: median(results.ours.slice(1)), bare: median(results.bare.slice(1)) };
  });
}

function costOnWire(setting: Setting): Promise<Cost> {
  return onWire(setting.databaseUrl, (wire) =>
    withService(serviceEnv(wire.url, inFlight), async () => {
      const [webhook] = (await setting.database.query<{ id: number }>('SELECT id FROM webhooks')).rows;
      const before = wire.total;
      await setting.database.query(fill, [(rounds + 1) * perRound, perRound, webhook?.id, body]);
      await setting.receiver.round(perRound);
      const { trips, statements } = difference(before, wire.total);
      return { trips: trips / perRound, statements: statements / perRound };
    }),
  );
}

async function measurePeers(setting: Setting): Promise<Named[]> {
  const measured: Named[] = [];
  for (const [name, posts] of Object.entries(peers)) {
    measured.push({ name, value: await postBy(setting, `bench/peers/${name}.ts`, { posts, rounds }) });
  }
  return measured;
}

/** Posts per second of a process: the median of so many rounds, after one in which it warms up. */
function postBy(
  { databaseUrl, receiver, url }: Setting,
  script: string,
  { posts, rounds: counted }: { posts: number; rounds: number },
): Promise<number> {
  const args = [url, String(posts), String(counted + 1), secret];
  return withProcess(startProcess(script, args, { DATABASE_URL: databaseUrl }), async () => {
    const measured: number[] = [];
    for (let round = 0; round <= counted; round++) measured.push(await receiver.round(posts));
    return median(measured.slice(1));
  });
}

const secret = `whsec_${Buffer.alloc(24, 7).toString('base64')}`;

// As transactions leave them: events of many conversations, a delivery and a due lane for each.
const fill = `
  WITH event AS (
    INSERT INTO events (account_id, name, conversation_id, inbox_id, sequence, account_payload)
    SELECT 1, 'message_created', c.id, c.inbox_id, $1 + n, $4::json
    FROM generate_series(1, $2 / ${lanes}) n, (SELECT id, inbox_id FROM conversations ORDER BY id LIMIT ${lanes}) c
    RETURNING id, conversation_id
  ), lane AS (
    INSERT INTO lanes (account_id, endpoint_kind, endpoint_id, subject_kind, subject_id, due_at)
    SELECT DISTINCT 1, 'webhook', $3::bigint, 'conversation', conversation_id, now() FROM event
    ON CONFLICT (account_id, subject_kind, subject_id, endpoint_kind, endpoint_id, side) DO UPDATE SET due_at = now()
    RETURNING id, subject_id
  )
  INSERT INTO deliveries (account_id, event_id, lane_id, endpoint_kind, endpoint_id)
  SELECT 1, event.id, lane.id, 'webhook', $3 FROM event JOIN lane ON lane.subject_id = event.conversation_id`;

async function prepare({ database, url }: Setting, serviceUrl: string): Promise<{ id: number }> {
  const { inbox_id, contact_id } = await createSurroundings(serviceUrl);
  await database.query(
    `INSERT INTO conversations (account_id, inbox_id, contact_id, status)
     SELECT 1, $1, $2, 'open' FROM generate_series(1, ${lanes})`,
    [inbox_id, contact_id],
  );
  return call<{ id: number }>(serviceUrl, 'POST', 'webhooks', { url, subscriptions: ['message_created'] });
}
