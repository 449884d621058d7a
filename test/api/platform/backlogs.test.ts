import { expect } from 'chai';
import { fail, Sending } from '../../support/sending.ts';

describe('what waits, for the platform', () => {
  const sending = Sending.use();
  const backlogs = async () => (await sending.app.get('/platform/api/v1/backlogs')).body.payload;

  it('names the account and the endpoint that deliveries wait for, the longest wait first, and nothing that has ended', async () => {
    expect(await backlogs()).to.deep.equal([]);
    const late = await sending.webhookFor('contact_created');
    await sending.made('contacts', { name: 'Ada' });
    await sending.eventuallyIn(late, 'delivered');
    expect(await backlogs()).to.deep.equal([]);
    sending.receiver.answerWith(fail);
    await sending.made('contacts', { name: 'Grace' });
    await sending.made('contacts', { name: 'Edsger' });
    await sending.eventuallyIn(late, 'failing');
    await sending.putOff(late);
    await sending.app.query(`UPDATE deliveries SET created_at = now() - interval '90 seconds' WHERE state = 'pending'`);
    const paused = await sending.webhookFor('contact_created');
    await sending.app.post(`webhooks/${paused.id}/pause`);
    await sending.made('contacts', { name: 'Barbara' });
    const [first, second, ...more] = await backlogs();
    expect(more).to.deep.equal([]);
    expect(first.endpoint).to.deep.equal({ type: 'webhook', id: late.id });
    expect(first.pending).to.equal(3);
    expect(first.oldest_seconds).to.be.within(90, 150);
    expect(first.circuit.consecutive_failures).to.be.above(0);
    expect(second).to.deep.include({ account_id: 1, endpoint: { type: 'webhook', id: paused.id }, pending: 1 });
    expect(second.circuit).to.deep.equal({
      state: 'closed',
      consecutive_failures: 0,
      failing_since: null,
      next_attempt_at: null,
    });
  });
});
