import { expect } from 'chai';
import { adminToken, TestApp } from '../support/app.ts';
import { addPerson } from '../support/people.ts';
import { signInAt } from '../support/sign-in.ts';

const profile = '/api/v1/profile';
const labels = '/api/v1/accounts/1/labels';

describe('a page that says who it believes to be', function () {
  this.timeout(60_000);
  let app: TestApp;
  let alice: { id: number; pages: Record<string, string>; token: string };
  let bob: typeof alice;

  before(async () => {
    app = await TestApp.start({ engine: false });
    [alice, bob] = [await person('Alice'), await person('Bob')];
  });

  after(() => app.stop());

  async function person(name: string): Promise<typeof alice> {
    const { id, headers } = await addPerson(app, { name, role: 'administrator' });
    const token = headers.api_access_token;
    return { id, token, pages: await signInAt(app.url, { access_token: token }) };
  }

  async function send(method: string, path: string, headers: Record<string, string>, body?: object) {
    const response = await fetch(app.url + path, {
      method,
      headers: { ...headers, ...(body ? { 'content-type': 'application/json' } : {}) },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: text === '' ? null : JSON.parse(text) };
  }

  const as = (id: number | string) => ({ 'x-signed-in-as': String(id) });

  it('is answered as long as the cookie is of that person', async () => {
    for (const path of [profile, labels]) {
      expect((await send('GET', path, { ...bob.pages, ...as(bob.id) })).status).to.equal(200);
    }
    const made = await send('POST', labels, { ...bob.pages, ...as(bob.id) }, { title: 'of-bob' });
    expect(made.status).to.equal(201);
  });

  it('neither reads nor changes anything by the cookie of another, and is told so', async () => {
    await app.events();
    for (const believed of [alice.id, 0, 'bob', `${bob.id} `.repeat(2).trim()]) {
      for (const [method, path, body] of [
        ['GET', profile],
        ['POST', `${profile}/reset_access_token`, {}],
        ['GET', labels],
        ['POST', labels, { title: 'of-nobody' }],
        ['POST', '/api/v1/accounts/1/events/ticket', {}],
        ['DELETE', '/sign_in'],
      ] as const) {
        const refused = await send(method, path, { ...bob.pages, ...as(believed) }, body);
        expect(refused.status, `${method} ${path} as ${believed}`).to.equal(401);
        expect(refused.body).to.include({ code: 'signed_in_as_another' });
        expect(refused.body.error).to.match(/^Somebody else is signed in/);
        expect(refused.headers.getSetCookie()).to.deep.equal([]);
      }
    }
    const { payload } = (await app.get('labels')).body;
    expect(payload.map(({ title }: { title: string }) => title)).to.not.include('of-nobody');
    expect(await app.eventNames()).to.deep.equal([]);
    expect((await send('GET', profile, { api_access_token: bob.token })).status).to.equal(200);
    expect((await send('GET', '/sign_in', { ...bob.pages, ...as(alice.id) })).body.profile.id).to.equal(bob.id);
  });

  it('is not refused who has a token: that says who calls', async () => {
    const sent = { api_access_token: adminToken, ...as(alice.id) };
    expect((await send('GET', profile, sent)).status).to.equal(200);
    expect((await send('GET', labels, { ...sent, ...bob.pages })).status).to.equal(200);
  });

  it('does not count as a failed authentication', async () => {
    const strict = await TestApp.start({
      engine: false,
      databaseUrl: app.databaseUrl,
      config: { rateLimitPerMinute: 1_000 },
    });
    try {
      for (let tried = 0; tried < 65; tried += 1) {
        const refused = await fetch(strict.url + profile, { headers: { ...bob.pages, ...as(alice.id) } });
        expect(refused.status).to.equal(401);
        await refused.body?.cancel();
      }
      expect((await fetch(strict.url + profile, { headers: { ...bob.pages, ...as(bob.id) } })).status).to.equal(200);
    } finally {
      await strict.app.stop();
    }
  });

  it('signs out and in as it likes', async () => {
    expect((await send('DELETE', '/sign_in', { ...bob.pages, ...as(bob.id) })).status).to.equal(200);
    expect((await send('GET', profile, { ...bob.pages, ...as(bob.id) })).body).to.include({ code: 'unauthenticated' });
    const proof = { access_token: bob.token };
    expect((await send('POST', '/sign_in', { ...alice.pages, ...as(alice.id) }, proof)).status).to.equal(201);
  });
});
