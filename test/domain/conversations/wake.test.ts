import { expect } from 'chai';
import { wake } from '../../../src/domain/conversations/lifecycle.ts';
import { system, transact } from '../../../src/events/transaction.ts';
import { TestApp } from '../../support/app.ts';
import { addConversation, addInbox } from '../../support/records.ts';

const minute = 60_000;

describe('waking', () => {
  let app: TestApp;
  let now = Date.now();
  let inbox: number;

  before(async () => {
    app = await TestApp.start({ engine: false, clock: { now: () => new Date(now) } });
    inbox = await addInbox(app);
  });

  beforeEach(() => app.events());
  after(() => app.stop());

  const ring = (id: number): Promise<boolean> =>
    transact(app.app.database, { account: { id: 1, name: 'Account' }, actor: system }, (tx) => wake(tx, id));
  const snooze = (id: number, minutes: number) => {
    const until = Math.floor((now + minutes * minute) / 1000);
    return app.post(`conversations/${id}/toggle_status`, { status: 'snoozed', snoozed_until: until });
  };

  it('leaves a snooze alone that was prolonged in its last moment', async () => {
    const id = await addConversation(app, inbox);
    await snooze(id, 5);
    now += 6 * minute;
    // The alarm has found it due; before it takes the conversation, a person snoozes it anew.
    await snooze(id, 60);
    await app.events();
    expect(await ring(id)).to.equal(false);
    expect((await app.get(`conversations/${id}`)).body.status).to.equal('snoozed');
    expect(await app.eventNames()).to.deep.equal([]);
    now += 61 * minute;
    expect(await ring(id)).to.equal(true);
    expect((await app.get(`conversations/${id}`)).body).to.include({ status: 'open', snoozed_until: null });
    expect(await app.eventNames()).to.deep.equal(['conversation_status_changed']);
  });

  it('does nothing to one that is awake, or gone', async () => {
    const id = await addConversation(app, inbox);
    await app.events();
    expect(await ring(id)).to.equal(false);
    expect(await ring(9_999_999)).to.equal(false);
    expect(await app.eventNames()).to.deep.equal([]);
  });
});
