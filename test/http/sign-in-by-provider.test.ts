import { generateKeyPairSync } from 'node:crypto';
import { expect } from 'chai';
import { pino } from 'pino';
import { TestApp } from '../support/app.ts';
import { IdentityProvider, type ProviderClaims } from '../support/identity-provider.ts';
import { addAccount, addPerson } from '../support/people.ts';
import { cookieOf, ownPage } from '../support/sign-in.ts';

const minuteMs = 60_000;
const html = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };

describe('signing in by an identity provider', function () {
  this.timeout(60_000);
  let provider: IdentityProvider;
  let app: TestApp;
  let aheadMs = 0;
  let count = 0;
  const lines: string[] = [];
  const publicUrl = 'https://desk.example.com/help';

  before(async () => {
    provider = await IdentityProvider.start();
    provider.register(`${publicUrl}/sign_in/oidc/callback`);
    const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(line) });
    const config = {
      oidcIssuer: provider.issuer,
      oidcClientId: provider.clientId,
      oidcClientSecret: provider.clientSecret,
      oidcAllowedDomains: ['Example.com'],
      oidcRoleClaim: 'switchboard_role',
      publicUrl,
    };
    app = await TestApp.start({ engine: false, clock: { now: () => new Date(Date.now() + aheadMs) }, log, config });
  });

  afterEach(() => {
    aheadMs = 0;
    provider.instead = () => false;
  });
  after(async () => {
    await app.stop();
    await provider.close();
  });

  async function begin(headers: Record<string, string> = ownPage) {
    const answer = await fetch(`${app.url}/sign_in/oidc`, { method: 'POST', headers });
    const body = (await answer.json()) as { url: string; code?: string };
    return { status: answer.status, body, cookie: answer.headers.getSetCookie()[0] ?? '' };
  }

  /** Comes back from the provider as a browser does: from another site, with the cookie that it was given. */
  async function comeBack(address: string, cookie: string, headers: Record<string, string> = html) {
    const url = address.replace(publicUrl, app.url);
    const own = { cookie: cookie.split(';')[0] ?? '', 'sec-fetch-site': 'cross-site', ...headers };
    const answer = await fetch(url, { headers: own });
    return { status: answer.status, headers: answer.headers, text: await answer.text() };
  }

  async function signIn(claims: ProviderClaims) {
    const name = `person-${++count}`;
    provider.people.set(name, claims);
    const { body, cookie } = await begin();
    return comeBack(await provider.signIn(body.url, name), cookie);
  }

  async function profileOf(answer: { headers: Headers }) {
    const kept = answer.headers.getSetCookie().find((cookie) => cookie.startsWith('switchboard_sign_in=')) ?? '';
    const asked = await fetch(`${app.url}/sign_in`, { headers: { ...ownPage, cookie: kept.split(';')[0] ?? '' } });
    return ((await asked.json()) as { profile: { id: number; email: string; accounts: object[] } | null }).profile;
  }

  const verified = (email: string, more: ProviderClaims = {}): ProviderClaims => ({
    email,
    email_verified: true,
    ...more,
  });
  const invite = async (email: string, headers?: Record<string, string>, accountId = 1) => {
    const body = { name: 'Invited', email, role: 'agent' };
    const answer = await app.call('POST', `/api/v1/accounts/${accountId}/agents`, body, headers);
    expect(answer.status).to.equal(201);
    return answer.body.id as number;
  };

  it('is told of, and leads to the page of the provider with PKCE, state and nonce', async () => {
    const methods = await (await fetch(`${app.url}/sign_in/methods`)).json();
    expect(methods).to.deep.equal({ email_link: false, oidc: true });
    const { body, cookie } = await begin();
    const url = new URL(body.url);
    expect(url.origin).to.equal(provider.issuer);
    const sent = Object.fromEntries(url.searchParams);
    expect(sent).to.include({ client_id: 'switchboard', response_type: 'code', code_challenge_method: 'S256' });
    expect(sent.redirect_uri).to.equal(`${publicUrl}/sign_in/oidc/callback`);
    expect(sent.scope).to.equal('openid email profile');
    expect(new Set([sent.state, sent.nonce, sent.code_challenge]).size).to.equal(3);
    expect(cookie).to.match(/; Path=\/help\/sign_in\/oidc\/callback; Max-Age=600; HttpOnly; SameSite=Lax; Secure$/);
    expect(cookie).to.not.include(sent.state).and.not.include(sent.nonce);
    expect((await begin({ 'sec-fetch-site': 'cross-site' })).body.code).to.equal('cross_origin');
  });

  it('signs in the person with the address, in any case, and leads on to the console', async () => {
    const { id, email } = await addPerson(app, { name: 'Ada' });
    const answer = await signIn(verified(email.toUpperCase()));
    expect(answer.status, answer.text).to.equal(200);
    expect(answer.text).to.include('http-equiv="refresh" content="0;url=/console"');
    const [forgotten, kept] = answer.headers.getSetCookie();
    expect(forgotten).to.match(/^switchboard_oidc=;.*Max-Age=0/);
    expect(kept).to.match(/^switchboard_sign_in=.*HttpOnly; SameSite=Strict; Secure$/);
    expect(await profileOf(answer)).to.include({ id, email });
    const [made] = await app.query('SELECT signed_in_by FROM access_tokens WHERE user_id = $1 AND expires_at > now()', [
      id,
    ]);
    expect(made).to.deep.equal({ signed_in_by: 'oidc' });
  });

  it('works once, in the browser that began it, within ten minutes', async () => {
    const { email } = await addPerson(app, { name: 'Bob' });
    provider.people.set('bob', verified(email));
    const first = await begin();
    const address = await provider.signIn(first.body.url, 'bob');
    const other = await begin();
    expect((await comeBack(address, '')).status).to.equal(410);
    expect((await comeBack(address, other.cookie)).status).to.equal(403);
    expect((await comeBack(address, `${first.cookie.split(';')[0]?.slice(0, -2)}xx`)).status).to.equal(410);
    aheadMs = 11 * minuteMs;
    expect((await comeBack(address, first.cookie)).status).to.equal(410);
    aheadMs = 0;
    expect((await comeBack(address, first.cookie)).status).to.equal(200);
    expect((await comeBack(address, first.cookie)).status).to.equal(403);
    const log = lines.join('');
    for (const secret of [new URL(address).searchParams.get('code'), provider.clientSecret])
      expect(log).to.not.include(secret);
  });

  it('is refused without an address, with one that is not verified, or of another domain', async () => {
    const { email } = await addPerson(app, { name: 'Cleo' });
    const refusals: ProviderClaims[] = [
      {},
      { email },
      { email, email_verified: false },
      { email, email_verified: 'true' },
    ];
    for (const claims of refusals) {
      const { status, text, headers } = await signIn(claims);
      expect(status).to.equal(403);
      expect(text).to.include('e-mail address');
      expect(headers.getSetCookie().join()).to.not.include('switchboard_sign_in');
    }
    for (const address of ['cleo@example.org', 'cleo@sub.example.com', 'cleo@example.com@example.org']) {
      const { status, text } = await signIn(verified(address));
      expect(status).to.equal(403);
      expect(text).to.include('may not sign in here');
    }
  });

  it('joins by invitation only: all accounts that have invited the address, with the role of the claim', async () => {
    const email = 'new@example.com';
    expect((await signIn(verified(email))).text).to.include(`Nobody has invited ${email}`);
    expect(await app.query('SELECT FROM users WHERE email = $1', [email])).to.have.length(0);
    const { id: accountId, administrator } = await addAccount(app, 'Second');
    const here = await invite(email);
    await invite(email, administrator.headers, accountId);
    const answer = await signIn(verified('New@Example.com', { switchboard_role: ['staff', 'administrator'] }));
    expect(answer.status, answer.text).to.equal(200);
    const profile = await profileOf(answer);
    expect(profile?.accounts).to.have.length(2);
    for (const account of profile?.accounts ?? []) expect(account).to.include({ role: 'administrator' });
    expect((await app.get(`agents`)).body.find(({ id }: { id: number }) => id === here)).to.include({
      confirmed: true,
      role: 'administrator',
    });
    expect(await app.query('SELECT FROM invitations WHERE closed_at IS NULL AND user_id = $1', [here])).to.have.length(
      0,
    );
    // A person who works here joins nothing else by signing in, and keeps the role.
    const third = await addAccount(app, 'Third');
    await invite(email, third.administrator.headers, third.id);
    const again = await profileOf(await signIn(verified(email, { switchboard_role: 'agent' })));
    expect(again?.id).to.equal(profile?.id);
    expect(again?.accounts).to.deep.equal(profile?.accounts);
  });

  it('accepts no invitation that is too old or withdrawn, and each once', async () => {
    await invite('late@example.com');
    aheadMs = 8 * 24 * 60 * minuteMs;
    expect((await signIn(verified('late@example.com'))).status).to.equal(403);
    aheadMs = 0;
    await app.delete(`agents/${await invite('withdrawn@example.com')}`);
    expect((await signIn(verified('withdrawn@example.com'))).status).to.equal(403);
    await invite('twice@example.com');
    const both = await Promise.all([1, 2].map(() => signIn(verified('twice@example.com'))));
    expect(both.map(({ status }) => status)).to.deep.equal([200, 200]);
    const [one, two] = await Promise.all(both.map(profileOf));
    expect(one?.id).to.be.a('number').and.equal(two?.id);
  });

  it('believes only what the keys of the provider have signed', async () => {
    const { email } = await addPerson(app, { name: 'Dora' });
    const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const fresh = await TestApp.start({
      engine: false,
      config: {
        oidcIssuer: provider.issuer,
        oidcClientId: provider.clientId,
        oidcClientSecret: provider.clientSecret,
        publicUrl,
      },
    });
    const first = app;
    app = fresh;
    try {
      provider.instead = ({ url }, response) => {
        if (url !== '/jwks') return false;
        const keys = [{ ...publicKey.export({ format: 'jwk' }), alg: 'RS256', use: 'sig' }];
        response.setHeader('content-type', 'application/json').end(JSON.stringify({ keys }));
        return true;
      };
      const { status, text } = await signIn(verified(email));
      expect([status, /did not confirm/.test(text)]).to.deep.equal([403, true]);
      expect(provider.asked).to.include('/jwks');
    } finally {
      app = first;
      await fresh.stop();
    }
  });

  it('tells of a provider that refuses or does not answer, as a page or as JSON', async () => {
    const { cookie, body } = await begin();
    const state = new URL(body.url).searchParams.get('state') ?? '';
    const query = new URLSearchParams({ error: 'access_denied', state, iss: provider.issuer });
    const denied = await comeBack(`${publicUrl}/sign_in/oidc/callback?${query.toString()}`, cookie);
    expect(denied.status).to.equal(403);
    expect(denied.headers.get('content-type')).to.equal('text/html; charset=utf-8');
    expect(denied.headers.get('content-security-policy')).to.include("default-src 'none'");
    expect(denied.text).to.include('refused or broken off');
    const asJson = await comeBack(`${publicUrl}/sign_in/oidc/callback?${query.toString()}`, cookie, { accept: '*/*' });
    expect(JSON.parse(asJson.text)).to.include({ code: 'identity_provider_refused' });
    provider.instead = ({ url }, response) => {
      if (url !== '/token') return false;
      response.writeHead(503).end();
      return true;
    };
    const { status, headers, text } = await signIn(verified('ada.1@example.com'));
    expect([status, headers.get('retry-after')]).to.deep.equal([503, '5']);
    expect(text).to.include('The provider answered 503');
  });

  it('goes on once a provider that could not be found answers', async () => {
    const late = await IdentityProvider.start();
    const { issuer } = late;
    late.instead = (_, response) => {
      response.writeHead(404).end();
      return true;
    };
    const config = { oidcIssuer: issuer, oidcClientId: late.clientId, oidcClientSecret: late.clientSecret };
    const own = await TestApp.start({ engine: false, config });
    const ask = () => fetch(`${own.url}/sign_in/oidc`, { method: 'POST', headers: ownPage });
    expect((await ask()).status).to.equal(403);
    late.register(`${own.url}/sign_in/oidc/callback`);
    late.instead = () => false;
    expect((await ask()).status).to.equal(200);
    await own.stop();
    await late.close();
  });

  it('is not there without a provider', async () => {
    const without = await TestApp.start({ engine: false });
    const answer = await fetch(`${without.url}/sign_in/oidc`, { method: 'POST', headers: ownPage });
    expect(answer.status).to.equal(403);
    expect(await answer.json()).to.include({ code: 'no_identity_provider' });
    expect(await (await fetch(`${without.url}/sign_in/methods`)).json()).to.include({ oidc: false });
    expect(cookieOf(await fetch(`${without.url}/sign_in/oidc/callback?code=x`))).to.equal('');
    await without.stop();
  });
});
