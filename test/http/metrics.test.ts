import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { system, transact } from '../../src/events/transaction.ts';
import { sendRaw } from '../support/raw-http.ts';
import { TestApp } from '../support/app.ts';
import { Receiver } from '../support/receiver.ts';

const dashboard = new URL('../../deploy/grafana-dashboard.json', import.meta.url);

/** The value of a series by its name and labels; null where there is none. */
function valueOf(text: string, series: string): number | null {
  const line = text.split('\n').find((each) => each.startsWith(`${series} `));
  return line === undefined ? null : Number(line.slice(series.length + 1));
}

describe('/metrics', function () {
  this.timeout(60_000);
  let app: TestApp;
  let receiver: Receiver;

  before(async () => {
    app = await TestApp.start();
    receiver = await Receiver.start();
  });

  after(async () => {
    await receiver.close();
    await app.stop();
  });

  const read = async (headers: Record<string, string> = {}) => {
    const response = await fetch(`${app.url}/metrics`, { headers });
    return { status: response.status, type: response.headers.get('content-type'), text: await response.text() };
  };

  it('counts requests by route, attempts, and what waits', async () => {
    const contact = (await app.post('contacts', { name: 'Customer' })).body.id as number;
    await app.get(`contacts/${contact}`);
    await app.get(`contacts/${contact}`);
    await app.get('/nothing/here');
    await app.post('webhooks', { url: receiver.url, subscriptions: ['contact_created'] });
    await app.post('contacts', { name: 'Another' });
    await receiver.waitFor(1);
    await app.eventually(async () => {
      const { text } = await read();
      return valueOf(text, 'switchboard_webhook_attempts_total{kind="webhook",result="delivered"}') === 1;
    });
    const { status, type, text } = await read();
    expect([status, type]).to.deep.equal([200, 'text/plain; version=0.0.4; charset=utf-8']);
    const route = '/api/v1/accounts/:account_id/contacts/:id';
    const labels = `{method="GET",route="${route}",status="200"}`;
    expect(valueOf(text, `switchboard_http_request_duration_seconds_count${labels}`)).to.equal(2);
    const all = `{le="+Inf",method="GET",route="${route}",status="200"}`;
    expect(valueOf(text, `switchboard_http_request_duration_seconds_bucket${all}`)).to.equal(2);
    const lost = 'switchboard_http_request_duration_seconds_count{method="GET",route="none",status="404"}';
    expect(valueOf(text, lost)).to.equal(1);
    expect(valueOf(text, 'switchboard_webhook_attempt_duration_seconds_count{kind="webhook"}')).to.equal(1);
    expect(valueOf(text, 'switchboard_webhook_pending')).to.be.a('number');
    expect(valueOf(text, 'switchboard_db_pool_in_use{pool="engine"}')).to.be.at.least(0);
    expect(valueOf(text, 'switchboard_jobs_lag_seconds{queue="deliveries"}')).to.be.at.least(0);
    expect(valueOf(text, 'switchboard_event_streams')).to.equal(0);
    for (const line of text.split('\n').filter((each) => each !== ''))
      expect(line).to.match(
        /^(?:# (?:HELP|TYPE) \w+ .+|\w+(?:\{\w+="[^"]*"(?:,\w+="[^"]*")*\})? (?:-?[\d.e+-]+|Nan))$/,
      );
    // Accounts, addresses and ids of records would be series without end.
    for (const [, name] of text.matchAll(/^# TYPE (\w+)/gm)) expect(name).to.match(/^switchboard_/);
    expect(text).to.match(/^switchboard_build_info\{version="\d[^"]*"\} 1$/m);
    for (const name of ['process_resident_memory_bytes', 'process_cpu_seconds_total', 'nodejs_eventloop_lag_seconds'])
      expect(text).to.include(`\n# TYPE switchboard_${name} `);
    expect(valueOf(text, 'switchboard_webhook_deliveries_total{state="delivered"}')).to.equal(1);
    expect(valueOf(text, 'switchboard_webhook_endpoints{state="ok"}')).to.equal(1);
    expect(text).to.not.match(new RegExp(`contacts/${contact}|127\\.0\\.0\\.1|account_id="`));
  });

  it('answers this machine only, and not what a proxy on it passes on', async () => {
    for (const header of ['x-forwarded-for', 'forwarded'])
      expect((await read({ [header]: '203.0.113.9' })).status).to.equal(403);
    expect((await fetch(`${app.url}/metrics`, { method: 'POST' })).status).to.equal(405);
  });

  it('answers this machine under its own name only, so that no web page reads it through its own host name', async () => {
    const ask = async (host: string) =>
      (await sendRaw(app.url, `GET /metrics HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`)).status;
    for (const host of ['127.0.0.1:3000', 'localhost', 'localhost:3000', '[::1]:3000'])
      expect(await ask(host), host).to.equal(200);
    for (const host of ['rebind.example:3000', 'localhost.example', '127.0.0.1.example'])
      expect(await ask(host), host).to.equal(403);
    const named = await TestApp.start({ config: { publicUrl: 'https://desk.example.com' } });
    const own = await sendRaw(
      named.url,
      'GET /metrics HTTP/1.1\r\nhost: desk.example.com\r\nconnection: close\r\n\r\n',
    );
    await named.stop();
    expect(own.status).to.equal(200);
  });

  it('answers holders of METRICS_TOKEN from everywhere, and nobody else', async () => {
    const guarded = await TestApp.start({ config: { metricsToken: 'a-token-of-metrics' } });
    try {
      const ask = async (headers: Record<string, string>) => {
        const response = await fetch(`${guarded.url}/metrics`, { headers });
        await response.text();
        return response.status;
      };
      expect(await ask({})).to.equal(401);
      expect(await ask({ authorization: 'Bearer another' })).to.equal(401);
      expect(await ask({ api_access_token: 'a-token-of-metrics' })).to.equal(401);
      expect(await ask({ authorization: 'Bearer a-token-of-metrics', 'x-forwarded-for': '203.0.113.9' })).to.equal(200);
    } finally {
      await guarded.stop();
    }
  });

  it('counts what was refused, by limit, and the runs of bots', async () => {
    const strict = await TestApp.start({ config: { rateLimitPerMinute: 3 } });
    try {
      for (let count = 0; count < 5; count += 1) await strict.get('labels');
      const scope = { account: { id: 1, name: 'Demo account' }, actor: system };
      const run = { plugin: 'faq', outcome: 'ok', cpuSeconds: 0.002 };
      await transact(strict.app.database, scope, async (tx) => tx.announce('run', run));
      const text = await (await fetch(`${strict.url}/metrics`)).text();
      expect(valueOf(text, 'switchboard_rate_limited_total{policy="requests"}')).to.equal(2);
      expect(valueOf(text, 'switchboard_bot_runs_total{plugin="faq",outcome="ok"}')).to.equal(1);
      expect(valueOf(text, 'switchboard_bot_run_cpu_seconds_sum{plugin="faq"}')).to.equal(0.002);
    } finally {
      await strict.stop();
    }
  });

  it('has every figure that the dashboard shows', async () => {
    const { text } = await read();
    const { panels } = JSON.parse(readFileSync(dashboard, 'utf8')) as { panels: { targets: { expr: string }[] }[] };
    const shown = panels.flatMap(({ targets }) =>
      targets.flatMap(({ expr }) => expr.match(/\b[a-z]+(?:_[a-z]+)+\b/g) ?? []),
    );
    const names = new Set(
      shown.filter((name) => name !== 'histogram_quantile' && name !== 'rate_interval' && !name.startsWith('__')),
    );
    expect(names.size).to.be.greaterThan(9);
    expect([...names]).to.include.members(['switchboard_webhook_endpoints', 'switchboard_webhook_deliveries_total']);
    const told = new Set(Array.from(text.matchAll(/^# TYPE (\w+)/gm), ([, name]) => name));
    for (const name of names) expect(told, name).to.include(name.replace(/_(?:bucket|count)$/, ''));
  });
});
