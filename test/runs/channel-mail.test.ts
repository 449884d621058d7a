import { expect } from 'chai';
import { TestApp } from '../support/app.ts';
import { send } from '../support/hook-senders.ts';
import { MailServer } from '../support/mail-server.ts';

const login = 'postmark:a-long-password';

interface Shown {
  id: number;
  content: string;
  status: string;
  source_id: string | null;
  external_error: string | null;
}

describe('mail of channels', function () {
  this.timeout(60_000);
  let app: TestApp;
  let smtp: MailServer;

  before(async () => {
    smtp = await MailServer.start();
    const channelMailDomains = ['1:listed.example', '2:other.example'];
    app = await TestApp.start({
      config: { smtpUrl: smtp.url, mailFrom: 'Desk <desk@listed.example>', channelMailDomains },
    });
  });
  after(async () => {
    await app.stop();
    await smtp.close();
  });

  let ids = 0;
  const connect = async (address: string, secrets: object = {}): Promise<{ id: number; hook_url: string }> => {
    const channel = {
      type: 'plugin',
      plugin_id: 'email',
      config: { address },
      secrets: { WEBHOOK_LOGIN: login, ...secrets },
    };
    const { status, body } = await app.post('inboxes', { name: 'Mail', channel });
    expect(status, JSON.stringify(body)).to.equal(201);
    return body;
  };
  const post = (url: string, body: object) =>
    send(url, JSON.stringify(body), {
      'content-type': 'application/json',
      authorization: `Basic ${Buffer.from(login).toString('base64')}`,
    });
  /** Has a customer write to an inbox. Returns the conversation. */
  const write = async (inbox: { id: number; hook_url: string }, from: string, fields: object = {}): Promise<number> => {
    ids += 1;
    const mail = {
      From: from,
      FromFull: { Email: from, Name: 'Ada' },
      Subject: 'My order',
      MessageID: `request-${ids}`,
      TextBody: 'Where is it?',
      Headers: [{ Name: 'Message-ID', Value: `<trust-${ids}@example.org>` }],
      ...fields,
    };
    expect((await post(inbox.hook_url, mail)).status).to.equal(200);
    return app.eventually(async () => {
      const [found] = await app.query<{ id: number }>(
        'SELECT id FROM conversations WHERE inbox_id = $1 AND source_id = $2',
        [inbox.id, from],
      );
      return found?.id ?? null;
    }) as Promise<number>;
  };
  const messages = async (conversation: number): Promise<Shown[]> =>
    (await app.get(`conversations/${conversation}/messages`)).body.payload;
  const say = async (conversation: number): Promise<Shown> =>
    (await app.post(`conversations/${conversation}/messages`, { message_type: 'outgoing', content: 'On its way' }))
      .body;
  const settled = (conversation: number, id: number, status: string): Promise<Shown> =>
    app.eventually(async () =>
      (await messages(conversation)).find((message) => message.id === id && message.status === status),
    );

  it('goes by the server of the service for the accounts that are listed only, and never as the service', async () => {
    for (const [address, reason] of [
      ['help@other.example', 'CHANNEL_MAIL_DOMAINS does not list 1:other.example'],
      ['Desk@listed.example', 'its address is that of MAIL_FROM'],
    ] as const) {
      const inbox = await connect(address);
      await say(await write(inbox, 'ada@example.org'));
      await app.eventually(async () =>
        JSON.stringify((await app.get(`inboxes/${inbox.id}`)).body.channel.health).includes(reason),
      );
    }
    expect(smtp.received).to.deep.equal([]);
    const conversation = await write(await connect('help@listed.example'), 'bea@example.org');
    await settled(conversation, (await say(conversation)).id, 'sent');
    expect(smtp.received.map(({ from }) => from)).to.deep.equal(['FROM:<help@listed.example>']);
  });

  it('fails when the server got it and hung up, and is not sent again', async () => {
    const conversation = await write(await connect('lost@example.com', { SMTP_URL: smtp.url }), 'carl@example.org');
    const before = smtp.received.length;
    smtp.hangingUp = true;
    const { external_error: reason } = await settled(conversation, (await say(conversation)).id, 'failed');
    smtp.hangingUp = false;
    expect(reason).to.equal('The mail server got the mail and did not confirm it: it may have arrived');
    expect(smtp.received).to.have.length(before + 1);
    const waiting = await app.query(
      `SELECT FROM deliveries d JOIN events e ON e.id = d.event_id
       WHERE d.endpoint_kind = 'channel' AND d.state = 'pending' AND e.conversation_id = $1`,
      [conversation],
    );
    expect(waiting).to.deep.equal([]);
  });

  it('keeps its id when a receipt comes before the answer of the server', async () => {
    const inbox = await connect('early@example.com', { SMTP_URL: smtp.url });
    const conversation = await write(inbox, 'dora@example.org');
    const { promise, resolve } = Promise.withResolvers<void>();
    smtp.thinking = () => promise;
    const { id } = await say(conversation);
    await app.eventually(() => Promise.resolve(smtp.received.at(-1)!.to[0]!.includes('dora@example.org')));
    const [, hash] = /^X-PM-Metadata-switchboard-hash: (\S+)$/im.exec(smtp.received.at(-1)!.message)!;
    const Metadata = { 'switchboard-message': String(id), 'switchboard-hash': hash };
    await post(inbox.hook_url, { RecordType: 'Delivery', MessageID: 'early', Recipient: 'dora@example.org', Metadata });
    await settled(conversation, id, 'delivered');
    resolve();
    const { source_id: sourceId } = await app.eventually(async () =>
      (await messages(conversation)).find((message) => message.id === id && message.source_id?.startsWith('<message.')),
    );
    const Headers = [
      { Name: 'Message-ID', Value: '<answer@example.org>' },
      { Name: 'In-Reply-To', Value: sourceId },
    ];
    await write(inbox, 'dora@example.org', { Headers, Subject: 'Re: something else', TextBody: 'Thanks' });
    await app.eventually(async () => (await messages(conversation)).length === 3);
    const told = await app.query<{ account_payload: { changed_attributes: object } }>(
      `SELECT account_payload FROM events WHERE name = 'message_updated' AND conversation_id = $1 ORDER BY id`,
      [conversation],
    );
    expect(told.map(({ account_payload: payload }) => Object.keys(payload.changed_attributes))).to.deep.equal([
      ['status'],
    ]);
  });

  it('is taken with texts and ids that cannot be stored', async () => {
    const inbox = await connect('odd@example.com', { SMTP_URL: smtp.url });
    const Headers = [
      { Name: 'Message-ID', Value: '<odd@example.org>' },
      { Name: 'In-Reply-To', Value: '<half\ud83d@example.org>' },
      { Name: 'References', Value: `<nul\0@example.org> <${'x'.repeat(400)}@example.org>` },
      { Name: 'Reply-To', Value: 'half\ud83d@example.org' },
    ];
    const conversation = await write(inbox, 'eve@example.org', { Headers, Subject: 'half \ud83d', TextBody: 'nul \0' });
    const [shown] = await messages(conversation);
    expect(shown!.content).to.include('nul \ufffd');
    const runs = await app.query<{ outcome: string }>(
      `SELECT r.outcome FROM bot_runs r JOIN inboxes i ON i.channel_id = r.agent_bot_id WHERE i.id = $1`,
      [inbox.id],
    );
    const { health } = (await app.get(`inboxes/${inbox.id}`)).body.channel;
    expect(runs, JSON.stringify(health)).to.deep.equal([{ outcome: 'ok' }]);
  });
});
