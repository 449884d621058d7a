import { expect } from 'chai';
import { fail, Sending, type Body } from '../../support/sending.ts';

describe('the health of an endpoint', () => {
  const sending = Sending.use({ config: { webhookTimeoutMs: 300 } });
  const healthOf = async ({ id }: Body): Promise<Body> => (await sending.app.get(`webhooks/${id}/health`)).body;

  it('tells how long attempts took that failed, timeouts included, and null where none failed', async () => {
    const webhook = await sending.webhookFor('contact_created');
    await sending.made('contacts', { name: 'Ada' });
    await sending.eventuallyIn(webhook, 'delivered');
    expect((await healthOf(webhook)).failed_p95_ms).to.equal(null);
    sending.receiver.answerWith(() => undefined);
    await sending.made('contacts', { name: 'Grace' });
    await sending.eventuallyIn(webhook, 'failing');
    expect((await healthOf(webhook)).failed_p95_ms).to.be.at.least(300);
    sending.receiver.answerWith(fail);
    await sending.app.query(
      `DELETE FROM attempts a USING deliveries d WHERE d.id = a.delivery_id AND d.endpoint_id = $1 AND a.outcome = 'delivered'`,
      [webhook.id],
    );
    const { p95_ms: answered, failed_p95_ms: failed } = await healthOf(webhook);
    expect([answered, failed === null]).to.deep.equal([null, false]);
  });

  it('is made from no more than 1,000 attempts, the newest', async () => {
    const webhook = await sending.webhookFor('contact_created');
    sending.receiver.answerWith(fail);
    await sending.made('contacts', { name: 'Ada' });
    const [failing] = await sending.eventuallyIn(webhook, 'failing');
    await sending.putOff(webhook);
    await sending.app.query(
      `INSERT INTO attempts (account_id, delivery_id, number, outcome, status, duration_ms)
       SELECT 1, $1, 100 + n, CASE WHEN n <= 500 THEN 'failed' ELSE 'delivered' END, 200, CASE WHEN n <= 500 THEN 9000 ELSE 7 END
       FROM generate_series(1, 1500) n`,
      [failing.id],
    );
    const health = await healthOf(webhook);
    expect(health).to.include({ attempts: 1000, success_rate: 1, p95_ms: 7, failed_p95_ms: null });
  });
});
