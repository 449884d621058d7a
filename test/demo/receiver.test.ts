import { expect } from 'chai';
import { pino } from 'pino';
import { receiverEndpoint } from '../../src/demo/endpoint.ts';
import { signatureHeaders } from '../../src/deliveries/core/sign.ts';
import type { Answer, TestApp } from '../support/app.ts';
import { addAccount, addPerson, botHeaders } from '../support/people.ts';
import { startDemo } from './demo-app.ts';

interface Post {
  id: number;
  event: string | null;
  path: string;
  verified: boolean;
  problem: string | null;
  account_id: number | null;
  attempt: number | null;
  status: number | null;
  bytes: number;
  body: string;
  webhook: { id: number; name: string | null } | null;
}

describe('the built-in receiver', function () {
  let app: TestApp;
  let url: string;
  let count = 0;

  before(async () => {
    app = await startDemo('the built-in receiver');
    ({ url } = (await app.get('/play/requests')).body);
  });

  after(() => app.stop());

  afterEach(() => setMode('ok'));

  async function setMode(mode: string): Promise<void> {
    const { status, body } = await app.call('PUT', '/play/mode', { mode });
    expect([status, body.mode]).to.deep.equal([200, mode]);
  }

  async function posts(path: string): Promise<Post[]> {
    const { payload } = (await app.get('/play/requests')).body as { payload: Post[] };
    return payload.filter((post) => post.path === path);
  }

  /** A webhook of its own, to a path of its own. */
  async function hook(): Promise<{ id: number; path: string; secret: string; send: () => Promise<Answer> }> {
    count += 1;
    const { status, body } = await app.post('webhooks', { url: `${url}/${count}`, subscriptions: ['sla_breached'] });
    expect(status, JSON.stringify(body)).to.equal(201);
    const send = () => app.post(`webhooks/${body.id}/test`, { event: 'message_created' });
    return { id: body.id, path: `/play/hooks/${count}`, secret: body.secret, send };
  }

  /** Posts as a stranger does. */
  function forge(path: string, body: string, headers: Record<string, string> = {}): Promise<Response> {
    return fetch(`${app.url}${path}`, { method: 'POST', body, headers });
  }

  it('is missing without alarm in a second process on the machine, which has the address taken', async () => {
    const lines: { level: number; msg: string; problem?: string }[] = [];
    const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line)) });
    const second = await startDemo('the built-in receiver', { databaseUrl: app.databaseUrl, engine: false, log });
    await second.app.stop();
    const told = lines.filter(({ problem }) => problem?.includes('EADDRINUSE'));
    expect(told.map(({ level, msg }) => [level, msg])).to.deep.equal([[30, 'no demo receiver in this process']]);
  });

  it('has verified what the first start said, and shows it newest first', async () => {
    const found = await app.eventually(async () => {
      const made = await posts('/play/hooks');
      return made.length === 3 && made;
    });
    for (const post of found)
      expect(post).to.include({ event: 'contact_created', verified: true, problem: null, status: 200 });
    expect(found[0]).to.deep.include({ account_id: 1, webhook: { id: 1, account_id: 1, name: 'Built-in receiver' } });
    expect(found.map(({ id }) => id)).to.deep.equal(found.map(({ id }) => id).toSorted((a, b) => b - a));
    const { payload } = (await app.get(`/play/requests?after=${found[1]?.id}`)).body;
    expect(payload.map(({ id }: Post) => id)).to.deep.equal([found[0]?.id]);
    expect((await app.get('/play/requests?after=x')).status).to.equal(400);
  });

  it('does not believe what no webhook of that URL has signed, and says why', async () => {
    const { path, secret } = await hook();
    const other = await hook();
    const body = '{"event": "message_created"}';
    const signed = (given: Partial<Parameters<typeof signatureHeaders>[0]>) => ({
      ...signatureHeaders({ id: 'evt_1', timestamp: new Date(), body, secrets: [secret], ...given }),
    });
    const cases: [Record<string, string>, RegExp | null][] = [
      [{}, /no header webhook-signature/],
      [signed({}), null],
      [signed({ secrets: [other.secret] }), /No webhook with this URL has signed it/],
      [signed({ secrets: [other.secret, secret] }), null],
      [signed({ body: '{"event": "another"}' }), /has signed it/],
      [signed({ timestamp: new Date(Date.now() - 6 * 60_000) }), /five minutes/],
      [{ ...signed({}), 'webhook-id': 'evt.1' }, /Standard Webhooks/],
      [{ ...signed({}), 'webhook-timestamp': 'soon' }, /Standard Webhooks/],
      [{ ...signed({}), 'webhook-signature': 'v1,' }, /has signed it/],
    ];
    for (const [headers, problem] of cases) {
      expect((await forge(path, body, headers)).status).to.equal(200);
      const [latest] = await posts(path);
      expect(latest?.verified, JSON.stringify(headers)).to.equal(problem === null);
      if (problem) expect(latest?.problem).to.match(problem);
    }
    await forge('/play/hooks/of-nobody', body, signed({}));
    expect((await posts('/play/hooks/of-nobody'))[0]?.problem).to.match(/No webhook of this service has this URL/);
  });

  it('knows the secret of before, while both sign', async () => {
    const { id, path, send, secret } = await hook();
    await app.post(`webhooks/${id}/rotate_secret`);
    await send();
    const [sent] = await app.eventually(async () => ((await posts(path)).length > 0 ? posts(path) : false));
    expect(sent?.verified).to.equal(true);
    const headers = { ...signatureHeaders({ id: 'evt_1', timestamp: new Date(), body: '{}', secrets: [secret] }) };
    await forge(path, '{}', headers);
    expect((await posts(path))[0]?.verified).to.equal(true);
  });

  it('keeps the last 200 requests, the beginning of each, whatever they are', async () => {
    const long = `{"event": "${'x'.repeat(30_000)}"}`;
    await forge('/play/hooks/long', long);
    expect((await posts('/play/hooks/long'))[0]).to.deep.include({ bytes: long.length, body: long.slice(0, 16_384) });
    expect((await forge('/play/hooks/huge', 'x'.repeat(2 * 1024 * 1024))).status).to.equal(413);
    expect(await posts('/play/hooks/huge')).to.deep.equal([]);
    const odd = ['', 'no json', '[]', 'null', '"text"', '{"event": {}, "account": 5}', '\u0000\ud800'];
    for (const body of odd) expect((await forge('/play/hooks/odd', body)).status).to.equal(200);
    expect((await posts('/play/hooks/odd')).map(({ event }) => event)).to.deep.equal(odd.map(() => null));
    for (let sent = 0; sent < 200; sent += 1) await forge('/play/hooks/many', '{}');
    const { payload } = (await app.get('/play/requests')).body;
    expect(payload).to.have.lengthOf(200);
    expect(await posts('/play/hooks/many')).to.have.lengthOf(200);
    // Behind a proxy that strips nothing, other methods and paths are what they are anywhere.
    expect((await app.get('/play/hooks')).status).to.equal(405);
    expect((await app.post('/play/hooked')).status).to.equal(404);
  });

  it('forgets the bodies of what was said about messages, conversations and contacts that are erased', async () => {
    const { id: webhookId, path, send } = await hook();
    const subscriptions = ['message_created', 'contact_created', 'conversation_created', 'message_deleted'];
    await app.patch(`webhooks/${webhookId}`, { subscriptions });
    const { body: inbox } = await app.post('inboxes', { name: 'Erased' });
    const { body: contact } = await app.post('contacts', { name: 'Erika Erased' });
    const { body: conversation } = await app.post('conversations', { inbox_id: inbox.id, contact_id: contact.id });
    const say = (content: string) =>
      app.post(`conversations/${conversation.id}/messages`, { content, message_type: 'outgoing' });
    const { body: message } = await say('First secret');
    await say('Second secret');
    await send();
    const told = async () => (await posts(path)).map(({ event, body }) => [event, /secret|Erika/.test(body)]);
    await app.eventually(async () => (await told()).length === 5);
    expect((await told()).filter(([, tells]) => tells)).to.have.lengthOf(4);
    await app.delete(`conversations/${conversation.id}/messages/${message.id}`);
    expect((await posts(path)).some(({ body }) => body.includes('First secret'))).to.equal(false);
    expect((await posts(path)).some(({ body }) => body.includes('Second secret'))).to.equal(true);
    await app.delete(`contacts/${contact.id}`);
    await app.eventually(async () => (await posts(path)).some(({ event }) => event === 'message_deleted'));
    expect((await told()).filter(([, tells]) => tells)).to.deep.equal([]);
    expect((await posts(path)).filter(({ body }) => body === '')).to.have.lengthOf(5);
  });

  it('fails until it is told otherwise, and the delivery comes again', async () => {
    const { id, path } = await hook();
    await app.patch(`webhooks/${id}`, { subscriptions: ['contact_created'] });
    await setMode('fail');
    await app.post('contacts', { name: 'Kim' });
    const [failed] = await app.eventually(async () => {
      const { payload } = (await app.get(`webhooks/${id}/deliveries`)).body;
      return payload[0]?.last_status === 500 && payload;
    });
    expect(failed).to.deep.include({ state: 'failing', last_error: 'bad_status' });
    await setMode('ok');
    await app.eventually(async () => (await posts(path)).some(({ status }) => status === 200));
    const [again, first] = await posts(path);
    expect([first?.attempt, first?.status, again?.attempt, again?.status]).to.deep.equal([1, 500, 2, 200]);
  });

  it('answers slowly, answers 410 so that the webhook is switched off, and hangs until the sender gives up', async () => {
    const slow = await hook();
    await setMode('slow');
    await slow.send();
    await app.eventually(async () => (await posts(slow.path)).some(({ status }) => status === null));
    await app.eventually(async () => (await posts(slow.path)).every(({ status }) => status === 200));
    const gone = await hook();
    await setMode('gone');
    await gone.send();
    const switchedOff = async () => (await app.get(`webhooks/${gone.id}`)).body.disabled_reason;
    expect(await app.eventually(switchedOff)).to.equal('The receiver answered 410 Gone');
    await setMode('hang');
    const hanging = new AbortController();
    const sent = fetch(`${app.url}/play/hooks/hanging`, { method: 'POST', signal: hanging.signal }).catch(
      () => 'given up',
    );
    await app.eventually(async () => (await posts('/play/hooks/hanging')).length === 1);
    hanging.abort();
    expect(await sent).to.equal('given up');
    expect((await posts('/play/hooks/hanging'))[0]?.status).to.equal(null);
  });

  it('lets go of who waits when the service stops', async () => {
    const other = await startDemo('a service that stops');
    await other.call('PUT', '/play/mode', { mode: 'hang' });
    const { url: there } = (await other.get('/play/requests')).body;
    const sent = [`${other.url}/play/hooks`, there].map((target) => fetch(target, { method: 'POST', body: '{}' }));
    await other.eventually(async () => {
      const { payload } = (await other.get('/play/requests')).body;
      return payload.filter(({ bytes }: Post) => bytes === 2).length === 2;
    });
    await other.stop();
    expect((await Promise.all(sent)).map(({ status }) => status)).to.deep.equal([503, 503]);
  });

  it('is for administrators, each with what is of their accounts', async () => {
    const agent = await addPerson(app, { name: 'Ann' });
    const { id: account, administrator } = await addAccount(app, 'Other');
    const own = JSON.stringify({ event: 'theirs', account: { id: account } });
    await forge('/play/hooks/whose', '{"event": "ours", "account": {"id": 1}}');
    await forge('/play/hooks/whose', own);
    await forge('/play/hooks/whose', '{"event": "nobodys"}');
    const ask = async (headers: Record<string, string>) => {
      const requests = await app.get('/play/requests', headers);
      const mode = await app.call('PUT', '/play/mode', { mode: 'ok' }, headers);
      expect(requests.status).to.equal(mode.status);
      if (requests.status !== 200) return requests.status;
      return [requests, mode].map(({ body }) =>
        body.payload.filter(({ path }: Post) => path === '/play/hooks/whose').map(({ event }: Post) => event),
      );
    };
    expect(await ask({ api_access_token: '' })).to.equal(401);
    expect(await ask(agent.headers)).to.equal(403);
    expect(await ask(await botHeaders(app))).to.equal(403);
    expect(await ask(administrator.headers)).to.deep.equal([
      ['nobodys', 'theirs'],
      ['nobodys', 'theirs'],
    ]);
    expect(await ask({})).to.deep.equal([
      ['nobodys', 'theirs', 'ours'],
      ['nobodys', 'theirs', 'ours'],
    ]);
    for (const mode of ['broken', null, 5])
      expect((await app.call('PUT', '/play/mode', { mode })).status).to.equal(422);
    expect((await app.call('PUT', '/play/mode', [])).status).to.equal(422);
    expect((await app.call('PUT', '/play/mode', 'x')).status).to.equal(400);
    expect((await app.call('DELETE', '/play/mode')).status).to.equal(405);
  });

  it('is the only address of this machine that a webhook may have', async () => {
    const { address, port } = receiverEndpoint('a key of the tests of the built-in receiver alone');
    const { port: own } = new URL(app.url);
    const refused = [
      `http://127.0.0.1:${own}/play/hooks`,
      `http://localhost:${port}/play/hooks`,
      `http://${address}:${own}/play/hooks`,
      `http://${address}/play/hooks`,
      `http://127.83.0.0:${port}/play/hooks`,
      `http://[::ffff:${address}]:${port}/play/hooks`,
    ];
    for (const target of refused) {
      const { status, body } = await app.post('webhooks', { url: target, subscriptions: ['message_created'] });
      expect([status, body.details?.[0]?.rule], target).to.deep.equal([422, 'address']);
    }
    expect(new URL(url).host).to.equal(`${address}:${port}`);
    expect((await fetch(url)).status).to.equal(404);
    expect((await fetch(new URL('/elsewhere', url), { method: 'POST' })).status).to.equal(404);
  });

  it('is a page under a policy that allows this service only', async () => {
    const page = await fetch(`${app.url}/play`);
    const html = await page.text();
    expect(page.headers.get('content-security-policy')).to.include("default-src 'none'").and.not.include('unsafe');
    expect(html).not.to.match(/<style|style=|<script(?![^>]* src=)|\son\w+=|https?:/);
    for (const [, path] of html.matchAll(/(?:src|href)="(\/[^"]+)"/g))
      expect((await fetch(`${app.url}${path}`)).status, path).to.equal(200);
  });
});
