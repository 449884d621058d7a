import { expect } from 'chai';
import { pino } from 'pino';
import { adminToken, TestApp } from '../support/app.ts';
import { MailServer } from '../support/mail-server.ts';
import { addAccount, addPerson } from '../support/people.ts';
import { cookieOf, ownPage } from '../support/sign-in.ts';

const minuteMs = 60_000;

async function post(app: TestApp, path: string, body: object, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(app.url + path, {
    method: 'POST',
    headers: { ...ownPage, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
}

const seatOf = async (app: TestApp, personId: number, accountId = 1): Promise<number> => {
  const query = 'SELECT id FROM seats WHERE person_id = $1 AND account_id = $2';
  return (await app.query<{ id: number }>(query, [personId, accountId]))[0]!.id;
};

describe('sign-in links by mail', function () {
  this.timeout(60_000);
  let app: TestApp;
  let mail: MailServer;
  let aheadMs = 0;
  const lines: string[] = [];

  before(async () => {
    mail = await MailServer.start();
    const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(line) });
    const config = { smtpUrl: mail.url, mailFrom: 'desk@example.com' };
    app = await TestApp.start({ engine: false, clock: { now: () => new Date(Date.now() + aheadMs) }, log, config });
  });

  afterEach(() => (aheadMs = 0));
  after(async () => {
    await app.stop();
    await mail.close();
  });

  async function linkFor(email: string): Promise<string> {
    const sent = await app.eventually(async () => mail.received.find(({ to }) => to[0] === `TO:<${email}>`));
    mail.received.splice(mail.received.indexOf(sent), 1);
    return /#link=([\w-]+)/.exec(sent.message.replaceAll('=\n', '').replaceAll('=3D', '='))?.[1] ?? '';
  }

  it('sign in once, within 15 minutes', async () => {
    const { id, email } = await addPerson(app, { name: 'Ada' });
    const answer = await post(app, '/sign_in/links', { email: email.toUpperCase() });
    expect([answer.status, await answer.json()]).to.deep.equal([202, {}]);
    const link = await linkFor(email);
    const first = await post(app, '/sign_in', { link });
    expect(first.status).to.equal(201);
    expect(((await first.json()) as { profile: { id: number } }).profile.id).to.equal(id);
    expect((await post(app, '/sign_in', { link })).status).to.equal(410);
    await post(app, '/sign_in/links', { email });
    const late = await linkFor(email);
    aheadMs = 16 * minuteMs;
    expect((await post(app, '/sign_in', { link: late })).status).to.equal(410);
    expect(lines.join('')).to.not.include(link).and.not.include(late);
  });

  it('answer the same for addresses that are nobody’s, at most five in 15 minutes', async () => {
    const { email } = await addPerson(app, { name: 'Bob' });
    const answersOf = async (address: string) => {
      const answers: unknown[] = [];
      for (let index = 0; index < 6; index++) {
        const answer = await post(app, '/sign_in/links', { email: address });
        const { request_id: _, ...body } = (await answer.json()) as Record<string, unknown>;
        answers.push([answer.status, body]);
      }
      return answers;
    };
    const known = await answersOf(email);
    expect(known.map((answer) => (answer as number[])[0])).to.deep.equal([202, 202, 202, 202, 202, 429]);
    expect(await answersOf('nobody@example.com')).to.deep.equal(known);
    await app.eventually(async () => mail.received.length === 5);
    expect(mail.received.splice(0).every(({ to }) => to[0] === `TO:<${email}>`)).to.equal(true);
  });

  it('are sent by administrators to any agent, who gets them at the own address, whatever the account calls it', async () => {
    const { id, email } = await addPerson(app, { name: 'Cleo' });
    const seat = await seatOf(app, id);
    await app.query(`UPDATE seats SET email = 'elsewhere@example.com' WHERE id = $1`, [seat]);
    const { status, body } = await app.post(`agents/${seat}/sign_in_link`);
    expect([status, body]).to.deep.equal([200, { sent_by: 'mail', link: null }]);
    expect((await post(app, '/sign_in', { link: await linkFor(email) })).status).to.equal(201);
    const agent = await addPerson(app, { name: 'Dora' });
    expect((await app.post(`agents/${seat}/sign_in_link`, {}, agent.headers)).status).to.equal(403);
    const invited = (await app.post('agents', { name: 'E', email: 'e@example.com', role: 'agent' })).body;
    expect(invited.invitation_link).to.equal(null);
    expect((await app.post(`agents/${invited.id}/sign_in_link`)).status).to.equal(422);
    const other = await addAccount(app, 'Other');
    expect((await app.post(`agents/${seat}/sign_in_link`, {}, other.administrator.headers)).status).to.equal(404);
  });

  it('in mailed invitations sign in, also who has access elsewhere', async () => {
    const other = await addAccount(app, 'Mailed');
    const { id, email } = await addPerson(app, { name: 'Fay', accountId: other.id });
    await app.post('agents', { name: 'Fay', email, role: 'agent' });
    const sent = await app.eventually(async () => mail.received.find(({ to }) => to[0] === `TO:<${email}>`));
    const token = /invitations\/(swi_\w+)/.exec(sent.message.replaceAll('=\n', ''))?.[1];
    const answer = await fetch(`${app.url}/invitations/${token}?format=page`, { method: 'POST', headers: ownPage });
    expect(await answer.text()).to.include('url=/console');
    const profile = await fetch(`${app.url}/sign_in`, { headers: { ...ownPage, cookie: cookieOf(answer) } });
    expect(((await profile.json()) as { profile: { id: number } }).profile.id).to.equal(id);
  });
});

describe('sign-in links without a mail server', function () {
  this.timeout(60_000);
  let app: TestApp;

  beforeEach(async () => {
    app = await TestApp.start({ engine: false });
  });

  afterEach(() => app.stop());

  it('are refused to strangers, and shown to administrators of the only account', async () => {
    const { email, id } = await addPerson(app, { name: 'Ada' });
    const { headers } = await addPerson(app, { name: 'Lead', role: 'administrator' });
    expect((await post(app, '/sign_in/links', { email })).status).to.equal(403);
    expect(await (await fetch(`${app.url}/sign_in/methods`)).json()).to.include({ email_link: false });
    const { body } = await app.post(`agents/${await seatOf(app, id)}/sign_in_link`, {}, headers);
    expect(body.sent_by).to.equal('answer');
    const link = (body.link as string).split('/console#link=')[1];
    expect((await post(app, '/sign_in', { link })).status).to.equal(201);
    const invited = await app.post('agents', { name: 'B', email: 'b@example.com', role: 'agent' }, headers);
    expect(invited.body.invitation_link).to.match(/\/invitations\/swi_/);
    const again = await app.post(`agents/${invited.body.id}/resend_invitation`, {}, headers);
    expect(again.body.invitation_link)
      .to.match(/\/invitations\/swi_/)
      .and.not.equal(invited.body.invitation_link);
  });

  it('are not shown where they would open more than the account: to platform administrators only', async () => {
    const [root] = await app.query<{ id: number }>('SELECT id FROM users WHERE platform_admin');
    const { headers } = await addPerson(app, { name: 'Lead', role: 'administrator' });
    const path = `agents/${await seatOf(app, root!.id)}/sign_in_link`;
    expect((await app.post(path, {}, headers)).body).to.deep.equal({ sent_by: 'log', link: null });
    const { id } = await addPerson(app, { name: 'Ada' });
    const own = `agents/${await seatOf(app, id)}/sign_in_link`;
    await addAccount(app, 'Other');
    expect((await app.post(own, {}, headers)).body).to.deep.equal({ sent_by: 'log', link: null });
    const invited = await app.post('agents', { name: 'B', email: 'b@example.com', role: 'agent' }, headers);
    expect(invited.body.invitation_link).to.equal(null);
    expect((await app.post(own, {}, { api_access_token: adminToken })).body.sent_by).to.equal('answer');
  });

  it('in invitations that others may have seen do not open what the person has elsewhere', async () => {
    const other = await addAccount(app, 'Other');
    const known = await addPerson(app, { name: 'Ada', accountId: other.id });
    const { body } = await app.post('agents', { name: 'Ada', email: known.email, role: 'agent' });
    const answer = await fetch(`${body.invitation_link}?format=page`, { method: 'POST', headers: ownPage });
    expect(answer.status).to.equal(200);
    expect(answer.headers.getSetCookie()).to.deep.equal([]);
    expect(await answer.text()).to.include('sign in as usual');
    expect((await app.get('agents', known.headers)).status).to.equal(200);
  });

  it('in invitations sign nobody in from the pages of others', async () => {
    const { body } = await app.post('agents', { name: 'B', email: 'b@example.com', role: 'agent' });
    const headers = { 'sec-fetch-site': 'cross-site' };
    const answer = await fetch(`${body.invitation_link}?format=page`, { method: 'POST', headers });
    expect(answer.status).to.equal(403);
  });
});
