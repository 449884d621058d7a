import { expect } from 'chai';
import { send } from '../../src/domain/conversations/send.ts';
import { placeEvents } from '../../src/events/feed.ts';
import { system, transact, type Transaction } from '../../src/events/transaction.ts';
import { readPage, type FeedEvent } from '../../src/live/read-page.ts';
import { migrate } from '../../src/postgres/migrate.ts';
import { TestApp } from '../support/app.ts';
import { hold, untilWaiting } from '../support/lock.ts';
import { addAccount } from '../support/people.ts';
import { dropDatabase } from '../support/postgres.ts';
import { addContact, addConversation, addInbox } from '../support/records.ts';
import { createDatabaseOf010 } from '../support/release.ts';
import { rowsOf } from '../faults/helpers.ts';

const never = (error: unknown): never => {
  throw error;
};

describe('the feed of events', () => {
  let app: TestApp;
  let inbox: number;

  before(async () => {
    app = await TestApp.start();
    inbox = await addInbox(app);
  });

  after(() => app.stop());

  const say = (tx: Transaction, conversation: number, content: string) =>
    send(tx, conversation, { type: 'incoming', content });
  const run = <Result>(work: (tx: Transaction) => Promise<Result>) =>
    transact(app.app.database, { account: { id: 1, name: 'Demo account' }, actor: system }, work);
  const read = async (after: number, limit = 7) =>
    (await readPage(app.app.database.sql, { accountId: 1, after, limit })).events;

  /** Reads the feed from its present end, a few events at a time, until stopped; returns the events read. */
  function follow(from: number): { end: () => Promise<FeedEvent[]> } {
    let ending = false;
    const following = (async () => {
      const seen: FeedEvent[] = [];
      for (;;) {
        const page = await read(seen.at(-1)?.position ?? from);
        seen.push(...page);
        if (page.length === 0 && ending) return seen;
        if (page.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
      }
    })();
    return {
      end: async () => {
        await allPlaced();
        ending = true;
        return following;
      },
    };
  }

  const allPlaced = () =>
    app.eventually(async () => (await app.query('SELECT FROM unplaced_events LIMIT 1')).length === 0);
  const head = async () => {
    await allPlaced();
    const [row] = await app.query<{ position: number }>('SELECT position FROM event_feed_heads WHERE account_id = 1');
    return row?.position ?? 0;
  };

  function expectInOrder(seen: FeedEvent[], from: number): void {
    expect(seen.map(({ position }) => position)).to.deep.equal(seen.map((_, index) => from + 1 + index));
    for (const [id, events] of Map.groupBy(seen, ({ conversationId }) => conversationId)) {
      if (id === null) continue;
      const sequences = events.map(({ sequence }) => sequence ?? 0);
      expect(sequences).to.deep.equal(sequences.map((_, index) => (sequences[0] ?? 0) + index));
    }
  }

  it('shows a follower each event once and in order, one included whose writer waits between its id and its commit', async () => {
    const conversations = await Promise.all(Array.from({ length: 6 }, () => addConversation(app, inbox)));
    const [held, ...others] = conversations;
    const from = await head();
    const before = (await app.query<{ n: number }>('SELECT count(*)::int AS n FROM events'))[0]!.n;
    const follower = follow(from);
    const { promise: hasId, resolve: gotId } = Promise.withResolvers<number>();
    const { promise: mayCommit, resolve: commit } = Promise.withResolvers<void>();
    const late = run(async (tx) => {
      await say(tx, held!, 'Late');
      await tx.flush();
      const [row] = await tx.sql<{ id: number }>('SELECT max(id) AS id FROM events WHERE conversation_id = $1', [held]);
      gotId(row!.id);
      await mayCommit;
    });
    const lateId = await hasId;
    await Promise.all(
      others.map(async (id) => {
        for (let count = 0; count < 10; count += 1) await run((tx) => say(tx, id, `Message ${count}`));
      }),
    );
    await app.eventually(async () => (await read(from, 100)).length === 50);
    expect((await read(from, 100)).some(({ id }) => id === lateId)).to.equal(false);
    commit();
    await late;
    const seen = await follower.end();
    expect(seen.filter(({ id }) => id === lateId)).to.have.lengthOf(1);
    // A reader by ids would have missed it.
    expect(seen.at(-1)!.id).to.equal(lateId);
    const total = (await app.query<{ n: number }>('SELECT count(*)::int AS n FROM events'))[0]!.n;
    expect(seen).to.have.lengthOf(total - before);
    expectInOrder(seen, from);
  });

  it('goes on where it was when whoever places events dies, or several do it at once', async () => {
    const from = await head();
    const ids = await Promise.all([addConversation(app, inbox), addConversation(app, inbox)]);
    await app.query(`CREATE FUNCTION die() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NULL; END $$`);
    await app.query('CREATE TRIGGER die AFTER DELETE ON unplaced_events FOR EACH STATEMENT EXECUTE FUNCTION die()');
    for (let count = 0; count < 10; count += 1) await run((tx) => say(tx, ids[count % 2]!, `Message ${count}`));
    await placeEvents(app.app.database, never).catch(() => undefined);
    expect((await app.query('SELECT FROM unplaced_events')).length).to.be.at.least(10);
    const follower = follow(from);
    await app.query('DROP TRIGGER die ON unplaced_events');
    await Promise.all(Array.from({ length: 5 }, () => placeEvents(app.app.database, never)));
    const seen = await follower.end();
    expect(seen.filter(({ name }) => name === 'message_created')).to.have.lengthOf(10);
    expectInOrder(seen, from);
  });

  it('counts each account for itself, and is not held up by the events of another that are locked', async () => {
    const quiet = await TestApp.start({ engine: false, config: { lockTimeoutMs: 200 } });
    try {
      const { id, administrator } = await addAccount(quiet, 'Bravo');
      await addContact(quiet);
      const release = await hold(quiet.databaseUrl, 'SELECT FROM events FOR UPDATE');
      for (const name of ['First', 'Second']) {
        await quiet.call('POST', `/api/v1/accounts/${id}/contacts`, { name }, administrator.headers);
      }
      const failures: unknown[] = [];
      const { database } = quiet.app;
      await placeEvents(database, (error) => failures.push(error));
      const positions = async (account: number) =>
        (await readPage(database.sql, { accountId: account, after: 0, limit: 10 })).events.map(
          ({ position }) => position,
        );
      expect([await positions(1), await positions(id), failures.length]).to.deep.equal([[], [1, 2], 1]);
      await release();
      await placeEvents(database, never);
      expect([await positions(1), await positions(id)]).to.deep.equal([[1], [1, 2]]);
    } finally {
      await quiet.stop();
    }
  });

  it('places the events of an account while another process is at those of others, and many of one among few of another', async () => {
    const large = await TestApp.start({ engine: false, config: { lockTimeoutMs: 60_000 } });
    const other = await TestApp.start({ engine: false, databaseUrl: large.databaseUrl });
    try {
      const { id, administrator } = await addAccount(large, 'Bravo');
      await placeEvents(large.app.database, never);
      await addContact(large);
      await large.query(
        `INSERT INTO events (account_id, name) SELECT 1, 'contact_created' FROM generate_series(1, 2500)`,
      );
      await large.query(
        `INSERT INTO unplaced_events SELECT id, account_id FROM events WHERE account_id = 1 AND name = 'contact_created'
         ON CONFLICT DO NOTHING`,
      );
      const release = await hold(large.databaseUrl, 'SELECT FROM events WHERE account_id = 1 FOR UPDATE');
      const placing = placeEvents(large.app.database, never);
      await untilWaiting(large, 1);
      const add = (name: string) =>
        large.call('POST', `/api/v1/accounts/${id}/contacts`, { name }, administrator.headers);
      await add('While the other account is held up');
      const after: number[][] = [];
      await placeEvents(other.app.database, never, (accounts) => after.push([...accounts]));
      expect(after).to.deep.equal([[id]]);
      await add('Beside many');
      await release();
      await placing;
      expect(await large.query('SELECT FROM unplaced_events')).to.deep.equal([]);
      const order = await large.query<{ event_id: number }>(
        'SELECT event_id FROM event_feed WHERE account_id = 1 ORDER BY position',
      );
      const ids = order.map(({ event_id: event }) => event);
      expect(ids.length).to.be.above(2_500);
      expect(ids).to.deep.equal(ids.toSorted((one, next) => one - next));
    } finally {
      await other.app.stop();
      await large.stop();
    }
  });

  it('gives the account with few events its turn in the first batch', async () => {
    const large = await TestApp.start({ engine: false });
    try {
      const { id, administrator } = await addAccount(large, 'Bravo');
      await large.query(
        `INSERT INTO events (account_id, name) SELECT 1, 'contact_created' FROM generate_series(1, 2500)`,
      );
      await large.query('INSERT INTO unplaced_events SELECT id, account_id FROM events ON CONFLICT DO NOTHING');
      await large.call('POST', `/api/v1/accounts/${id}/contacts`, { name: 'Last' }, administrator.headers);
      const batches: number[][] = [];
      await placeEvents(large.app.database, never, (accounts) => batches.push(accounts.toSorted((a, b) => a - b)));
      expect(batches[0]).to.deep.equal([1, id]);
      expect(batches.length).to.be.above(2);
      expect(await large.query('SELECT FROM unplaced_events')).to.deep.equal([]);
    } finally {
      await large.stop();
    }
  });

  it('loses the positions of events that are deleted, and gives none twice', async () => {
    const contact = await addContact(app);
    const last = await head();
    await app.query(
      'DELETE FROM events WHERE account_id = 1 AND id = (SELECT max(id) FROM events WHERE account_id = 1)',
    );
    expect(await read(last - 1)).to.deep.equal([]);
    await app.patch(`contacts/${contact}`, { name: 'Renamed' });
    await allPlaced();
    expect((await read(last - 1)).map(({ position, name }) => [position, name])).to.deep.equal([
      [last + 1, 'contact_updated'],
    ]);
  });

  it('gives none to an event that is deleted before it is placed', async () => {
    const quiet = await TestApp.start({ engine: false });
    try {
      for (let count = 0; count < 3; count += 1) await addContact(quiet);
      const [, second] = await quiet.query<{ id: number }>('SELECT id FROM events ORDER BY id');
      await quiet.query('DELETE FROM events WHERE id = $1', [second!.id]);
      await placeEvents(quiet.app.database, never);
      const { events } = await readPage(quiet.app.database.sql, { accountId: 1, after: 0, limit: 10 });
      expect(events.map(({ position }) => position)).to.deep.equal([1, 2]);
      expect(await quiet.query('SELECT FROM unplaced_events')).to.deep.equal([]);
    } finally {
      await quiet.stop();
    }
  });

  it('has the events that release 0.1.0 recorded, in order', async () => {
    const url = await createDatabaseOf010();
    try {
      await rowsOf(url, `INSERT INTO accounts (id, name) VALUES (1, 'One'), (2, 'Two')`);
      await rowsOf(
        url,
        `INSERT INTO events (account_id, name) SELECT 1 + n % 2, 'contact_created' FROM generate_series(1, 7) n`,
      );
      await migrate(url);
      const placed = await rowsOf<{ account_id: string; position: string }>(
        url,
        'SELECT account_id, position FROM event_feed ORDER BY event_id',
      );
      expect(placed.map((row) => [Number(row.account_id), Number(row.position)])).to.deep.equal([
        [2, 1],
        [1, 1],
        [2, 2],
        [1, 2],
        [2, 3],
        [1, 3],
        [2, 4],
      ]);
      const heads = await rowsOf(url, 'SELECT position::int FROM event_feed_heads ORDER BY account_id');
      expect(heads).to.deep.equal([{ position: 3 }, { position: 4 }]);
    } finally {
      await dropDatabase(url);
    }
  });
});
