import { expect } from 'chai';
import { makeConsoleLink } from '../../src/app/start/console-link.ts';
import { deleteExpiredSignIns } from '../../src/domain/people/sign-ins/expiry.ts';
import { systemRandom } from '../../src/lib/ports.ts';
import { adminToken, TestApp } from '../support/app.ts';
import { addAccount, addPerson, botHeaders } from '../support/people.ts';
import { cookieOf, ownPage, signInAt } from '../support/sign-in.ts';

const profile = '/api/v1/profile';
const hourMs = 3_600_000;

describe('signing in', function () {
  this.timeout(60_000);
  let app: TestApp;
  let aheadMs = 0;

  before(async () => {
    app = await TestApp.start({ engine: false, clock: { now: () => new Date(Date.now() + aheadMs) } });
  });

  afterEach(() => (aheadMs = 0));
  after(() => app.stop());

  async function send(method: string, path: string, headers: Record<string, string>, body?: object): Promise<Response> {
    const full = path.startsWith('/') ? path : `/api/v1/accounts/1/${path}`;
    return fetch(app.url + full, {
      method,
      headers: { ...headers, ...(body ? { 'content-type': 'application/json' } : {}) },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
  }

  const statusOf = async (...sent: Parameters<typeof send>): Promise<number> => {
    const response = await send(...sent);
    await response.body?.cancel();
    return response.status;
  };

  async function person(role: 'administrator' | 'agent' = 'agent') {
    const { id, headers } = await addPerson(app, { name: `Person ${Math.random()}`, role });
    const token = headers.api_access_token;
    return { id, token, headers, pages: await signInAt(app.url, { access_token: token }) };
  }

  const newLink = async (email: string | null = null): Promise<string> => {
    const url = await makeConsoleLink({ database: app.app.database, random: systemRandom }, { url: app.url, email });
    return url?.split('#link=')[1] ?? '';
  };

  it('sets a cookie that no script can read and no other site sends, and tells who is signed in', async () => {
    const response = await send('POST', '/sign_in', ownPage, { access_token: adminToken });
    const [cookie = ''] = response.headers.getSetCookie();
    expect(cookie).to.match(/^switchboard_sign_in=sws_\w{49}; Path=\/; Max-Age=604800; HttpOnly; SameSite=Strict$/);
    const { profile: told, expires_at: until } = (await response.json()) as Record<string, { name: string }>;
    expect(told?.name).to.equal('Administrator');
    expect(until).to.be.closeTo(Date.now() / 1000 + 604_800, 60);
    const again = await send('GET', '/sign_in', { ...ownPage, cookie: cookieOf(response) });
    expect(await again.json()).to.deep.equal({ profile: told, expires_at: until });
    expect(await (await send('GET', '/sign_in', ownPage)).json()).to.deep.equal({ profile: null, expires_at: null });
    expect(again.headers.get('access-control-allow-origin')).to.equal(null);
  });

  it('stores no sign-in but its hash', async () => {
    const { pages } = await person();
    const secret = pages['cookie']!.split('=')[1]!;
    const rows = await app.query<{ row: string }>(`SELECT k::text AS row FROM access_tokens k WHERE last_four = $1`, [
      secret.slice(-4),
    ]);
    expect(rows).to.have.length.greaterThan(0);
    for (const { row } of rows) expect(row).to.not.include(secret);
  });

  it('is refused to bots, to who has no token, and to the pages of others', async () => {
    const bot = (await botHeaders(app)).api_access_token;
    const { pages } = await person();
    const secret = pages['cookie']!.split('=')[1]!;
    const tries: [number, object, Record<string, string>][] = [
      [403, { access_token: bot }, ownPage],
      [401, { access_token: 'nobody-has-this' }, ownPage],
      [401, { access_token: secret }, ownPage],
      [410, { link: 'nobody-made-this' }, ownPage],
      [422, {}, ownPage],
      [422, { access_token: adminToken, link: 'one too many' }, ownPage],
      [403, { access_token: adminToken }, { 'sec-fetch-site': 'same-site' }],
      [403, { access_token: adminToken }, { 'sec-fetch-site': 'cross-site' }],
      [403, { access_token: adminToken }, { origin: 'http://127.0.0.1:1' }],
      [201, { access_token: adminToken }, { origin: app.url }],
      [201, { access_token: adminToken }, {}],
    ];
    for (const [status, body, headers] of tries) {
      const response = await send('POST', '/sign_in', headers, body);
      expect(response.status, JSON.stringify([body, headers])).to.equal(status);
      expect(response.headers.getSetCookie().length).to.equal(status === 201 ? 1 : 0);
      if (status >= 400) expect(((await response.json()) as { error: string }).error).to.match(/^[A-Z`].+/);
    }
  });

  it('does not make the sign-in an access token', async () => {
    const secret = (await person()).pages['cookie']!.split('=')[1]!;
    for (const headers of [{ api_access_token: secret }, { authorization: `Bearer ${secret}` }]) {
      expect(await statusOf('GET', profile, headers)).to.equal(401);
    }
    const cookie = `switchboard_sign_in=${adminToken}`;
    expect(await statusOf('GET', profile, { ...ownPage, cookie })).to.equal(401);
  });

  it('lets pages of this service change things, and no others', async () => {
    const { cookie = '' } = (await person('administrator')).pages;
    let made = 0;
    const change = (headers: Record<string, string>) => {
      made += 1;
      return send('POST', 'labels', { cookie, ...headers }, { title: `label-${made}` });
    };
    const { host } = new URL(app.url);
    for (const headers of [ownPage, { origin: app.url }]) expect((await change(headers)).status).to.equal(201);
    const before = (await app.get('labels')).body.payload.length;
    const others = [
      {},
      { 'sec-fetch-site': 'none' },
      { 'sec-fetch-site': 'same-site', origin: app.url },
      { 'sec-fetch-site': 'cross-site' },
      { origin: 'null' },
      { origin: `https://${host}` },
      { origin: 'http://127.0.0.1:9' },
      { origin: `http://${host}.example.com` },
    ];
    for (const headers of others) {
      const response = await change(headers);
      expect(response.status, JSON.stringify(headers)).to.equal(403);
      expect(await response.json()).to.include({ code: 'cross_origin' });
    }
    expect((await app.get('labels')).body.payload).to.have.length(before);
    // With a token of its own, a page of others is welcome as ever.
    const token = { api_access_token: adminToken, origin: 'https://app.example.com', 'sec-fetch-site': 'cross-site' };
    expect((await change(token)).status).to.equal(201);
  });

  it('answers what the pages of others read as if nobody were signed in', async () => {
    const { cookie = '' } = (await person()).pages;
    const others = [
      { 'sec-fetch-site': 'same-site' },
      { 'sec-fetch-site': 'cross-site' },
      { origin: 'http://127.0.0.1:9' },
    ];
    for (const headers of others) {
      const response = await send('GET', profile, { cookie, ...headers });
      expect(response.status, JSON.stringify(headers)).to.equal(401);
      expect(response.headers.get('access-control-allow-origin')).to.equal('*');
      expect(response.headers.get('access-control-allow-credentials')).to.equal(null);
      expect(await (await send('GET', '/sign_in', { cookie, ...headers })).json()).to.include({ profile: null });
    }
    for (const headers of [ownPage, { origin: app.url }, { 'sec-fetch-site': 'none' }, {}]) {
      expect(await statusOf('GET', profile, { cookie, ...headers }), JSON.stringify(headers)).to.equal(200);
    }
  });

  it('ends when the person signs out, for whoever has the cookie', async () => {
    const one = await person();
    const other = await signInAt(app.url, { access_token: one.token });
    const { cookie = '' } = one.pages;
    expect(await statusOf('DELETE', '/sign_in', { cookie, 'sec-fetch-site': 'same-site' })).to.equal(403);
    const response = await send('DELETE', '/sign_in', one.pages);
    expect(response.headers.getSetCookie()).to.deep.equal([
      'switchboard_sign_in=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict',
    ]);
    expect(await statusOf('GET', profile, one.pages)).to.equal(401);
    expect(await statusOf('GET', profile, other)).to.equal(200);
    expect(await statusOf('GET', profile, one.headers)).to.equal(200);
  });

  it('ends when the access token is reset, by the sign-in itself too', async () => {
    const one = await person();
    const other = await signInAt(app.url, { access_token: one.token });
    const response = await send('POST', `${profile}/reset_access_token`, one.pages);
    const { access_token: token } = (await response.json()) as { access_token: string };
    for (const pages of [one.pages, other]) expect(await statusOf('GET', profile, pages)).to.equal(401);
    const again = await signInAt(app.url, { access_token: token });
    await app.call('POST', `/platform/api/v1/users/${one.id}/reset_access_token`);
    expect(await statusOf('GET', profile, again)).to.equal(401);
  });

  it('ends when the person leaves the account, and follows a change of the role at once', async () => {
    const { id, pages } = await person();
    const [seat] = await app.query<{ id: number }>('SELECT id FROM seats WHERE person_id = $1', [id]);
    const make = (title: string) => statusOf('POST', 'labels', pages, { title });
    expect(await make('too-early')).to.equal(403);
    await app.patch(`agents/${seat?.id}`, { role: 'administrator' });
    expect(await make('in-time')).to.equal(201);
    await app.patch(`agents/${seat?.id}`, { role: 'agent' });
    expect(await make('too-late')).to.equal(403);
    expect((await app.delete(`agents/${seat?.id}`)).status).to.equal(200);
    expect(await statusOf('GET', profile, pages)).to.equal(401);
  });

  it('shows one account of several no more when the person leaves it', async () => {
    const { id, pages } = await person();
    const other = await addAccount(app, `Elsewhere ${Math.random()}`);
    await app.post(`/platform/api/v1/accounts/${other.id}/account_users`, { user_id: id, role: 'agent' });
    const [seat] = await app.query<{ id: number }>('SELECT id FROM seats WHERE person_id = $1 AND account_id = 1', [
      id,
    ]);
    expect((await app.delete(`agents/${seat?.id}`)).status).to.equal(200);
    expect(await statusOf('GET', 'labels', pages)).to.be.oneOf([401, 404]);
  });

  it('ends by itself, and what is left of it is swept', async () => {
    const { id, pages } = await person();
    aheadMs = 168 * hourMs - 60_000;
    expect(await statusOf('GET', profile, pages)).to.equal(200);
    expect(await statusOf('POST', 'labels', pages, { title: 'x' })).to.equal(403);
    expect(await deleteExpiredSignIns(app.app.database)).to.equal(0);
    aheadMs = 168 * hourMs + 1_000;
    expect(await statusOf('GET', profile, pages)).to.equal(401);
    expect(await statusOf('GET', 'labels', pages)).to.equal(401);
    expect(await statusOf('POST', 'labels', pages, { title: 'x' })).to.equal(401);
    expect(await (await send('GET', '/sign_in', pages)).json()).to.include({ profile: null });
    expect(await deleteExpiredSignIns(app.app.database)).to.be.greaterThan(0);
    const left = 'SELECT FROM access_tokens WHERE user_id = $1 AND expires_at IS';
    expect(await app.query(`${left} NOT NULL`, [id])).to.have.length(0);
    expect(await app.query(`${left} NULL`, [id])).to.have.length(1);
  });

  it('keeps at most fifty sign-ins of a person, the newest', async () => {
    const { token, id, pages: first } = await person();
    for (let signedIn = 1; signedIn <= 50; signedIn += 1) await signInAt(app.url, { access_token: token });
    expect(
      await app.query('SELECT FROM access_tokens WHERE user_id = $1 AND expires_at IS NOT NULL', [id]),
    ).to.have.length(50);
    expect(await statusOf('GET', profile, first)).to.equal(401);
  });

  it('by a link works once, and not after half an hour', async () => {
    const link = await newLink();
    const pages = await signInAt(app.url, { link });
    expect(await (await send('GET', profile, pages)).json()).to.include({ name: 'Administrator' });
    const late = await newLink();
    aheadMs = 30 * 60_000 + 1_000;
    for (const over of [link, late]) {
      const response = await send('POST', '/sign_in', ownPage, { link: over });
      expect(response.status).to.equal(410);
      expect(((await response.json()) as { error: string }).error).to.include('npx switchboard console-link');
    }
    expect(await newLink('nobody@example.com')).to.equal('');
    expect(await newLink()).to.match(/^[\w-]{24}$/);
    expect(await app.query('SELECT FROM sign_in_links')).to.have.length(1);
  });

  it('by a link works once in two processes at the same time', async () => {
    const second = await TestApp.start({ engine: false, databaseUrl: app.databaseUrl });
    try {
      const link = await newLink();
      const urls = [app.url, second.url, app.url, second.url, app.url, second.url];
      const answers = await Promise.all(
        urls.map((url) =>
          fetch(`${url}/sign_in`, {
            method: 'POST',
            headers: { 'content-type': 'application/json', ...ownPage },
            body: JSON.stringify({ link }),
          }),
        ),
      );
      expect(answers.map(({ status }) => status).toSorted((one, other) => one - other)).to.deep.equal([
        201, 410, 410, 410, 410, 410,
      ]);
      const cookie = cookieOf(answers.find(({ status }) => status === 201)!);
      for (const url of [app.url, second.url]) {
        expect((await fetch(url + profile, { headers: { ...ownPage, cookie } })).status).to.equal(200);
      }
      await fetch(`${app.url}/sign_in`, { method: 'DELETE', headers: { ...ownPage, cookie } });
      expect((await fetch(second.url + profile, { headers: { ...ownPage, cookie } })).status).to.equal(401);
    } finally {
      await second.app.stop();
    }
  });

  it('is tried a few times a minute by one address', async () => {
    const strict = await TestApp.start({
      engine: false,
      databaseUrl: app.databaseUrl,
      config: { signInsPerMinute: 3 },
    });
    try {
      const attempt = () =>
        fetch(`${strict.url}/sign_in`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', ...ownPage },
          body: JSON.stringify({ access_token: 'guessed-token' }),
        });
      for (let tried = 0; tried < 3; tried += 1) expect((await attempt()).status).to.equal(401);
      const refused = await attempt();
      expect(refused.status).to.equal(429);
      expect(refused.headers.get('retry-after')).to.match(/^\d+$/);
      expect((await fetch(`${strict.url}/sign_in`)).status).to.equal(200);
    } finally {
      await strict.app.stop();
    }
  });

  it('opens streams of events by tickets, which end with it', async () => {
    const { pages } = await person();
    const { ticket } = (await (await send('POST', 'events/ticket', pages)).json()) as { ticket: string };
    const stream = await send('GET', `events/stream?ticket=${ticket}`, {});
    expect(stream.status).to.equal(200);
    const ended = stream.text();
    await send('DELETE', '/sign_in', pages);
    expect(await ended).to.include('retry:');
  });

  it('marks the cookie for HTTPS where the service is reached by that', async () => {
    const secure = await TestApp.start({
      engine: false,
      databaseUrl: app.databaseUrl,
      config: { publicUrl: 'https://desk.example.com' },
    });
    try {
      const headers = { 'content-type': 'application/json', origin: 'https://desk.example.com' };
      const body = JSON.stringify({ access_token: adminToken });
      const response = await fetch(`${secure.url}/sign_in`, { method: 'POST', headers, body });
      expect(response.status).to.equal(201);
      expect(response.headers.getSetCookie()[0]).to.match(/; Secure$/);
    } finally {
      await secure.app.stop();
    }
  });
});
