import { expect } from 'chai';
import { TestApp } from '../../support/app.ts';
import { addPerson, type Person } from '../../support/people.ts';
import { addContact, addConversation, addInbox, addWebhookBot } from '../../support/records.ts';

const details = { email: 'carla@example.com', phone_number: '+14155552671', identifier: 'crm-4711' };

describe('whom bots are told a message is of', () => {
  let app: TestApp;
  let member: Person;
  let bot: Person;
  let contact: number;
  let conversation: number;

  before(async () => {
    app = await TestApp.start({ engine: false });
    member = await addPerson(app, { name: 'Member' });
    bot = await addWebhookBot(app, 'Helper');
    contact = await addContact(app, { name: 'Carla', ...details });
    const inbox = await addInbox(app, { members: [member], botId: bot.id });
    conversation = await addConversation(app, inbox, { contactId: contact });
    await app.patch(`inboxes/${inbox}`, { greeting_enabled: true, greeting_message: 'Welcome' });
  });

  beforeEach(() => app.events());
  after(() => app.stop());

  async function told(message: object, headers?: Person['headers']): Promise<Record<string, unknown>[]> {
    const path = `conversations/${conversation}/messages`;
    const { status, body } = await app.post(path, { content: 'Hello', message_type: 'outgoing', ...message }, headers);
    expect(status).to.equal(201);
    const edit = { content: 'Hello!' };
    if (!headers) await app.patch(`${path}/${body.id}`, edit);
    return (await app.events()).flatMap(({ bot_payload: payload }) => (payload ? [payload] : []));
  }

  const withoutDetails = (payload: object) => {
    for (const secret of Object.values(details)) expect(JSON.stringify(payload)).not.to.include(secret);
  };

  it('a contact, with what is known of it; and of the inbox’s own word nobody', async () => {
    const [message, greeting, edited] = await told({ message_type: 'incoming' });
    const sender = { id: contact, name: 'Carla', ...details, avatar: null, type: 'contact' };
    expect(message!['sender']).to.deep.equal(sender);
    expect(greeting).to.include({ content: 'Welcome', sender: null });
    withoutDetails(greeting!);
    expect(edited).to.deep.include({ event: 'message_updated', sender });
  });

  it('a bot, with nothing of the contact beside it', async () => {
    for (const message of [{}, { private: true }]) {
      const [payload] = await told(message, bot.headers);
      const nothing = { email: null, phone_number: null, identifier: null, avatar: null };
      expect(payload!['sender']).to.deep.equal({ id: bot.id, name: 'Helper', ...nothing, type: 'agent_bot' });
      withoutDetails(payload!);
    }
  });

  it('a person, with nothing of the contact beside it', async () => {
    for (const message of [{ private: true }, {}]) {
      const [payload] = await told(message, member.headers);
      const { sender } = payload as { sender: Record<string, unknown> };
      expect(sender).to.include({ id: member.id, name: 'Member', phone_number: null, identifier: null, type: 'user' });
      expect(sender).to.have.all.keys('id', 'name', 'email', 'phone_number', 'avatar', 'identifier', 'type');
      withoutDetails(payload!);
    }
  });
});
