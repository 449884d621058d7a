import { expect } from 'chai';
import { balance, settled } from '../faults/ledger.ts';
import { rowsOf } from '../faults/helpers.ts';
import { Sink } from '../faults/sink.ts';
import { TestApp } from '../support/app.ts';
import { runCommand } from '../support/command.ts';
import { copyDatabase, dropDatabase } from '../support/postgres.ts';
import { killServices, ServiceProcess } from '../support/service.ts';
import { until } from './helpers.ts';

const secretKey = 'a key that only the tests use, long enough';
const isCopy = { status: 'ready', sending: false, reason: 'copy' };
const sends = { status: 'ready' };
const neutralized = 'SELECT secret, paused_at IS NOT NULL AS paused, older_secrets, headers, auth FROM webhooks';
const conversations = 3;
const messages = 4;

describe('a copy of an installation', function () {
  // Each start takes long beside others.
  this.timeout(600_000);
  let sink: Sink;
  let original: string;
  let copy: string;
  let inbox: number;

  // An installation that is copied has deliveries to a webhook and to a bot that wait.
  before(async () => {
    sink = await Sink.start();
    const app = await TestApp.start({ engine: false });
    await app.post('webhooks', {
      url: sink.url,
      subscriptions: ['message_created'],
      auth: { type: 'bearer', token: 'production' },
    });
    inbox = (await app.get('inboxes')).body.payload[0].id;
    const contact = (await app.post('contacts', { name: 'Customer' })).body.id;
    for (let made = 0; made < conversations; made += 1) {
      const { id } = (await app.post('conversations', { inbox_id: inbox, contact_id: contact })).body;
      for (let said = 0; said < messages; said += 1)
        await app.post(`conversations/${id}/messages`, { content: `message ${said}`, message_type: 'incoming' });
    }
    original = app.databaseUrl;
    await app.app.stop();
  });

  after(async () => {
    await sink.close();
    await dropDatabase(original);
  });

  beforeEach(async () => {
    sink.log.length = 0;
    copy = await copyDatabase(original);
  });

  afterEach(async () => {
    await killServices();
    await dropDatabase(copy);
  });

  const start = (env: Record<string, string> = {}, args: string[] = []) =>
    ServiceProcess.start({ databaseUrl: copy, env: { SANDBOX_RUNNERS: '1', LOG_LEVEL: 'info', ...env }, args });
  const ready = async (service: ServiceProcess) => (await service.get('/readyz')).body as object;
  const becomes = (service: ServiceProcess, condition: object) =>
    until(async () => JSON.stringify(await ready(service)) === JSON.stringify(condition));
  const pending = (kind: string) =>
    rowsOf(copy, `SELECT FROM deliveries WHERE endpoint_kind = '${kind}' AND state = 'pending'`);
  // Bots inside of the service go on: its engine has looked at everything.
  const botsHaveAnswered = () => until(async () => (await pending('bot')).length === 0);

  it('serves and sends nothing, in all its processes, until one is started with --adopt: then each once, in order', async () => {
    const [web, engine] = await Promise.all([start({ ROLE: 'web' }), start({ ROLE: 'engine' })]);
    expect(await Promise.all([ready(web), ready(engine)])).to.deep.equal([isCopy, isCopy]);
    for (const service of [web, engine]) {
      expect(service.output).to.include('This database is a copy of an installation that lives elsewhere');
      expect(service.output).to.match(/"level":40.*"reason":"copy","differences":\["database"\]/);
    }
    await botsHaveAnswered();
    const [{ id }] = (await web.get('deliveries?state=pending')).body.payload;
    const { body: resent, status } = await web.post(`deliveries/${id}/resend`);
    expect([status, resent.state, resent.waits_for]).to.deep.equal([202, 'pending', outboundWait]);
    const [webhook] = (await web.get('webhooks')).body.payload;
    const test = await web.post(`webhooks/${webhook.id}/test`);
    expect([test.status, test.body.waits_for]).to.deep.equal([202, outboundWait]);
    expect((await web.get(`deliveries/${id}`)).body.waits_for).to.deep.equal(outboundWait);
    expect(sink.log).to.deep.equal([]);
    expect(
      await rowsOf(
        copy,
        'SELECT FROM attempts a JOIN deliveries d ON d.id = a.delivery_id AND d.endpoint_kind = $$webhook$$',
      ),
    ).to.deep.equal([]);
    await rowsOf(copy, `DELETE FROM deliveries WHERE trigger <> 'live'`);

    const third = await start({ ROLE: 'web' }, ['--adopt']);
    await Promise.all([becomes(third, sends), becomes(web, sends), becomes(engine, sends)]);
    await settled(copy, 60_000);
    const { deliveries, ...others } = await balance(copy, sink.log);
    expect(deliveries).to.be.at.least(conversations * messages);
    expect(others).to.deep.equal({ arrivals: deliveries, duplicates: 0, unknown: 0 });
  });

  it('is neutralized beside its running service: all endpoints are paused, with new secrets, and what is resumed is sent', async () => {
    const service = await start();
    await botsHaveAnswered();
    const before = await rowsOf<{ secret: string }>(copy, 'SELECT secret FROM webhooks');
    const place = { env: { DATABASE_URL: copy, SECRET_KEY: secretKey }, cwd: '/tmp' };
    const asked = await runCommand(['neutralize'], place);
    expect([asked.code, asked.errors]).to.deep.equal([
      1,
      'Pause all webhooks and all servers of bots in this database, replace their secrets, and send from here? Give --yes to do that without being asked.\n',
    ]);
    expect(await ready(service)).to.deep.equal(isCopy);

    const { code, output } = await runCommand(['neutralize', '--yes'], place);
    expect([code, output]).to.deep.equal([
      0,
      'Paused 1 webhooks and 0 servers of bots, and replaced their secrets. This installation sends now: change the URLs of what you resume.\n',
    ]);
    await becomes(service, sends);
    const [{ id }] = (await service.get('webhooks')).body.payload;
    const [{ secret, ...others }] = (await rowsOf(copy, neutralized)) as [Record<string, unknown>];
    expect(others).to.deep.equal({ paused: true, older_secrets: [], headers: [], auth: null });
    expect(secret).to.be.a('string').and.not.equal(before[0]?.secret);
    expect(sink.log).to.deep.equal([]);
    await service.post(`webhooks/${id}/resume`);
    await settled(copy, 60_000);
    const { deliveries, duplicates } = await balance(copy, sink.log);
    expect([deliveries >= conversations * messages, duplicates]).to.deep.equal([true, 0]);
  });

  it('sends nothing with OUTBOUND=off either, for that reason, not even when it is adopted', async () => {
    const service = await start({ OUTBOUND: 'off' }, ['--adopt']);
    await botsHaveAnswered();
    expect(await ready(service)).to.deep.equal({ status: 'ready', sending: false, reason: 'off' });
    expect(service.output).to.include('OUTBOUND is off: this service sends nothing.');
    expect(sink.log).to.deep.equal([]);
    await service.stop();
    expect(await ready(await start())).to.deep.equal(sends);
    await settled(copy, 60_000);
    expect(await balance(copy, sink.log)).to.include({ duplicates: 0, unknown: 0 });
  });
});

const outboundWait = { reason: 'outbound', delivery_id: null, until: null };

describe('an installation with another PUBLIC_URL', function () {
  this.timeout(180_000);
  let url: string;

  const conditionAt = async (publicUrl: string | null, env = {}) => {
    const app = await TestApp.start({ config: { publicUrl, ...env }, ...(url ? { databaseUrl: url } : {}) });
    url = app.databaseUrl;
    const { body } = await app.get('/readyz');
    await app.app.stop();
    return body as object;
  };

  after(() => dropDatabase(url));

  it('is a copy, where it is set, and not where it is unset', async () => {
    const [own, other] = ['https://desk.example.com', 'https://staging.example.com'];
    // The first that it sends with is remembered, not the one of a process that sends nothing.
    expect(await conditionAt(null)).to.deep.equal(sends);
    expect(await conditionAt(other, { outbound: 'off' })).to.include({ sending: false, reason: 'off' });
    expect(await conditionAt(own)).to.deep.equal(sends);
    expect(await conditionAt(null)).to.deep.equal(sends);
    expect(await conditionAt(other)).to.deep.equal(isCopy);
    expect(await conditionAt(own)).to.deep.equal(sends);
  });
});
