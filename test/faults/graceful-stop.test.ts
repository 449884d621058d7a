import { expect } from 'chai';
import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { migrate } from '../../src/postgres/migrate.ts';
import { adminToken } from '../support/app.ts';
import { createDatabase, dropDatabase } from '../support/postgres.ts';
import { killServices, ServiceProcess } from '../support/service.ts';
import { eventually, rowsOf } from './helpers.ts';
import { balance, settled } from './ledger.ts';
import { Sink } from './sink.ts';

const rounds = 3;
const writers = 6;
const stopMs = 15_000;
// Begun so long before the signal came, a post has reached the service and must be answered.
const underWayMs = 600;

interface Post {
  content: string;
  startedAt: number;
  status: number | null;
  connection: string | null;
}

/** Posts on kept connections, as other servers do; never rejects. */
function post(agent: Agent, url: string, content: string): Promise<Post> {
  const record: Post = { content, startedAt: Date.now(), status: null, connection: null };
  const { promise, resolve } = Promise.withResolvers<Post>();
  const outgoing = request(url, {
    agent,
    method: 'POST',
    headers: { api_access_token: adminToken, 'content-type': 'application/json' },
  });
  outgoing.on('error', () => resolve(record));
  outgoing.on('response', (response) => {
    record.status = response.statusCode ?? null;
    record.connection = response.headers.connection ?? null;
    response.on('error', () => resolve(record)).on('end', () => resolve(record));
    response.resume();
  });
  outgoing.end(JSON.stringify({ content, message_type: 'incoming' }));
  return promise;
}

describe('a service that is told to stop', function () {
  this.timeout(180_000);
  let url: string;

  beforeEach(async () => {
    url = await createDatabase(migrate);
  });

  afterEach(async () => {
    await killServices();
    await dropDatabase(url);
  });

  it(`${rounds} times under load answers what it has begun, leaves no lease behind, and ends in time`, async () => {
    const sink = await Sink.start({ delayMs: () => 70 });
    const acknowledged: string[] = [];
    const signalled: { underWay: Post[]; after: Post[] }[] = [];
    for (let round = 1; round <= rounds; round += 1) {
      const service = await ServiceProcess.start({
        databaseUrl: url,
        env: { DEMO: 'true', SANDBOX_RUNNERS: '1', ENDPOINT_IN_FLIGHT: '3' },
      });
      if (round === 1) {
        await service.withoutDemoWebhook();
        await service.post('webhooks', { url: sink.url, subscriptions: ['message_created'] });
        await service.post('contacts', { name: 'Customer' });
      }
      const [inbox] = (await service.get('inboxes')).body.payload;
      const [contact] = (await service.get('contacts')).body.payload;
      const agent = new Agent({ keepAlive: true, maxSockets: writers });
      const posts: Post[] = [];
      const stopping = new AbortController();
      const write = async (writer: number): Promise<void> => {
        const body = { inbox_id: inbox.id, contact_id: contact.id };
        const { id } = (await service.post('conversations', body)).body;
        const messagesUrl = `${service.url}/api/v1/accounts/1/conversations/${id}/messages`;
        for (let number = 1; !stopping.signal.aborted; number += 1)
          posts.push(await post(agent, messagesUrl, `${round} ${writer} ${number}`));
      };
      const writing = Array.from({ length: writers }, (_, writer) => write(writer));
      // A service that has just started answers its first posts late on a busy machine.
      await eventually(() => posts.some(({ status }) => status === 201));
      await sleep(2 * underWayMs + round * 50);
      const signalAt = Date.now();
      const ending = service.stop();
      setTimeout(() => stopping.abort(), 300);
      await Promise.all(writing);
      expect(await ending, service.output).to.deep.equal({ code: 0, signal: null });
      expect(Date.now() - signalAt).to.be.below(stopMs);
      agent.destroy();

      const unanswered = posts.filter(({ startedAt, status }) => startedAt < signalAt - underWayMs && status !== 201);
      expect(unanswered, 'begun before the signal, but not answered').to.deep.equal([]);
      signalled.push({
        underWay: posts.filter(({ startedAt, status }) => startedAt <= signalAt && status === 201),
        after: posts.filter(({ startedAt }) => startedAt > signalAt),
      });
      for (const { content, status } of posts) if (status === 201) acknowledged.push(content);
      const leased = await rowsOf(url, 'SELECT id, endpoint_kind FROM lanes WHERE lease_token IS NOT NULL');
      expect(leased, 'lanes left leased').to.deep.equal([]);
    }
    expect(signalled.every(({ underWay }) => underWay.length > 0)).to.equal(true);

    const last = await ServiceProcess.start({ databaseUrl: url });
    await settled(url, 120_000);
    await last.stop();
    const accounts = await balance(url, sink.log);
    expect(accounts).to.include({ duplicates: 0, unknown: 0 });
    const arrived = new Set(sink.log.map(({ body }) => body.content));
    expect(acknowledged.filter((content) => !arrived.has(content))).to.deep.equal([]);
    await sink.close();
  });
});
