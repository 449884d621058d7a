import { expect } from 'chai';
import { setTimeout as sleep } from 'node:timers/promises';
import { migrate } from '../../src/postgres/migrate.ts';
import { holdConversation } from '../support/lock.ts';
import { createDatabase, dropDatabase, postgres } from '../support/postgres.ts';
import { freePort, killServices, ServiceProcess } from '../support/service.ts';
import { eventually, rowsOf } from './helpers.ts';
import { balance, settled } from './ledger.ts';
import { Passage } from './passage.ts';
import { Sink } from './sink.ts';

const requestsPerSecond = 25;
const conversations = 8;
const resumeMs = 5_000;
const settleMs = 120_000;

interface Request {
  content: string;
  status: number;
  retryAfter: string | null;
  sentAt: number;
}

/** Customers who write at a constant rate, whatever the answers. */
class Load {
  readonly requests: Request[] = [];
  readonly failures: unknown[] = [];
  readonly #service: ServiceProcess;
  readonly #conversationIds: readonly number[];
  readonly #underWay = new Set<Promise<void>>();
  readonly #timer: NodeJS.Timeout;

  constructor(service: ServiceProcess, conversationIds: readonly number[]) {
    this.#service = service;
    this.#conversationIds = conversationIds;
    this.#timer = setInterval(() => this.#send(), 1000 / requestsPerSecond);
  }

  /** Whether a message that was sent since then has been taken. */
  isAnswered(since: number): boolean {
    return this.requests.some(({ status, sentAt }) => status === 201 && sentAt >= since);
  }

