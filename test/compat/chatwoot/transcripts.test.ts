import { expect } from 'chai';
import { TestApp } from '../../support/app.ts';
import { Profile } from '../../support/chatwoot.ts';
import { MailServer } from '../../support/mail-server.ts';

describe('Chatwoot profile: transcripts', function () {
  this.timeout(60_000);
  let server: MailServer;

  before(async () => {
    server = await MailServer.start();
  });

  after(() => server.close());

  async function converse(app: TestApp): Promise<number> {
    const inbox = (await app.post('inboxes', { name: 'Shop' })).body.id;
    const contact = (await app.post('contacts', { name: 'Carla' })).body.id;
    const { id } = (await app.post('conversations', { inbox_id: inbox, contact_id: contact })).body;
    const say = (body: object) => app.post(`conversations/${id}/messages`, body);
    await say({ content: 'Where is my lamp?', message_type: 'incoming' });
    await say({ content: 'On its way.', message_type: 'outgoing' });
    const items = ['Yes', 'No'].map((title) => ({ title, value: title }));
    const choice = { content_type: 'input_select', content_attributes: { items } };
    await say({ content: 'Does it fit?', message_type: 'outgoing', ...choice });
    await say({ content: 'She is angry', message_type: 'outgoing', private: true });
    return id;
  }

  it('go by mail, public messages alone, once under a key', async () => {
    const app = await TestApp.start({ engine: false, config: { smtpUrl: server.url, mailFrom: 'shop@example.com' } });
    try {
      const theirs = new Profile(app);
      const path = `conversations/${await converse(app)}/transcript`;
      await app.eventNames();
      const key = { 'idempotency-key': 'one transcript' };
      for (let call = 0; call < 2; call += 1)
        expect((await theirs.post(path, { email: 'carla@example.com' }, key)).status).to.equal(200);
      expect((await theirs.post('conversations/999999/transcript', { email: 'carla@example.com' })).status).to.equal(
        404,
      );
      for (const body of [{}, { email: '' }, { email: 'nobody' }]) {
        const { status, body: answer } = await theirs.post(path, body);
        expect([status, answer.attributes]).to.deep.equal([422, ['email']]);
      }
      expect(await app.eventNames()).to.deep.equal([]);
    } finally {
      // Waits for mail that is being sent.
      await app.stop();
    }
    expect(server.received.map(({ to }) => to)).to.deep.equal([['TO:<carla@example.com>']]);
    const text = server.received[0]!.message.replaceAll(/=\n/g, '');
    expect(text).to.contain('Transcript of your conversation with');
    expect(text.indexOf('Where is my lamp?')).to.be.within(1, text.indexOf('On its way.'));
    expect(text).to.contain('Does it fit?\n1. Yes\n2. No');
    expect(text).to.contain('Carla, ').and.not.to.contain('angry');
  });

  it('say so where there is no mail server, and have a rate', async () => {
    const app = await TestApp.start({ engine: false, config: { rateLimitPerMinute: 3000 } });
    try {
      const theirs = new Profile(app);
      const id = await converse(app);
      const email = 'carla@example.com';
      expect(await theirs.succeed('POST', `conversations/${id}/transcript`, { email })).to.deep.equal({ sent: false });
      expect((await app.post(`conversations/${id}/transcript`, { email })).body).to.deep.equal({ sent: false });
      const statuses = [];
      for (let call = 0; call < 14; call += 1)
        statuses.push((await app.post(`conversations/${id}/transcript`, { email })).status);
      expect(statuses).to.deep.equal([...Array.from({ length: 13 }, () => 200), 429]);
    } finally {
      await app.stop();
    }
  });
});
