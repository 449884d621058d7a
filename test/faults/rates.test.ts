import { expect } from 'chai';
import { TestApp } from '../support/app.ts';
import { killServices, ServiceProcess } from '../support/service.ts';
import { expectLedger, settled } from './ledger.ts';
import { Sink } from './sink.ts';

const perSecond = 5;
const deliveries = 40;

describe('the rate of a webhook with two engines', function () {
  this.timeout(120_000);

  after(() => killServices());

  it('holds for both together, and both go on', async () => {
    const app = await TestApp.start({ engine: false });
    const sink = await Sink.start({});
    try {
      const inbox = (await app.post('inboxes', { name: 'Plain' })).body.id;
      const contact = (await app.post('contacts', { name: 'Customer' })).body.id;
      const webhook = { url: sink.url, subscriptions: ['message_created'], max_per_second: perSecond };
      await app.post('webhooks', webhook);
      for (let number = 0; number < deliveries; number += 1) {
        const { id } = (await app.post('conversations', { inbox_id: inbox, contact_id: contact })).body;
        await app.post(`conversations/${id}/messages`, { content: `message ${number}`, message_type: 'incoming' });
      }
      const [{ began }] = (await app.query('SELECT clock_timestamp() AS began')) as [{ began: string }];
      const start = () =>
        ServiceProcess.start({ databaseUrl: app.databaseUrl, env: { ROLE: 'engine', SANDBOX_RUNNERS: '1' } });
      await Promise.all([start(), start()]);
      await settled(app.databaseUrl, 100_000);
      // The end of an attempt comes after its claim: with a full bucket at the beginning, nothing may be earlier.
      const [early] = (await app.query(
        `SELECT count(*)::int AS attempts FROM (
           SELECT created_at, row_number() OVER (ORDER BY created_at) AS number FROM attempts) a
         WHERE a.created_at < $1::timestamptz + make_interval(secs => (a.number - ${perSecond}) / ${perSecond}::float8)`,
        [began],
      )) as [{ attempts: number }];
      expect(early.attempts).to.equal(0);
      expect(sink.log.length).to.equal(deliveries);
      await expectLedger(app.databaseUrl);
    } finally {
      await killServices();
      await sink.close();
      await app.stop();
    }
  });
});