  async end(): Promise<void> {
    clearInterval(this.#timer);
    await Promise.all(this.#underWay);
  }

  #send(): void {
    const number = this.requests.length;
    const request: Request = { content: `message ${number}`, status: 0, retryAfter: null, sentAt: Date.now() };
    this.requests.push(request);
    const id = this.#conversationIds[number % this.#conversationIds.length];
    const body = { content: request.content, message_type: 'incoming' };
    const work = this.#service
      .post(`conversations/${id}/messages`, body)
      .then(({ status, headers }) => void Object.assign(request, { status, retryAfter: headers.get('retry-after') }))
      .catch((error: unknown) => void this.failures.push(error))
      .finally(() => this.#underWay.delete(work));
    this.#underWay.add(work);
  }
}

async function startConversations(service: ServiceProcess, sinkUrl: string): Promise<number[]> {
  await service.withoutDemoWebhook();
  await service.post('webhooks', { url: sinkUrl, subscriptions: ['message_created', 'conversation_status_changed'] });
  const { id: contactId } = (await service.post('contacts', { name: 'Customer' })).body;
  const [inbox] = (await service.get('inboxes')).body.payload;
  const ids: number[] = [];
  for (let number = 0; number < conversations; number += 1) {
    const { body } = await service.post('conversations', { inbox_id: inbox.id, contact_id: contactId });
    ids.push(body.id);
  }
  return ids;
}

async function waitingStatements(url: string): Promise<number> {
  const [row] = await rowsOf<{ count: number }>(
    url,
    `SELECT count(*)::int AS count FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
  );
  return row?.count ?? 0;
}

function unixSeconds(inSeconds: number): number {
  return Math.ceil(Date.now() / 1000) + inSeconds;
}

describe('a database that goes away', function () {
  this.timeout(60_000);
  let url: string;

  beforeEach(async () => {
    url = await createDatabase(migrate);
    // The run's Postgres confirms commits before it has written them. A service's own does not, and neither may this one.
    await rowsOf(url, `ALTER DATABASE "${new URL(url).pathname.slice(1)}" SET synchronous_commit = on`);
  });

  afterEach(async () => {
    await killServices();
    await dropDatabase(url);
  });

  it('and returns, twice under load: refused meanwhile with 503, nothing lost, deliveries resume within 5 s', async () => {
    const sink = await Sink.start();
    const service = await ServiceProcess.start({ databaseUrl: url, env: { DEMO: 'true', SANDBOX_RUNNERS: '1' } });
    const ids = await startConversations(service, sink.url);
    const sleeper = ids.pop();
    const wakeAt = unixSeconds(3);
    const snooze = { status: 'snoozed', snoozed_until: wakeAt };
    expect((await service.post(`conversations/${sleeper}/toggle_status`, snooze)).status).to.equal(200);

    const load = new Load(service, ids);
    await sleep(1000);
    const returns: number[] = [];
    for (const mode of ['fast', 'immediate'] as const) {
      await (await postgres()).restart(mode, 500);
      const at = Date.now();
      returns.push(at);
      // However busy the machine: before the next outage, the service answers again.
      await eventually(() => load.isAnswered(at));
      await sleep(1500);
    }
    await load.end();
    await settled(url, settleMs);
    // The end of a snooze is an event too, and an outage may have put it off: until it was told, the ledger is not closed.
    await eventually(async () => (await service.get(`conversations/${sleeper}`)).body.status === 'open');
    await settled(url, settleMs);

    expect(load.failures).to.deep.equal([]);
    expect(service.isRunning).to.equal(true);
    const byStatus = Map.groupBy(load.requests, ({ status }) => status);
    expect([...byStatus.keys()]).to.have.members([201, 503]);
    expect(byStatus.get(503)?.every(({ retryAfter }) => retryAfter === '1')).to.equal(true);
    for (const at of returns) {
      const arrived = sink.log.find((arrival) => arrival.at >= at);
      expect((arrived?.at ?? Infinity) - at, 'first delivery after the return').to.be.below(resumeMs);
    }

    const accounts = await balance(url, sink.log);
    console.log(`      ${[...byStatus].map(([status, { length }]) => `${length} × ${status}`).join(', ')}`, accounts);
    const arrived = new Set(sink.log.map(({ body }) => body.content));
    const lost = (byStatus.get(201) ?? []).filter(({ content }) => !arrived.has(content));
    expect(lost, 'acknowledged, but not delivered').to.deep.equal([]);

    expect(await service.stop()).to.deep.equal({ code: 0, signal: null });
    expect(service.output).not.to.match(/unexpected failure|unhandled/i);
    await sink.close();
  });

  it('cuts transactions short: their connections do not stay taken', async () => {
    const passage = new Passage(await freePort(), url);
    await passage.open();
    const env = {
      DEMO: 'true',
      SANDBOX_RUNNERS: '1',
      ROLE: 'web',
      DATABASE_POOL_MAX: '4',
      LOCK_TIMEOUT_MS: '30000',
      STATEMENT_TIMEOUT_MS: '30000',
    };
    const service = await ServiceProcess.start({ databaseUrl: passage.url, env });
    const sink = await Sink.start();
    const [id] = await startConversations(service, sink.url);
    for (let outage = 1; outage <= 3; outage += 1) {
      const release = await holdConversation(url, id ?? 0);
      const body = { content: 'Hello', message_type: 'incoming' };
      const writing = [1, 2].map(() => service.post(`conversations/${id}/messages`, body));
      await eventually(async () => (await waitingStatements(url)) === 2);
      await passage.bar();
      expect((await Promise.all(writing)).map(({ status }) => status)).to.deep.equal([503, 503]);
      await release();
      await passage.open();
    }
    await eventually(async () => (await service.get('/readyz')).status === 200);
    expect((await service.get(`conversations/${id}`)).status).to.equal(200);
    expect(await service.stop(), service.output).to.deep.equal({ code: 0, signal: null });
    await passage.bar();
    await sink.close();
  });

  it('is asked for a few times a second, and not without a pause', async () => {
    const passage = new Passage(await freePort(), url);
    await passage.open();
    const env = { DEMO: 'true', SANDBOX_RUNNERS: '1' };
    const service = await ServiceProcess.start({ databaseUrl: passage.url, env });
    const sink = await Sink.start();
    const [id] = await startConversations(service, sink.url);
    await service.post(`conversations/${id}/messages`, { content: 'Hello', message_type: 'incoming' });
    await passage.turnAway();
    await sleep(1000);
    const [before, begun] = [passage.turnedAway, performance.now()];
    await sleep(3000);
    const [asked, seconds] = [passage.turnedAway - before, (performance.now() - begun) / 1000];
    console.log(`      ${asked} connections were tried in ${seconds.toFixed(1)} seconds`);
    expect(asked / seconds).to.be.below(100);
    await eventually(() => passage.turnedAway - before >= 3);
    await passage.bar();
    await passage.open();
    await eventually(async () => (await service.get('/readyz')).status === 200);
    expect(await service.stop(), service.output).to.deep.equal({ code: 0, signal: null });
    await passage.bar();
    await sink.close();
  });

  it('at the start is waited for: alive, not ready, then ready', async () => {
    const passage = new Passage(await freePort(), url);
    const service = await ServiceProcess.start({ databaseUrl: passage.url, until: 'alive' });
    expect((await service.get('/healthz')).status).to.equal(200);
    const before = await service.get('/readyz');
    expect(before.status).to.equal(503);
    expect(before.headers.get('retry-after')).to.equal('1');
    const refused = await service.get('contacts');
    expect([refused.status, refused.headers.get('retry-after')]).to.deep.equal([503, '1']);
    await sleep(1500);
    expect(service.isRunning).to.equal(true);

    await passage.open();
    await eventually(async () => (await service.get('/readyz')).status === 200);
    await eventually(async () => (await service.get('/api/v1/profile')).status === 200);
    await passage.bar();
    await eventually(async () => (await service.get('/readyz')).status === 503);
    expect((await service.get('/healthz')).status).to.equal(200);
    await passage.open();
    await eventually(async () => (await service.get('/readyz')).status === 200);
    expect(await service.stop()).to.deep.equal({ code: 0, signal: null });
    await passage.bar();
  });

  it('never came: the service still stops when told to', async () => {
    const away = `postgresql://switchboard:secret@127.0.0.1:${await freePort()}/switchboard`;
    const service = await ServiceProcess.start({ databaseUrl: away, until: 'alive' });
    const patience = sleep(resumeMs, 'it goes on', { ref: false });
    expect(await Promise.race([service.stop(), patience]), service.output).to.deep.equal({ code: 0, signal: null });
  });
});
