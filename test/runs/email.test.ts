import { expect } from 'chai';
import type { Ledger } from '../../src/deliveries/log/ledger.ts';
import { TestApp } from '../support/app.ts';
import { send } from '../support/hook-senders.ts';
import { MailServer } from '../support/mail-server.ts';
import { addAccount } from '../support/people.ts';

const login = 'postmark:a-long-password';
const address = 'support@example.com';

interface Shown {
  id: number;
  content: string;
  message_type: string;
  private: boolean;
  status: string;
  source_id: string | null;
  external_error: string | null;
  content_attributes: { mail?: { subject?: string; quoted?: string; reply_to?: string } };
  attachments: { file_name: string; data_url: string }[];
}

describe('the channel email', function () {
  this.timeout(120_000);
  let app: TestApp;
  let smtp: MailServer;
  let inbox: number;
  let hook: string;

  const connect = (
    of: string,
    account = 1,
    headers?: Record<string, string>,
    secrets: object = { SMTP_URL: smtp.url },
  ) =>
    app.call(
      'POST',
      `/api/v1/accounts/${account}/inboxes`,
      {
        name: 'Mail',
        channel: {
          type: 'plugin',
          plugin_id: 'email',
          config: { address: of },
          secrets: { WEBHOOK_LOGIN: login, ...secrets },
        },
      },
      headers,
    );

  before(async () => {
    smtp = await MailServer.start();
    const config = { smtpUrl: smtp.url, mailFrom: 'service@example.com', channelMailDomains: ['2:listed.example'] };
    app = await TestApp.start({ config });
    const made = await connect(address);
    expect(made.status, JSON.stringify(made.body)).to.equal(201);
    inbox = made.body.id;
    hook = made.body.hook_url;
  });
  after(async () => {
    await app.stop();
    await smtp.close();
  });

  let ids = 0;
  const postTo = (url: string, body: object, user = login) =>
    send(url, JSON.stringify(body), {
      'content-type': 'application/json',
      authorization: `Basic ${Buffer.from(user).toString('base64')}`,
    });
  const mail = (from: string, fields: Record<string, unknown> = {}, headers: Record<string, string> = {}) => {
    ids += 1;
    const all = { 'Message-ID': `<mail-${ids}@example.org>`, ...headers };
    return {
      FromName: 'Ada',
      From: from,
      FromFull: { Email: from, Name: 'Ada', MailboxHash: '' },
      To: address,
      Subject: 'My order',
      MessageID: `22c74902-a0c1-4511-804f-34134285${String(ids).padStart(4, '0')}`,
      Date: 'Thu, 5 Apr 2012 16:59:01 +0200',
      TextBody: 'Where is it?',
      HtmlBody: '',
      Headers: Object.entries(all).map(([Name, Value]) => ({ Name, Value })),
      Attachments: [],
      ...fields,
    };
  };
  const write = async (from: string, fields?: Record<string, unknown>, headers?: Record<string, string>) => {
    const answer = await postTo(hook, mail(from, fields, headers));
    expect(answer.status).to.equal(200);
  };
  const conversationsOf = (customer: string) =>
    app.query<{ id: number; additional_attributes: Record<string, unknown> }>(
      'SELECT id, additional_attributes FROM conversations WHERE inbox_id = $1 AND source_id = $2 ORDER BY id',
      [inbox, customer],
    );
  const conversationOf = async (customer: string, count = 1): Promise<number> =>
    app.eventually(async () => {
      const found = await conversationsOf(customer);
      return found.length === count ? found.at(-1)!.id : null;
    }) as Promise<number>;
  const messages = async (conversation: number): Promise<Shown[]> =>
    (await app.get(`conversations/${conversation}/messages`)).body.payload;
  const counted = (conversation: number, count: number): Promise<Shown[]> =>
    app.eventually(async () => {
      const found = await messages(conversation);
      return found.length === count ? found : null;
    }) as Promise<Shown[]>;
  const settled = (conversation: number, id: number, status: string): Promise<Shown> =>
    app.eventually(async () => {
      const found = (await messages(conversation)).find((message) => message.id === id);
      return found?.status === status ? found : null;
    }) as Promise<Shown>;
  const say = async (conversation: number, fields: object): Promise<Shown> => {
    const { status, body } = await app.post(`conversations/${conversation}/messages`, {
      message_type: 'outgoing',
      ...fields,
    });
    expect(status, JSON.stringify(body)).to.equal(201);
    return body;
  };
  const sentTo = (customer: string) => smtp.received.filter(({ to }) => to[0]?.includes(`<${customer}>`));
  const header = ({ message }: { message: string }, name: string): string =>
    new RegExp(`^${name}: (.*(?:\\n[ \\t].*)*)`, 'im')
      .exec(message.split('\n\n')[0] ?? '')?.[1]
      ?.replace(/\n\s+/g, ' ') ?? '';
  const hasHandled = (): Promise<unknown> =>
    app.eventually(async () => {
      const waiting = await app.query(
        `SELECT FROM hook_requests r WHERE r.outcome = 'accepted' AND (
           NOT EXISTS (SELECT FROM bot_runs b WHERE b.account_id = r.account_id AND b.event_id = r.event_id)
           OR EXISTS (SELECT FROM deliveries d WHERE d.account_id = r.account_id AND d.event_id = r.event_id AND d.state = 'pending'))`,
      );
      return waiting.length === 0;
    });

  it('brings in mails, answers them in their thread, and goes on with it', async () => {
    await app.events();
    await write('ada@example.org', {}, { References: '<first@example.org>', 'Reply-To': 'Ada <ada.home@example.org>' });
    const conversation = await conversationOf('ada@example.org');
    const [first] = await counted(conversation, 1);
    expect(first).to.deep.include({ content: 'Where is it?', message_type: 'incoming' });
    expect(first!.content_attributes.mail).to.deep.include({ subject: 'My order', reply_to: 'ada.home@example.org' });
    const { body: shown } = await app.get(`conversations/${conversation}`);
    expect(shown.meta.sender).to.deep.include({ name: 'Ada', email: 'ada@example.org' });
    expect(shown.additional_attributes).to.deep.include({ mail_subject: 'My order' });
    const answer = await say(conversation, { content: 'On its way' });
    const sent = await settled(conversation, answer.id, 'sent');
    const [arrived] = sentTo('ada.home@example.org');
    expect(arrived!.from).to.include(`<${address}>`);
    expect(header(arrived!, 'Subject')).to.equal('Re: My order');
    expect(header(arrived!, 'In-Reply-To')).to.equal(first!.source_id);
    expect(header(arrived!, 'Message-ID')).to.equal(sent.source_id);
    expect(header(arrived!, 'References').split(' ')).to.deep.equal([
      '<first@example.org>',
      first!.source_id,
      sent.source_id,
    ]);
    // The mail of a person does not say that it is automatic.
    expect(header(arrived!, 'Auto-Submitted')).to.equal('');
    const quoted = `Thank you!\n\nOn Thu, 5 Apr 2012 at 17:00, Support <${address}> wrote:\n> On its way`;
    await write('ada@example.org', { TextBody: quoted, Subject: 'Re: My order' }, { 'In-Reply-To': sent.source_id! });
    const [, , third] = await counted(conversation, 3);
    expect(third!.content).to.equal('Thank you!');
    expect(third!.content_attributes.mail!.quoted).to.match(/^On Thu.*\n> On its way$/s);
    const names = await app.eventNames();
    expect(names).to.include.members(['hook_received', 'contact_created', 'conversation_created', 'message_updated']);
    // The first mail took two runs, which act once.
    const { invariants } = (await app.get('/platform/api/v1/ledger')).body as Pick<Ledger, 'invariants'>;
    expect(invariants.find(({ id }) => id === 'L8')).to.include({ violations: 0 });
  });

  it('begins a conversation for another subject, and none in the thread of a stranger', async () => {
    await write('bob@example.org', { TextBody: 'One' });
    const conversation = await conversationOf('bob@example.org');
    const [first] = await counted(conversation, 1);
    expect(first!.content).to.equal('My order\n\nOne');
    await write('bob@example.org', { TextBody: 'Something else', Subject: 'Another matter' });
    await conversationOf('bob@example.org', 2);
    await write('eve@example.org', { TextBody: 'Let me in' }, { 'In-Reply-To': first!.source_id! });
    const other = await conversationOf('eve@example.org');
    expect(other).to.not.equal(conversation);
    expect(await messages(conversation)).to.have.length(1);
  });

  it('takes a mail once, whichever request brings it', async () => {
    const twice = mail('carl@example.org');
    await postTo(hook, twice);
    expect((await postTo(hook, twice)).body.duplicate).to.equal(true);
    await postTo(hook, { ...twice, MessageID: 'another' });
    await hasHandled();
    expect(await messages(await conversationOf('carl@example.org'))).to.have.length(1);
  });

  it('keeps the files of a mail, large ones too, and sends files', async () => {
    const large = Buffer.alloc(3_000_000, 'large ');
    const file = (Name: string, content: Buffer) => ({
      Name,
      Content: content.toString('base64'),
      ContentType: 'text/plain',
      ContentLength: content.length,
    });
    const Attachments = [
      file('large.txt', large),
      file('small.txt', Buffer.from('small')),
      { ...file('odd.txt', large), Content: '!!!!' },
    ];
    await write('dora@example.org', { Attachments });
    const conversation = await conversationOf('dora@example.org');
    const [first, note] = await counted(conversation, 2);
    expect(first!.attachments.map(({ file_name: name }) => name)).to.deep.equal(['large.txt', 'small.txt']);
    const got = await fetch(new URL(first!.attachments[0]!.data_url, app.url));
    expect(Buffer.from(await got.arrayBuffer()).equals(large)).to.equal(true);
    expect(note!.content).to.equal('The file odd.txt could not be received: It is not base64');
    const form = new FormData();
    form.set('message_type', 'outgoing');
    form.set('content', 'Your invoice');
    form.set('attachments[]', new File(['the invoice'], 'invoice.txt', { type: 'text/plain' }));
    const response = await fetch(`${app.url}/api/v1/accounts/1/conversations/${conversation}/messages`, {
      method: 'POST',
      headers: { api_access_token: 'administrator-of-the-tests' },
      body: form,
    });
    await settled(conversation, ((await response.json()) as { id: number }).id, 'sent');
    const [arrived] = sentTo('dora@example.org');
    expect(arrived!.message).to.include('filename=invoice.txt').and.include('Your invoice');
    expect(await app.query(`SELECT FROM bot_runs r WHERE length(r::text) > 200000`)).to.deep.equal([]);
  });

  it('makes automatic mail a note, which no bot answers, and leaves its own mail out', async () => {
    const [bot] = await app.query<{ id: number }>('SELECT agent_bot_id AS id FROM inboxes WHERE agent_bot_id > 0');
    await app.post(`inboxes/${inbox}/set_agent_bot`, { agent_bot: bot!.id });
    await write('fay@example.org', { TextBody: 'Hi bot' });
    const conversation = await conversationOf('fay@example.org');
    const answered = await app.eventually(async () => sentTo('fay@example.org')[0]);
    await app.eventually(async () => (await app.query(`SELECT FROM messages WHERE status = 'pending'`)).length === 0);
    expect(header(answered, 'Auto-Submitted')).to.equal('auto-replied');
    expect(header(answered, 'X-Auto-Response-Suppress')).to.equal('All');
    const automatic: Record<string, string>[] = [
      { 'Auto-Submitted': 'auto-replied; owner-email="x"' },
      { Precedence: 'bulk' },
      { 'List-Id': '<news.example.org>' },
      { 'X-Auto-Response-Suppress': 'OOF, AutoReply' },
      { 'Return-Path': '<>' },
    ];
    for (const headers of automatic)
      await write(
        'fay@example.org',
        { TextBody: 'I am away' },
        { ...headers, 'In-Reply-To': header(answered, 'Message-ID') },
      );
    await write(address, { TextBody: 'Our own copy' }, { 'In-Reply-To': header(answered, 'Message-ID') });
    await hasHandled();
    const shown = await messages(conversation);
    expect(shown.filter(({ content }) => content === 'I am away').map((note) => note.private)).to.deep.equal(
      automatic.map(() => true),
    );
    expect(sentTo('fay@example.org')).to.have.length(1);
    expect(await conversationsOf(address)).to.deep.equal([]);
    await app.post(`inboxes/${inbox}/set_agent_bot`, { agent_bot: null });
  });

  it('fails a message whose mail comes back, and no other', async () => {
    await write('gus@example.org');
    const conversation = await conversationOf('gus@example.org');
    const said = await say(conversation, { content: 'Hello?' });
    const { source_id: id } = await settled(conversation, said.id, 'sent');
    const report = (action: string, about: string, recipient = 'Final-Recipient: rfc822; Gus@example.org\n') => ({
      Subject: 'Undelivered Mail Returned to Sender',
      TextBody: 'I am sorry to have to inform you',
      Attachments: [
        {
          Name: 'status',
          ContentType: 'message/delivery-status',
          Content: Buffer.from(
            `Reporting-MTA: dns; mx.example.org\n\n${recipient}Action: ${action}\nStatus: 5.1.1\nDiagnostic-Code: smtp; 550 No such user`,
          ).toString('base64'),
        },
        {
          Name: 'mail',
          ContentType: 'message/rfc822',
          Content: Buffer.from(`Message-ID: ${about}`).toString('base64'),
        },
      ],
    });
    const headers = { 'Content-Type': 'multipart/report; report-type=delivery-status' };
    await write('mailer-daemon@example.org', report('delayed', id!), headers);
    await write(
      'mailer-daemon@example.org',
      report('failed', '<message.1.000000000000000000000000@example.com>'),
      headers,
    );
    // The id of a mail alone does not fail it: others know it.
    await write('mailer-daemon@example.org', report('failed', id!, ''), headers);
    await write(
      'mailer-daemon@example.org',
      report('failed', id!, 'Final-Recipient: rfc822; eve@evil.example\n'),
      headers,
    );
    await hasHandled();
    expect((await settled(conversation, said.id, 'sent')).external_error).to.equal(null);
    await write('mailer-daemon@example.org', report('failed', id!), headers);
    const failed = await settled(conversation, said.id, 'failed');
    expect(failed.external_error).to.equal('550 No such user (5.1.1)');
    expect(await conversationsOf('mailer-daemon@example.org')).to.deep.equal([]);
  });

  it('fails what the server refuses, and sends it again with the same id', async () => {
    await write('hal@example.org');
    const conversation = await conversationOf('hal@example.org');
    smtp.refusing = true;
    const said = await say(conversation, { content: 'Refused' });
    const failed = await settled(conversation, said.id, 'failed');
    expect(failed.external_error).to.include('550 no such mailbox');
    smtp.refusing = false;
    await app.post(`conversations/${conversation}/messages/${said.id}/retry`);
    const sent = await settled(conversation, said.id, 'sent');
    expect(sent.source_id).to.match(/^<message\.\d+\.[0-9a-f]{24}@example\.com>$/);
  });

  it('refuses requests without the login, and survives whatever has it', async () => {
    expect((await postTo(hook, mail('ivy@example.org'), 'postmark:wrong')).status).to.equal(401);
    const odd: Record<string, unknown>[] = [
      { FromFull: null, Headers: 'x', Attachments: {} },
      { FromFull: { Email: 'no address' } },
      { Headers: [{}], Attachments: [{}] },
      { TextBody: '', HtmlBody: `<p>Only <b>HTML</b> &amp; more</p>${'<style>'.repeat(5_000)}` },
      { Subject: 'Two\r\nBcc: victim@example.org', TextBody: `${'> '.repeat(50_000)}\nOn ${'x'.repeat(100_000)}` },
    ];
    for (const fields of odd) await write('ivy@example.org', fields);
    await hasHandled();
    const contents = await app.query<{ content: string; conversation_id: number }>(
      `SELECT m.content, m.conversation_id FROM messages m JOIN conversations c ON c.id = m.conversation_id AND c.account_id = m.account_id
       WHERE c.source_id = 'ivy@example.org' AND m.message_type = 'incoming' ORDER BY m.id`,
    );
    expect(contents.map(({ content }) => content)).to.include('My order\n\nOnly HTML & more');
    const { conversation_id: conversation } = contents.at(-1)!;
    const said = await say(conversation, { content: 'Answer\r\nBcc: victim@example.org' });
    await settled(conversation, said.id, 'sent');
    expect(smtp.received.filter(({ to }) => to.join().includes('victim'))).to.deep.equal([]);
    expect(header(sentTo('ivy@example.org').at(-1)!, 'Bcc')).to.equal('');
  });

  it('serves two accounts, each with its address, and lends the server of the service to listed domains only', async () => {
    const { id: account, administrator } = await addAccount(app, 'Second');
    const taken = await connect(address, account, administrator.headers);
    expect(taken.status).to.equal(422);
    const made = await connect('help@second.example', account, administrator.headers, {});
    expect(made.status, JSON.stringify(made.body)).to.equal(201);
    await postTo(made.body.hook_url, mail('ada@example.org', { TextBody: 'To the second' }));
    const theirs = `/api/v1/accounts/${account}/conversations`;
    const [conversation] = await app.eventually(async () => {
      const { payload } = (await app.get(theirs, administrator.headers)).body.data;
      return payload?.length > 0 && payload;
    });
    expect((await app.get(`conversations/${conversation.id}`)).status).to.equal(404);
    const said = { content: 'From the second', message_type: 'outgoing' };
    const { body } = await app.call('POST', `${theirs}/${conversation.id}/messages`, said, administrator.headers);
    const inboxAt = `/api/v1/accounts/${account}/inboxes/${made.body.id}`;
    await app.eventually(async () => {
      const { channel } = (await app.get(inboxAt, administrator.headers)).body;
      return JSON.stringify(channel.health).includes('CHANNEL_MAIL_DOMAINS does not list 2:second.example');
    });
    // At an address that plugins may not call.
    const blocked = { channel: { secrets: { SMTP_URL: 'smtp://10.0.0.1:25' } } };
    expect((await app.call('PATCH', inboxAt, blocked, administrator.headers)).status).to.equal(200);
    const own = { channel: { secrets: { SMTP_URL: smtp.url } } };
    expect((await app.call('PATCH', inboxAt, own, administrator.headers)).status).to.equal(200);
    await app.eventually(async () => {
      const { payload } = (await app.get(`${theirs}/${conversation.id}/messages`, administrator.headers)).body;
      return payload.find(({ id }: { id: number }) => id === body.id)?.status === 'sent';
    });
    expect(smtp.received.at(-1)!.from).to.include('<help@second.example>');
    const listed = await connect('help@listed.example', account, administrator.headers, {});
    await postTo(listed.body.hook_url, mail('kim@example.org', { TextBody: 'To the listed' }));
    const [other] = await app.eventually(async () => {
      const { payload } = (await app.get(theirs, administrator.headers)).body.data;
      return payload?.length > 1 && payload.filter(({ id }: { id: number }) => id !== conversation.id);
    });
    await app.call('POST', `${theirs}/${other.id}/messages`, said, administrator.headers);
    await app.eventually(() => Promise.resolve(sentTo('kim@example.org').length === 1));
    expect(sentTo('kim@example.org')[0]!.from).to.include('<help@listed.example>');
  });

  it('replays what was sent and received identically, and shows no login', async () => {
    const runs = await app.query<{ id: number }>(
      `SELECT id FROM bot_runs WHERE account_id = 1 AND plugin_id = 'email' AND outcome = 'ok' ORDER BY id DESC LIMIT 12`,
    );
    for (const { id } of runs) {
      const { status, body } = await app.post(`runs/${id}/replay`);
      expect([id, status, body.identical], JSON.stringify(body)).to.deep.equal([id, 200, true]);
    }
    const told = await app.query<{ text: string }>(`SELECT r::text AS text FROM bot_runs r`);
    expect(told.filter(({ text }) => text.includes('a-long-password') || text.includes(smtp.url))).to.deep.equal([]);
  });
});
