import { expect } from 'chai';
import { pino } from 'pino';
import { giveBackProbes, takeProbes } from '../../src/deliveries/lanes/probes.ts';
import { TestApp } from '../support/app.ts';
import { Receiver } from '../support/receiver.ts';
import { killServices, ServiceProcess } from '../support/service.ts';
import { eventually } from './helpers.ts';
import { Bench } from './lease-bench.ts';
import { stopClean } from './ledger.ts';

// Above the shortest that is allowed, and far below the first distance of a probe.
const timeoutMs = 1_500;

/** A receiver that hangs until it recovers, and the contacts that it was told of. */
class Moody {
  readonly receiver: Receiver;
  isWell = false;

  private constructor(receiver: Receiver) {
    this.receiver = receiver;
    receiver.answerWith((_, response) => {
      if (this.isWell) response.end();
    });
  }

  static async start(): Promise<Moody> {
    return new Moody(await Receiver.start());
  }

  get posts(): number {
    return this.receiver.received.length;
  }
}

async function circuitOf(app: Pick<TestApp, 'get'>, id: number) {
  return (await app.get(`webhooks/${id}`)).body;
}

/** Lets the next probe of every open circuit be due. */
async function letProbe(app: TestApp): Promise<void> {
  await app.query(`UPDATE webhooks SET circuit_probe_at = now() WHERE circuit_probe_at IS NOT NULL`);
  await app.query(`UPDATE agent_bots SET circuit_probe_at = now() WHERE circuit_probe_at IS NOT NULL`);
}

/** Lets everything that waits be due. */
async function letTry(app: TestApp): Promise<void> {
  await app.query(`UPDATE deliveries SET next_attempt_at = now() WHERE state = 'pending' AND next_attempt_at > now()`);
  await app.query('UPDATE lanes SET due_at = now() WHERE due_at > now() AND lease_token IS NULL');
}

