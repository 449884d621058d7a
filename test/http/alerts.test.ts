import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { parse } from 'yaml';
import { TestApp } from '../support/app.ts';
import { fires } from '../support/prom-query.ts';

interface Rule {
  alert: string;
  expr: string;
}

const file = readFileSync(new URL('../../deploy/alerts.yml', import.meta.url), 'utf8');
const { rules } = (parse(file) as { groups: [{ rules: Rule[] }] }).groups[0];
// The event loop of a test is as busy as its machine.
const judged = rules.filter(({ alert }) => alert !== 'SwitchboardEventLoopBlocked');
const well = 'up{job="switchboard"} 1\n';

/** Each alert of deploy/alerts.yml, evaluated on what a service answers; how long it has to hold is left out. */
describe('the alert rules', function () {
  this.timeout(60_000);
  let app: TestApp;
  let webhook: number;

  before(async () => {
    app = await TestApp.start({ engine: false });
    const { body } = await app.post('webhooks', { url: 'http://127.0.0.1:9/', subscriptions: ['contact_created'] });
    webhook = body.id as number;
    await app.post('contacts', { name: 'Customer' });
  });

  after(() => app.stop());

  // A new service of the same database, since figures of the database are kept for five seconds.
  async function scrape(): Promise<string> {
    const fresh = await TestApp.start({ engine: false, databaseUrl: app.databaseUrl });
    try {
      await fetch(`${fresh.url}/healthz`);
      return (await (await fetch(`${fresh.url}/metrics`)).text()).replaceAll(/^(switchboard_\w*eventloop.*)$/gm, '');
    } finally {
      await fresh.app.stop();
    }
  }
  const fired = (now: string, before = now): string[] =>
    judged.filter(({ expr }) => fires(expr, { now, before })).map(({ alert }) => alert);
  const set = (columns: string) => app.query(`UPDATE webhooks SET ${columns} WHERE id = $1`, [webhook]);
  const due = (seconds: number) => app.query(`UPDATE lanes SET due_at = now() - make_interval(secs => $1)`, [seconds]);

  it('name metrics that there are', async () => {
    const text = await scrape();
    for (const { expr } of judged)
      for (const [name] of expr.matchAll(/switchboard_\w+/g))
        expect(text, expr).to.match(new RegExp(`^${name}(?:\\{| )`, 'm'));
  });

  it('are silent while all is well, and while a dead or paused receiver has a backlog of a day', async () => {
    expect(fired(well + (await scrape()))).to.deep.equal([]);
    await due(86_400);
    await set(`circuit_probe_at = now() + interval '5 minutes'`);
    expect(fired(well + (await scrape()))).to.deep.equal(['SwitchboardCircuitOpen']);
    await set('circuit_probe_at = NULL, paused_at = now()');
    expect(fired(well + (await scrape()))).to.deep.equal(['SwitchboardWebhookPaused']);
    await set('paused_at = NULL, resumed_at = now()');
    expect(fired(well + (await scrape()))).to.deep.equal([]);
  });

  it('fire when no engine takes what may be sent, not while the receiver is served', async () => {
    await set('resumed_at = NULL');
    expect(fired(well + (await scrape()))).to.deep.equal(['SwitchboardDeliveriesStuck']);
    await app.query(
      `INSERT INTO lanes (account_id, endpoint_kind, endpoint_id, subject_kind, subject_id, due_at, lease_token)
       VALUES (1, 'webhook', $1, 'contact', 999, now() + interval '10 minutes', gen_random_uuid())`,
      [webhook],
    );
    expect(fired(well + (await scrape()))).to.deep.equal([]);
  });

  it('fire for a late job, errors, what is given up, and a process that is gone', async () => {
    const text = well + (await scrape());
    const changed = (series: string, value: number) => `${text}${series} ${value}\n`;
    const requests = 'switchboard_http_request_duration_seconds_count{method="GET",route="x",status="500"}';
    const ended = 'switchboard_webhook_deliveries_total{state="exhausted"}';
    const counted = text.replace(`${ended} 0`, `${ended} 1`);
    expect(counted).to.not.equal(text);
    expect(fired(changed('switchboard_jobs_lag_seconds{queue="x"}', 700))).to.deep.equal(['SwitchboardJobsLate']);
    expect(fired(changed(requests, 9), changed(requests, 1))).to.deep.equal(['SwitchboardErrors']);
    expect(fired(counted, text)).to.deep.equal(['SwitchboardDeliveriesExhausted']);
    expect(fired(text.replace('up{job="switchboard"} 1', 'up{job="switchboard"} 0'))).to.deep.equal([
      'SwitchboardDown',
    ]);
  });
});
