import { expect } from 'chai';
import { updateContact } from '../../src/domain/contacts/contacts.ts';
import { send } from '../../src/domain/conversations/send.ts';
import { system, transact, type Transaction } from '../../src/events/transaction.ts';
import { TestApp } from '../support/app.ts';
import { addContact, addConversation, addInbox } from '../support/records.ts';

class Refusal extends Error {}

const refuse = (): never => {
  throw new Refusal();
};

const forgive = (error: unknown): void => {
  if (!(error instanceof Refusal)) throw error;
};

describe('a transaction', () => {
  let app: TestApp;
  let inbox: number;

  before(async () => {
    app = await TestApp.start({ engine: false });
    inbox = await addInbox(app);
  });

  after(() => app.stop());

  const run = <Result>(work: (tx: Transaction) => Promise<Result>) =>
    transact(app.app.database, { account: { id: 1, name: 'Demo account' }, actor: system }, work);
  const say = (tx: Transaction, conversation: number) =>
    send(tx, conversation, { type: 'incoming', content: `Said by ${conversation}` });

  async function newConversation(): Promise<number> {
    const id = await addConversation(app, inbox, { contactId: await addContact(app) });
    await app.events();
    return id;
  }

  describe('what follows its commit', () => {
    // Whether another connection sees the row that the transaction wrote, when the work begins.
    async function labelsSeen(): Promise<number> {
      const [row] = await app.query<{ n: number }>('SELECT count(*)::int AS n FROM labels');
      return row!.n;
    }
    const label = (tx: Transaction, title: string) =>
      tx.sql(`INSERT INTO labels (account_id, title, color) VALUES (1, $1, '#111111')`, [title]);

    it('begins in order, when everything is there for all to see, that of a savepoint too', async () => {
      const before = await labelsSeen();
      const begun: [string, Promise<number>][] = [];
      const follow = (name: string) => () => void begun.push([name, labelsSeen()]);
      await run(async (tx) => {
        tx.afterCommit(follow('first'));
        await label(tx, 'outer');
        await tx.savepoint(async (inner) => {
          inner.afterCommit(follow('second'));
          await label(inner, 'inner');
        });
        expect(begun).to.deep.equal([]);
      });
      expect(begun.map(([name]) => name)).to.deep.equal(['first', 'second']);
      for (const [, seen] of begun) expect(await seen).to.equal(before + 2);
    });

    it('never begins when the transaction is undone', async () => {
      let begun = 0;
      await run(async (tx) => {
        tx.afterCommit(() => (begun += 1));
        refuse();
      }).catch(forgive);
      expect(begun).to.equal(0);
    });

    it('does not begin for a savepoint that was undone, alone', async () => {
      const begun: string[] = [];
      const id = await newConversation();
      await run(async (tx) => {
        tx.afterCommit(() => void begun.push('before'));
        await tx
          .savepoint(async (inner) => {
            inner.afterCommit(() => void begun.push('within'));
            await inner.savepoint(async (innermost) => innermost.afterCommit(() => void begun.push('deep within')));
            await say(inner, id);
            refuse();
          })
          .catch(forgive);
        tx.afterCommit(() => void begun.push('behind'));
      });
      expect(begun).to.deep.equal(['before', 'behind']);
      expect(await app.eventNames()).to.deep.equal([]);
    });

    it('goes on after a failure, and what was committed stays', async () => {
      const begun: string[] = [];
      await run(async (tx) => {
        await label(tx, 'stays');
        tx.afterCommit(refuse);
        tx.afterCommit(() => void begun.push('next'));
      });
      expect(begun).to.deep.equal(['next']);
      expect(await app.query(`SELECT FROM labels WHERE title = 'stays'`)).to.have.lengthOf(1);
    });
  });

  describe('that presumes something', () => {
    it('is run again without, and leaves nothing of the first time, when that is not so', async () => {
      const id = await newConversation();
      const seen: boolean[] = [];
      let begun = 0;
      await run(async (tx) => {
        seen.push(tx.mayPresume);
        if (tx.mayPresume) tx.presume({ text: 'SELECT refuse_presumption()', parameters: [] });
        tx.afterCommit(() => (begun += 1));
        await say(tx, id);
      });
      expect([seen, begun]).to.deep.equal([[true, false], 1]);
      expect(await app.eventNames()).to.deep.equal(['message_created']);
    });

    it('is not believed in what it refuses, but without', async () => {
      const refuseIf = (isWrong: (tx: Transaction) => boolean) =>
        run(async (tx) => {
          if (tx.mayPresume) tx.presume({ text: 'SELECT true', parameters: [] });
          return isWrong(tx) ? refuse() : 'done';
        });
      expect(await refuseIf(({ mayPresume }) => mayPresume)).to.equal('done');
      expect(await refuseIf(() => true).catch((error) => error)).to.be.instanceOf(Refusal);
    });

    it('is not run again when nobody knows whether it has been committed', async () => {
      let times = 0;
      const lost = run(async (tx) => {
        times += 1;
        if (tx.mayPresume) tx.presume({ text: 'SELECT pg_terminate_backend(pg_backend_pid())', parameters: [] });
        await tx.sql('SELECT 1');
      });
      expect(await lost.catch((error) => error)).to.be.an('error');
      expect(times).to.equal(1);
    });
  });

  describe('run again after a deadlock', () => {
    /** Two transactions that take the two locks in opposite order, each when the other has its first. */
    async function deadlocked(
      [one, other]: [number, number],
      verb: (tx: Transaction, subject: number) => Promise<unknown>,
    ): Promise<{ runs: number; followed: number }> {
      const counts = { runs: 0, followed: 0 };
      const holding = [Promise.withResolvers<void>(), Promise.withResolvers<void>()] as const;
      const cross = (mine: 0 | 1, subjects: number[]) =>
        run(async (tx) => {
          counts.runs += 1;
          tx.afterCommit(() => (counts.followed += 1));
          for (const subject of subjects) {
            await verb(tx, subject);
            holding[mine].resolve();
            await holding[mine === 0 ? 1 : 0].promise;
          }
        });
      await Promise.all([cross(0, [one, other]), cross(1, [other, one])]);
      return counts;
    }

    it('says each event of a conversation once, and begins what follows once', async () => {
      const pair: [number, number] = [await newConversation(), await newConversation()];
      const counts = await deadlocked(pair, say);
      expect(counts.runs).to.be.at.least(3);
      expect(counts.followed).to.equal(2);
      const events = await app.events();
      expect(events.map(({ name }) => name)).to.deep.equal(Array(4).fill('message_created'));
      for (const id of pair) {
        const sequences = await app.query<{ sequence: number }>(
          'SELECT sequence FROM events WHERE conversation_id = $1 ORDER BY sequence',
          [id],
        );
        expect(sequences.map(({ sequence }) => sequence)).to.deep.equal(sequences.map((_, index) => index + 1));
        expect(await app.query('SELECT FROM messages WHERE conversation_id = $1', [id])).to.have.lengthOf(2);
      }
    });

    it('says each event of a contact once', async () => {
      const pair: [number, number] = [await addContact(app), await addContact(app)];
      await app.events();
      let name = 0;
      const unchanged = {
        email: undefined,
        phoneNumber: undefined,
        identifier: undefined,
        blocked: undefined,
        avatarUrl: undefined,
        customAttributes: undefined,
        additionalAttributes: undefined,
      };
      await deadlocked(pair, (tx, id) => updateContact(tx, id, { ...unchanged, name: `Renamed ${(name += 1)}` }));
      expect(await app.eventNames()).to.deep.equal(Array(4).fill('contact_updated'));
    });
  });
});
