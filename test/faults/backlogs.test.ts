import { expect } from 'chai';
import { finishBacklogs } from '../../src/domain/upkeep/backlogs.ts';
import { learnFrom } from '../../src/domain/endpoints/health.ts';
import { system, transact } from '../../src/events/transaction.ts';
import { TestApp } from '../support/app.ts';
import { Receiver } from '../support/receiver.ts';
import { mostAtOnce, rowsOf } from './helpers.ts';
import { stopClean } from './ledger.ts';

const url = 'http://127.0.0.1:9/hook';
/** No transaction changes more rows of a backlog. */
const atOnce = 1000;
const count = 2500;

interface Endpoint {
  kind: 'webhook' | 'bot';
  id: number;
}

let subjects = 1_000_000;

/** Gives the endpoint so many lanes, each with one delivery that waits for the given time. */
async function pileUp(app: TestApp, { kind, id }: Endpoint, wait = '0 s'): Promise<void> {
  subjects += count;
  await rowsOf(
    app.databaseUrl,
    `WITH e AS (INSERT INTO events (account_id, name, account_payload, bot_payload)
         SELECT 1, 'contact_created', '{"old":true}', '{"old":true}' FROM generate_series(1, ${count}) RETURNING id),
       unplaced AS (INSERT INTO unplaced_events (event_id, account_id) SELECT id, 1 FROM e),
       l AS (INSERT INTO lanes (account_id, endpoint_kind, endpoint_id, subject_kind, subject_id, due_at)
         SELECT 1, $1, $2, 'contact', g + $3::int, now() + $4::interval FROM generate_series(1, ${count}) g RETURNING id),
       ee AS (SELECT id, row_number() OVER () n FROM e), ll AS (SELECT id, row_number() OVER () n FROM l)
     INSERT INTO deliveries (account_id, event_id, lane_id, endpoint_kind, endpoint_id, next_attempt_at)
     SELECT 1, ee.id, ll.id, $1, $2, now() + $4::interval FROM ee JOIN ll USING (n)`,
    [kind, id, subjects, wait],
  );
}

async function addWebhook(app: TestApp, target = url, subscriptions = ['contact_created']): Promise<Endpoint> {
  const { body } = await app.post('webhooks', { url: target, subscriptions });
  return { kind: 'webhook', id: body.id };
}

async function addBot(app: TestApp): Promise<Endpoint> {
  const { body } = await app.post('agent_bots', {
    name: 'Served',
    kind: 'webhook',
    outgoing_url: 'https://127.0.0.1/',
  });
  return { kind: 'bot', id: body.id };
}

/** How many of the endpoint's deliveries are in each state, with the reason. */
async function tally(app: TestApp, { kind, id }: Endpoint): Promise<Record<string, number>> {
  const rows = await app.query<{ state: string; count: number }>(
    `SELECT concat_ws(' ', state, last_error) AS state, count(*)::int FROM deliveries
     WHERE endpoint_kind = $1 AND endpoint_id = $2 GROUP BY 1`,
    [kind, id],
  );
  return Object.fromEntries(rows.map((row) => [row.state, row.count]));
}

/** The most rows of the endpoint that one transaction wrote, of those that meet the condition. */
const most = (app: TestApp, table: 'deliveries' | 'lanes', { kind, id }: Endpoint, condition: string) =>
  mostAtOnce(app.databaseUrl, table, `endpoint_kind = '${kind}' AND endpoint_id = ${id} AND ${condition}`);

const dueLanes = (app: TestApp, { kind, id }: Endpoint, condition: string) =>
  app
    .query<{ count: number }>(
      `SELECT count(*)::int FROM lanes WHERE endpoint_kind = $1 AND endpoint_id = $2 AND due_at ${condition}`,
      [kind, id],
    )
    .then(([row]) => row?.count);

const tasks = (app: TestApp) => app.query<object>('SELECT task, reason FROM backlog_tasks ORDER BY id');

