import { expect } from 'chai';
import { pino } from 'pino';
import { adminToken, TestApp } from '../../support/app.ts';
import { addAccount } from '../../support/people.ts';
import { MailServer } from '../../support/mail-server.ts';
import { statuses } from '../../support/statuses.ts';

interface LogLine {
  level: number;
  msg: string;
  to?: string;
  link?: string;
}

const info = 30;
const warning = 40;
const linkPattern = /http:\/\/127\.0\.0\.1:\d+\/invitations\/swi_[0-9A-Za-z]{49}/;
const unknown = `swi_${'0'.repeat(49)}`;

describe('invitations', () => {
  const lines: LogLine[] = [];
  const log = pino({ level: 'info' }, { write: (text: string) => void lines.push(JSON.parse(text) as LogLine) });
  let app: TestApp;
  let count = 0;

  before(async () => {
    app = await TestApp.start({ engine: false, log });
  });

  beforeEach(async () => {
    await app.events();
    await app.query('DELETE FROM invitations');
    lines.length = 0;
  });

  after(() => app.stop());

  async function invite(): Promise<{ id: number; email: string; link: string }> {
    const email = `invited${++count}@example.com`;
    const { body } = await app.post('agents', { name: '<Ada> & "Bob"', email, role: 'agent' });
    return { id: body.id, email, link: linkOf(email) };
  }

  async function isConfirmed(id: number): Promise<boolean> {
    const { body: agents } = await app.get('agents');
    return agents.find((agent: { id: number }) => agent.id === id).confirmed;
  }

  function linkOf(email: string): string {
    return lines.findLast(({ to }) => to === email)!.link!;
  }

  async function accept(link: string, format = ''): Promise<{ status: number; text: string; headers: Headers }> {
    const response = await fetch(link + format, { method: 'POST' });
    return { status: response.status, text: await response.text(), headers: response.headers };
  }

  it('the link is logged where no mail can be sent, and stored nowhere', async () => {
    const { email, link } = await invite();
    expect(link).to.match(linkPattern);
    expect(link.startsWith(app.url)).to.equal(true);
    expect(lines.filter(({ to }) => to === email).map(({ level }) => level)).to.deep.equal([info]);
    const token = link.split('/').at(-1)!;
    const [row] = await app.query<{ row: string; days: number }>(
      `SELECT row_to_json(i)::text AS row, extract(day FROM expires_at - created_at)::int AS days FROM invitations i`,
    );
    expect(row!.row).not.to.include(token);
    expect(row!.days).to.equal(7);
    // It opens nothing but the invitation.
    expect((await app.get('/api/v1/profile', { api_access_token: token })).status).to.equal(401);
    expect(await app.eventNames()).to.deep.equal([]);
  });

  it('looking at it shows a page with a button, and accepts nothing', async () => {
    const { id, link } = await invite();
    for (let look = 0; look < 2; look++) {
      const response = await fetch(link);
      expect(response.status).to.equal(200);
      expect(response.headers.get('content-type')).to.equal('text/html; charset=utf-8');
      expect(response.headers.get('cache-control')).to.equal('no-store');
      expect(response.headers.get('referrer-policy')).to.equal('no-referrer');
      const text = await response.text();
      expect(text).to.include('<form method="post"').and.to.include('&lt;Ada&gt; &amp; &quot;Bob&quot;');
      expect(text).not.to.include('<Ada>');
    }
    expect(await isConfirmed(id)).to.equal(false);
  });

  it('accepting it answers an access token, once', async () => {
    const { id, email, link } = await invite();
    const { status, text } = await accept(link);
    expect(status).to.equal(200);
    const body = JSON.parse(text) as Record<string, string>;
    expect(body).to.deep.include({ id, email, confirmed: true, account_id: 1 });
    expect(body.access_token).to.match(/^swu_/);
    const profile = await app.get('/api/v1/profile', { api_access_token: body.access_token! });
    expect(profile.body).to.deep.include({ id, email, confirmed: true, role: 'agent' });
    for (const method of ['GET', 'POST']) {
      const again = await fetch(link, { method });
      expect(again.status).to.equal(410);
      expect(await again.json()).to.include({ code: 'invitation_closed' });
      const page = await fetch(link, { method, headers: { accept: 'text/html,*/*;q=0.8' } });
      expect([page.status, page.headers.get('content-type')]).to.deep.equal([410, 'text/html; charset=utf-8']);
      expect(await page.text()).to.include('This invitation was used or withdrawn: ask for another.');
    }
    expect(await app.eventNames()).to.deep.equal([]);
  });

  it('the button signs in and leads to the console', async () => {
    const { link, email } = await invite();
    const { status, text, headers } = await accept(link, '?format=page');
    expect(status).to.equal(200);
    expect(headers.get('content-type')).to.equal('text/html; charset=utf-8');
    expect(text).to.include('content="0;url=/console"').and.not.include('swu_');
    const cookie = headers.getSetCookie()[0]!.split(';')[0]!;
    const profile = await fetch(`${app.url}/api/v1/profile`, { headers: { cookie } });
    expect(await profile.json()).to.deep.include({ email, role: 'agent' });
    expect((await accept(link, '?format=other')).status).to.equal(400);
  });

  it('of many who accept at once, one gets a token', async () => {
    const { id, link } = await invite();
    const answers = await Promise.all(Array.from({ length: 5 }, () => accept(link)));
    expect(statuses(answers)).to.deep.equal([200, 410, 410, 410, 410]);
    expect(await app.query('SELECT FROM access_tokens WHERE user_id = $1', [id])).to.have.lengthOf(1);
  });

  it('one that is too old, or that nobody sent, is refused', async () => {
    const { id, link } = await invite();
    await app.query(`UPDATE invitations SET expires_at = now() - interval '1 minute'`);
    for (const method of ['GET', 'POST']) {
      const response = await fetch(link, { method });
      expect(response.status).to.equal(410);
      expect(await response.json()).to.include({ code: 'invitation_expired' });
      for (const token of [unknown, 'x', adminToken]) {
        const other = await fetch(`${app.url}/invitations/${token}`, { method });
        expect(other.status).to.equal(404);
        expect(await other.json()).to.include({ error: 'Invitation not found' });
      }
    }
    expect(await isConfirmed(id)).to.equal(false);
  });

  it('one sent again replaces the one before, until it was accepted', async () => {
    const { id, email, link } = await invite();
    const { status, body } = await app.post(`agents/${id}/resend_invitation`);
    expect(status).to.equal(200);
    expect(body).to.include({ id, email, confirmed: false });
    expect(body.invitation_link).to.equal(linkOf(email));
    expect((await accept(link)).status).to.equal(410);
    expect((await accept(linkOf(email))).status).to.equal(200);
    const late = await app.post(`agents/${id}/resend_invitation`);
    expect(late.status).to.equal(422);
    expect(late.body.details[0].rule).to.equal('confirmed');
  });

  it('accepting one leaves those of other accounts open: each account is entered by its own', async () => {
    const other = await addAccount(app, 'Other');
    const { email, link } = await invite();
    const theirs = { name: 'Ada', email, role: 'agent' };
    await app.post(`/api/v1/accounts/${other.id}/agents`, theirs, other.administrator.headers);
    const { text } = await accept(linkOf(email));
    const headers = { api_access_token: (JSON.parse(text) as { access_token: string }).access_token };
    expect((await app.get(`/api/v1/accounts/${other.id}/agents`, headers)).status).to.equal(200);
    expect((await app.get('agents', headers)).status).to.equal(404);
    expect((await accept(link)).status).to.equal(200);
    expect((await app.get('agents', headers)).status).to.equal(200);
  });

  it('removing the agent withdraws it', async () => {
    const { id, link } = await invite();
    await app.delete(`agents/${id}`);
    expect((await accept(link)).status).to.equal(410);
    expect(await app.query('SELECT FROM access_tokens WHERE user_id = $1', [id])).to.deep.equal([]);
  });
});

