import { expect } from 'chai';
import { Client } from 'pg';
import { Sending } from '../../support/sending.ts';

describe('many resends of one delivery at once', function () {
  this.timeout(60_000);
  const sending = Sending.use();

  it('are refused at once while the first is being made', async () => {
    const webhook = await sending.webhookFor('contact_created');
    await sending.made('contacts', { name: 'Customer' });
    const [{ id }] = (await sending.eventuallyIn(webhook, 'delivered')) as [{ id: number }];
    const holder = new Client({ connectionString: sending.app.databaseUrl });
    await holder.connect();
    try {
      await holder.query('BEGIN');
      await holder.query('SELECT FROM webhooks WHERE id = $1 FOR UPDATE', [webhook.id]);
      const first = sending.app.post(`deliveries/${id}/resend`);
      await sending.app.eventually(
        async () => (await sending.app.query('SELECT FROM pg_locks WHERE NOT granted')).length > 0,
      );
      // All are answered while the first waits: none of them waits for the row.
      const others = await Promise.all(Array.from({ length: 40 }, () => sending.app.post(`deliveries/${id}/resend`)));
      expect(new Set(others.map(({ status, body }) => `${status} ${body.code}`))).to.deep.equal(
        new Set(['409 delivery_running']),
      );
      await holder.query('COMMIT');
      expect((await first).status).to.equal(202);
    } finally {
      await holder.end();
    }
    await sending.eventuallyIn(webhook, 'delivered', 2);
  });
});