describe('an endpoint that does not answer', function () {
  this.timeout(60_000);
  let app: TestApp;
  let moody: Moody;
  const logged: { level: number; msg: string; webhook?: number }[] = [];

  before(async () => {
    const log = pino({ level: 'info' }, { write: (line) => void logged.push(JSON.parse(line)) });
    app = await TestApp.start({ config: { webhookTimeoutMs: timeoutMs }, log });
  });

  beforeEach(async () => {
    moody = await Moody.start();
  });

  afterEach(async () => {
    await app.query('DELETE FROM webhooks');
    await moody.receiver.close();
  });

  after(() => stopClean(app));

  const webhook = async (fields: object = {}): Promise<number> => {
    const subscriptions = ['contact_created', 'contact_updated'];
    return (await app.post('webhooks', { url: moody.receiver.url, subscriptions, ...fields })).body.id;
  };
  const contact = async (name: string): Promise<number> => (await app.post('contacts', { name })).body.id;
  const opened = (id: number) => app.eventually(async () => (await circuitOf(app, id)).circuit.state === 'open');

  it('is left alone after three timeouts but for one probe, and gets what waited, in order, once it answers', async () => {
    const id = await webhook();
    expect((await circuitOf(app, id)).circuit).to.deep.equal({
      state: 'closed',
      consecutive_failures: 0,
      failing_since: null,
      next_attempt_at: null,
    });
    for (const name of ['One', 'Two', 'Three']) await contact(name);
    await opened(id);
    // However long the rest takes, no probe falls due meanwhile.
    await app.query(`UPDATE webhooks SET circuit_probe_at = circuit_probe_at + interval '1 hour'`);
    expect(moody.posts).to.equal(3);
    const { circuit, active, disabled_reason: reason } = await circuitOf(app, id);
    expect(circuit).to.include({ state: 'open', consecutive_failures: 3 });
    expect(circuit.next_attempt_at).to.be.at.least(circuit.failing_since + 5);
    expect([active, reason]).to.deep.equal([true, null]);
    expect(logged.filter((line) => line.webhook === id)).to.deep.include.members([
      logged.find(({ level, msg }) => level === 40 && msg.startsWith('endpoint does not answer')),
    ]);

    // A backlog behind it: nothing of it is sent, and nothing of its schedule is used up.
    const late = await contact('Late');
    for (let change = 1; change <= 5; change++) await app.patch(`contacts/${late}`, { name: `Late ${change}` });
    await letTry(app);
    await new Promise((resolve) => setTimeout(resolve, 600));
    expect(moody.posts).to.equal(3);

    await letProbe(app);
    const { distance } = await app.eventually(async () => {
      const [row] = await app.query<{ distance: number }>(
        `SELECT extract(epoch FROM circuit_probe_at - now())::float8 AS distance FROM webhooks
         WHERE id = $1 AND consecutive_failures = 4`,
        [id],
      );
      return row;
    });
    expect(moody.posts).to.equal(4);
    expect(distance).to.be.within(7, 13);
    const attempts = () =>
      app.query(`SELECT FROM attempts a JOIN deliveries d ON d.id = a.delivery_id WHERE d.endpoint_id = $1`, [id]);
    await app.eventually(async () => (await attempts()).length >= 4);
    expect(await attempts()).to.have.lengthOf(4);

    moody.isWell = true;
    await letProbe(app);
    await app.eventually(async () => {
      const waiting = await app.query(`SELECT FROM deliveries WHERE endpoint_id = $1 AND state <> 'delivered'`, [id]);
      return waiting.length === 0;
    });
    expect((await circuitOf(app, id)).circuit).to.deep.equal({
      state: 'closed',
      consecutive_failures: 0,
      failing_since: null,
      next_attempt_at: null,
    });
    const names = moody.receiver.received.slice(4).map(({ body }) => String(body['name']));
    expect(names).to.include.members(['One', 'Two', 'Three', 'Late']);
    expect(names.filter((name) => name.startsWith('Late'))).to.deep.equal([
      'Late',
      'Late 1',
      'Late 2',
      'Late 3',
      'Late 4',
      'Late 5',
    ]);
    expect(logged.some(({ msg, webhook: one }) => one === id && msg === 'endpoint answers again')).to.equal(true);
  });

  it('is called at once under another address, with a clean record', async () => {
    const id = await webhook();
    for (const name of ['One', 'Two', 'Three']) await contact(name);
    await opened(id);
    const other = await Receiver.start();
    const { body } = await app.patch(`webhooks/${id}`, { url: other.url });
    expect(body.circuit).to.include({ state: 'closed', consecutive_failures: 0 });
    await contact('Four');
    await other.waitFor(1);
    await other.close();
  });

  it('answers with errors: its circuit stays closed', async () => {
    moody.receiver.answerWith((_, response) => response.writeHead(500).end());
    const id = await webhook();
    for (const name of ['One', 'Two', 'Three', 'Four', 'Five']) await contact(name);
    await app.eventually(async () => (await circuitOf(app, id)).circuit.consecutive_failures === 5);
    expect((await circuitOf(app, id)).circuit).to.include({ state: 'closed', next_attempt_at: null });
  });

  it('is switched off after five days of nothing but failures, with what it had still to be sent', async () => {
    const id = await webhook();
    for (const name of ['One', 'Two', 'Three', 'Four']) await contact(name);
    await opened(id);
    await app.query(
      `UPDATE webhooks SET failing_since = now() - interval '5 days', consecutive_failures = 20 WHERE id = $1`,
      [id],
    );
    await letTry(app);
    await letProbe(app);
    await app.eventually(async () => !(await circuitOf(app, id)).active);
    const off = await circuitOf(app, id);
    expect(off.disabled_reason).to.equal('Every delivery has failed for 5 days');
    expect(off.circuit).to.include({ state: 'closed', next_attempt_at: null });
    expect(logged.some(({ level, msg, webhook: one }) => level === 40 && one === id && /5 days/.test(msg))).to.equal(
      true,
    );
    const posts = moody.posts;
    await app.eventually(async () => {
      await letTry(app);
      const states = await app.query<{ state: string }>('SELECT state FROM deliveries WHERE endpoint_id = $1', [id]);
      return states.length === 4 && states.every(({ state }) => state === 'cancelled');
    });
    expect(moody.posts).to.equal(posts);

    // Switched on again it begins anew: the next failure is its first.
    const { body } = await app.patch(`webhooks/${id}`, { active: true });
    expect(body).to.deep.include({ active: true, disabled_reason: null });
    expect(body.circuit).to.include({ consecutive_failures: 0, failing_since: null });
    await contact('Five');
    await app.eventually(async () => (await circuitOf(app, id)).circuit.consecutive_failures === 1);
    expect(await circuitOf(app, id)).to.include({ active: true });
  });

  it('that had a success four days ago is not switched off', async () => {
    moody.isWell = true;
    const id = await webhook();
    await app.query(`UPDATE webhooks SET failing_since = now() - interval '6 days', consecutive_failures = 9`);
    await contact('Well');
    await app.eventually(async () => (await circuitOf(app, id)).circuit.failing_since === null);
    moody.isWell = false;
    await contact('Ill');
    await app.eventually(async () => (await circuitOf(app, id)).circuit.consecutive_failures === 1);
    expect(await circuitOf(app, id)).to.include({ active: true, disabled_reason: null });
  });

  it('and is switched off during an attempt that fails gets no second request', async () => {
    const { promise: isOff, resolve: off } = Promise.withResolvers<void>();
    moody.receiver.answerWith((_, response) => void isOff.then(() => response.writeHead(500).end()));
    const id = await webhook();
    await contact('One');
    await moody.receiver.waitFor(1);
    expect((await app.patch(`webhooks/${id}`, { active: false })).status).to.equal(200);
    off();
    const states = () =>
      app.query('SELECT state, last_error FROM deliveries WHERE endpoint_id = $1', [id]) as Promise<object[]>;
    // The engine ends it right after the attempt: `bad_status` stands for a moment only.
    await app.eventually(async () => {
      await letTry(app);
      const [row] = (await states()) as { state: string }[];
      return row?.state !== 'pending';
    });
    expect(await states()).to.deep.equal([{ state: 'cancelled', last_error: 'endpoint_disabled' }]);
    expect(moody.posts).to.equal(1);
    const made = await app.query(
      'SELECT a.error_code FROM attempts a JOIN deliveries d ON d.id = a.delivery_id WHERE d.endpoint_id = $1 ORDER BY a.number',
      [id],
    );
    expect(made[0]).to.deep.equal({ error_code: 'bad_status' });
  });
});

