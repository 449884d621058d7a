import { createHmac } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { pino } from 'pino';
import { BotHouse } from '../runs/house.ts';
import { byGithub, byStandard, makeHook, send } from '../support/hook-senders.ts';
import { sendRaw } from '../support/raw-http.ts';

const secrets = {
  GITHUB: 'a-secret-of-github',
  SHOP: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  SLACK: 'a-secret-of-slack',
  TWILIO: 'a-token-of-twilio',
  APP_SECRET: 'a-secret-of-meta',
  VERIFY: 'a-word-for-meta',
  MAIL: 'post:mark',
  TELEGRAM: 'a-word-of-telegram',
};
const hooks = {
  github: { verify: 'github', secret: 'GITHUB', key: '/repository/id' },
  shop: { verify: 'standard-webhooks', secret: 'SHOP' },
  slack: { verify: 'slack', secret: 'SLACK' },
  twilio: { verify: 'twilio', secret: 'TWILIO' },
  meta: { verify: 'meta', secret: 'APP_SECRET', verify_token: 'VERIFY' },
  mail: { verify: 'basic', secret: 'MAIL', id: ['/MessageID', 'header:x-id'], answer: 200, max_bytes: 2_000 },
  telegram: { verify: 'telegram', secret: 'TELEGRAM' },
  open: { verify: 'none', id: '/id' },
  unset: { verify: 'github', secret: 'UNSET' },
};
type Name = keyof typeof hooks;

const json = { 'content-type': 'application/json' };

