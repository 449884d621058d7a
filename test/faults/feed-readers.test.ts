import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { send } from '../../src/domain/conversations/send.ts';
import { system, transact } from '../../src/events/transaction.ts';
import { adminToken, TestApp } from '../support/app.ts';
import { EventSource } from '../support/event-source.ts';
import { addAccount, type Person } from '../support/people.ts';
import { addConversation, addInbox } from '../support/records.ts';
import { seededRandom, tellSeed } from './helpers.ts';

// FEED_EVENTS=200000 for the long profile: an hour's traffic of a large account, in some minutes.
const events = Number(process.env['FEED_EVENTS'] ?? 2_000);
const [writers, pollers, streams, reconnects] = [16, 4, 2, 100];
const perTransaction = events > 10_000 ? 40 : 6;
const rollbackShare = 0.15;
const poolMax = 48;

interface Entry {
  id: number;
  cursor: string;
}

class RolledBack extends Error {}

/**
 * Readers of an account's feed while many write: transactions that commit late and in any order, and some that are rolled
 * back; readers that are killed in the middle of an answer, and streams that break again and again.
 */
describe('readers of the feed, while others write', function () {
  this.timeout(1_800_000);
  let engine: TestApp;
  let web: TestApp;
  let administrator: Person;
  let conversations: number[];
  const random = seededRandom(tellSeed());
  const upTo = (count: number) => Math.floor(random() * count);

  before(async () => {
    engine = await TestApp.start({
      config: { databasePoolMax: poolMax, lockTimeoutMs: 60_000, statementTimeoutMs: 60_000 },
    });
    web = await TestApp.start({ databaseUrl: engine.databaseUrl, engine: false });
    administrator = (await addAccount(engine, 'Other')).administrator;
    const inbox = await addInbox(engine);
    conversations = [];
    for (let count = 0; count < 48; count += 1) conversations.push(await addConversation(engine, inbox));
  });

  after(async () => {
    await web.app.stop();
    await engine.stop();
  });

  let left = events;
  let rolledBack = 0;

  async function write(): Promise<void> {
    const scope = { account: { id: 1, name: 'Demo account' }, actor: system };
    while (left > 0) {
      const count = Math.min(left, 1 + upTo(perTransaction));
      const fails = random() < rollbackShare;
      if (!fails) left -= count;
      const conversation = conversations[upTo(conversations.length)]!;
      await transact(engine.app.database, scope, async (tx) => {
        for (let said = 0; said < count; said += 1)
          await send(tx, conversation, { type: 'incoming', content: `Message ${said}` });
        // The events have their ids; others commit meanwhile.
        await tx.flush();
        await sleep(random() < 0.1 ? upTo(60) : upTo(6));
        if (fails) throw new RolledBack();
      }).catch((error: unknown) => {
        if (!(error instanceof RolledBack)) throw error;
        rolledBack += 1;
      });
    }
  }

  /** Polls the feed; one that is killed loses what it was just reading, and goes on behind the last event it has handled. */
  async function poll({ killed }: { killed: boolean }, isOver: () => boolean): Promise<number[]> {
    const seen: Entry[] = [];
    let next = '';
    for (;;) {
      const query = `limit=${1 + upTo(200)}${next && `&after=${next}`}`;
      const { status, body } = await web.get(`events?${query}`);
      expect(status, JSON.stringify(body)).to.equal(200);
      const page = body.payload as Entry[];
      const dies = killed && page.length > 0 && random() < 0.2;
      seen.push(...(dies ? page.slice(0, upTo(page.length)) : page));
      const isEnd = body.meta.next_cursor === next;
      next = dies ? (seen.at(-1)?.cursor ?? '') : body.meta.next_cursor;
      if (isEnd && isOver()) return seen.map(({ id }) => id);
      if (isEnd) await sleep(upTo(20));
    }
  }

  /** Follows a stream that breaks after every so many events. */
  async function follow(isComplete: (count: number) => boolean): Promise<{ ids: number[]; breaks: number }> {
    const ids: number[] = [];
    const mean = Math.max(1, Math.floor((events * streams) / (1.5 * reconnects)));
    let lastEventId = '';
    let breaks = 0;
    const [first] = (await web.get('events?limit=1')).body.payload as Entry[];
    for (;;) {
      const from = lastEventId === '' ? `?after=${first!.cursor}` : '';
      const source = await EventSource.open({
        url: `${web.url}/api/v1/accounts/1/events/stream${from}`,
        headers: { api_access_token: adminToken, ...(lastEventId ? { 'last-event-id': lastEventId } : {}) },
      });
      const enough = 1 + upTo(2 * mean);
      while (source.events.length < enough && !isComplete(ids.length + source.events.length)) await sleep(2);
      await source.close();
      // What came after the break is lost with it.
      const handled = source.events.slice(0, enough);
      ids.push(...handled.map(({ data }) => data.id as number));
      lastEventId = handled.at(-1)?.id ?? lastEventId;
      if (isComplete(ids.length)) return { ids: [first!.id, ...ids], breaks };
      breaks += 1;
    }
  }

  it(`each see every event once and in order: ${writers} writers, ${pollers} readers, ${streams} streams, ${events} events`, async () => {
    await engine.eventually(async () => (await engine.query('SELECT FROM unplaced_events LIMIT 1')).length === 0);
    let total = Infinity;
    let isWritten = false;
    const polling = Array.from({ length: pollers }, (_, index) => poll({ killed: index % 2 === 1 }, () => isWritten));
    const following = Array.from({ length: streams }, () => follow((count) => count + 1 >= total));
    const all = Promise.all([...polling, ...following]);
    all.catch(() => undefined);
    await Promise.all(Array.from({ length: writers }, write));
    await engine.eventually(
      async () => (await engine.query('SELECT FROM unplaced_events LIMIT 1')).length === 0,
      60_000,
    );
    const placed = await engine.query<{ id: number; conversation_id: number | null; sequence: number | null }>(
      `SELECT e.id, e.conversation_id, e.sequence FROM event_feed f
       JOIN events e ON e.account_id = f.account_id AND e.id = f.event_id WHERE f.account_id = 1 ORDER BY f.position`,
    );
    total = placed.length;
    isWritten = true;
    await all;
    const [written] = await engine.query<{ count: number }>(
      'SELECT count(*)::int AS count FROM events WHERE account_id = 1',
    );
    expect(placed).to.have.lengthOf(written!.count);
    expect(written!.count).to.be.at.least(events);
    expect(rolledBack).to.be.greaterThan(0);
    for (const [id, said] of Map.groupBy(placed, (event) => event.conversation_id)) {
      if (id === null) continue;
      expect(said.map(({ sequence }) => sequence)).to.deep.equal(said.map((_, index) => index + 1));
    }
    const ids = placed.map(({ id }) => id);
    for (const seen of await Promise.all(polling)) expectSame(seen, ids);
    const streamed = await Promise.all(following);
    for (const { ids: seen } of streamed) expectSame(seen, ids);
    expect(streamed.reduce((sum, { breaks }) => sum + breaks, 0)).to.be.at.least(reconnects);
    // Nobody else's events are in it, and nobody else sees them.
    const others = await web.get('/api/v1/accounts/1/events', administrator.headers);
    expect(others.status).to.equal(404);
  });

  // chai's comparison of 200,000 numbers takes minutes.
  function expectSame(seen: readonly number[], ids: readonly number[]): void {
    const differs = ids.findIndex((id, index) => seen[index] !== id);
    expect(differs, `event ${ids[differs]} came as ${seen[differs]}`).to.equal(-1);
    expect(seen).to.have.lengthOf(ids.length);
  }
});
