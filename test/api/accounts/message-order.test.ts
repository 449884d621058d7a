import { expect } from 'chai';
import { TestApp } from '../../support/app.ts';
import { addConversation, addInbox, addMessage } from '../../support/records.ts';

const hour = 3_600_000;

describe('the order of messages', () => {
  let app: TestApp;
  let now = Date.now();

  before(async () => {
    app = await TestApp.start({ engine: false, clock: { now: () => new Date(now) } });
  });

  after(() => app.stop());

  it('is that in which they were sent, whichever process wrote them by whichever clock', async () => {
    const id = await addConversation(app, await addInbox(app));
    await app.events();
    const first = await addMessage(app, id, 'By a clock that is right');
    now -= hour;
    const second = await addMessage(app, id, 'By one that is behind', { message_type: 'incoming' });
    const note = await addMessage(app, id, 'And a note', { private: true });
    now += 2 * hour;
    const last = await addMessage(app, id, 'By one that is ahead');
    const { body } = await app.get(`conversations/${id}/messages`);
    const messages = body.payload as { id: number; created_at: number }[];
    expect(messages.map((message) => message.id)).to.deep.equal([first, second, note, last]);
    const times = messages.map(({ created_at: time }) => time);
    expect(times).to.deep.equal([times[0], times[0], times[0], Math.floor(now / 1000)]);
    const { body: conversation } = await app.get(`conversations/${id}`);
    expect(conversation.last_activity_at).to.equal(times[3]);
    const told = await app.events();
    const created = told.filter(({ name }) => name === 'message_created');
    expect(created.map(({ account_payload: payload }) => Number(payload!['id']))).to.deep.equal([
      first,
      second,
      note,
      last,
    ]);
    const stamps = created.map(({ account_payload: payload }) => String(payload!['created_at']));
    expect(stamps).to.deep.equal([...stamps].sort());
    // What is asked for by time is found by that time.
    const after = await app.get(`conversations/${id}/messages?after=${times[0]! - 1}`);
    expect(after.body.payload).to.have.lengthOf(4);
  });

  it('is the order of pages by a message that is named, where a copy of an old one came later', async () => {
    const id = await addConversation(app, await addInbox(app));
    const [one, two, three] = [
      await addMessage(app, id, '1'),
      await addMessage(app, id, '2'),
      await addMessage(app, id, '3'),
    ];
    const old = await addMessage(app, id, 'Of old');
    const other = await addMessage(app, await addConversation(app, await addInbox(app)), 'Elsewhere');
    await app.query(`UPDATE messages SET created_at = created_at - interval '1 hour' WHERE id = $1`, [old]);
    const page = async (query: string): Promise<number[]> => {
      const { status, body } = await app.get(`conversations/${id}/messages?${query}`);
      expect(status).to.equal(200);
      return body.payload.map((message: { id: number }) => message.id);
    };
    expect(await page('')).to.deep.equal([old, one, two, three]);
    expect(await page(`before_message=${two}`)).to.deep.equal([old, one]);
    expect(await page(`before_message=${one}`)).to.deep.equal([old]);
    expect(await page(`before_message=${old}`)).to.deep.equal([]);
    expect(await page(`after_message=${old}`)).to.deep.equal([one, two, three]);
    expect(await page(`after_message=${two}`)).to.deep.equal([three]);
    expect(await page(`after_message=${old}&before_message=${three}`)).to.deep.equal([one, two]);
    // One that the conversation does not have has no place in it: its id alone counts.
    expect(await page(`before_message=${other}`)).to.deep.equal([old, one, two, three]);
    expect(await page(`after_message=${other}`)).to.deep.equal([]);
    expect(await page(`after_message=${one - 1}`)).to.deep.equal([old, one, two, three]);
  });
});