describe('a large backlog', function () {
  this.timeout(60_000);
  let app: TestApp;

  before(async () => {
    app = await TestApp.start({ engine: false });
  });

  // Its deliveries are written by hand, and to some of its endpoints only.
  after(() => app.stop());

  const once = { 'idempotency-key': 'switch-off-once' };
  const expire = ({ id }: Endpoint) =>
    transact(app.app.database, { account: { id: 1, name: 'Account' }, actor: system }, (tx) =>
      learnFrom(tx, { endpoint: { kind: 'webhook', id, url }, outcome: 'unanswered', isProbe: true, fraction: 0 }),
    );
  const ways: [string, Endpoint['kind'], string, (endpoint: Endpoint) => Promise<unknown>][] = [
    ['is switched off', 'webhook', 'endpoint_disabled', ({ id }) => app.patch(`webhooks/${id}`, { active: false })],
    [
      'is switched off under an Idempotency-Key',
      'webhook',
      'endpoint_disabled',
      ({ id }) => app.patch(`webhooks/${id}`, { active: false }, once),
    ],
    ['is deleted', 'webhook', 'endpoint_gone', ({ id }) => app.delete(`webhooks/${id}`)],
    ['expires', 'webhook', 'endpoint_disabled', expire],
    ['is deleted', 'bot', 'endpoint_gone', ({ id }) => app.delete(`agent_bots/${id}`)],
  ];
  for (const [what, kind, reason, end] of ways) {
    it(`of a ${kind} that ${what} is cancelled a batch to a transaction`, async () => {
      const endpoint = await (kind === 'webhook' ? addWebhook : addBot)(app);
      await pileUp(app, endpoint);
      if (what === 'expires') {
        await app.query(
          `UPDATE webhooks SET failing_since = now() - interval '6 days', consecutive_failures = 20, circuit_trips = 9,
             circuit_probe_at = now() WHERE id = $1`,
          [endpoint.id],
        );
      }
      const answer = await end(endpoint);
      expect(answer).to.satisfy((one: unknown) => one === 'expired' || (one as { status: number }).status === 200);
      if (reason === 'endpoint_disabled') {
        const { body } = await app.get(`webhooks/${endpoint.id}`);
        expect(body).to.include({ active: false });
        expect(body.circuit).to.include({ state: 'closed', consecutive_failures: 0, failing_since: null });
      }
      expect(await tally(app, endpoint)).to.deep.equal({ [`cancelled ${reason}`]: atOnce, pending: count - atOnce });
      await finishBacklogs(app.app.database);
      expect(await tally(app, endpoint)).to.deep.equal({ [`cancelled ${reason}`]: count });
      expect(await most(app, 'deliveries', endpoint, `state = 'cancelled'`)).to.equal(atOnce);
      expect(await dueLanes(app, endpoint, 'IS NOT NULL'), 'lanes that are due for nothing').to.equal(0);
      expect(await tasks(app)).to.deep.equal([]);
    });
  }

  for (const kind of ['webhook', 'bot'] as const) {
    it(`of a ${kind} that gets another address is woken a batch to a transaction`, async () => {
      const endpoint = await (kind === 'webhook' ? addWebhook : addBot)(app);
      await pileUp(app, endpoint, '1 hour');
      const [path, change] =
        kind === 'webhook'
          ? [`webhooks/${endpoint.id}`, { url: `${url}/moved` }]
          : [`agent_bots/${endpoint.id}`, { outgoing_url: 'https://127.0.0.1/moved' }];
      expect((await app.patch(path, change)).status).to.equal(200);
      expect(await dueLanes(app, endpoint, '<= now()')).to.equal(atOnce);
      await finishBacklogs(app.app.database);
      expect(await dueLanes(app, endpoint, '<= now()')).to.equal(count);
      expect(await most(app, 'lanes', endpoint, 'due_at <= now()')).to.equal(atOnce);
      expect(await tasks(app)).to.deep.equal([]);
    });
  }

  it('whose cancelling a crash cut short is cancelled by the next sweep', async () => {
    const endpoint = await addWebhook(app);
    await pileUp(app, endpoint);
    await app.patch(`webhooks/${endpoint.id}`, { active: false });
    await app.query(`CREATE FUNCTION cut() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      IF NOT EXISTS (SELECT FROM deliveries WHERE state = 'pending' AND endpoint_kind = 'webhook'
          AND endpoint_id = ${endpoint.id}) THEN PERFORM pg_terminate_backend(pg_backend_pid()); END IF;
      RETURN NULL; END $$`);
    await app.query('CREATE TRIGGER cut AFTER UPDATE ON deliveries FOR EACH STATEMENT EXECUTE FUNCTION cut()');
    await finishBacklogs(app.app.database).catch(() => undefined);
    await app.query('DROP FUNCTION cut CASCADE');
    expect(await tally(app, endpoint)).to.deep.equal({ 'cancelled endpoint_disabled': 2 * atOnce, pending: 500 });
    // What the process has set back it would try again after a while only; another process at once.
    const other = await TestApp.start({ engine: false, databaseUrl: app.databaseUrl });
    await finishBacklogs(other.app.database);
    await other.app.stop();
    expect(await tally(app, endpoint)).to.deep.equal({ 'cancelled endpoint_disabled': count });
    expect(await tasks(app)).to.deep.equal([]);
  });

  it('that is half in the hands of the engine keeps its task until the engine has ended its part', async () => {
    const endpoint = await addWebhook(app);
    await pileUp(app, endpoint);
    await app.query(`UPDATE lanes SET lease_token = gen_random_uuid() WHERE endpoint_id = $1 AND subject_id % 2 = 0`, [
      endpoint.id,
    ]);
    await app.delete(`webhooks/${endpoint.id}`);
    await finishBacklogs(app.app.database);
    expect(await tally(app, endpoint)).to.deep.equal({ 'cancelled endpoint_gone': count / 2, pending: count / 2 });
    expect(await tasks(app)).to.deep.equal([{ task: 'cancel', reason: 'endpoint_gone' }]);
    await app.query('UPDATE lanes SET lease_token = NULL WHERE endpoint_id = $1', [endpoint.id]);
    await finishBacklogs(app.app.database);
    expect(await tally(app, endpoint)).to.deep.equal({ 'cancelled endpoint_gone': count });
    expect(await tasks(app)).to.deep.equal([]);
  });

  it('whose rest is cancelled after the webhook is on again loses nothing that has happened since', async () => {
    const endpoint = await addWebhook(app, url, ['contact_created', 'contact_updated']);
    const { body: contact } = await app.post('contacts', { name: 'Before' });
    const lease = (token: string) =>
      app.query(`UPDATE lanes SET lease_token = ${token} WHERE endpoint_id = $1`, [endpoint.id]);
    await lease('gen_random_uuid()');
    await app.patch(`webhooks/${endpoint.id}`, { active: false });
    await app.patch(`webhooks/${endpoint.id}`, { active: true });
    await app.patch(`contacts/${contact.id}`, { name: 'After' });
    expect(await tally(app, endpoint)).to.deep.equal({ pending: 2 });
    await lease('NULL');
    await finishBacklogs(app.app.database);
    const states = await app.query(
      `SELECT e.name, d.state FROM deliveries d JOIN events e ON e.id = d.event_id WHERE d.endpoint_id = $1 ORDER BY d.id`,
      [endpoint.id],
    );
    expect(states).to.deep.equal([
      { name: 'contact_created', state: 'cancelled' },
      { name: 'contact_updated', state: 'pending' },
    ]);
    expect(await dueLanes(app, endpoint, 'IS NOT NULL'), 'the lane of the new delivery').to.equal(1);
    expect(await tasks(app)).to.deep.equal([]);
    await app.delete(`webhooks/${endpoint.id}`);
  });
});

