import { expect } from 'chai';
import { adminToken, TestApp } from '../support/app.ts';

const contacts = '/api/v1/accounts/1/contacts';
const origin = 'https://app.example.com';

describe('calls from web pages', () => {
  let app: TestApp;

  before(async () => {
    app = await TestApp.start({ engine: false });
  });

  after(() => app.stop());

  async function call(path: string, method: string, headers: Record<string, string>): Promise<Response> {
    const response = await fetch(app.url + path, { method, headers: { origin, ...headers } });
    await response.arrayBuffer();
    return response;
  }

  const preflight = (path: string, method: string, headers = 'api_access_token,content-type,idempotency-key') =>
    call(path, 'OPTIONS', { 'access-control-request-method': method, 'access-control-request-headers': headers });

  const listed = (response: Response, header: string) =>
    (response.headers.get(header) ?? '').split(',').map((name) => name.trim().toLowerCase());

  it('any page may call the API, and never with cookies', async () => {
    for (const method of ['GET', 'POST', 'PATCH', 'DELETE']) {
      const response = await preflight(contacts, method);
      expect(response.status).to.equal(204);
      expect(response.headers.get('access-control-allow-origin')).to.equal('*');
      expect(response.headers.get('access-control-allow-credentials')).to.equal(null);
      expect(listed(response, 'access-control-allow-methods')).to.include(method.toLowerCase());
    }
  });

  it('the preflight needs no token, and lets all headers through that the API reads', async () => {
    const allowed = listed(await preflight(contacts, 'POST'), 'access-control-allow-headers');
    expect(allowed).to.include.members([
      'api_access_token',
      'api-access-token',
      'authorization',
      'content-type',
      'idempotency-key',
      'if-match',
      'if-none-match',
      'x-request-id',
    ]);
  });

  it('a page may read the answer and the headers that matter', async () => {
    const response = await call(contacts, 'GET', { api_access_token: adminToken });
    expect(response.status).to.equal(200);
    expect(response.headers.get('access-control-allow-origin')).to.equal('*');
    expect(response.headers.get('vary')).to.match(/\bOrigin\b/);
    expect(listed(response, 'access-control-expose-headers')).to.include.members([
      'etag',
      'link',
      'ratelimit',
      'ratelimit-policy',
      'x-ratelimit-limit',
      'x-ratelimit-remaining',
      'x-ratelimit-reset',
      'retry-after',
      'x-request-id',
      'idempotency-replayed',
    ]);
  });

  it('it may read refusals too', async () => {
    const refusals: [string, string, number][] = [
      [contacts, 'GET', 401],
      ['/api/v1/nothing', 'GET', 404],
      [contacts, 'PUT', 405],
    ];
    for (const [path, method, status] of refusals) {
      const response = await call(path, method, {});
      expect([path, response.status, response.headers.get('access-control-allow-origin')]).to.deep.equal([
        path,
        status,
        '*',
      ]);
    }
  });

  it('a page may read the contract, and nothing else outside /api unless a route says so', async () => {
    expect((await call('/openapi.json', 'GET', {})).headers.get('access-control-allow-origin')).to.equal('*');
    for (const path of ['/docs', '/healthz', '/readyz', '/nowhere', '/public/api/v1/inboxes/none/messages']) {
      expect((await call(path, 'GET', {})).headers.get('access-control-allow-origin'), path).to.equal(null);
      expect((await preflight(path, 'POST')).headers.get('access-control-allow-origin'), path).to.equal(null);
    }
  });

  it('a route outside /api names the origins whose pages may call it', async () => {
    const [inbox] = await app.query<{ identifier: string }>(
      `INSERT INTO inboxes (account_id, name, channel_type, identifier, allowed_origins)
       VALUES (1, 'Widget', 'Channel::WebWidget', 'widget-1', $1) RETURNING identifier`,
      [[origin]],
    );
    const path = `/public/api/v1/inboxes/${inbox?.identifier}/sessions`;
    const allowed = await preflight(path, 'POST', 'content-type,x-contact-token');
    expect([allowed.status, allowed.headers.get('access-control-allow-origin')]).to.deep.equal([204, origin]);
    expect(listed(allowed, 'access-control-allow-headers')).to.include('x-contact-token');
    const elsewhere = { 'access-control-request-method': 'POST', origin: 'https://elsewhere.example.com' };
    const other = await call(path, 'OPTIONS', elsewhere);
    expect(other.headers.get('access-control-allow-origin')).to.equal(null);
    expect(await app.eventNames()).to.deep.equal([]);
  });

  it('a page that the inbox does not allow is told so, and nothing of the inbox; the service itself always is allowed', async () => {
    const ask = async (from: string | null, identifier = 'widget-2') => {
      const path = `/public/api/v1/inboxes/${identifier}`;
      const response = await fetch(app.url + path, { headers: from === null ? {} : { origin: from } });
      const { name, code } = (await response.json()) as { name?: string; code?: string };
      return [response.status, name ?? code, response.headers.get('access-control-allow-origin')];
    };
    await app.query(
      `INSERT INTO inboxes (account_id, name, channel_type, identifier, allowed_origins) VALUES
         (1, 'Closed', 'Channel::WebWidget', 'widget-2', '{}'), (1, 'Shop', 'Channel::WebWidget', 'widget-3', $1)`,
      [[origin]],
    );
    expect(await ask(origin)).to.deep.equal([403, 'origin_not_allowed', '*']);
    expect(await ask('null')).to.deep.equal([403, 'origin_not_allowed', '*']);
    expect(await ask(origin, 'nobody-has-this')).to.deep.equal([404, 'not_found', '*']);
    expect(await ask(app.url)).to.deep.equal([200, 'Closed', '*']);
    expect((await ask(null)).slice(0, 2)).to.deep.equal([200, 'Closed']);
    expect(await ask(origin, 'widget-3')).to.deep.equal([200, 'Shop', '*']);
    expect((await ask(`${origin}:8443`, 'widget-3'))[0]).to.equal(403);
    // Whoever may not show it may not call it either.
    const stream = await call('/public/api/v1/inboxes/widget-2/events', 'GET', { 'x-contact-token': 'x' });
    expect(stream.headers.get('access-control-allow-origin')).to.equal(null);
  });
});

describe('rate limits', () => {
  let app: TestApp;

  before(async () => {
    app = await TestApp.start({ engine: false, config: { rateLimitPerMinute: 5 } });
  });

  after(() => app.stop());

  it('each answer tells what is left, in the present fields and in the older ones', async () => {
    const { headers } = await app.get('contacts');
    expect(headers.get('ratelimit-policy')).to.equal('"requests";q=5;w=60');
    expect(headers.get('ratelimit')).to.match(/^"requests";r=4;t=(?:60|59)$/);
    expect(headers.get('x-ratelimit-limit')).to.equal('5');
    expect(headers.get('x-ratelimit-remaining')).to.equal('4');
    const reset = Number(headers.get('x-ratelimit-reset')) - Date.now() / 1000;
    expect(reset).to.be.within(50, 62);
  });

  it('who asks too often gets 429 and when to come back, and nothing happens', async () => {
    for (let left = 3; left >= 0; left--) {
      expect((await app.get('contacts')).headers.get('x-ratelimit-remaining')).to.equal(String(left));
    }
    await app.events();
    const { status, body, headers } = await app.post('contacts', { name: 'One too many' });
    expect([status, body.code, headers.get('x-ratelimit-remaining')]).to.deep.equal([429, 'rate_limited', '0']);
    expect(Number(headers.get('retry-after'))).to.be.within(50, 60);
    expect(await app.eventNames()).to.deep.equal([]);
  });
});
