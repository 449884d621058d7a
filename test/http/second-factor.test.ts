import { expect } from 'chai';
import { codeAt } from '../../src/domain/people/sign-ins/one-time-codes.ts';
import { makeConsoleLink } from '../../src/app/start/console-link.ts';
import { systemRandom } from '../../src/lib/ports.ts';
import { TestApp } from '../support/app.ts';
import { codeOf } from '../support/one-time-codes.ts';
import { addAccount, addPerson } from '../support/people.ts';
import { cookieOf, ownPage, signInAt } from '../support/sign-in.ts';

const minuteMs = 60_000;
const stepMs = 30_000;
const password = 'correct horse battery';
const path = '/api/v1/profile/security/second_factor';

describe('a second factor', function () {
  this.timeout(120_000);
  let app: TestApp;
  let aheadMs = 0;
  let people = 0;
  const now = () => new Date(Date.now() + aheadMs);

  before(async () => {
    app = await TestApp.start({ engine: false, clock: { now } });
  });

  beforeEach(() => (aheadMs = 0));
  after(() => app.stop());

  type Headers = Record<string, string>;
  async function send(method: string, url: string, body?: object, headers: Headers = {}): Promise<Response> {
    return fetch(app.url + url, {
      method,
      headers: { ...ownPage, ...headers, ...(body ? { 'content-type': 'application/json' } : {}) },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
  }

  async function codeOfRefusal(response: Response): Promise<[number, string]> {
    return [response.status, ((await response.json()) as { code: string }).code];
  }

  const signIn = (email: string, code?: string) =>
    send('POST', '/sign_in', { email, password, ...(code ? { code } : {}) });
  const statusOf = async (headers: Headers) => (await send('GET', '/api/v1/profile', undefined, headers)).status;
  const seatOf = async (personId: number) =>
    (await app.query<{ id: number }>('SELECT id FROM seats WHERE person_id = $1', [personId]))[0]!.id;

  /** A person with a password and a second factor that was confirmed a minute ago. */
  async function person(accountId = 1) {
    const made = await addPerson(app, { name: `Person ${(people += 1)}`, accountId });
    const pages = await signInAt(app.url, { access_token: made.headers.api_access_token });
    await send('POST', '/api/v1/profile/security/password', { password }, pages);
    const { secret } = (await (await send('POST', path, {}, pages)).json()) as { secret: string };
    const answer = await send('POST', `${path}/confirm`, { code: codeOf(secret, now()) }, pages);
    const { recovery_codes: recovery } = (await answer.json()) as { recovery_codes: string[] };
    aheadMs += 2 * stepMs;
    return { ...made, pages, secret, recovery };
  }

  async function linkOf(personId: number): Promise<string> {
    const { body } = await app.post(`agents/${await seatOf(personId)}/sign_in_link`);
    return (body.link as string).split('#link=')[1] ?? '';
  }

  it('has the codes of RFC 6238', () => {
    const secret = Buffer.from('12345678901234567890');
    const known = [
      [59, '287082'],
      [1_111_111_109, '081804'],
      [1_111_111_111, '050471'],
      [1_234_567_890, '005924'],
      [2_000_000_000, '279037'],
      [20_000_000_000, '353130'],
    ] as const;
    for (const [seconds, code] of known) expect(codeAt(secret, Math.floor(seconds / 30))).to.equal(code);
  });

  it('counts once a code has confirmed it, and ends other sign-ins then', async () => {
    const { email, headers } = await addPerson(app, { name: 'Ada' });
    const pages = await signInAt(app.url, { access_token: headers.api_access_token });
    await send('POST', '/api/v1/profile/security/password', { password }, pages);
    const other = { cookie: cookieOf(await signIn(email)) };
    const answer = await send('POST', path, {}, pages);
    const begun = (await answer.json()) as { secret: string; otpauth_url: string };
    expect(begun.secret).to.match(/^[A-Z2-7]{32}$/);
    expect(begun.otpauth_url).to.match(/^otpauth:\/\/totp\/Switchboard%3Aada.*secret=[A-Z2-7]{32}&issuer=Switchboard$/);
    expect((await signIn(email)).status).to.equal(201);
    expect((await send('POST', `${path}/confirm`, { code: '000000' }, pages)).status).to.equal(422);
    const confirmed = await send('POST', `${path}/confirm`, { code: codeOf(begun.secret, now()) }, pages);
    const { recovery_codes: codes } = (await confirmed.json()) as { recovery_codes: string[] };
    expect(new Set(codes).size).to.equal(10);
    expect(await statusOf(pages)).to.equal(200);
    expect(await statusOf(other)).to.equal(401);
    const rows = await app.query<{ row: string }>('SELECT f::text AS row FROM second_factors f');
    for (const { row } of rows) for (const text of [begun.secret, ...codes]) expect(row).to.not.include(text);
    expect(await codeOfRefusal(await signIn(email))).to.deep.equal([401, 'second_factor_required']);
    expect((await send('POST', path, {}, pages)).status).to.equal(422);
  });

  it('takes no condition and no key with guesses, which would not be counted then', async () => {
    const { email, secret, pages } = await person();
    for (const match of [
      '*',
      (await fetch(`${app.url}/api/v1/profile/security`, { headers: pages })).headers.get('etag'),
    ]) {
      const conditional = { ...pages, 'if-match': match ?? '' };
      expect((await send('DELETE', path, { code: '000000' }, conditional)).status).to.equal(412);
      expect((await send('POST', `${path}/confirm`, { code: '000000' }, conditional)).status).to.equal(412);
    }
    for (let index = 0; index < 10; index++) {
      const keyed = { ...pages, 'idempotency-key': `guess ${index}` };
      expect((await send('DELETE', path, { code: '000000' }, keyed)).status).to.equal(422);
    }
    expect((await signIn(email, codeOf(secret, now()))).status).to.equal(429);
  });

  it('is asked for after the right password only, and its code works once', async () => {
    const { email, secret, pages } = await person();
    const wrong = await send('POST', '/sign_in', { email, password: 'not it', code: codeOf(secret, now()) });
    expect(await codeOfRefusal(wrong)).to.deep.equal([401, 'wrong_password']);
    const code = codeOf(secret, now());
    expect((await signIn(email, code)).status).to.equal(201);
    expect(await codeOfRefusal(await signIn(email, code))).to.deep.equal([401, 'wrong_code']);
    expect(await codeOfRefusal(await signIn(email, codeOf(secret, now(), -2)))).to.deep.equal([401, 'wrong_code']);
    aheadMs += stepMs;
    const next = codeOf(secret, now());
    const twice = await Promise.all([signIn(email, next), signIn(email, next)]);
    expect(twice.map(({ status }) => status).toSorted((one, other) => one - other)).to.deep.equal([201, 401]);
    expect(await statusOf(pages)).to.equal(200);
  });

  it('applies to links, which stay valid until the code is right; not to an operator’s, nor to access tokens', async () => {
    const { id, email, secret, headers } = await person();
    const link = await linkOf(id);
    expect(await codeOfRefusal(await send('POST', '/sign_in', { link }))).to.deep.equal([
      401,
      'second_factor_required',
    ]);
    expect((await send('POST', '/sign_in', { link, code: '000000' })).status).to.equal(401);
    expect((await send('POST', '/sign_in', { link, code: codeOf(secret, now()) })).status).to.equal(201);
    expect((await send('POST', '/sign_in', { link, code: codeOf(secret, now(), 1) })).status).to.equal(410);
    const place = { url: app.url, email };
    const own = await makeConsoleLink({ database: app.app.database, random: systemRandom }, place);
    const operated = (own ?? '').split('#link=')[1];
    expect((await send('POST', '/sign_in', { link: operated })).status).to.equal(201);
    await signInAt(app.url, { access_token: headers.api_access_token });
  });

  it('takes each recovery code once, in any case, with spaces', async () => {
    const { email, recovery, pages } = await person();
    const [first = '', second = ''] = recovery;
    expect((await signIn(email, `${first.slice(0, 4)} ${first.slice(4).toUpperCase()}`)).status).to.equal(201);
    expect((await signIn(email, first)).status).to.equal(401);
    expect((await signIn(email, second)).status).to.equal(201);
    const state = (await (await send('GET', '/api/v1/profile/security', undefined, pages)).json()) as object;
    expect(state).to.include({ second_factor: true, recovery_codes_left: 8 });
  });

  it('renews the recovery codes by a code; the earlier ones are void', async () => {
    const { email, recovery, secret, pages } = await person();
    const renew = (code: string) => send('POST', `${path}/recovery_codes`, { code }, pages);
    expect((await renew('000000')).status).to.equal(422);
    const answer = await renew(codeOf(secret, now()));
    expect(answer.status).to.equal(200);
    const { recovery_codes: codes } = (await answer.json()) as { recovery_codes: string[] };
    expect(new Set([...codes, ...recovery]).size).to.equal(20);
    expect((await signIn(email, recovery[0] ?? '')).status).to.equal(401);
    expect((await signIn(email, codes[0] ?? '')).status).to.equal(201);
    const without = await addPerson(app, { name: 'Bea' });
    const others = await signInAt(app.url, { access_token: without.headers.api_access_token });
    expect((await send('POST', `${path}/recovery_codes`, { code: '000000' }, others)).status).to.equal(422);
  });

  it('locks after ten wrong codes, by whatever way they come, and lasts over a restart', async () => {
    const { id, email, secret, pages } = await person();
    const link = await linkOf(id);
    for (let index = 0; index < 4; index++) expect((await signIn(email, '000000')).status).to.equal(401);
    for (let index = 0; index < 3; index++) {
      expect((await send('POST', '/sign_in', { link, code: '000000' })).status).to.equal(401);
      expect((await send('DELETE', path, { code: '000000' }, pages)).status).to.equal(422);
    }
    expect((await signIn(email, codeOf(secret, now()))).status).to.equal(429);
    expect((await send('POST', '/sign_in', { link, code: codeOf(secret, now()) })).status).to.equal(429);
    const { databaseUrl } = app;
    const second = await TestApp.start({ engine: false, databaseUrl, clock: { now } });
    const again = await fetch(`${second.url}/sign_in`, {
      method: 'POST',
      headers: { ...ownPage, 'content-type': 'application/json' },
      body: JSON.stringify({ email, password, code: codeOf(secret, now()) }),
    });
    expect(again.status).to.equal(429);
    await second.app.stop();
    aheadMs += 16 * minuteMs;
    expect((await signIn(email, codeOf(secret, now()))).status).to.equal(201);
  });

  it('is removed by a code, or by an administrator of the only account that the person is in', async () => {
    const { email, secret, pages } = await person();
    expect((await send('DELETE', path, { code: '000000' }, pages)).status).to.equal(422);
    expect((await send('DELETE', path, { code: codeOf(secret, now()) }, pages)).status).to.equal(200);
    expect((await signIn(email)).status).to.equal(201);
    const other = await person();
    const { headers } = await addPerson(app, { name: `Lead ${people}`, role: 'administrator' });
    const target = `agents/${await seatOf(other.id)}/second_factor`;
    expect((await app.call('DELETE', target, undefined, other.headers)).status).to.equal(403);
    expect((await app.call('DELETE', target, undefined, headers)).status).to.equal(200);
    expect((await app.call('DELETE', target, undefined, headers)).status).to.equal(422);
    expect((await signIn(other.email)).status).to.equal(201);
  });

  it('of a person in several accounts is removed by platform administrators only', async () => {
    const { id } = await person();
    const seat = await seatOf(id);
    const { headers } = await addPerson(app, { name: `Chief ${people}`, role: 'administrator' });
    const elsewhere = await addAccount(app, 'Elsewhere');
    await app.post(`/platform/api/v1/accounts/${elsewhere.id}/account_users`, { user_id: id, role: 'agent' });
    expect((await app.call('DELETE', `agents/${seat}/second_factor`, undefined, headers)).status).to.equal(403);
    const foreign = elsewhere.administrator.headers;
    expect((await app.call('DELETE', `agents/${seat}/second_factor`, undefined, foreign)).status).to.equal(404);
    expect((await app.call('DELETE', `agents/${seat}/second_factor`)).status).to.equal(200);
  });

  it('keeps an invitation from signing in, and from granting an access token', async () => {
    for (const format of ['?format=page', '']) {
      const elsewhere = await addAccount(app, `Third ${(people += 1)}`);
      const { id, email } = await person(elsewhere.id);
      await app.query('DELETE FROM access_tokens WHERE user_id = $1', [id]);
      const { body } = await app.post('agents', { name: 'P', email, role: 'agent' });
      await app.query('UPDATE invitations SET mailed = true WHERE user_id = $1', [body.id]);
      const answer = await send('POST', new URL(body.invitation_link as string).pathname + format);
      expect([answer.status, answer.headers.getSetCookie()]).to.deep.equal([200, []]);
      const text = await answer.text();
      if (format === '') expect(JSON.parse(text)).to.include({ access_token: null });
      else expect(text).to.include('sign in as usual');
    }
  });
});
