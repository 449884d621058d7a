import { expect } from 'chai';
import { setTimeout as sleep } from 'node:timers/promises';
import { TestApp } from '../support/app.ts';
import { startHttpsReceiver, type HttpsReceiver } from '../support/https-receiver.ts';
import { hold } from '../support/lock.ts';
import { addAccount } from '../support/people.ts';
import { Receiver } from '../support/receiver.ts';
import { eventually } from './helpers.ts';
import { stopClean } from './ledger.ts';

// Longer than any of it takes: whatever arrives meanwhile has not waited for the lock.
const lockTimeoutMs = 120_000;
// Until what is held falls due, and what happens meanwhile and after it.
const dueInMs = 1_000;
const neighbours = 20;

interface Endpoints {
  webhook: number;
  bot: number;
}

interface Row {
  /** Locks it as a request does that changes it. */
  statement: string;
  of: keyof Endpoints;
  /** Whether the next attempt on the endpoint is a probe. */
  isProbed?: boolean;
}

const endpointRows: Record<string, Row> = {
  'a webhook': { statement: 'SELECT FROM webhooks WHERE id = $1 FOR UPDATE', of: 'webhook' },
  'a bot': { statement: 'SELECT FROM agent_bots WHERE id = $1 FOR UPDATE', of: 'bot' },
};
const workRows = (table: string): Record<string, Row> =>
  Object.fromEntries(
    (['webhook', 'bot'] as const).map((of) => [
      `one of the ${table} of a ${of}`,
      { statement: `SELECT FROM ${table} WHERE endpoint_kind = '${of}' AND endpoint_id = $1 FOR UPDATE`, of },
    ]),
  );
const probed = Object.entries(endpointRows).map(([name, row]) => [
  `${name} that is due for a probe`,
  { ...row, isProbed: true },
]);
const rows: Record<string, Row> = {
  ...endpointRows,
  ...(Object.fromEntries(probed) as Record<string, Row>),
  ...workRows('deliveries'),
  ...workRows('lanes'),
};

describe('a row that somebody else holds locked', function () {
  this.timeout(60_000);
  let app: TestApp;
  let https: HttpsReceiver;
  let receivers: { ours: Receiver; theirs: Receiver; bots: Receiver };
  let neighbour: Awaited<ReturnType<typeof addAccount>>;
  let endpoints: Endpoints;
  let contactId: number;
  let inboxId: number;
  let areWell = true;
  // How often each delivery was answered well.
  const answered = new Map<string, number>();

  const ofNeighbour = (path: string, body: object) =>
    app.call('POST', `/api/v1/accounts/${neighbour.id}/${path}`, body, neighbour.administrator.headers);

  before(async () => {
    app = await TestApp.start({ config: { lockTimeoutMs, statementTimeoutMs: lockTimeoutMs } });
    https = await startHttpsReceiver();
    receivers = { ours: await Receiver.start(), theirs: await Receiver.start(), bots: https.receiver };
    for (const receiver of Object.values(receivers)) {
      receiver.answerWith(({ headers }, response) => {
        const id = String(headers['webhook-id']);
        if (areWell) answered.set(id, (answered.get(id) ?? 0) + 1);
        response.writeHead(areWell ? 200 : 500).end();
      });
    }
    neighbour = await addAccount(app, 'Neighbour');
    const subscriptions = ['contact_created'];
    const webhook = await app.post('webhooks', { url: receivers.ours.url, subscriptions });
    expect((await ofNeighbour('webhooks', { url: receivers.theirs.url, subscriptions })).status).to.equal(201);
    const bot = await app.post('agent_bots', { name: 'Robbi', outgoing_url: https.receiver.url });
    endpoints = { webhook: webhook.body.id, bot: bot.body.id };
    inboxId = (await app.post('inboxes', { name: 'With a bot' })).body.id;
    await app.post(`inboxes/${inboxId}/set_agent_bot`, { agent_bot: endpoints.bot });
    contactId = (await app.post('contacts', { name: 'Carla' })).body.id;
  });

  after(async () => {
    await stopClean(app);
    await Promise.all([receivers.ours.close(), receivers.theirs.close(), https.close()]);
  });

  const pending = () =>
    app.query<{ id: string; is_free: boolean }>(
      `SELECT 'evt_' || event_id || '_' || CASE endpoint_kind WHEN 'bot' THEN 'bot' ELSE 'webhook' END || '_' || endpoint_id AS id,
         lease_token IS NULL AND (failures > 0 OR event_id > (SELECT min(o.event_id) FROM deliveries o
           WHERE o.lane_id = d.lane_id AND o.state = 'pending')) AS is_free
       FROM deliveries d WHERE state = 'pending'`,
    );

  // Each endpoint has something that has failed once and falls due, for all of them at the same moment.
  async function makeDue({ of, isProbed }: Row): Promise<string[]> {
    areWell = false;
    await ofNeighbour('contacts', { name: 'Norman' });
    await app.post('contacts', { name: 'Conny' });
    const { body } = await app.post('conversations', { inbox_id: inboxId, contact_id: contactId });
    await app.post(`conversations/${body.id}/messages`, { content: 'Hello?', message_type: 'incoming' });
    const waiting = await eventually(async () => {
      // The first retry of a bot comes soon: no attempt of it is to be under way now.
      await app.query(
        `UPDATE deliveries SET next_attempt_at = now() + interval '1 hour' WHERE failures > 0 AND state = 'pending'`,
      );
      await app.query(`UPDATE lanes SET due_at = now() + interval '1 hour' WHERE lease_token IS NULL AND due_at IS NOT NULL
        AND id IN (SELECT lane_id FROM deliveries WHERE failures > 0 AND state = 'pending')`);
      const found = await pending();
      return found.length >= 3 && found.every(({ is_free: isFree }) => isFree) && found;
    });
    areWell = true;
    const due = `now() + make_interval(secs => ${dueInMs / 1000})`;
    await app.query(`WITH due AS (UPDATE deliveries SET next_attempt_at = ${due} WHERE state = 'pending' RETURNING lane_id)
      UPDATE lanes SET due_at = ${due} WHERE id IN (SELECT lane_id FROM due)`);
    const table = of === 'bot' ? 'agent_bots' : 'webhooks';
    if (isProbed) {
      await app.query(`UPDATE ${table} SET circuit_trips = 3, circuit_probe_at = ${due} WHERE id = $1`, [
        endpoints[of],
      ]);
    }
    return waiting.map(({ id }) => id);
  }

  for (const [name, row] of Object.entries(rows)) {
    it(`keeps nobody else's deliveries waiting: ${name}`, async () => {
      const waiting = await makeDue(row);
      const release = await hold(app.databaseUrl, row.statement, [endpoints[row.of]]);
      const isOwn = (id: string) => id.endsWith(`_${row.of}_${endpoints[row.of]}`);
      try {
        for (let count = 0; count < neighbours; count += 1) {
          const heard = receivers.theirs.received.length;
          await ofNeighbour('contacts', { name: 'Nora' });
          await receivers.theirs.waitFor(heard + 1);
          await sleep((2 * dueInMs) / neighbours);
        }
        const others = waiting.filter((id) => !isOwn(id));
        await eventually(() => others.every((id) => answered.has(id)));
      } finally {
        await release();
      }
      await eventually(
        async () => (await pending()).length === 0,
        60_000,
        async () => JSON.stringify(await pending()),
      );
      expect(waiting.filter(isOwn)).to.not.deep.equal([]);
      for (const id of waiting) expect(answered.get(id), id).to.equal(1);
    });
  }
});
