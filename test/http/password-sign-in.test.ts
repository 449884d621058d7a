import { expect } from 'chai';
import { TestApp } from '../support/app.ts';
import { MailServer } from '../support/mail-server.ts';
import { addPerson, type User } from '../support/people.ts';
import { cookieOf, ownPage, signInAt } from '../support/sign-in.ts';

const minuteMs = 60_000;
const password = 'correct horse battery';

describe('signing in by a password', function () {
  this.timeout(120_000);
  let app: TestApp;
  let mail: MailServer;
  let aheadMs = 0;
  let people = 0;
  const clock = { now: () => new Date(Date.now() + aheadMs) };
  const config = () => ({ smtpUrl: mail.url, mailFrom: 'desk@example.com' });

  before(async () => {
    mail = await MailServer.start();
    app = await TestApp.start({ engine: false, clock, config: config() });
  });

  afterEach(() => (aheadMs = 0));
  after(async () => {
    await app.stop();
    await mail.close();
  });

  type Headers = Record<string, string>;
  async function send(method: string, path: string, body?: object, headers: Headers = {}): Promise<Response> {
    return fetch(app.url + path, {
      method,
      headers: { ...ownPage, ...headers, ...(body ? { 'content-type': 'application/json' } : {}) },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
  }

  const signIn = (email: string, text: string) => send('POST', '/sign_in', { email, password: text });
  const profileOf = async (headers: Headers) => (await send('GET', '/api/v1/profile', undefined, headers)).status;
  const setPassword = (body: object, headers: Headers) =>
    send('POST', '/api/v1/profile/security/password', body, headers);

  async function refusal(response: Response): Promise<object> {
    const { error, code } = (await response.json()) as { error: string; code: string };
    return { status: response.status, error, code };
  }

  async function person(): Promise<User & { pages: Headers }> {
    const made = await addPerson(app, { name: `Person ${(people += 1)}` });
    const pages = await signInAt(app.url, { access_token: made.headers.api_access_token });
    const answer = await setPassword({ password }, pages);
    expect(answer.status, await answer.text()).to.equal(200);
    return { ...made, pages };
  }

  async function linkFor(email: string): Promise<URL> {
    const sent = await app.eventually(async () => mail.received.find(({ to }) => to[0] === `TO:<${email}>`));
    mail.received.splice(mail.received.indexOf(sent), 1);
    const text = sent.message.replaceAll('=\n', '').replaceAll('=3D', '=');
    return new URL(/http:\S+#link=[\w-]+/.exec(text)?.[0] ?? '');
  }

  it('opens the console, in any case of the address, and a form of the same characters', async () => {
    const { id, email, pages } = await person();
    await setPassword({ password: 'caf\u00e9 au lait', current_password: password }, pages);
    const answer = await signIn(email.toUpperCase(), 'cafe\u0301 au lait');
    expect(answer.status).to.equal(201);
    expect(((await answer.json()) as { profile: { id: number } }).profile.id).to.equal(id);
    expect(await profileOf({ cookie: cookieOf(answer) })).to.equal(200);
  });

  it('is stored as a slow hash with a salt, and told by no answer', async () => {
    const one = await person();
    const other = await person();
    const rows = await app.query<{ hash: string }>('SELECT hash FROM passwords WHERE user_id = ANY ($1)', [
      [one.id, other.id],
    ]);
    expect(new Set(rows.map(({ hash }) => hash)).size).to.equal(2);
    for (const { hash } of rows) expect(hash).to.match(/^\$scrypt\$ln=15,r=8,p=3\$[\w-]{22}\$[\w-]{43}$/);
    const answer = await send('GET', '/api/v1/profile/security', undefined, one.pages);
    const { password_changed_at: at, ...security } = (await answer.json()) as Record<string, unknown>;
    expect(at).to.be.closeTo(Date.now() / 1000, 60);
    expect(security).to.deep.equal({ needs_current_password: true, second_factor: false, recovery_codes_left: 0 });
  });

  it('answers alike for a wrong one, for who has none, and for addresses that are nobody’s', async () => {
    const { email } = await person();
    const { email: without } = await addPerson(app, { name: 'Without' });
    const answers = [];
    for (const address of [email, without, 'nobody@example.com']) {
      answers.push(await refusal(await signIn(address, 'not the password')));
    }
    expect(answers[0]).to.deep.include({ status: 401, code: 'wrong_password' });
    expect(answers[1]).to.deep.equal(answers[0]);
    expect(answers[2]).to.deep.equal(answers[0]);
  });

  it('locks after ten wrong ones for 15 minutes, unknown addresses too; links still work', async () => {
    const { email } = await person();
    for (const address of [email, `nobody.${email}`]) {
      for (let index = 0; index < 9; index++) expect((await signIn(address, `wrong ${index}`)).status).to.equal(401);
    }
    // The right one takes back what was counted.
    expect((await signIn(email, password)).status).to.equal(201);
    for (let index = 0; index < 10; index++) expect((await signIn(email, `wrong ${index}`)).status).to.equal(401);
    expect((await signIn(`nobody.${email}`, 'wrong')).status).to.equal(401);
    const locked = await refusal(await signIn(email, password));
    expect(locked).to.deep.include({ status: 429, code: 'too_many_tries' });
    expect(await refusal(await signIn(`nobody.${email}`, password))).to.deep.equal(locked);
    await send('POST', '/sign_in/links', { email });
    const link = (await linkFor(email)).hash.slice('#link='.length);
    expect((await send('POST', '/sign_in', { link })).status).to.equal(201);
    aheadMs = 14 * minuteMs;
    expect((await signIn(email, password)).status).to.equal(429);
    aheadMs = 16 * minuteMs;
    expect((await signIn(email, password)).status).to.equal(201);
  });

  it('counts wrong ones that come at once, and lasts over a restart', async () => {
    const { email } = await person();
    const wrong = Array.from({ length: 15 }, () => signIn(email, 'wrong'));
    const statuses = (await Promise.all(wrong)).map(({ status }) => status).toSorted((one, other) => one - other);
    expect(statuses).to.deep.equal([...Array<number>(10).fill(401), ...Array<number>(5).fill(429)]);
    const { databaseUrl } = app;
    const second = await TestApp.start({ engine: false, databaseUrl, clock });
    const again = await fetch(`${second.url}/sign_in`, {
      method: 'POST',
      headers: { ...ownPage, 'content-type': 'application/json' },
      body: JSON.stringify({ email, password }),
    });
    expect(again.status).to.equal(429);
    await second.app.stop();
  });

  it('of a window that slides: nine wrong ones and nine more do not lock by being far apart', async () => {
    const { email } = await person();
    for (let index = 0; index < 9; index++) await signIn(email, 'wrong');
    aheadMs = 16 * minuteMs;
    for (let index = 0; index < 9; index++) await signIn(email, 'wrong');
    expect((await signIn(email, password)).status).to.equal(201);
  });

  it('is changed with the present one only, which ends other sign-ins and links, but no access tokens', async () => {
    const { id, email, pages, headers } = await person();
    const other = { cookie: cookieOf(await signIn(email, password)) };
    await send('POST', '/sign_in/links', { email });
    const link = (await linkFor(email)).hash.slice('#link='.length);
    const next = 'another long password';
    for (const body of [{ password: next }, { password: next, current_password: 'wrong' }]) {
      const answer = await setPassword(body, pages);
      expect(answer.status).to.equal(422);
      expect(JSON.stringify(await answer.json())).to.include('/current_password');
    }
    expect(await profileOf(other)).to.equal(200);
    expect((await setPassword({ password: next, current_password: password }, pages)).status).to.equal(200);
    expect(await profileOf(pages)).to.equal(200);
    expect(await profileOf(headers)).to.equal(200);
    expect(await profileOf(other)).to.equal(401);
    expect((await send('POST', '/sign_in', { link })).status).to.equal(410);
    expect((await signIn(email, password)).status).to.equal(401);
    expect((await signIn(email, next)).status).to.equal(201);
    expect(await app.query('SELECT FROM passwords WHERE user_id = $1', [id])).to.have.length(1);
  });

  it('guesses of the present one by a stolen cookie lock as well', async () => {
    const { pages, email } = await person();
    for (let index = 0; index < 10; index++) {
      expect((await setPassword({ password: 'a new one of mine', current_password: 'wrong' }, pages)).status).to.equal(
        422,
      );
    }
    expect((await setPassword({ password: 'a new one of mine', current_password: password }, pages)).status).to.equal(
      429,
    );
    expect((await signIn(email, password)).status).to.equal(429);
  });

  it('guesses under a condition or a key are counted, or not answered', async () => {
    const { pages, email, headers } = await person();
    const body = { password: 'a new one of mine', current_password: 'wrong' };
    const tag = (await app.get('/api/v1/profile', headers)).headers.get('etag') ?? '';
    for (const match of ['*', tag]) {
      expect((await setPassword(body, { ...pages, 'if-match': match })).status).to.equal(412);
      const removal = { ...pages, 'if-match': match };
      expect((await send('DELETE', '/api/v1/profile/security/password', {}, removal)).status).to.equal(412);
    }
    for (let index = 0; index < 10; index++) {
      expect((await setPassword(body, { ...pages, 'idempotency-key': `guess ${index}` })).status).to.equal(422);
    }
    expect((await signIn(email, password)).status).to.equal(429);
  });

  it('is reset by a link, without the present one, for 15 minutes', async () => {
    const { email } = await person();
    for (let index = 0; index < 10; index++) await signIn(email, 'wrong');
    expect((await send('POST', '/sign_in/links', { email, purpose: 'password' })).status).to.equal(202);
    const link = await linkFor(email);
    expect(link.pathname).to.equal('/console/settings/security');
    const answer = await send('POST', '/sign_in', { link: link.hash.slice('#link='.length) });
    const pages = { cookie: cookieOf(answer) };
    expect((await signIn(email, password)).status).to.equal(429);
    expect((await setPassword({ password: 'forgotten no more' }, pages)).status).to.equal(200);
    expect((await signIn(email, 'forgotten no more')).status).to.equal(201);
    aheadMs = 16 * minuteMs;
    expect((await setPassword({ password: 'forgotten once more' }, pages)).status).to.equal(422);
  });

  it('is removed, and then signs nobody in', async () => {
    const { email, pages } = await person();
    const path = '/api/v1/profile/security/password';
    expect((await send('DELETE', path, {}, pages)).status).to.equal(422);
    expect((await send('DELETE', path, { current_password: password }, pages)).status).to.equal(200);
    expect((await signIn(email, password)).status).to.equal(401);
    expect((await setPassword({ password }, pages)).status).to.equal(200);
  });

  it('ends with the last account of its person', async () => {
    const { id, email } = await person();
    const [seat] = await app.query<{ id: number }>('SELECT id FROM seats WHERE person_id = $1', [id]);
    expect((await app.delete(`agents/${seat?.id}`)).status).to.equal(200);
    expect((await signIn(email, password)).status).to.equal(401);
    expect(await app.query('SELECT FROM passwords WHERE user_id = $1', [id])).to.deep.equal([]);
  });

  it('is refused where it is short, is the address, comes from another page, or with another proof', async () => {
    const { email, pages, headers } = await person();
    for (const text of ['short', 'x'.repeat(257), email.toUpperCase()]) {
      expect((await setPassword({ password: text, current_password: password }, pages)).status).to.equal(422);
    }
    const foreign = await send('POST', '/sign_in', { email, password }, { 'sec-fetch-site': 'cross-site' });
    expect(foreign.status).to.equal(403);
    const many = [{ email }, { password }, { email, password, link: 'x' }, { link: 'x', access_token: 'y' }];
    for (const body of many) expect((await send('POST', '/sign_in', body)).status).to.equal(422);
    expect((await setPassword({ password: 'mine from elsewhere' }, { ...headers })).status).to.equal(422);
  });

  it('ends all other sign-ins when asked to', async () => {
    const { email, pages, headers } = await person();
    const other = { cookie: cookieOf(await signIn(email, password)) };
    const stranger = await person();
    expect((await send('DELETE', '/api/v1/profile/sign_ins', undefined, pages)).status).to.equal(200);
    expect(await profileOf(other)).to.equal(401);
    for (const present of [pages, headers, stranger.pages]) expect(await profileOf(present)).to.equal(200);
  });
});
