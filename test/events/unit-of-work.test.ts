import { expect } from 'chai';
import { changeLabels } from '../../src/domain/conversations/labels.ts';
import { send } from '../../src/domain/conversations/send.ts';
import {
  system,
  transact,
  transactOutside,
  type OuterTransaction,
  type Transaction,
} from '../../src/events/transaction.ts';
import { TestApp } from '../support/app.ts';
import { addConversation, addInbox, addTeam } from '../support/records.ts';
import { StatementLog } from '../support/statement-log.ts';

const writes = /\bUPDATE conversations/;

class Refusal extends Error {}

describe('the conversations of a transaction', () => {
  let log: StatementLog;
  let app: TestApp;
  let inbox: number;

  before(async () => {
    log = new StatementLog();
    app = await TestApp.start({ engine: false });
    inbox = await addInbox(app);
  });

  after(async () => {
    await app.stop();
    log.close();
  });

  const run = <Result>(work: (tx: Transaction) => Promise<Result>) =>
    transact(app.app.database, { account: { id: 1, name: 'Demo account' }, actor: system }, work);
  const read = async (id: number) => (await app.get(`conversations/${id}`)).body;
  const lock = async (tx: Transaction, id: number) => (await tx.conversation(id))!;
  const lockAll = (tx: Transaction, ids: readonly number[]) =>
    tx.conversations({ ids: 'SELECT unnest($2::bigint[])', parameters: [ids] });

  function undone<Tx extends OuterTransaction>(tx: Tx, work: (inner: Tx) => Promise<void>): Promise<void> {
    const refused = tx.savepoint(async (inner) => {
      await work(inner);
      throw new Refusal();
    });
    return refused.catch((error: unknown) => {
      if (!(error instanceof Refusal)) throw error;
    });
  }

  it('are one object each, however they were asked for', async () => {
    const [id, other] = [await addConversation(app, inbox), await addConversation(app, inbox)];
    await run(async (tx) => {
      const first = await lock(tx, id);
      expect(await lock(tx.as({ ...system, depth: 1 }), id)).to.equal(first);
      const all = await lockAll(tx, [other, id]);
      expect(all.map((one) => one.id)).to.deep.equal([id, other]);
      expect(all[0]).to.equal(first);
      expect(await lock(tx, other)).to.equal(all[1]);
    });
    expect(await run((tx) => tx.conversation(999_999))).to.equal(null);
  });

  it('are written once when they were changed, and not at all when they were not', async () => {
    const id = await addConversation(app, inbox);
    const change = () =>
      run(async (tx) => {
        await send(tx, id, { type: 'incoming', content: 'Hello' });
        await changeLabels(tx, id, { add: ['billing'], remove: [] });
        (await lock(tx, id)).priority = 'high';
      });
    expect((await log.during(change)).filter((statement) => writes.test(statement))).to.have.lengthOf(1);
    const { priority, labels, unread_count: unread } = await read(id);
    expect([priority, labels, unread]).to.deep.equal(['high', ['billing'], 1]);
    const statements = await log.during(() => run((tx) => lock(tx, id)));
    expect(statements.filter((statement) => writes.test(statement))).to.deep.equal([]);
  });

  it('are written in one statement, each with what changed on it alone', async () => {
    const ids = [
      await addConversation(app, inbox),
      await addConversation(app, inbox),
      await addConversation(app, inbox),
    ];
    const team = await addTeam(app, 'Night shift');
    const until = new Date(Date.now() + 3_600_000);
    await app.patch(`conversations/${ids[2]}`, { priority: 'low', custom_attributes: { kept: true } });
    const change = () =>
      run(async (tx) => {
        const [one, two, three] = await lockAll(tx, ids);
        Object.assign(one!, {
          status: 'snoozed',
          snoozedUntil: until,
          customAttributes: { 'a "quoted" \\ key': [1, null] },
        });
        Object.assign(two!, { team: { id: team, name: 'Night shift' }, priority: 'urgent' });
        three!.unreadCount = 7;
      });
    expect((await log.during(change)).filter((statement) => writes.test(statement))).to.have.lengthOf(1);
    const [one, two, three] = await Promise.all(ids.map(read));
    expect(one).to.include({ status: 'snoozed', snoozed_until: Math.floor(until.getTime() / 1000), priority: null });
    expect(one.custom_attributes).to.deep.equal({ 'a "quoted" \\ key': [1, null] });
    expect(two).to.include({ status: 'open', priority: 'urgent', snoozed_until: null });
    expect(two.meta.team).to.deep.equal({ id: team, name: 'Night shift' });
    expect(three).to.deep.include({ unread_count: 7, priority: 'low', custom_attributes: { kept: true } });
  });

  it('stand as they stood when a savepoint is undone, and what it had locked is read again', async () => {
    const [held, fresh] = [await addConversation(app, inbox), await addConversation(app, inbox)];
    await app.events();
    await run(async (tx) => {
      const conversation = await lock(tx, held);
      conversation.priority = 'high';
      await undone(tx, async (inner) => {
        await send(inner, held, { type: 'incoming', content: 'Never said' });
        await send(inner, fresh, { type: 'incoming', content: 'Never said' });
        (await lock(inner, held)).priority = 'low';
      });
      expect(conversation).to.include({ priority: 'high', unreadCount: 0 });
      expect(await lock(tx, held)).to.equal(conversation);
      // Its lock was let go with the savepoint, so that others may have changed it.
      await app.patch(`conversations/${fresh}`, { priority: 'medium' });
      const again = await lock(tx, fresh);
      expect(again).to.include({ priority: 'medium', unreadCount: 0 });
      await send(tx, fresh, { type: 'incoming', content: 'Said' });
    });
    expect(await read(held)).to.include({ priority: 'high', unread_count: 0 });
    expect(await read(fresh)).to.include({ priority: 'medium', unread_count: 1 });
    expect(await app.eventNames()).to.deep.equal(['conversation_updated', 'message_created']);
  });

  it('are there for statements when a savepoint has ended, and stay the same objects', async () => {
    const id = await addConversation(app, inbox);
    await run(async (tx) => {
      const within = await tx.savepoint(async (inner) => Object.assign(await lock(inner, id), { priority: 'high' }));
      const rows = await tx.sql('SELECT priority FROM conversations WHERE id = $1', [id]);
      expect(rows).to.deep.equal([{ priority: 'high' }]);
      expect(await lock(tx, id)).to.equal(within);
      await undone(tx, async (inner) => {
        (await lock(inner, id)).priority = 'low';
      });
      expect(within.priority).to.equal('high');
    });
    expect((await read(id)).priority).to.equal('high');
  });

  it('keep their events from before a savepoint that wrote them and is undone', async () => {
    const id = await addConversation(app, inbox);
    await app.events();
    await transactOutside(app.app.database, async (outer) => {
      const tx = outer.in({ id: 1, name: 'Demo account' });
      await send(tx, id, { type: 'incoming', content: 'Said' });
      await undone(outer, async (part) => {
        await part.savepoint(async () => send(tx, id, { type: 'incoming', content: 'Never said' }));
      });
      expect(await lock(tx, id)).to.include({ unreadCount: 1 });
    });
    expect(await read(id)).to.include({ unread_count: 1 });
    expect(await app.eventNames()).to.deep.equal(['message_created']);
  });

  it('are forgotten when they are deleted', async () => {
    const id = await addConversation(app, inbox);
    await run(async (tx) => {
      const conversation = await lock(tx, id);
      conversation.priority = 'high';
      await undone(tx, (inner) => inner.deleteConversations([conversation]));
      expect(await lock(tx, id)).to.equal(conversation);
      await tx.deleteConversations([conversation]);
      expect(await lock(tx, id)).to.equal(null);
    });
    expect((await app.get(`conversations/${id}`)).status).to.equal(404);
  });
});
