import { expect } from 'chai';
import { viewEvent } from '../../src/sandbox/parent/event-view.ts';
import { noPermissions } from '../../src/sandbox/run.ts';
import { TestApp } from '../support/app.ts';
import { Widget } from '../support/widget.ts';
import { allPermissions } from './helpers.ts';

// No part of the service, its demo data or these tests holds them anywhere else.
const contact = {
  name: 'Zenobia Quixwell',
  email: 'zenobia@quixwell.example',
  phone_number: '+4915199887766',
  identifier: 'quixwell-4711',
  custom_attributes: { shoe_size: 'forty-three-and-a-half' },
};
const avatar = 'https://images.example/quixwell.png';
const values: Record<string, string> = {
  ...contact,
  custom_attributes: contact.custom_attributes.shoe_size,
  avatar,
};
const events = [
  'message_created',
  'message_updated',
  'conversation_resolved',
  'conversation_opened',
  'webwidget_triggered',
];

describe('sandbox: what a bot sees of the contact', function () {
  this.timeout(60_000);
  let app: TestApp;
  const bodies = new Map<string, unknown>();

  before(async () => {
    app = await TestApp.start({ engine: false });
    const bot = { name: 'Listener', kind: 'webhook', outgoing_url: 'https://bot.example/' };
    const created = await app.post('agent_bots', bot);
    const widget = await Widget.create(app, {}, created.body.id);
    const { headers, contactId } = await widget.enter();
    await app.patch(`contacts/${contactId}`, contact);
    await app.query('UPDATE contacts SET avatar_url = $2 WHERE id = $1', [contactId, avatar]);
    await widget.open({}, headers);
    const said = await widget.say('Hello', headers);
    const [{ id } = { id: 0 }] = await app.query<{ id: number }>(
      'SELECT conversation_id AS id FROM messages WHERE id = $1',
      [said.body.id],
    );
    await app.patch(`conversations/${id}/messages/${said.body.id}`, { content: 'Hello again' });
    await app.delete(`conversations/${id}/messages/${said.body.id}`);
    for (const status of ['resolved', 'open']) await app.post(`conversations/${id}/toggle_status`, { status });
    for (const { name, bot_payload: body } of await app.events()) if (body) bodies.set(name, body);
  });
  after(() => app.stop());

  it('is told of no agent either: addresses of agents are granted by nothing', async () => {
    const { body: conversation } = await app.get('conversations');
    await app.post(`conversations/${conversation.data.payload[0].id}/messages`, {
      content: 'From an agent',
      message_type: 'outgoing',
    });
    const [said] = (await app.events()).filter(({ name }) => name === 'message_created');
    const { sender } = said!.bot_payload as { sender: { email: string; name: string } };
    expect(sender.email).to.contain('@');
    const view = viewEvent(said!.bot_payload, { ...allPermissions, receive_own: true }) as { sender: object };
    expect(view.sender).to.deep.equal({ ...sender, email: null });
  });

  it('is tried on every event there is for bots', () => {
    expect([...bodies.keys()].sort()).to.deep.equal([...events].sort());
  });

  for (const name of events) {
    it(`is nothing in ${name} for a bot that was granted nothing`, () => {
      const view = JSON.stringify(viewEvent(bodies.get(name), noPermissions));
      for (const [field, value] of Object.entries(values)) expect(view, field).not.to.contain(value);
      expect(view).to.contain('"type":"contact"');
    });

    it(`is what was granted and is there in ${name}, and no more`, () => {
      const told = JSON.stringify(bodies.get(name));
      expect(told).to.contain(contact.name);
      for (const field of allPermissions.contact) {
        const view = JSON.stringify(viewEvent(bodies.get(name), { ...noPermissions, contact: [field] }));
        const shown = Object.keys(values).filter((other) => view.includes(values[other] ?? ''));
        expect(shown).to.deep.equal(told.includes(values[field] ?? '') ? [field] : []);
      }
    });
  }
});