describe('a webhook with a backlog, switched off', function () {
  this.timeout(60_000);
  let app: TestApp;
  let receiver: Receiver;

  before(async () => {
    app = await TestApp.start();
    receiver = await Receiver.start();
  });

  after(async () => {
    await stopClean(app);
    await receiver.close();
  });

  it('and on again at once is sent what happens from then on, and nothing of what was cancelled', async () => {
    const endpoint = await addWebhook(app, receiver.url);
    await pileUp(app, endpoint, '1 hour');
    await app.patch(`webhooks/${endpoint.id}`, { active: false });
    await app.patch(`webhooks/${endpoint.id}`, { active: true });
    await app.query('UPDATE deliveries SET next_attempt_at = now() WHERE endpoint_id = $1', [endpoint.id]);
    await app.query('UPDATE lanes SET due_at = now() WHERE endpoint_id = $1 AND due_at IS NOT NULL', [endpoint.id]);
    await app.post('contacts', { name: 'Later' });
    await app.eventually(async () => !('pending' in (await tally(app, endpoint))));
    expect(await tally(app, endpoint)).to.deep.equal({ 'cancelled endpoint_disabled': count, delivered: 1 });
    expect(receiver.received.map(({ body }) => body['event'])).to.deep.equal(['contact_created']);
  });

  it('by its 410 while its circuit is open has no circuit any more', async () => {
    receiver.answerWith((_, response) => response.writeHead(410).end());
    const endpoint = await addWebhook(app, receiver.url);
    await app.query(
      `UPDATE webhooks SET circuit_trips = 3, circuit_probe_at = now(), consecutive_failures = 7, unanswered_attempts = 7,
         failing_since = now() - interval '1 day' WHERE id = $1`,
      [endpoint.id],
    );
    await app.post('contacts', { name: 'Probe' });
    await app.eventually(async () => !(await app.get(`webhooks/${endpoint.id}`)).body.active);
    await app.eventually(async () => (await tally(app, endpoint))['pending'] === undefined);
    const { body } = await app.get(`webhooks/${endpoint.id}`);
    expect(body.disabled_reason).to.equal('The receiver answered 410 Gone');
    expect(body.circuit).to.include({ state: 'closed', consecutive_failures: 0, failing_since: null });
  });
});
