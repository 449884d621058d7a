import { expect } from 'chai';
import { TestApp } from '../../support/app.ts';
import { addContact, addConversation, addInbox, addMessage } from '../../support/records.ts';

const hour = 3_600_000;

describe('the times of a contact', () => {
  let app: TestApp;
  let now = Date.now();
  const seconds = () => Math.floor(now / 1000);

  before(async () => {
    app = await TestApp.start({ engine: false, clock: { now: () => new Date(now) } });
  });

  after(() => app.stop());

  it('tell creation, last change and last word apart, in answers and events', async () => {
    const created = seconds();
    const id = await addContact(app, { name: 'Ann' });
    const times = async () => {
      const { created_at, updated_at, last_activity_at } = (await app.get(`contacts/${id}`)).body;
      return { created_at, updated_at, last_activity_at };
    };
    expect(await times()).to.deep.equal({ created_at: created, updated_at: created, last_activity_at: null });

    now += hour;
    const changed = seconds();
    await app.events();
    await app.patch(`contacts/${id}`, { name: 'Anna' });
    expect(await times()).to.deep.equal({ created_at: created, updated_at: changed, last_activity_at: null });
    const [event] = await app.events();
    expect(event!.account_payload).to.include({ event: 'contact_updated', created_at: created, updated_at: changed });

    now += hour;
    await app.patch(`contacts/${id}`, { name: 'Anna' });
    await addMessage(app, await addConversation(app, await addInbox(app), { contactId: id }), 'Hello', {
      message_type: 'incoming',
    });
    expect(await times()).to.deep.equal({ created_at: created, updated_at: changed, last_activity_at: seconds() });
    const { body } = await app.get('contacts');
    expect(body.payload.find((contact: { id: number }) => contact.id === id)).to.include({
      created_at: created,
      updated_at: changed,
    });
  });
});
