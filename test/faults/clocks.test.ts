import { expect } from 'chai';
import { pino } from 'pino';
import { App } from '../../src/app/app.ts';
import { loadConfig } from '../../src/config.ts';
import type { Clock } from '../../src/lib/ports.ts';
import { TestApp } from '../support/app.ts';
import { addConversation, addInbox } from '../support/records.ts';

const hourMs = 3_600_000;
const off = (ms: number): Clock => ({ now: () => new Date(Date.now() + ms) });

describe('machines whose clocks disagree', function () {
  this.timeout(120_000);
  let web: TestApp;
  let engine: App;

  before(async () => {
    web = await TestApp.start({ engine: false, machineClock: off(hourMs) });
    const config = loadConfig({
      DATABASE_URL: web.databaseUrl,
      SECRET_KEY: 'a key that only the tests use, long enough',
      ROLE: 'engine',
      LOG_LEVEL: 'fatal',
    });
    const log = pino({ level: config.logLevel });
    engine = await App.create({ config, databaseUrl: web.databaseUrl, log, machineClock: off(-hourMs) });
    await engine.start();
  });

  after(async () => {
    // It listens nowhere, and closing what does not listen never ends otherwise.
    await engine.listen();
    await engine.stop();
    await web.stop();
  });

  it('agree on when a snooze is over, on when a promise was broken and on what is the present', async () => {
    const id = await addConversation(web, await addInbox(web));
    const { body: policy } = await web.post('sla_policies', { name: 'Fast', first_response_seconds: 1 });
    await web.post(`conversations/${id}/messages`, { content: 'Hello', message_type: 'incoming' });
    await web.patch(`conversations/${id}`, { sla_policy_id: policy.id });
    const until = Math.ceil(Date.now() / 1000) + 2;
    const snooze = { status: 'snoozed', snoozed_until: until };
    expect((await web.post(`conversations/${id}/toggle_status`, snooze)).status).to.equal(200);
    const woken = await web.eventually(async () => {
      const { body } = await web.get(`conversations/${id}`);
      return body.status === 'open' && body;
    });
    expect(woken.updated_at).to.be.within(until, until + 600);
    await web.eventually(async () => (await web.query(`SELECT FROM events WHERE name = 'sla_breached'`)).length > 0);
    expect(Math.abs(woken.created_at - Date.now() / 1000)).to.be.below(600);
  });
});
