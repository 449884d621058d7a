import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { TestApp, type Answer } from '../support/app.ts';
import { hold, holdConversation } from '../support/lock.ts';
import { Maker } from '../support/maker.ts';
import { addAccount } from '../support/people.ts';
import { Receiver } from '../support/receiver.ts';
import { addConversation, addInbox } from '../support/records.ts';
import { stopClean } from './ledger.ts';

const message = (content: string) => ({ content, message_type: 'incoming' });

describe('rows that are locked for long', () => {
  describe('by one account', () => {
    let app: TestApp;
    let other: Maker;
    let receiver: Receiver;

    before(async () => {
      // So long that whatever is answered meanwhile has not waited for the lock.
      app = await TestApp.start({ config: { lockTimeoutMs: 20_000, statementTimeoutMs: 30_000 } });
      receiver = await Receiver.start();
      const { id, administrator } = await addAccount(app, 'Bravo');
      other = new Maker(app, id, { mark: 'Bravo', administrator });
    });

    after(async () => {
      await stopClean(app);
      await receiver.close();
    });

    it('leave the requests and the deliveries of others alone', async () => {
      const stuck = await addConversation(app, await addInbox(app));
      const inbox = await other.inbox();
      const conversation = await other.conversation(inbox);
      await other.webhook({ url: receiver.url, active: true });
      const release = await holdConversation(app.databaseUrl, stuck);
      const crowd: Promise<Answer>[] = Array.from({ length: 50 }, (_, index) =>
        app.post(`conversations/${stuck}/messages`, message(`Stuck ${index}`)),
      );
      try {
        await app.eventually(async () => {
          const waiting = await other.call('GET', `conversations/${conversation}`);
          const rows = await app.query(
            `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
          );
          return waiting.id === conversation && rows.length > 1;
        });
        const said = Array.from({ length: 20 }, (_, index) => `Prompt ${index}`);
        for (const content of said) await other.message(conversation, { content });
        const arrived = await receiver.waitFor(said.length);
        expect(arrived.map(({ body }) => body['content'])).to.deep.equal(said);
        expect((await app.get('/readyz')).status).to.equal(200);
      } finally {
        await release();
      }
      const answers = await Promise.all(crowd);
      expect(answers.filter(({ status }) => status === 201)).not.to.have.lengthOf(0);
      for (const { status, body, headers } of answers) {
        if (status !== 201) expect([status, body.code, headers.get('retry-after')]).to.deep.equal([503, 'busy', '1']);
      }
    });
  });

  describe('with every connection of the requests', () => {
    let app: TestApp;
    let receiver: Receiver;

    before(async () => {
      app = await TestApp.start({ config: { databasePoolMax: 4 } });
      receiver = await Receiver.start();
    });

    after(async () => {
      await stopClean(app);
      await receiver.close();
    });

    it('leave sweeps and deliveries alone', async () => {
      const id = await addConversation(app, await addInbox(app));
      await app.post('webhooks', { url: receiver.url, subscriptions: ['conversation_status_changed'] });
      const until = Math.ceil(Date.now() / 1000) + 2;
      await app.post(`conversations/${id}/toggle_status`, { status: 'snoozed', snoozed_until: until });
      const { promise: mayEnd, resolve: end } = Promise.withResolvers<void>();
      const { database } = app.app;
      const held = Array.from({ length: 3 }, () =>
        database.transaction(async (sql) => {
          await sql('SELECT 1');
          await mayEnd;
        }),
      );
      try {
        const arrived = await receiver.waitFor(2);
        expect(arrived.map(({ body }) => body['status'])).to.deep.equal(['snoozed', 'open']);
      } finally {
        end();
        await Promise.all(held);
      }
    });
  });

  describe('by another transaction', () => {
    let app: TestApp;

    before(async () => {
      app = await TestApp.start({
        config: { lockTimeoutMs: 500, idleInTransactionTimeoutMs: 2_000, databasePoolMax: 4 },
      });
    });

    after(() => stopClean(app));

    it('refuse the request that waits for them, and nothing else', async () => {
      const id = await addConversation(app, await addInbox(app));
      await app.events();
      const release = await holdConversation(app.databaseUrl, id);
      const { status, body, headers } = await app.post(`conversations/${id}/messages`, message('Too early'));
      expect([status, body.code, headers.get('retry-after')]).to.deep.equal([503, 'busy', '1']);
      expect((await app.get(`conversations/${id}`)).status).to.equal(200);
      await release();
      expect((await app.post(`conversations/${id}/messages`, message('In time'))).status).to.equal(201);
      expect(await app.eventNames()).to.deep.equal(['message_created']);
    });

    it('make a bot wait, which answers once when they are free', async () => {
      const { id: inbox } = (await app.get('inboxes')).body.payload[0];
      const conversation = await addConversation(app, inbox);
      const release = await hold(app.databaseUrl, 'LOCK TABLE bot_runs IN EXCLUSIVE MODE');
      await app.post(`conversations/${conversation}/messages`, message('opening hours?'));
      await app.eventually(async () => {
        const rows = await app.query(
          `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
        );
        return rows.length > 0;
      });
      // Longer than it waits for a lock.
      await sleep(1_200);
      await release();
      await app.eventually(async () => (await app.query('SELECT FROM bot_runs')).length > 0);
      const said = (await app.get(`conversations/${conversation}/messages`)).body.payload;
      expect(said.map(({ message_type: type }: { message_type: string }) => type)).to.deep.equal([
        'incoming',
        'outgoing',
      ]);
      expect(await app.query('SELECT attempt FROM bot_runs')).to.deep.equal([{ attempt: 1 }]);
    });

    it('are let go of by a transaction that stands still, whose connection goes back to the pool', async () => {
      const id = await addConversation(app, await addInbox(app));
      const { database } = app.app;
      const standStill = (until: Promise<void>, locked: () => void) =>
        database.transaction(async (sql) => {
          await sql('SELECT FROM conversations WHERE id = $1 FOR UPDATE', [id]);
          locked();
          await until;
          await sql('SELECT 1');
        });
      // More often than the pool has connections.
      for (let round = 0; round < 5; round += 1) {
        const [isSaid, isLocked] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
        const standing = standStill(isSaid.promise, isLocked.resolve).then(
          () => 'went on',
          () => 'was ended',
        );
        await isLocked.promise;
        const say = async () => (await app.post(`conversations/${id}/messages`, message('Hello'))).status;
        await app.eventually(async () => (await say()) === 201);
        isSaid.resolve();
        expect(await standing).to.equal('was ended');
      }
    });
  });
});
