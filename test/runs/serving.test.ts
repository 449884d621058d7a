import { expect } from 'chai';
import { TestApp } from '../support/app.ts';

describe('who serves a conversation', () => {
  let app: TestApp;
  let botId: number;
  let contactId: number;

  beforeEach(async () => {
    app = await TestApp.start({ engine: false });
    botId = (await app.get('agent_bots')).body.payload[0].id;
    contactId = (await app.post('contacts', { name: 'Customer' })).body.id;
  });

  afterEach(() => app.stop());

  const say = (id: number, type: 'incoming' | 'outgoing') =>
    app.post(`conversations/${id}/messages`, { content: 'Hello', message_type: type });

  it('a bot that comes after a person replied does not talk over that person', async () => {
    const inbox = await app.post('inboxes', { name: 'Without a bot', channel_type: 'Channel::Api' });
    const { body } = await app.post('conversations', { inbox_id: inbox.body.id, contact_id: contactId });
    await say(body.id, 'incoming');
    await say(body.id, 'outgoing');
    await app.post(`inboxes/${inbox.body.id}/set_agent_bot`, { agent_bot: botId });
    await say(body.id, 'incoming');
    const explained = await app.get(`conversations/${body.id}/agent_bot`);
    expect(explained.body).to.include({ answers: false, reason: 'human_replied' });
    const heard = await app.query(
      'SELECT FROM deliveries d JOIN events e ON e.id = d.event_id WHERE e.conversation_id = $1',
      [body.id],
    );
    expect(heard).to.deep.equal([]);
    // A new session is the bot's again.
    await app.post(`conversations/${body.id}/toggle_status`, { status: 'resolved' });
    await say(body.id, 'incoming');
    expect((await app.get(`conversations/${body.id}/agent_bot`)).body).to.include({ answers: true, reason: null });
  });

  it('a bot that was replaced does not handle what waited for it, and takes nothing from its successor', async () => {
    const { id: inboxId } = (await app.get('inboxes')).body.payload.find(
      ({ name }: { name: string }) => name === 'Demo inbox',
    );
    const successor = await app.post('agent_bots', { name: 'Successor', kind: 'plugin', plugin_id: 'faq' });
    const { body } = await app.post('conversations', { inbox_id: inboxId, contact_id: contactId });
    await say(body.id, 'incoming');
    await app.post(`conversations/${body.id}/agent_bot`, { agent_bot_id: successor.body.id });
    await app.events();
    app.app.engine.start();
    const [delivery] = await app.eventually(async () => {
      const rows = await app.query<{ state: string; last_error: string }>(
        `SELECT d.state, d.last_error FROM deliveries d JOIN events e ON e.id = d.event_id
         WHERE e.conversation_id = $1 AND d.endpoint_id = $2 AND d.state <> 'pending'`,
        [body.id, botId],
      );
      return rows.length > 0 && rows;
    });
    expect(delivery).to.deep.equal({ state: 'cancelled', last_error: 'not_serving' });
    expect(await app.eventNames()).to.deep.equal([]);
    expect((await app.get(`conversations/${body.id}`)).body.status).to.equal('pending');
  });
});
