import { expect } from 'chai';
import { adminToken, TestApp } from '../../support/app.ts';
import { addPerson, botHeaders } from '../../support/people.ts';
import { ownPage, signInAt } from '../../support/sign-in.ts';

const path = '/api/v1/profile/access_tokens';
const agent = 'Mozilla/5.0 (X11; Linux x86_64) Chrome/147';
const dayMs = 86_400_000;

interface Held {
  id: number;
  kind: 'access_token' | 'sign_in';
  last_four: string;
  user_agent: string | null;
  current: boolean;
  created_at: number;
  expires_at: number | null;
}

describe('access tokens and sign-ins of a person', function () {
  this.timeout(60_000);
  let app: TestApp;
  let aheadMs = 0;

  before(async () => {
    app = await TestApp.start({ engine: false, clock: { now: () => new Date(Date.now() + aheadMs) } });
    await app.events();
  });

  afterEach(() => (aheadMs = 0));
  after(() => app.stop());

  // With these headers alone: a page has no access token beside its cookie.
  async function send(method: string, to: string, headers: Record<string, string>): Promise<Response> {
    return fetch(app.url + to, { method, headers });
  }
  const list = async (headers: Record<string, string>): Promise<Held[]> =>
    ((await (await send('GET', path, headers)).json()) as { payload: Held[] }).payload;
  const remove = async (id: number | string, headers: Record<string, string>): Promise<number> =>
    (await send('DELETE', `${path}/${id}`, headers)).status;
  const statusOf = async (headers: Record<string, string>): Promise<number> =>
    (await send('GET', '/api/v1/profile', headers)).status;

  async function signIn(token: string, name = agent): Promise<Record<string, string>> {
    const response = await fetch(`${app.url}/sign_in`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'user-agent': name, ...ownPage },
      body: JSON.stringify({ access_token: token }),
    });
    const cookie = response.headers.getSetCookie()[0]?.split(';')[0] ?? '';
    return { ...ownPage, cookie };
  }

  it('are listed with the browser that each is in, and none of their secrets', async () => {
    const { headers } = await addPerson(app, { name: 'Ada' });
    const token = headers.api_access_token;
    const pages = await signIn(token);
    const secret = pages['cookie']?.split('=')[1] ?? '';
    const [signedIn, own, ...rest] = await list(pages);
    expect(rest).to.deep.equal([]);
    expect(signedIn).to.deep.include({
      kind: 'sign_in',
      user_agent: agent,
      current: true,
      last_four: secret.slice(-4),
    });
    expect(own).to.deep.include({ kind: 'access_token', user_agent: null, current: false, expires_at: null });
    expect(own?.last_four).to.equal(token.slice(-4));
    expect(signedIn?.created_at).to.be.closeTo(Date.now() / 1000, 60);
    expect(signedIn?.expires_at).to.be.closeTo(Date.now() / 1000 + 7 * 86_400, 60);
    expect((await list(headers)).map(({ current }) => current)).to.deep.equal([false, true]);
    const text = await (await send('GET', path, headers)).text();
    expect(text).to.not.include(token).and.not.include(secret);
    expect(await app.eventNames()).to.deep.equal([]);
  });

  it('keep so much of what a browser calls itself, and of one that says nothing nothing', async () => {
    const { headers } = await addPerson(app, { name: 'Bob' });
    await signIn(headers.api_access_token, `<script>${'x'.repeat(5_000)}`);
    await signIn(headers.api_access_token, '');
    const [silent, loud] = await list(headers);
    expect(silent?.user_agent).to.equal(null);
    expect(loud?.user_agent).to.match(/^<script>x{292}$/);
  });

  it('are no more in the list when they have expired', async () => {
    const { headers } = await addPerson(app, { name: 'Cleo' });
    await signIn(headers.api_access_token);
    expect(await list(headers)).to.have.length(2);
    aheadMs = 8 * dayMs;
    expect((await list(headers)).map(({ kind }) => kind)).to.deep.equal(['access_token']);
  });

  it('end when they are revoked, with the streams that they opened; the others stay', async () => {
    const { headers } = await addPerson(app, { name: 'Dora' });
    const stolen = await signIn(headers.api_access_token, 'Stolen');
    const own = await signIn(headers.api_access_token, 'Own');
    const ticketed = await send('POST', '/api/v1/accounts/1/events/ticket', stolen);
    const { ticket } = (await ticketed.json()) as { ticket: string };
    const stream = await fetch(`${app.url}/api/v1/accounts/1/events/stream?ticket=${ticket}`);
    expect(stream.status).to.equal(200);
    const ended = stream.text();
    const id = (await list(own)).find(({ user_agent: name }) => name === 'Stolen')?.id ?? 0;
    expect(await remove(id, own)).to.equal(200);
    expect(await ended).to.include('retry:');
    expect([await statusOf(stolen), await statusOf(own), await statusOf(headers)]).to.deep.equal([401, 200, 200]);
    expect(await remove(id, own)).to.equal(404);
    expect((await list(own)).map(({ user_agent: name }) => name)).to.deep.equal(['Own', null]);
    expect(await app.eventNames()).to.deep.equal([]);
  });

  it('the access token too, from a browser that stays signed in and makes a new one', async () => {
    const { headers } = await addPerson(app, { name: 'Eve' });
    const pages = await signIn(headers.api_access_token);
    const token = (await list(pages)).find(({ kind }) => kind === 'access_token');
    expect(await remove(token?.id ?? 0, pages)).to.equal(200);
    expect([await statusOf(headers), await statusOf(pages)]).to.deep.equal([401, 200]);
    expect((await send('POST', '/api/v1/profile/reset_access_token', pages)).status).to.equal(200);
  });

  it("one's own sign-in: nothing can be done by it from then on", async () => {
    const { headers } = await addPerson(app, { name: 'Fay' });
    const pages = await signIn(headers.api_access_token);
    const own = (await list(pages)).find(({ current }) => current)?.id ?? 0;
    expect(await remove(own, pages)).to.equal(200);
    expect([await statusOf(pages), await remove(own, pages)]).to.deep.equal([401, 401]);
  });

  it("are nobody else's to see or to revoke, not an administrator's either", async () => {
    const { headers } = await addPerson(app, { name: 'Grace' });
    const pages = await signInAt(app.url, { access_token: headers.api_access_token });
    const [{ id } = { id: 0 }] = await list(headers);
    expect(await remove(id, { api_access_token: adminToken })).to.equal(404);
    expect((await list({ api_access_token: adminToken })).map((held) => held.id)).to.not.include(id);
    expect(await statusOf(pages)).to.equal(200);
    const bot = await botHeaders(app);
    expect([(await send('GET', path, bot)).status, await remove(id, bot)]).to.deep.equal([403, 403]);
    for (const odd of ['0', '-1', 'abc', '9'.repeat(30)])
      expect(await remove(odd, headers), odd).to.be.oneOf([400, 404, 422]);
  });

  it('cannot be revoked by the pages of others', async () => {
    const { headers } = await addPerson(app, { name: 'Hal' });
    const pages = await signInAt(app.url, { access_token: headers.api_access_token });
    const [{ id } = { id: 0 }] = await list(headers);
    expect(await remove(id, { ...pages, 'sec-fetch-site': 'same-site' })).to.equal(403);
    expect(await statusOf(pages)).to.equal(200);
  });
});
