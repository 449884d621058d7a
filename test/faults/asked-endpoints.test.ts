import { expect } from 'chai';
import { TestApp } from '../support/app.ts';
import { startHttpsReceiver, type HttpsReceiver } from '../support/https-receiver.ts';

// The service's clock is ahead of the database's.
const clock = { now: () => new Date(Date.now() + 3_600_000) };

describe('endpoints of which somebody asks something', function () {
  this.timeout(60_000);
  let app: TestApp;
  let https: HttpsReceiver;

  before(async () => {
    https = await startHttpsReceiver();
    app = await TestApp.start({ clock });
  });
  after(async () => {
    await app.stop();
    await https.close();
  });

  it('go on at once when they are resumed, whatever the clock of the service says', async () => {
    const { body: bot } = await app.post('agent_bots', { name: 'Server', outgoing_url: https.receiver.url });
    const { body: inbox } = await app.post('inboxes', { name: 'With a bot' });
    await app.post(`inboxes/${inbox.id}/set_agent_bot`, { agent_bot: bot.id });
    const { body: contact } = await app.post('contacts', { name: 'Ada' });
    await app.post(`agent_bots/${bot.id}/pause`);
    const { body: conversation } = await app.post('conversations', { inbox_id: inbox.id, contact_id: contact.id });
    const path = `conversations/${conversation.id}/messages`;
    await app.post(path, { content: 'Hello?', message_type: 'incoming' });
    await app.post(`agent_bots/${bot.id}/resume`);
    await https.receiver.waitFor(1);
    const [row] = await app.query<{ near: boolean }>(
      `SELECT resumed_at BETWEEN now() - interval '1 minute' AND now() AS near FROM agent_bots WHERE id = $1`,
      [bot.id],
    );
    expect(row!.near).to.equal(true);
  });

  it('are probed once within seconds, however many resends and tests there are while they do not answer', async () => {
    // Nobody makes the probe: what is looked at is when it falls due.
    const web = await TestApp.start({ engine: false, clock });
    const { body: webhook } = await web.post('webhooks', {
      url: 'http://127.0.0.1:9/hook',
      subscriptions: ['contact_created'],
      active: true,
    });
    const probe = async (): Promise<{ at: string; seconds: number }> => {
      const [row] = await web.query<{ at: string; seconds: number }>(
        `SELECT circuit_probe_at::text AS at, extract(epoch FROM circuit_probe_at - now())::float8 AS seconds
         FROM webhooks WHERE id = $1`,
        [webhook.id],
      );
      return row!;
    };
    const open = () =>
      web.query(
        `UPDATE webhooks SET circuit_trips = 9, circuit_probe_at = now() + interval '9 minutes' WHERE id = $1`,
        [webhook.id],
      );
    await open();
    const { body: first } = await web.post(`webhooks/${webhook.id}/test`);
    const near = await probe();
    expect(near.seconds).to.be.at.most(5);
    for (const _ of Array.from({ length: 5 }))
      expect((await web.post(`deliveries/${first.id}/resend`)).status).to.equal(202);
    expect((await probe()).at).to.equal(near.at);
    await web.query(`UPDATE deliveries SET state = 'cancelled' WHERE state = 'pending'`);
    await open();
    await web.post(`webhooks/${webhook.id}/pause`);
    await web.post(`webhooks/${webhook.id}/resume`);
    expect((await probe()).seconds, 'at once when it is resumed').to.be.at.most(0);
    await web.stop();
  });
});