describe('invitations by mail', () => {
  const lines: LogLine[] = [];
  const log = pino({ level: 'info' }, { write: (text: string) => void lines.push(JSON.parse(text) as LogLine) });
  let app: TestApp;
  let server: MailServer;

  before(async () => {
    server = await MailServer.start();
    const config = {
      smtpUrl: server.url,
      mailFrom: 'Support <support@example.com>',
      publicUrl: 'https://desk.example.com',
    };
    app = await TestApp.start({ engine: false, log, config });
  });

  after(async () => {
    await app.stop();
    await server.close();
  });

  it('the link goes to the address, and not into the log', async () => {
    const { status } = await app.post('agents', { name: 'Ada', email: 'ada@example.com', role: 'agent' });
    expect(status).to.equal(201);
    const mail = await app.eventually(async () => server.received[0]);
    expect(mail.from).to.include('<support@example.com>');
    expect(mail.to).to.deep.equal(['TO:<ada@example.com>']);
    expect(mail.message).to.include('Subject: Invitation to Demo account');
    const text = mail.message.replaceAll('=\n', '');
    const [link, token] = /https:\/\/desk\.example\.com\/invitations\/(swi_\w+)/.exec(text)!;
    expect(link).to.be.a('string');
    await app.eventually(async () => lines.some(({ msg }) => msg === 'mail sent'));
    expect(JSON.stringify(lines)).not.to.include('swi_');
    expect((await fetch(`${app.url}/invitations/${token}`, { method: 'POST' })).status).to.equal(200);
  });

  it('a server that refuses keeps nobody out: the link is in the log', async () => {
    server.refusing = true;
    const { status } = await app.post('agents', { name: 'Bob', email: 'bob@example.com', role: 'agent' });
    expect(status).to.equal(201);
    const line = await app.eventually(async () => lines.find(({ to, link }) => to === 'bob@example.com' && link));
    expect(line.level).to.equal(warning);
    const token = line.link!.split('/').at(-1)!;
    expect((await fetch(`${app.url}/invitations/${token}`, { method: 'POST' })).status).to.equal(200);
  });

  it('a server that is not there does not keep the request', async () => {
    server.refusing = false;
    await server.close();
    const { status } = await app.post('agents', { name: 'Cleo', email: 'cleo@example.com', role: 'agent' });
    expect(status).to.equal(201);
    await app.eventually(async () => lines.find(({ to, link }) => to === 'cleo@example.com' && link));
    server = await MailServer.start();
  });

  it('a service that stops sends first what it has promised', async () => {
    server.greetingMs = 500;
    const config = { smtpUrl: server.url, mailFrom: 'support@example.com' };
    const stopping = await TestApp.start({ engine: false, config });
    const invited = await stopping.post('agents', { name: 'Dora', email: 'dora@example.com', role: 'agent' });
    expect(invited.status).to.equal(201);
    await stopping.stop();
    expect(server.received.map(({ to }) => to)).to.deep.equal([['TO:<dora@example.com>']]);
  });
});