describe('hooks, as other systems see them', function () {
  this.timeout(60_000);
  let house: BotHouse;
  const logged: string[] = [];
  const made = {} as Record<Name, { id: number; url: string }>;

  before(async () => {
    const log = pino({ level: 'trace' }, { write: (line: string) => void logged.push(line) });
    house = await BotHouse.open(
      { desk: { on: { message_created: '' }, hooks, permissions: { hooks: true } } },
      { engine: false, log, bodies: { desk: { secrets } } },
    );
    for (const name of Object.keys(hooks) as Name[]) made[name] = await makeHook(house.app, house.botOf('desk'), name);
  });
  after(() => house.close());

  const requests = async (name: Name) => (await house.app.get(`hooks/${made[name].id}/requests`)).body.payload;
  const newest = async (name: Name) => (await requests(name))[0];
  const whole = async (name: Name) =>
    (await house.app.get(`hooks/${made[name].id}/requests/${(await newest(name)).id}`)).body;

  it('stores a signed request, as it came, and answers 202 after the commit', async () => {
    const body = '{"repository":{"id":12345678901234567890},  "text":"\\u00e9 ü 😀"}';
    const { status, body: reply } = await send(made.github.url, body, {
      ...byGithub(body, secrets.GITHUB, 'one'),
      authorization: 'Bearer of-the-sender',
      cookie: 'a=b',
      'x-api-key': 'of-the-sender',
    });
    expect(status).to.equal(202);
    const request = await whole('github');
    expect(request).to.deep.include({
      id: reply.id,
      outcome: 'accepted',
      reason: null,
      state: 'waiting',
      run_id: null,
    });
    expect(request).to.deep.include({ key: '12345678901234567890', body, body_encoding: 'utf-8' });
    expect(request.bytes).to.equal(Buffer.byteLength(body));
    const headers = Object.fromEntries(request.headers.map(({ name, value }: Record<string, string>) => [name, value]));
    expect(headers).to.include({ 'x-github-delivery': 'one', authorization: '[redacted]', cookie: '[redacted]' });
    expect(JSON.stringify(request)).to.not.include('of-the-sender');
    const { last_received_at: last } = (await house.app.get(`hooks/${made.github.id}`)).body;
    expect(last).to.be.within(Date.now() / 1000 - 60, Date.now() / 1000 + 1);
  });

  it('stores a request once, however often and at whatever moment it comes', async () => {
    const body = '{"n":1}';
    const headers = byGithub(body, secrets.GITHUB, 'twenty times');
    const answers = await Promise.all(Array.from({ length: 20 }, () => send(made.github.url, body, headers)));
    expect(new Set(answers.map(({ status }) => status))).to.deep.equal(new Set([202]));
    const ids = new Set(answers.map((answer) => answer.body.id));
    expect(ids.size).to.equal(1);
    expect(answers.filter((answer) => answer.body.duplicate === true)).to.have.length(19);
    const stored = await requests('github');
    expect(stored.filter(({ outcome }: { outcome: string }) => outcome === 'duplicate')).to.have.length(19);
    const rows = await house.app.query(`SELECT FROM hook_requests WHERE hook_id = $1 AND outcome = 'accepted'`, [
      made.github.id,
    ]);
    expect(rows).to.have.length(2);
    // Another hook has ids of its own.
    expect((await send(made.open.url, '{"id":"twenty times"}')).body.duplicate).to.equal(undefined);
    expect((await send(made.open.url, '{"id":"twenty times", "n":2}')).body.duplicate).to.equal(true);
  });

  it('tells ids apart that a double cannot', async () => {
    const [one, other] = ['{"id":820982911946154508}', '{"id":820982911946154507}'];
    expect((await send(made.open.url, one)).body.duplicate).to.equal(undefined);
    expect((await send(made.open.url, other)).body.duplicate).to.equal(undefined);
    expect((await send(made.open.url, one)).body.duplicate).to.equal(true);
  });

  it('refuses a bad signature, and keeps of it only that it came', async () => {
    const body = '{"secret":"canary-in-a-body"}';
    const { status, body: reply } = await send(made.github.url, body, byGithub(body, 'a wrong secret', 'two'));
    expect(status).to.equal(401);
    expect(reply).to.have.keys('error', 'code', 'request_id');
    expect(reply.code).to.equal('bad_signature');
    const request = await whole('github');
    expect(request).to.deep.include({
      outcome: 'refused',
      reason: 'bad_signature',
      headers: [],
      body: null,
      state: null,
    });
    expect(request.bytes).to.equal(Buffer.byteLength(body));
    // The same id may come again, well signed.
    expect((await send(made.github.url, body, byGithub(body, secrets.GITHUB, 'two'))).body.duplicate).to.equal(
      undefined,
    );
    expect((await send(made.github.url, body, json)).status).to.equal(401);
    expect((await newest('github')).reason).to.equal('missing_signature');
  });

  it('refuses a repeated signature header', async () => {
    const body = '{}';
    const signature = byGithub(body, secrets.GITHUB, 'three')['x-hub-signature-256'];
    const { pathname, host } = new URL(made.github.url);
    const lines = [`POST ${pathname} HTTP/1.1`, `host: ${host}`, 'content-type: application/json', 'content-length: 2'];
    const twice = [...lines, `x-hub-signature-256: ${signature}`, `x-hub-signature-256: ${signature}`];
    expect((await sendRaw(house.app.url, `${twice.join('\r\n')}\r\n\r\n{}`)).status).to.equal(401);
  });

  it('refuses a signed time more than five minutes away', async () => {
    for (const [index, minutes] of [-6, 6].entries()) {
      const headers = byStandard('{}', secrets.SHOP, `late ${index}`, Date.now() + minutes * 60_000);
      expect((await send(made.shop.url, '{}', headers)).status).to.equal(401);
      expect((await newest('shop')).reason).to.equal('stale_timestamp');
    }
    const headers = byStandard('{}', secrets.SHOP, 'in time', Date.now() - 240_000);
    expect((await send(made.shop.url, '{}', headers)).status).to.equal(202);
    // A repetition with a new time is the same request.
    expect((await send(made.shop.url, '{}', byStandard('{}', secrets.SHOP, 'in time'))).body.duplicate).to.equal(true);
  });

  it('accepts the secret before beside the new one', async () => {
    const bot = `agent_bots/${house.botOf('desk')}`;
    const both = { GITHUB: JSON.stringify(['the-new-one', secrets.GITHUB]) };
    expect((await house.app.patch(bot, { secrets: both })).status).to.equal(200);
    for (const secret of ['the-new-one', secrets.GITHUB])
      expect((await send(made.github.url, '{}', byGithub('{}', secret, secret))).status).to.equal(202);
    expect((await send(made.github.url, '{}', byGithub('{}', both.GITHUB, 'both'))).status).to.equal(401);
    await house.app.patch(bot, { secrets: { GITHUB: secrets.GITHUB } });
  });

  it('answers the question by which Slack checks a URL, once it is signed', async () => {
    const body = JSON.stringify({
      token: 'x',
      challenge: '3eZbrw1aBm2rZgRNFdxV2595E9CY3gmdALWMmHkvFXO7tYXAYM8P',
      type: 'url_verification',
    });
    const time = String(Math.floor(Date.now() / 1000));
    const signature = createHmac('sha256', secrets.SLACK).update(`v0:${time}:${body}`).digest('hex');
    const headers = { ...json, 'x-slack-request-timestamp': time, 'x-slack-signature': `v0=${signature}` };
    const answer = await send(made.slack.url, body, headers);
    expect([answer.status, answer.text]).to.deep.equal([200, '3eZbrw1aBm2rZgRNFdxV2595E9CY3gmdALWMmHkvFXO7tYXAYM8P']);
    expect(answer.headers.get('content-type')).to.match(/^text\/plain/);
    expect(await requests('slack')).to.deep.equal([]);
    expect((await send(made.slack.url, body, { ...headers, 'x-slack-signature': 'v0=00' })).status).to.equal(401);
  });

  it('answers the question by which Meta checks a URL', async () => {
    const ask = async (query: Record<string, string>, name: Name = 'meta') => {
      const response = await fetch(`${made[name].url}?${new URLSearchParams(query).toString()}`);
      return { status: response.status, type: response.headers.get('content-type'), text: await response.text() };
    };
    const question = { 'hub.mode': 'subscribe', 'hub.challenge': '1158201444', 'hub.verify_token': secrets.VERIFY };
    const { status, type, text } = await ask(question);
    expect([status, text]).to.deep.equal([200, '1158201444']);
    expect(type).to.match(/^text\/plain/);
    expect((await ask({ ...question, 'hub.verify_token': 'another' })).status).to.equal(403);
    expect((await ask({ ...question, 'hub.mode': 'unsubscribe' })).status).to.equal(403);
    expect((await ask({ ...question, 'hub.challenge': '<script>alert(1)</script>' })).status).to.equal(403);
    expect((await ask({})).status).to.equal(403);
    // At all others there is nothing to be asked.
    const nothing = await ask(question, 'github');
    expect([nothing.status, JSON.parse(nothing.text).code]).to.deep.equal([404, 'not_found']);
  });

  it('answers each as its system understands', async () => {
    const body = '{"object":"page","entry":[{"text":"\\u00e9"}]}';
    const meta = byGithub(body, secrets.APP_SECRET, 'meta');
    expect((await send(made.meta.url, body, meta)).status).to.equal(200);
    // Meta has no ids of requests: the same body is the same request.
    expect((await send(made.meta.url, body, { ...meta, 'x-github-delivery': 'x' })).body.duplicate).to.equal(true);
    const form = new URLSearchParams({ MessageSid: 'SM1', Body: ' hi ', From: '+1' });
    const signed = `${made.twilio.url}${[...form]
      .toSorted(([one], [other]) => one.localeCompare(other))
      .map(([name, value]) => name + value)
      .join('')}`;
    const answer = await send(made.twilio.url, form.toString(), {
      'content-type': 'application/x-www-form-urlencoded',
      'x-twilio-signature': createHmac('sha1', secrets.TWILIO).update(signed).digest('base64'),
    });
    expect([answer.status, answer.text]).to.deep.equal([200, '<Response/>']);
    expect(answer.headers.get('content-type')).to.match(/^text\/xml/);
    const basic = { ...json, authorization: `Basic ${Buffer.from(secrets.MAIL).toString('base64')}` };
    expect((await send(made.mail.url, '{"MessageID":"m1"}', basic)).status).to.equal(200);
    expect((await send(made.mail.url, '{"other":1}', { ...basic, 'x-id': 'm1' })).body.duplicate).to.equal(true);
    expect((await whole('mail')).body).to.equal(null);
    const telegram = { ...json, 'x-telegram-bot-api-secret-token': secrets.TELEGRAM };
    expect((await send(made.telegram.url, '{"update_id":7}', telegram)).status).to.equal(202);
    expect(JSON.stringify(await whole('telegram'))).to.not.include(secrets.TELEGRAM);
  });

  it('is nothing to whoever has no URL, or another method', async () => {
    const { url } = made.open;
    const changed = `${url.slice(0, -1)}${url.endsWith('x') ? 'y' : 'x'}`;
    const unknown = `${house.app.url}/hooks/swh_unknown`;
    for (const one of [changed, unknown, `${house.app.url}/hooks/`, `${url}/more`, `${house.app.url}/hooks/%00`]) {
      const { status, body } = await send(one, '{}');
      expect([status, body.code], one).to.deep.equal([404, 'not_found']);
    }
    for (const method of ['GET', 'PUT', 'PATCH', 'DELETE'])
      expect((await fetch(url, { method })).status, method).to.equal(404);
    expect((await fetch(url, { method: 'HEAD' })).status).to.equal(404);
  });

  it('takes no bodies that are too large, compressed, or of other types', async () => {
    const basic = { ...json, authorization: `Basic ${Buffer.from(secrets.MAIL).toString('base64')}` };
    expect((await send(made.mail.url, JSON.stringify('x'.repeat(2_000)), basic)).status).to.equal(413);
    expect(await newest('mail')).to.include({ outcome: 'refused', reason: 'too_large', bytes: 2_002 });
    expect((await send(made.open.url, JSON.stringify('x'.repeat(1_048_574)))).status).to.equal(202);
    expect((await send(made.open.url, JSON.stringify('x'.repeat(1_048_575)))).status).to.equal(413);
    const packed = gzipSync('{}');
    expect((await send(made.open.url, packed, { ...json, 'content-encoding': 'gzip' })).status).to.equal(415);
    expect((await send(made.open.url, packed, { 'content-type': 'application/octet-stream' })).status).to.equal(415);
    expect((await newest('open')).reason).to.equal('unsupported_media_type');
  });

  it('parses no body before its signature is known', async () => {
    const basic = { ...json, authorization: `Basic ${Buffer.from('some:body').toString('base64')}` };
    expect((await send(made.mail.url, '{', basic)).status).to.equal(401);
    const known = { ...json, authorization: `Basic ${Buffer.from(secrets.MAIL).toString('base64')}` };
    const { status, body } = await send(made.mail.url, '{', known);
    expect([status, body.code]).to.deep.equal([400, 'invalid_json']);
    expect(await newest('mail')).to.include({ outcome: 'refused', reason: 'invalid_json' });
  });

  it('takes hostile bodies as they are, or refuses them', async () => {
    const deep = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;
    expect((await send(made.open.url, deep(30))).status).to.equal(202);
    for (const levels of [40, 10_000, 500_000]) {
      const { status, body } = await send(made.open.url, deep(levels));
      expect([status, body.code], String(levels)).to.deep.equal([400, 'invalid_json']);
    }
    for (const bad of ['', '{', '{"id":1}x', Buffer.from([0x22, 0xff, 0x22])])
      expect((await send(made.open.url, bad)).status).to.equal(400);
    for (const odd of [
      '{"id":"\\u0000"}',
      '{"id":"\\ud83d"}',
      '{"id":"\\ud83d", "n":1}',
      '{"__proto__":{"id":"p"}}',
      '{"id":{"id":[]}}',
      '{"id":1e400}',
      `{"id":"${'x'.repeat(5_000)}"}`,
      'null',
    ])
      expect((await send(made.open.url, odd)).status, odd.slice(0, 40)).to.equal(202);
    // Both had the same id, which the database cannot keep as it is.
    expect((await send(made.open.url, '{"id":"\\ud83d", "n":2}')).body.duplicate).to.equal(true);
    const bytes = Buffer.from([0, 0xff, 0x41]);
    expect((await send(made.open.url, bytes, { 'content-type': 'text/plain' })).status).to.equal(202);
    expect(await whole('open')).to.include({ body: bytes.toString('base64'), body_encoding: 'base64' });
  });

  it('does not send senders away for what is wrong on our side', async () => {
    const missing = await send(made.unset.url, '{}', byGithub('{}', 'x', 'x'));
    expect([missing.status, missing.body.code, missing.headers.get('retry-after')]).to.deep.equal([
      503,
      'hook_not_ready',
      '60',
    ]);
    expect((await newest('unset')).reason).to.equal('missing_secret');
    await house.app.query(`UPDATE hooks SET handler = 'gone' WHERE id = $1`, [made.slack.id]);
    expect((await send(made.slack.url, '{}')).status).to.equal(503);
    // A disabled plugin's requests are kept for later.
    await house.app.patch('/platform/api/v1/plugins/desk', { enabled: false });
    expect((await send(made.open.url, '{"id":"while disabled"}')).status).to.equal(202);
    await house.app.patch('/platform/api/v1/plugins/desk', { enabled: true });
  });

  it('keeps a bounded number of refusals a minute', async () => {
    const before = (await house.app.get(`hooks/${made.shop.id}/requests`)).body.meta.count;
    await Promise.all(Array.from({ length: 80 }, () => send(made.shop.url, '{}', json)));
    expect((await house.app.get(`hooks/${made.shop.id}/requests`)).body.meta.count - before).to.be.within(1, 60);
  });

  it('writes no token, secret or body to the log', async () => {
    const text = logged.join('');
    expect(text).to.include('/hooks/:token');
    const tokens = Object.values(made).map(({ url }) => url.split('/').at(-1)!);
    for (const word of [...tokens, ...Object.values(secrets), 'canary-in-a-body']) expect(text).to.not.include(word);
    const stored = await house.app.query<{ row: string }>('SELECT row_to_json(t)::text AS row FROM hook_tokens t');
    for (const token of tokens) expect(JSON.stringify(stored)).to.not.include(token);
  });

  it('counts what came', async () => {
    const text = await (await fetch(`${house.app.url}/metrics`)).text();
    for (const outcome of ['accepted', 'duplicate', 'refused', 'challenge'])
      expect(text).to.match(new RegExp(`^switchboard_hook_requests_total\\{outcome="${outcome}"\\} [1-9]`, 'm'));
  });
});