describe('an open circuit', function () {
  this.timeout(90_000);

  it('gives the right to its probe to one of those that ask at once, until the lease of that is over', async () => {
    const bench = await Bench.start();
    try {
      const id = await bench.webhook();
      const ask = async (): Promise<number[]> => [
        ...(await takeProbes(bench.sql, { kind: 'webhook', endpointIds: [id], seconds: 30 })),
      ];
      expect(await ask()).to.deep.equal([]);
      for (let round = 0; round < 5; round += 1) {
        await bench.rows('UPDATE webhooks SET circuit_probe_at = now()');
        const taken = await Promise.all(Array.from({ length: 6 }, ask));
        expect(taken.flat()).to.deep.equal([id]);
      }
      await giveBackProbes(bench.sql, 'webhook', [id]);
      expect(await ask()).to.deep.equal([id]);
    } finally {
      await stopClean(bench.app);
    }
  });

  it('survives the restart of the process, and of two processes one makes the probe', async () => {
    const app = await TestApp.start({ engine: false });
    const moody = await Moody.start();
    const env = { ROLE: 'engine', SANDBOX_RUNNERS: '1', WEBHOOK_TIMEOUT_MS: String(timeoutMs) };
    const start = () => ServiceProcess.start({ databaseUrl: app.databaseUrl, env });
    try {
      const { body } = await app.post('webhooks', { url: moody.receiver.url, subscriptions: ['contact_created'] });
      for (let number = 0; number < 12; number++) await app.post('contacts', { name: `Customer ${number}` });
      const first = await start();
      await eventually(async () => (await circuitOf(app, body.id)).circuit.state === 'open');
      // Far away, so that no probe falls due while processes come and go.
      await app.query(`UPDATE webhooks SET circuit_probe_at = now() + interval '1 hour'`);
      const { next_attempt_at: probeAt } = (await circuitOf(app, body.id)).circuit;
      await first.stop();
      const before = (await circuitOf(app, body.id)).circuit;
      expect(before).to.include({ state: 'open', next_attempt_at: probeAt });
      const posts = moody.posts;

      await Promise.all([start(), start()]);
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      expect(moody.posts).to.equal(posts);
      for (let probe = 1; probe <= 4; probe++) {
        await letProbe(app);
        await eventually(
          async () =>
            (await circuitOf(app, body.id)).circuit.consecutive_failures === before.consecutive_failures + probe,
        );
        expect(moody.posts).to.equal(posts + probe);
      }
      moody.isWell = true;
      await letProbe(app);
      await eventually(async () => {
        const waiting = await app.query(`SELECT FROM deliveries WHERE state <> 'delivered'`);
        return waiting.length === 0;
      });
      expect((await circuitOf(app, body.id)).circuit).to.include({ state: 'closed', consecutive_failures: 0 });
    } finally {
      await killServices();
      await moody.receiver.close();
      await stopClean(app);
    }
  });
});
